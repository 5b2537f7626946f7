import { hashOf, listFrom, mapFrom } from '../collections.js';
import { valueText } from '../library/value-text.js';
import type { Message } from '../messages.js';
import { Failure, Optional, type Value } from '../values.js';
import type { Frame, Step } from './frame.js';

/**
 * Returns the list of the steps' values. Those at indexes in `optional` yield optionals, whose value is inserted if
 * there is one.
 */
export function listOfSteps(steps: readonly Step[], optional: ReadonlySet<number>, frame: Frame): Value {
  const values: Value[] = [];
  for (let place = 0; place < steps.length; place++) {
    const value = (steps[place] as Step)(frame);
    if (value instanceof Failure) return value;
    if (!optional.has(place)) values.push(value);
    else if (!(value instanceof Optional)) {
      return new Failure(`cannot initialize optional list element from non-optional value ${valueText(value)}`);
    } else if (value.value !== undefined) values.push(value.value);
  }
  return listFrom(values);
}

export interface EntrySteps {
  readonly key: Step;
  readonly value: Step;
  readonly optional: boolean;
}

export interface FieldSteps {
  readonly name: string;
  readonly value: Step;
  readonly optional: boolean;
}

/** Returns the message with the fields' values; of fields with the same name the last one counts. */
export function messageOfSteps(message: Message, fields: readonly FieldSteps[], frame: Frame): Value {
  const values = new Map<string, Value>();
  for (const { name, value: step, optional } of fields) {
    const value = step(frame);
    if (value instanceof Failure) return value;
    const content = optional ? unwrapped(name, value) : value;
    if (content instanceof Failure) return content;
    if (content === undefined) values.delete(name);
    else values.set(name, content);
  }
  return message.make(values);
}

/** Returns the value of an optional given with `?` for an entry or field; undefined if it has none. */
const unwrapped = (name: string, value: Exclude<Value, Failure>): Value | undefined =>
  value instanceof Optional
    ? value.value
    : new Failure(`cannot initialize optional entry '${name}' from non-optional value ${valueText(value)}`);

/** Returns the map of the entries' values; of entries with the same key the last one counts. */
export function mapOfSteps(entries: readonly EntrySteps[], frame: Frame): Value {
  const values = new Map<unknown, readonly [Value, Value]>();
  for (const entry of entries) {
    const key = entry.key(frame);
    if (key instanceof Failure) return key;
    let value = entry.value(frame);
    if (value instanceof Failure) return value;
    if (entry.optional) {
      const content = unwrapped(valueText(key), value);
      if (content instanceof Failure) return content;
      if (content === undefined) {
        values.delete(hashOf(key));
        continue;
      }
      value = content;
    }
    values.set(hashOf(key), [key, value]);
  }
  return mapFrom(values.values());
}
