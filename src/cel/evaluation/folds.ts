import { goTypeName } from '../runtime-types.js';
import { Failure, type Value } from '../values.js';
import type { Frame, Step } from './frame.js';

/** Returns a step that reads a variable of a fold. An accumulator is initialized when it is first read. */
export const localStep = (place: number, start: Step | undefined): Step =>
  start === undefined
    ? ({ locals }) => locals[place] as Value
    : (frame) => {
        const known = frame.locals[place];
        if (known !== undefined) return known;
        const value = start(frame);
        frame.locals[place] = value;
        return value;
      };

/**
 * Returns a function that iterates over a list or the keys of a map, or over both with index or value; it returns a
 * failure for any other value.
 */
export function loop(
  condition: Step,
  step: Step,
  sumPlace: number,
  firstPlace: number,
  secondPlace: number | undefined,
): (frame: Frame, values: Value) => Failure | undefined {
  /** Runs one iteration; returns false if the loop ends. */
  const once = (frame: Frame): boolean => {
    const goesOn = condition(frame);
    if (typeof goesOn === 'boolean' && !goesOn) return false;
    frame.locals[sumPlace] = step(frame);
    return true;
  };
  return (frame, values) => {
    const { locals } = frame;
    if (typeof values !== 'object' || values === null || !('kind' in values) || values.kind === 'opaque') {
      return new Failure(
        secondPlace === undefined
          ? `got '${goTypeName(values)}', expected iterable type`
          : `unsupported comprehension range type: ${goTypeName(values)}`,
      );
    }
    if (values.kind === 'list') {
      const { size } = values;
      for (let index = 0; index < size; index++) {
        if (secondPlace === undefined) locals[firstPlace] = values.at(index);
        else {
          locals[firstPlace] = BigInt(index);
          locals[secondPlace] = values.at(index);
        }
        if (!once(frame)) return undefined;
      }
      return undefined;
    }
    const map =
      values.kind === 'struct'
        ? { keys: () => values.fields(), get: (key: Value) => values.get(key as string) }
        : values;
    for (const key of map.keys()) {
      locals[firstPlace] = key;
      if (secondPlace !== undefined) locals[secondPlace] = map.get(key);
      if (!once(frame)) return undefined;
    }
    return undefined;
  };
}
