import { isInt64 } from '../../api/go-integers.js';
import { isJsonBacked, jsonValue } from '../json-values.js';
import { valueText } from '../library/value-text.js';
import { goTypeName, typeName } from '../runtime-types.js';
import { Failure, type ListValue, noSuchOverload, Optional, Uint, type Value } from '../values.js';
import type { Frame, Step } from './frame.js';

/**
 * Attributes: paths such as `self.spec.items[i].?name`, made of a root and qualifiers. cel-go evaluates such a path as
 * a whole, charging one unit for the root and one for each qualifier; the result of an optional qualifier is wrapped
 * once, at the end.
 */
export type Attribute = Path | Choice;

interface Path {
  readonly kind: 'path';
  /** The root of the path. It charges its own cost. */
  readonly root: Step;
  readonly qualifiers: Qualifier[];
}

/** A conditional `condition ? a : b`; qualifiers after it apply to either branch. */
interface Choice {
  readonly kind: 'choice';
  readonly condition: Step;
  readonly truthy: Attribute;
  readonly falsy: Attribute;
}

export interface Qualifier {
  /** A field, key or index that is constant; `keyStep` computes one that is not. */
  readonly key: Value;
  readonly keyStep: Step | undefined;
  /** Whether a missing value makes the whole path `optional.none()`. */
  readonly optional: boolean;
  /** Whether the qualifier only tests for presence: `has(...)`. */
  readonly test: boolean;
}

export const path = (root: Step): Attribute => ({ kind: 'path', root, qualifiers: [] });

/** Appends the qualifier to the path, or to both branches of a conditional. */
export function addQualifier(attribute: Attribute, qualifier: Qualifier): void {
  const open: Attribute[] = [attribute];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'path') next.qualifiers.push(qualifier);
    else open.push(next.falsy, next.truthy);
  }
}

const none = new Optional();

/** Evaluates the path. The caller charges the unit for the root, if there is one. */
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

/** Returns plain JSON for a value from an optional: Kubernetes unwraps it so, whatever the schema says of an object. */
const withoutSchema = (value: Value): Value => (isJsonBacked(value) ? jsonValue(value.json) : value);

/**
 * Returns the value at a key or index of a list, map or structure; undefined if there is none, and for other values.
 */
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

/** Returns the failure for a value that cannot be a key or index: only strings, numbers and booleans can. */
export function invalidKey(key: Value): Failure | undefined {
  if (key instanceof Failure) return key;
  if (typeof key !== 'object' || key instanceof Uint) return undefined;
  return new Failure(`invalid qualifier type: ${goTypeName(key)}`);
}

function element(list: ListValue, key: Value): Value | undefined {
  let index = key instanceof Uint ? key.value : key;
  // The smallest int given as a double is not a valid index.
  if (typeof index === 'number' && Number.isInteger(index) && index !== -(2 ** 63)) index = BigInt(index);
  if (typeof index === 'bigint' && isInt64(index)) {
    if (index < 0n || index >= BigInt(list.size)) return undefined;
    // Kubernetes' own lists receive the key as written, and accept only ints.
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
