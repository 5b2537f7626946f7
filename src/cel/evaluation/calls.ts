import { compile as compilePattern } from '../../api/regular-expression.js';
import type { Overload } from '../functions.js';
import { longerDuration } from '../library/timestamps.js';
import { fits, typeName } from '../runtime-types.js';
import { duration, type Type } from '../types.js';
import { Duration, Failure, noSuchOverload, receivers, type Value } from '../values.js';
import { EvaluationAborted, type Frame, ProgramFailed, type Step } from './frame.js';

/**
 * Plans a call of a function. At run time the first overload is chosen that the operands fit: first among those the
 * checker left possible; then, for functions that only the values decide, among all in `declared`. `pattern` is the
 * second operand if it is constant.
 */
export function callStep(
  name: string,
  steps: readonly Step[],
  overloads: readonly Overload[],
  declared: readonly Overload[],
  pattern: Value | undefined,
): Step {
  const [overload] = overloads;
  if (overload === undefined) throw new ProgramFailed(`no such overload: ${name}`);
  const constantPattern = typeof pattern === 'string' && patternFunctions.has(name);
  if (constantPattern) {
    const { error } = compilePattern(pattern);
    if (error !== undefined) throw new ProgramFailed(error);
  }
  const others = !decidedByValues.has(name) ? [] : name === '-_' ? [...declared, negated] : declared;
  const choose = chooser(name, [...overloads, ...others]);
  const one = overloads.length === 1 ? overload : undefined;
  const undecided = one === undefined ? overload.undecidedCost : undefined;
  const costs = undecided ?? (overloads.every(({ cost }) => cost !== undefined) ? overload.cost : undefined);
  const run = (frame: Frame, values: readonly Value[]): Value => {
    const fitting = choose(values);
    const chosen = constantPattern && fitting instanceof Failure ? noSuchOverload : fitting;
    const result = chosen instanceof Failure ? chosen : chosen.evaluate(...(values as never[]));
    const isKnown = one !== undefined || costs === undefined || undecided !== undefined;
    const cost = chosen instanceof Failure || isKnown ? costs : chosen.cost;
    frame.charge(cost === undefined ? 1 : cost(values, result));
    return result;
  };
  const stopsEarly = steps.length > 2 || constantPattern || (overloads.length > 1 && !chosenByFirst.has(name));
  if (stopsEarly) {
    return (frame) => {
      const values: Value[] = [];
      for (let place = 0; place < steps.length; place++) {
        const value = (steps[place] as Step)(frame);
        values.push(value);
        if (!(value instanceof Failure)) continue;
        if (place === steps.length - 1) frame.charge(costs === undefined ? 1 : costs(values, value));
        return value;
      }
      return run(frame, values);
    };
  }
  const compared = comparesItself.exec(overload.id)?.[1];
  const failed = (frame: Frame, values: readonly Value[], failure: Failure): Failure => {
    if (compared !== undefined && values[compared === 'sortByAssociatedKeys' ? 1 : 0] instanceof Failure) {
      throw new EvaluationAborted('interface conversion: *types.Err is not traits.Lister: missing method Add');
    }
    frame.charge(costs === undefined ? 1 : costs(values, failure));
    return failure;
  };
  const [first, second] = steps;
  if (first === undefined) return (frame) => run(frame, []);
  if (second === undefined) {
    if (one !== undefined && compared === undefined && !one.unguarded) return unary(first, overload, choose);
    return (frame) => {
      const value = first(frame);
      return value instanceof Failure ? failed(frame, [value], value) : run(frame, [value]);
    };
  }
  if (one !== undefined && compared === undefined && !one.unguarded) return binary(first, second, overload, choose);
  return (frame) => {
    const left = first(frame);
    const right = second(frame);
    const failure = left instanceof Failure ? left : right;
    if (failure instanceof Failure) return failed(frame, [left, right], failure);
    return run(frame, [left, right]);
  };
}

/** Matches list functions that cel-go charges as if the operand were a list, even when the call fails. */
const comparesItself = /^list_(?:[\w.]+_)?(distinct|sort|sortByAssociatedKeys)$/;
/**
 * Operators whose overload cel-go chooses by the values alone: values of a resource may have other types than its
 * schema says (`optional.of(self).?a`).
 */
