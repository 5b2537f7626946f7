import { isInt64 } from '../../api/go-integers.js';
import { isJsonBacked, jsonValue } from '../json-values.js';
import { valueText } from '../library/value-text.js';
import { goTypeName, typeName } from '../runtime-types.js';
import { Failure, type ListValue, noSuchOverload, Optional, Uint, type Value } from '../values.js';
import type { Frame, Step } from './frame.js';

/**
 * Paths such as `self.spec.items[i].?name`: a beginning and what is taken from it, step by step. cel-go evaluates such a
 * path as one, charging one unit for each step and one for the beginning; and what an optional step finds is wrapped once,
 * at the end.
 */
export type Attribute = Path | Choice;

interface Path {
  readonly kind: 'path';
  /** The beginning; its own cost is charged within. */
  readonly root: Step;
  readonly qualifiers: Qualifier[];
}

/** `condition ? a : b`, where steps behind it are taken from either. */
interface Choice {
  readonly kind: 'choice';
  readonly condition: Step;
  readonly truthy: Attribute;
  readonly falsy: Attribute;
}

export interface Qualifier {
  /** A field, key or index; or how to find it out. */
  readonly key: Value;
  readonly keyStep: Step | undefined;
  /** Finding nothing makes the whole path `optional.none()`. */
  readonly optional: boolean;
  /** Asks whether there is something: `has(...)`. */
  readonly test: boolean;
}

export const path = (root: Step): Attribute => ({ kind: 'path', root, qualifiers: [] });

/** Takes the step behind the path. */
export function addQualifier(attribute: Attribute, qualifier: Qualifier): void {
  const open: Attribute[] = [attribute];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'path') next.qualifiers.push(qualifier);
    else open.push(next.falsy, next.truthy);
  }
}

const none = new Optional();

/** What the path leads to. The unit for its beginning is the caller's to charge, if any. */
export function resolve(attribute: Attribute, frame: Frame): Value {
  let part = attribute;
  while (part.kind === 'choice') {
    const condition = part.condition(frame);
    if (typeof condition !== 'boolean') return condition instanceof Failure ? condition : noSuchOverload;
    part = condition ? part.truthy : part.falsy;
  }
  return follow(part.root(frame), part.qualifiers, frame);
}

function follow(root: Value, qualifiers: readonly Qualifier[], frame: Frame): Value {
  let value = root;
  let optional = false;
  if (root instanceof Optional) {
    if (qualifiers.length === 0 || root.value === undefined) return root;
    value = withoutSchema(root.value);
    optional = true;
  }
  if (value instanceof Failure) return value;
  for (let index = 0; index < qualifiers.length; index++) {
    const qualifier = qualifiers[index] as Qualifier;
    const { keyStep } = qualifier;
    const key = keyStep === undefined ? qualifier.key : keyStep(frame);
    optional ||= qualifier.optional;
    const wrong = keyStep === undefined ? undefined : invalidKey(key);
    if (wrong !== undefined) {
      if (!optional) frame.charge(1);
      return wrong;
    }
    const found = find(value, key);
    if (found === undefined) {
      if (qualifier.test && !optional) {
        frame.charge(1);
        value = false;
        continue;
      }
      if (optional) return none;
      frame.charge(1);
      return missing(value, key);
    }
    if (found instanceof Failure && optional) return found;
    frame.charge(1);
    if (found instanceof Failure) return found;
    value = qualifier.test && !optional ? true : found;
  }
  return optional ? new Optional(value as Exclude<Value, Failure>) : value;
}

/** Kubernetes takes the value out of its optional as plain JSON, whatever the schema says of an object. */
const withoutSchema = (value: Value): Value => (isJsonBacked(value) ? jsonValue(value.json) : value);

/** The value at a key or index of a list, map or structure; undefined if there is none, and for other values. */
function find(value: Value, key: Value): Value | undefined {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
  switch (value.kind) {
    case 'map':
      return value.get(key);
    case 'struct':
      return typeof key === 'string' ? value.get(key) : noSuchOverload;
    case 'list':
      return element(value, key);
    default:
      return undefined;
  }
}

/** The failure of a value that cannot be a key or index: only strings, numbers and booleans can. */
export function invalidKey(key: Value): Failure | undefined {
  if (key instanceof Failure) return key;
  if (typeof key !== 'object' || key instanceof Uint) return undefined;
  return new Failure(`invalid qualifier type: ${goTypeName(key)}`);
}

function element(list: ListValue, key: Value): Value | undefined {
  let index = key instanceof Uint ? key.value : key;
  // The smallest int counts as none where it comes as a double.
  if (typeof index === 'number' && Number.isInteger(index) && index !== -(2 ** 63)) index = BigInt(index);
  if (typeof index === 'bigint' && isInt64(index)) {
    if (index < 0n || index >= BigInt(list.size)) return undefined;
    // Kubernetes' own lists are asked with what was written, and know only ints.
    return list.ofResource && index !== key
      ? new Failure(`unsupported index: ${valueText(key)}`)
      : list.at(Number(index));
  }
  return new Failure(
    typeof index === 'bigint' || typeof index === 'number'
      ? `unsupported index value ${valueText(key)} in list`
      : `unsupported index type '${typeName(key)}' in list`,
  );
}

const missing = (value: Value, key: Value): Failure =>
  new Failure(
    typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'list'
      ? `index out of bounds: ${valueText(key)}`
      : `no such key: ${valueText(key)}`,
  );
