import { tooCostly } from '../effort.js';
import type { Value } from '../values.js';

/** Thrown when an evaluation exceeds its cost limit. */
export class CostExceeded extends Error {
  constructor() {
    super(tooCostly);
    this.name = 'CostExceeded';
  }
}

/** Thrown where the interpreter of cel-go panics: the whole evaluation fails, even if `||` would absorb a failure. */
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
  /** The variables of folds, each at an index of its own; undefined for an accumulator that was not read yet. */
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
    // Sums with NaN would never exceed a limit.
    if (Number.isNaN(this.cost)) this.cost = Number.POSITIVE_INFINITY;
    throw new CostExceeded();
  }

  /** Returns a variable. It is looked up by name once; afterwards it is found at its index. */
  variable(name: string, place: number): Value | undefined {
    const known = this.#known[place];
    if (known !== undefined) return known;
    const value = this.#variables(name);
    this.#known[place] = value;
    return value;
  }
}

/** A part of an expression that is planned and ready to be evaluated. */
export type Step = (frame: Frame) => Value;