const decidedByValues: ReadonlySet<string> = new Set([
  '_+_',
  '_-_',
  '_*_',
  '_/_',
  '_%_',
  '-_',
  '_<_',
  '_<=_',
  '_>_',
  '_>=_',
  'size',
]);
/** The negation of a duration: it has no declared overload, but is possible behind `dyn`. */
const negated: Overload = {
  id: 'negate_duration',
  member: false,
  parameters: [duration],
  result: duration,
  evaluate: longerDuration(-1n).bind(undefined, new Duration(0n)),
};
const patternFunctions: ReadonlySet<string> = new Set(['matches', 'find', 'findAll']);

/** Functions that cel-go dispatches on the first value alone; the others name the operand types in their error. */
const chosenByFirst: ReadonlySet<string> = new Set([
  ...decidedByValues,
  '!_',
  '@in',
  'matches',
  'contains',
  'startsWith',
  'endsWith',
]);

type OverloadChooser = (values: readonly Value[]) => Overload | Failure;

/**
 * Returns a function that finds the overload for the values, or the failure in cel-go's words. Declared types are not
 * enough: where `dyn` met another type, the checker assumed that type.
 */
function chooser(name: string, overloads: readonly Overload[]): OverloadChooser {
  return (values) => {
    for (const overload of overloads) {
      const { unguarded, parameters } = overload;
      if (unguarded || parameters.every((parameter, place) => fits(parameter, values[place] as Value))) return overload;
    }
    if (!chosenByFirst.has(name)) return new Failure(`no such overload: ${name}(${values.map(typeName).join(', ')})`);
    if (comparisons.has(name) && Number.isNaN(values[0])) return new Failure('NaN values cannot be ordered');
    const type = typeName(values[0] as Value);
    const isBrief = receivers.has(type) || alwaysBrief.has(name) || receiversOf.get(name)?.has(type) === true;
    return isBrief ? noSuchOverload : new Failure(`no such overload: ${name}`);
  };
}

const alwaysBrief: ReadonlySet<string> = new Set(['!_', '@in', 'contains', 'startsWith', 'endsWith']);
/**
 * Comparisons: the types in `ordered` implement them, though not for every second operand, and fail with the brief
 * message.
 */
const comparisons: ReadonlySet<string> = new Set(['_<_', '_<=_', '_>_', '_>=_']);
const ordered = ['bool', 'bytes', 'double', 'int', 'uint'];
const receiversOf: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    '_+_': ['bytes', 'double', 'int', 'list', 'uint'],
    '_-_': ['double', 'int', 'uint'],
    '_*_': ['double', 'int', 'uint'],
    '_/_': ['double', 'int', 'uint'],
    '_%_': ['int', 'uint'],
    '-_': ['bool', 'double', 'int'],
    '_<_': ordered,
    '_<=_': ordered,
    '_>_': ordered,
    '_>=_': ordered,
  }).map(([name, types]) => [name, new Set(types)]),
);

function evaluated(choose: OverloadChooser, values: readonly Value[]): Value {
  const chosen = choose(values);
  return chosen instanceof Failure ? chosen : chosen.evaluate(...(values as never[]));
}

/** Plans a call with one operand and one overload, the usual case, without detours. */
function unary(first: Step, { evaluate, cost, parameters: [type] }: Overload, choose: OverloadChooser): Step {
  const fitsFirst = fitter(type as Type);
  return (frame) => {
    const value = first(frame);
    let result: Value = value;
    if (!(value instanceof Failure)) result = fitsFirst(value) ? evaluate(value as never) : evaluated(choose, [value]);
    frame.charge(cost === undefined ? 1 : cost([value], result));
    return result;
  };
}

function binary(first: Step, second: Step, { evaluate, cost, parameters }: Overload, choose: OverloadChooser): Step {
  const [fitsFirst, fitsSecond] = parameters.map(fitter) as [Fitter, Fitter];
  return (frame) => {
    const left = first(frame);
    const right = second(frame);
    let result: Value = left;
    if (!(left instanceof Failure)) {
      if (right instanceof Failure) result = right;
      else if (fitsFirst(left) && fitsSecond(right)) result = evaluate(left as never, right as never);
      else result = evaluated(choose, [left, right]);
    }
    frame.charge(cost === undefined ? 1 : cost([left, right], result));
    return result;
  };
}

type Fitter = (value: Value) => boolean;

/** Returns `fits` specialized for one type, for speed. */
function fitter(type: Type): Fitter {
  switch (type.kind) {
    case 'int':
      return (value) => typeof value === 'bigint';
    case 'double':
      return (value) => typeof value === 'number';
    case 'string':
      return (value) => typeof value === 'string';
    case 'bool':
      return (value) => typeof value === 'boolean';
    case 'dyn':
    case 'parameter':
      return () => true;
    default:
      return (value) => fits(type, value);
  }
}
