import { tooCostly } from '../effort.js';
import type { Value } from '../values.js';

/** Thrown when an evaluation exceeds its cost limit. */
export class CostExceeded extends Error {
  constructor() {
    super(tooCostly);
    this.name = 'CostExceeded';
  }
}

/** Thrown where cel-go's interpreter panics: the whole evaluation fails, whatever `||` would make of a failure. */
export class EvaluationAborted extends Error {
  constructor(message: string) {
    super(`internal error: ${message}`);
    this.name = 'Aborted';
  }
}

/** Thrown for an expression with a constant part that fails, such as `int('a')`. */
export class ProgramFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProgramFailed';
  }
}

/** The state of one evaluation. */
export class Frame {
  /** Variables of folds, each at a place of its own; undefined for a sum that nobody asked for yet. */
  readonly locals: (Value | undefined)[];
  readonly #variables: (name: string) => Value | undefined;
  readonly #known: (Value | undefined)[] = [];
  readonly #limit: number;
  cost = 0;

  constructor(variables: (name: string) => Value | undefined, limit: number, locals: number) {
    this.#variables = variables;
    this.#limit = limit;
    this.locals = new Array(locals).fill(undefined);
  }

  charge(units: number): void {
    this.cost += units;
    if (this.cost <= this.#limit) return;
    // No sum with it would ever be above a limit.
    if (Number.isNaN(this.cost)) this.cost = Number.POSITIVE_INFINITY;
    throw new CostExceeded();
  }

  /** Asked for once, however often it is used: then it is known by its place. */
  variable(name: string, place: number): Value | undefined {
    const known = this.#known[place];
    if (known !== undefined) return known;
    const value = this.#variables(name);
    this.#known[place] = value;
    return value;
  }
}

/** A part of an expression, ready to be evaluated. */
export type Step = (frame: Frame) => Value;
