import type { Json } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { isKnownFormat } from '../api/string-formats.js';
import { child, invalid, required, tooMany, type Violation } from '../api/violations.js';
import { noOldValue, type OldValue, oldItems, oldMember } from './ratchet.js';
import type { Schema } from './schema.js';
import { compileEnum } from './validate-enum.js';
import { compileJunctors } from './validate-junctors.js';
import { type Check, compileNumber, compileString, type Kind, kindOf, type NodeCheck } from './validate-scalars.js';
import { compileType, typesOf } from './validate-type.js';
import { type ValidationFailure, ValidationState } from './validation-state.js';

/**
 * Validates values against schemas, with the messages of kube-apiserver. A schema is compiled once into closures. Each
 * checks one node, records failures, and returns how many of its checks succeeded: this number selects the branch of an
 * anyOf or oneOf whose failures are reported.
 */

/**
 * Returns every violation of the schema. `field` is the prefix of the fields of violations; the texts contain paths
 * relative to the value. With `previous`, values that are stored already are accepted. Runs in steps, because each of
 * many branches may apply to each of many items.
 */
export type Validator = (value: Json, field?: string, previous?: Json) => Steps<readonly Violation[]>;

export interface ValidatorOptions {
  /**
   * Whether defaults are validated: values with int-or-string may then have any type, and formats apply to values of
   * any type.
   */
  readonly forDefaults?: boolean;
}

/** Compiles a schema. Of the extensions, only int-or-string and those that ratcheting needs are used. */
export function compileValidator(schema: Schema, options: ValidatorOptions = {}): Validator {
  let check: NodeCheck | undefined;
  return function* (value, field = '', previous) {
    check ??= compileNode(schema, { ...options, nodes: new Map() });
    const first = new ValidationState();
    yield* runAll(check(value, first, noOldValue));
    if (first.failures.length === 0) return [];
    if (previous === undefined) return violations(first.failures, field);
    // Only values with failures need to be compared with the stored ones.
    const again = new ValidationState();
    yield* runAll(check(value, again, previous));
    return violations(again.failures, field);
  };
}

/** Checks a container with everything in it. `earlier` is the number of checks that have succeeded before. */
type Descent = (value: unknown, at: ValidationState, old: OldValue, earlier: number) => Steps<number>;

