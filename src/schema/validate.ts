import { goJson, quote, sortedJson } from '../api/go-text.js';
import type { Json } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { isKnownFormat } from '../api/string-formats.js';
import { child, invalid, notSupported, required, tooMany, typeInvalid, type Violation } from '../api/violations.js';
import { type Failure, Place } from './place.js';
import { printable } from './printable.js';
import { absent, type Old, oldItems, oldMember } from './ratchet.js';
import { same } from './same.js';
import type { Schema } from './schema.js';
import { type Check, compileNumber, compileString, isNearlyWhole, type Kind, kindOf } from './validate-scalars.js';

/**
 * Values against schemas, with the messages of kube-apiserver. A schema is compiled once into closures; each checks
 * one node, notes what fails, and answers how many of its checks succeeded: by that number the branch of an anyOf or
 * oneOf is chosen whose failures are worth telling.
 */

/**
 * Every rule of the schema that the value breaks. `field` stands before the fields of the violations; the texts name
 * paths relative to the value. With `previous`, what is as it was stored passes. In steps, because each of many
 * branches may be about each of many items.
 */
export type Validator = (value: Json, field?: string, previous?: Json) => Steps<readonly Violation[]>;

export interface ValidatorOptions {
  /** Defaults: values beside int-or-string may have any type, and formats count beside any type. */
  readonly forDefaults?: boolean;
}

/** Compiles a schema. Extensions but int-or-string and those that order ratcheting are not looked at. */
export function compileValidator(schema: Schema, options: ValidatorOptions = {}): Validator {
  let check: NodeCheck | undefined;
  return function* (value, field = '', previous) {
    check ??= compileNode(schema, { ...options, nodes: new Map() });
    const first = new Place();
    yield* whole(check(value, first, absent));
    if (first.failures.length === 0) return [];
    if (previous === undefined) return violations(first.failures, field);
    // Only what fails is worth comparing with what was stored.
    const again = new Place();
    yield* whole(check(value, again, previous));
    return violations(again.failures, field);
  };
}

/** The same for a container with all within it; `earlier` so many succeeded. */
type Descent = (value: unknown, at: Place, old: Old, earlier: number) => Steps<number>;
/** One or the other: most values are scalars, and a generator for each would take most of the time. */
type NodeCheck = (value: unknown, at: Place, old: Old) => number | Steps<number>;