function violations(failures: readonly ValidationFailure[], prefix: string): readonly Violation[] {
  const seen = new Set<string>();
  return failures.flatMap(({ field, reason, body }) => {
    const parts = [prefix, ...(field === undefined || field === '' ? [] : [field.replace(/^\./, '')])];
    const path = child('', ...parts.filter((part) => part !== '')) || '<nil>';
    const key = `${path}: ${body}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ reason, field: path, body }];
  });
}

/** Returns the result of a check, running its steps if there are any. */
function* runAll(found: number | Steps<number>): Steps<number> {
  return typeof found === 'number' ? found : yield* found;
}

interface Session extends ValidatorOptions {
  /** The compiled nodes, because a schema may contain itself. */
  readonly nodes: Map<Schema, NodeCheck>;
}

/** Returns a check that is compiled on first use, because few of many branches and members may ever be needed. */
function compileNode(schema: Schema, session: Session): NodeCheck {
  const known = session.nodes.get(schema);
  if (known !== undefined) return known;
  let compiled: NodeCheck | undefined;
  const check: NodeCheck = (value, at, old) => {
    if (compiled === undefined) {
      compiled = buildNode(schema, session);
      at.spend(50);
    }
    return compiled(value, at, old);
  };
  session.nodes.set(schema, check);
  return check;
}

function buildNode(schema: Schema, options: Session): NodeCheck {
  const types = typesOf(schema, options);
  const type = types.length === 1 ? (types[0] ?? '') : '';
  const format = schema.format && (options.forDefaults || isKnownFormat(type, schema.format)) ? schema.format : '';
  const checkType = compileType(types, format, schema.nullable === true);
  const checkEnum = compileEnum(schema);
  const checkJunctors = compileJunctors(schema, (branch) => compileNode(branch, options));
  const checkString = compileString(schema, format);
  const checkNumber = compileNumber(schema, type, format);
  const checkArray = compileArray(schema, options);
  const checkObject = compileObject(schema, options);

  const ofType: Check = (value, at) => (types.length > 0 || format !== '' ? checkType(value, at) + 1 : 0);
  const ofScalar = (kind: Kind, value: unknown, at: ValidationState): number => {
    if (kind === 'string') return checkString(value, at);
    return kind === 'integer' || kind === 'number' ? checkNumber(value, at) + 1 : 0;
  };
  /** Discards failures if the value equals the stored one. */
  const ratchet = (before: number, value: unknown, at: ValidationState, old: OldValue): void => {
    if (at.failures.length > before && at.ratchet.unchanged(value, old, schema)) at.truncate(before);
  };

  const checkFlat = (kind: Kind, value: unknown, at: ValidationState, old: OldValue): number => {
    const before = at.failures.length;
    const matched = kind === 'null' ? checkType(value, at) : ofType(value, at) + 2 + ofScalar(kind, value, at) + 2;
    checkEnum?.(value, at);
    ratchet(before, value, at, old);
    return matched;
  };
  function* checkWhole(kind: Kind, value: unknown, at: ValidationState, old: OldValue): Steps<number> {
    const before = at.failures.length;
    let matched = ofType(value, at);
    matched += checkJunctors === undefined ? 2 : (yield* checkJunctors(value, at)) + 1;
    matched += ofScalar(kind, value, at) + 2;
    if (kind === 'array') matched = yield* checkArray(value, at, old, matched);
    checkEnum?.(value, at);
    if (kind === 'object') matched = yield* checkObject(value, at, old, matched);
    ratchet(before, value, at, old);
    return matched;
  }
  return (value, at, old) => {
    const kind = kindOf(value);
    if (kind === 'null') return checkFlat(kind, value, at, old);
    if (checkJunctors !== undefined) return checkWhole(kind, value, at, old);
    if (kind !== 'array' && kind !== 'object') return checkFlat(kind, value, at, old);
    // No check follows those of the items or members.
    if (checkEnum === undefined && old === noOldValue) {
      return (kind === 'array' ? checkArray : checkObject)(value, at, old, ofType(value, at) + 4);
    }
    return checkWhole(kind, value, at, old);
  };
}

function compileArray(schema: Schema, options: Session): Descent {
  const { minItems, maxItems } = schema;
  const checkItem = schema.items && compileNode(schema.items, options);
  return function* (list, at, old, earlier) {
    // Called for lists only.
    const value = list as readonly unknown[];
    let matched = earlier + 2;
    if (checkItem) {
      const oldItem = oldItems(old, schema);
      for (let i = 0; i < value.length; i++) {
        if (at.isStep()) yield;
        at.path.push(i);
        const found = checkItem(value[i], at, oldItem(value[i]));
        matched += typeof found === 'number' ? found : yield* found;
        at.path.pop();
      }
    }
    if (minItems !== undefined && value.length < minItems) {
      at.fail((path) => invalid(path, value.length, `${path} in body should have at least ${minItems} items`));
    }
    if (maxItems !== undefined && value.length > maxItems) at.fail((path) => tooMany(path, value.length, maxItems));
    return matched;
  };
}

function compileObject(schema: Schema, options: Session): Descent {
  const { minProperties, maxProperties, additionalProperties } = schema;
  const mustHave = schema.required ?? [];
  const properties = [...(schema.properties ?? [])].map(([name, inner]) => ({
    name,
    check: compileNode(inner, options),
  }));
  const checkOther = typeof additionalProperties === 'object' ? compileNode(additionalProperties, options) : undefined;
  const isDeclared = (name: string): boolean => schema.properties?.has(name) ?? false;
  const needsNames =
    additionalProperties === false ||
    checkOther !== undefined ||
    minProperties !== undefined ||
    maxProperties !== undefined;
  const oldOf = (name: string, at: ValidationState, old: OldValue): OldValue => {
    const isTypeMeta = at.path.length === 0 && (name === 'apiVersion' || name === 'kind');
    return old === noOldValue || isTypeMeta ? noOldValue : oldMember(old, name);
  };
  return function* (object, at, old, earlier) {
    // Called for objects only.
    const value = object as Readonly<Record<string, unknown>>;
    let matched = earlier + 1;
    if (needsNames) {
      const names = Object.keys(value);
      if (minProperties !== undefined && names.length < minProperties) {
        at.fail((path) =>
          invalid(path, names.length, `${path} in body should have at least ${minProperties} properties`),
        );
      }
      if (maxProperties !== undefined && names.length > maxProperties) {
        at.fail((path) => tooMany(path, names.length, maxProperties));
      }
      for (const name of names) {
        if (at.isStep()) yield;
        if (isDeclared(name)) continue;
        if (additionalProperties === false) {
          at.fail((path) => invalid(path, name, `${path}.${name} in body is a forbidden property`));
        } else if (checkOther) {
          const before = oldOf(name, at, old);
          at.path.push(at.path.length === 0 ? `.${name}` : name);
          const found = checkOther(value[name], at, before);
          matched += typeof found === 'number' ? found : yield* found;
          at.path.pop();
        }
      }
    }
    for (const { name, check } of properties) {
      if (at.isStep()) yield;
      if (!Object.hasOwn(value, name)) continue;
      const before = oldOf(name, at, old);
      at.path.push(name);
      const found = check(value[name], at, before);
      matched += typeof found === 'number' ? found : yield* found;
      at.path.pop();
    }
    for (const name of mustHave) {
      if (at.isStep()) yield;
      if (Object.hasOwn(value, name)) continue;
      at.path.push(at.path.length === 0 ? `.${name}` : name);
      at.fail((path) => required(path));
      at.path.pop();
    }
    return matched;
  };
}