function violations(failures: readonly Failure[], prefix: string): readonly Violation[] {
  const seen = new Set<string>();
  return failures.flatMap(({ field, reason, body }) => {
    const whole = [prefix, ...(field === undefined || field === '' ? [] : [field.replace(/^\./, '')])];
    const path = child('', ...whole.filter((part) => part !== '')) || '<nil>';
    const key = `${path}: ${body}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ reason, field: path, body }];
  });
}

/** What a check found, now or in steps. */
function* whole(found: number | Steps<number>): Steps<number> {
  return typeof found === 'number' ? found : yield* found;
}

interface Session extends ValidatorOptions {
  /** A schema may contain itself. */
  readonly nodes: Map<Schema, NodeCheck>;
}

/** Compiled when it is first asked: of many branches and members few may ever be. */
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
  const checkJunctors = compileJunctors(schema, options);
  const checkString = compileString(schema, format);
  const checkNumber = compileNumber(schema, type, format);
  const checkArray = compileArray(schema, options);
  const checkObject = compileObject(schema, options);

  const ofType: Check = (value, at) => (types.length > 0 || format !== '' ? checkType(value, at) + 1 : 0);
  const ofScalar = (kind: Kind, value: unknown, at: Place): number => {
    if (kind === 'string') return checkString(value, at);
    return kind === 'integer' || kind === 'number' ? checkNumber(value, at) + 1 : 0;
  };
  /** What was so before is not held against the value. */
  const ratchet = (before: number, value: unknown, at: Place, old: Old): void => {
    if (at.failures.length > before && at.ratchet.unchanged(value, old, schema)) at.forget(before);
  };

  const checkFlat = (kind: Kind, value: unknown, at: Place, old: Old): number => {
    const before = at.failures.length;
    const matched = kind === 'null' ? checkType(value, at) : ofType(value, at) + 2 + ofScalar(kind, value, at) + 2;
    checkEnum?.(value, at);
    ratchet(before, value, at, old);
    return matched;
  };
  function* checkWhole(kind: Kind, value: unknown, at: Place, old: Old): Steps<number> {
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
    // Nothing comes after what is within.
    if (checkEnum === undefined && old === absent) {
      return (kind === 'array' ? checkArray : checkObject)(value, at, old, ofType(value, at) + 4);
    }
    return checkWhole(kind, value, at, old);
  };
}

function typesOf(schema: Schema, { forDefaults }: ValidatorOptions): readonly string[] {
  if (schema.intOrString && !forDefaults) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

const goTypes: Partial<Record<Kind, string>> = { integer: 'int64', number: 'float64' };

function compileType(types: readonly string[], format: string, nullable: boolean): Check {
  const numeric = types.includes('number') || types.includes('integer');
  const wrong = (at: Place, expected: string, actual: string): number => {
    at.fail((path) => typeInvalid(path, actual, `${path} in body must be of type ${expected}: ${quote(actual)}`));
    return 0;
  };
  const fits = (kind: Kind, value: unknown): boolean =>
    types.includes(kind) ||
    (kind === 'integer' && types.includes('number')) ||
    (kind === 'number' && types.includes('integer') && isNearlyWhole(Number(value)));
  return (value, at) => {
    const kind = kindOf(value);
    if (kind === 'null') return types.length > 0 && !nullable ? wrong(at, types.join(), 'null') : 1;
    if (fits(kind, value)) return 1;
    const goType = goTypes[kind] ?? '';
    const isText = kind === 'string' || kind === 'array';
    if (format !== '' && !isText && goType !== format) return wrong(at, format, goType);
    if (format !== '' && isText && !numeric) return 1;
    return wrong(at, types.join(), kind);
  };
}

/** Go converts a number to the type of what it is compared with: a fraction is cut off, an integer is a character. */
function converted(value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (!Number.isSafeInteger(value)) return Math.trunc(value);
  return value >= 0 && value <= 0x10ffff ? String.fromCodePoint(value) : '\ufffd';
}

/** So many are compared one by one; of more there is an index. */
const fewObjects = 8;

function compileEnum({ enum: allowed }: Schema): Check | undefined {
  if (allowed === undefined || allowed.length === 0) return undefined;
  const shown = allowed.map((value) => (typeof value === 'string' ? value : goJson(printable(value))));
  const scalars = new Set<unknown>(allowed.filter((value) => typeof value !== 'object'));
  const others = allowed.filter((value) => typeof value === 'object' && value !== null);
  // Each of many items would be compared with each of many objects.
  const texts = others.length > fewObjects ? new Set(others.map(sortedJson)) : undefined;
  const isOther = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    (texts?.has(sortedJson(value as Json)) ?? others.some((other) => same(other, value)));
  return (value, at) => {
    at.spend(Math.min(others.length, fewObjects));
    if (scalars.has(value) || scalars.has(converted(value)) || isOther(value)) return 1;
    at.fail((path) => notSupported(path, typeof value === 'object' ? printable(value as Json) : value, shown));
    return 0;
  };
}

interface Attempt {
  readonly matched: number;
  readonly failures: readonly Failure[];
}

/** Runs a check whose failures are looked at before they are told. */
function* apart(check: NodeCheck, value: unknown, at: Place): Steps<Attempt> {
  if (at.isStep()) yield;
  const end = at.setApart();
  const found = check(value, at, absent);
  const matched = typeof found === 'number' ? found : yield* found;
  return { matched, failures: end() };
}

function compileJunctors(
  { anyOf, oneOf, allOf, not }: Schema,
  options: Session,
): ((value: unknown, at: Place) => Steps<number>) | undefined {
  if (!anyOf && !oneOf && !allOf && !not) return undefined;
  const branches = (schemas: readonly Schema[] | undefined): readonly NodeCheck[] =>
    (schemas ?? []).map((schema) => compileNode(schema, options));
  const [any, one, all] = [branches(anyOf), branches(oneOf), branches(allOf)];
  const never = not && compileNode(not, options);
  return function* (value, at) {
    let matched = 1;
    if (any.length > 0) {
      const { best, valid } = yield* attempt(any, value, at, { stopAtFirst: true });
      if (valid === 0) at.failWithoutField((path) => `${quote(path)} must validate at least one schema (anyOf)`);
      at.tell(best.failures);
      matched += best.matched;
    }
    if (one.length > 0) {
      const { best, valid } = yield* attempt(one, value, at, { stopAtFirst: false });
      if (valid !== 1) {
        const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
        at.failWithoutField((path) => `${quote(path)} must validate one and only one schema (oneOf). ${found}`);
      }
      if (valid === 0) at.tell(best.failures);
      if (valid < 2) matched += best.matched;
    }
    if (all.length > 0) {
      let valid = 0;
      for (const check of all) {
        const result = yield* apart(check, value, at);
        at.tell(result.failures);
        matched += result.matched;
        if (result.failures.length === 0) valid++;
      }
      if (valid < all.length) {
        const none = valid === 0 ? '. None validated' : '';
        at.failWithoutField((path) => `${quote(path)} must validate all the schemas (allOf)${none}`);
      }
    }
    if (never && (yield* apart(never, value, at)).failures.length === 0) {
      at.failWithoutField((path) => `${quote(path)} must not validate the schema (not)`);
    }
    return matched;
  };
}

/** The first branch that holds, or else the one that came furthest; and how many hold. */
function* attempt(
  branches: readonly NodeCheck[],
  value: unknown,
  at: Place,
  { stopAtFirst }: { readonly stopAtFirst: boolean },
): Steps<{ readonly best: Attempt; readonly valid: number }> {
  let best: Attempt | undefined;
  let valid = 0;
  for (const branch of branches) {
    const result = yield* apart(branch, value, at);
    if (result.failures.length === 0) {
      if (valid === 0) best = result;
      valid++;
      if (stopAtFirst) break;
    } else if (valid === 0 && (best === undefined || result.matched > best.matched)) best = result;
  }
  return { best: best ?? { matched: 0, failures: [] }, valid };
}

function compileArray(schema: Schema, options: Session): Descent {
  const { minItems, maxItems } = schema;
  const checkItem = schema.items && compileNode(schema.items, options);
  return function* (given, at, old, earlier) {
    // Called for lists only.
    const value = given as readonly unknown[];
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
  const oldOf = (name: string, at: Place, old: Old): Old => {
    const isTypeMeta = at.path.length === 0 && (name === 'apiVersion' || name === 'kind');
    return old === absent || isTypeMeta ? absent : oldMember(old, name);
  };
  return function* (given, at, old, earlier) {
    // Called for objects only.
    const value = given as Readonly<Record<string, unknown>>;
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
