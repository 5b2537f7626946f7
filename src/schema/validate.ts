import { goFloatText, goInt64, goJson, quote } from '../api/go-text.js';
import type { Json } from '../api/object.js';
import {
  type CauseReason,
  child,
  invalid,
  maxViolations,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  type Violation,
} from '../api/violations.js';
import { isKnownFormat, stringFormat } from './formats.js';
import { printable } from './printable.js';
import { absent, type Old, oldItems, oldMember, unchanged } from './ratchet.js';
import { compile } from './regular-expression.js';
import { same } from './same.js';
import type { Schema } from './schema.js';

/**
 * Values against schemas, with the messages of kube-apiserver. A schema is compiled once into closures; each checks
 * one node, notes what fails, and answers how many of its checks succeeded: by that number the branch of an anyOf or
 * oneOf is chosen whose failures are worth telling.
 */

/**
 * Every rule of the schema that the value breaks. `field` stands before the fields of the violations; the texts name
 * paths relative to the value. With `previous`, what is as it was stored passes.
 */
export type Validator = (value: Json, field?: string, previous?: Json) => readonly Violation[];

export interface ValidatorOptions {
  /** Defaults: values beside int-or-string may have any type, and formats count beside any type. */
  readonly forDefaults?: boolean;
}

/** Compiles a schema. Extensions but int-or-string and those that order ratcheting are not looked at. */
export function compileValidator(schema: Schema, options: ValidatorOptions = {}): Validator {
  let check: Check | undefined;
  return (value, field = '', previous) => {
    check ??= compileNode(schema, { ...options, nodes: new Map() });
    const first: Place = { path: [], failures: [] };
    check(value, first, absent);
    if (first.failures.length === 0) return [];
    if (previous === undefined) return violations(first.failures, field);
    // Only what fails is worth comparing with what was stored.
    const again: Place = { path: [], failures: [] };
    check(value, again, previous);
    return violations(again.failures, field);
  };
}

/** A failure before it is known what stands before its field. */
interface Failure {
  /** Relative path; absent for failures that carry no field. */
  readonly field: string | undefined;
  readonly reason: CauseReason;
  readonly body: string;
}

/** Where a check is, and what has failed so far. */
interface Place {
  readonly path: (string | number)[];
  failures: Failure[];
}

/** Notes failures and answers the number of checks that were made and succeeded. */
type Check = (value: unknown, at: Place, old: Old) => number;

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

const text = ({ path }: Place): string => {
  let out = '';
  for (const segment of path) {
    if (typeof segment === 'number') out += `[${segment}]`;
    else out += out === '' ? segment : `.${segment}`;
  }
  return out;
};

/** Notes a failure of the value at this place, unless there are enough; `make` gets the place's path. */
const fail = (at: Place, make: (path: string) => Violation): void => {
  if (at.failures.length >= maxViolations) return;
  const path = text(at);
  const { reason, body } = make(path);
  at.failures.push({ field: path, reason, body });
};
/** Notes a failure that carries no field, only a text. */
const failWithoutField = (at: Place, detail: (path: string) => string): void => {
  if (at.failures.length >= maxViolations) return;
  const { reason, body } = invalid('', '', detail(text(at)));
  at.failures.push({ field: undefined, reason, body });
};

type Kind = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object';

/** The JSON type of a value; whole numbers within 64 bits are integers. A float of that size is not, as in Go. */
function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'string') return 'string';
  return typeof value === 'boolean' ? 'boolean' : 'object';
}

const int32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };
/** Up to the largest double below 2^63: one of that size is no int64 any more, of either sign. */
const isInt64 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63;

interface Session extends ValidatorOptions {
  /** Nodes compiled already or being compiled: a schema may contain itself. */
  readonly nodes: Map<Schema, Check>;
}

function compileNode(schema: Schema, session: Session): Check {
  const known = session.nodes.get(schema);
  if (known !== undefined) return known;
  let compiled: Check | undefined;
  session.nodes.set(schema, (value, at, old) => compiled?.(value, at, old) ?? 0);
  compiled = buildNode(schema, session);
  session.nodes.set(schema, compiled);
  return compiled;
}

function buildNode(schema: Schema, options: Session): Check {
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

  const run: Check = (value, at, old) => {
    const kind = kindOf(value);
    if (kind === 'null') {
      const matched = checkType(value, at, old);
      checkEnum?.(value, at, old);
      return matched;
    }
    let matched = types.length > 0 || format !== '' ? checkType(value, at, old) + 1 : 0;
    matched += checkJunctors === undefined ? 2 : checkJunctors(value, at, old) + 1;
    if (kind === 'string') matched += checkString(value, at, old);
    else if (kind === 'integer' || kind === 'number') matched += checkNumber(value, at, old) + 1;
    else if (kind === 'array') matched += checkArray(value, at, old) + 1;
    checkEnum?.(value, at, old);
    if (kind === 'object') matched += checkObject(value, at, old) + 1;
    return matched + 2;
  };

  return (value, at, old) => {
    const before = at.failures.length;
    const matched = run(value, at, old);
    if (at.failures.length > before && unchanged(value, old, schema)) at.failures.length = before;
    return matched;
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
    fail(at, (path) => typeInvalid(path, actual, `${path} in body must be of type ${expected}: ${quote(actual)}`));
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

function compileEnum({ enum: allowed }: Schema): Check | undefined {
  if (allowed === undefined || allowed.length === 0) return undefined;
  const shown = allowed.map((value) => (typeof value === 'string' ? value : goJson(printable(value))));
  const scalars = new Set<unknown>(allowed.filter((value) => typeof value !== 'object'));
  const others = allowed.filter((value) => typeof value === 'object' && value !== null);
  return (value, at) => {
    if (scalars.has(value) || scalars.has(converted(value)) || others.some((other) => same(other, value))) return 1;
    fail(at, (path) => notSupported(path, typeof value === 'object' ? printable(value as Json) : value, shown));
    return 0;
  };
}

/** Runs a check whose failures are looked at before they are told. */
function apart(check: Check, value: unknown, at: Place): { readonly matched: number; readonly failures: Failure[] } {
  const outer = at.failures;
  at.failures = [];
  const matched = check(value, at, absent);
  const { failures } = at;
  at.failures = outer;
  return { matched, failures };
}

function compileJunctors({ anyOf, oneOf, allOf, not }: Schema, options: Session): Check | undefined {
  if (!anyOf && !oneOf && !allOf && !not) return undefined;
  const branches = (schemas: readonly Schema[] | undefined): readonly Check[] =>
    (schemas ?? []).map((schema) => compileNode(schema, options));
  const [any, one, all] = [branches(anyOf), branches(oneOf), branches(allOf)];
  const never = not && compileNode(not, options);
  return (value, at) => {
    let matched = 1;
    const tell = (failures: readonly Failure[]): void => {
      for (const failure of failures) at.failures.push(failure);
    };
    if (any.length > 0) {
      const { best, valid } = attempt(any, value, at, { stopAtFirst: true });
      if (valid === 0) failWithoutField(at, (path) => `${quote(path)} must validate at least one schema (anyOf)`);
      tell(best.failures);
      matched += best.matched;
    }
    if (one.length > 0) {
      const { best, valid } = attempt(one, value, at, { stopAtFirst: false });
      if (valid !== 1) {
        const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
        failWithoutField(at, (path) => `${quote(path)} must validate one and only one schema (oneOf). ${found}`);
      }
      if (valid === 0) tell(best.failures);
      if (valid < 2) matched += best.matched;
    }
    if (all.length > 0) {
      const results = all.map((check) => apart(check, value, at));
      for (const result of results) {
        tell(result.failures);
        matched += result.matched;
      }
      const valid = results.filter(({ failures }) => failures.length === 0).length;
      if (valid < all.length) {
        const none = valid === 0 ? '. None validated' : '';
        failWithoutField(at, (path) => `${quote(path)} must validate all the schemas (allOf)${none}`);
      }
    }
    if (never && apart(never, value, at).failures.length === 0) {
      failWithoutField(at, (path) => `${quote(path)} must not validate the schema (not)`);
    }
    return matched;
  };
}

/** The first branch that holds, or else the one that came furthest; and how many hold. */
function attempt(
  branches: readonly Check[],
  value: unknown,
  at: Place,
  { stopAtFirst }: { readonly stopAtFirst: boolean },
): { readonly best: { readonly matched: number; readonly failures: readonly Failure[] }; readonly valid: number } {
  let best: { readonly matched: number; readonly failures: readonly Failure[] } | undefined;
  let valid = 0;
  for (const branch of branches) {
    const result = apart(branch, value, at);
    if (result.failures.length === 0) {
      if (valid === 0) best = result;
      valid++;
      if (stopAtFirst) break;
    } else if (valid === 0 && (best === undefined || result.matched > best.matched)) best = result;
  }
  return { best: best ?? { matched: 0, failures: [] }, valid };
}

/** Length in code points, as the limits count it. */
function codePoints(value: string): number {
  let count = value.length;
  for (let i = 0; i < value.length - 1; i++) {
    const high = value.charCodeAt(i);
    if (high < 0xd800 || high > 0xdbff) continue;
    const low = value.charCodeAt(i + 1);
    if (low >= 0xdc00 && low <= 0xdfff) {
      count--;
      i++;
    }
  }
  return count;
}

function compileString({ minLength, maxLength, pattern }: Schema, format: string): Check {
  const isFormat = format === '' ? undefined : stringFormat(format);
  const first = (value: string, at: Place): void => {
    if (maxLength !== undefined && value.length > maxLength && codePoints(value) > maxLength) {
      fail(at, (path) => tooLong(path, maxLength));
    } else if (minLength !== undefined && (value.length < minLength || codePoints(value) < minLength)) {
      fail(at, (path) => invalid(path, value, `${path} in body should be at least ${minLength} chars long`));
    } else if (pattern) {
      const { expression, error } = compile(pattern);
      if (error === undefined && expression.test(value)) return;
      const why = error === undefined ? '' : `, but pattern is invalid: ${error}`;
      fail(at, (path) => invalid(path, value, `${path} in body should match '${pattern}${why}'`));
    }
  };
  return (given, at) => {
    const value = String(given);
    first(value, at);
    if (isFormat === undefined) return 1;
    if (!isFormat(value)) {
      fail(at, (path) => typeInvalid(path, value, `${path} in body must be of type ${format}: ${quote(value)}`));
    }
    return 2;
  };
}

const badNumber = (path: string, value: number | bigint, detail: string): Violation => invalid(path, value, detail);

/** Go's idea of a whole number (go-openapi/swag): so near to one that the difference is rounding. */
function isNearlyWhole(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  if (Number.isInteger(value)) return true;
  if (value < 0) return false;
  const whole = Math.trunc(value);
  return whole !== 0 && Math.abs(value - whole) / (value + whole) < 1e-9;
}

/** A limit as it is and as an int64. */
interface Limit {
  readonly float: number;
  readonly whole: bigint;
  readonly inRange: boolean;
}

function compileNumber(schema: Schema, type: string, format: string): Check {
  const inRange = rangeOf(type, format);
  const limitOf = (float: number | undefined): Limit | undefined =>
    float === undefined ? undefined : { float, whole: goInt64(float), inRange: inRange(float) };
  const multipleOf = limitOf(schema.multipleOf);
  const minimum = limitOf(schema.minimum);
  const maximum = limitOf(schema.maximum);
  const named = `of type ${type}${format === '' ? ' (default format)' : ` with format ${format}`}`;
  const outOfRange = (at: Place, what: string): void => {
    failWithoutField(at, (path) => `${what} value must be ${named} in ${path}`);
  };
  /** Integers are compared with the integer part of a limit, unless the limit does not fit the type. */
  const limitFor = (value: number | bigint, limit: Limit, at: Place, what: string): number | bigint => {
    if (!limit.inRange) outOfRange(at, what);
    else if (kindOf(value) === 'integer') return limit.whole;
    return limit.float;
  };
  return (given, at) => {
    const value = typeof given === 'bigint' ? given : Number(given);
    if (!inRange(value)) outOfRange(at, 'Checked');
    if (multipleOf !== undefined) {
      checkMultiple(value, limitFor(value, multipleOf, at, 'MultipleOf'), at);
    }
    if (minimum) {
      const limit = limitFor(value, minimum, at, 'Minimum boundary');
      if (schema.exclusiveMinimum ? value <= limit : value < limit) {
        const than = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
        fail(at, (path) => badNumber(path, value, `${path} in body should be ${than} ${limitText(limit)}`));
      }
    }
    if (maximum) {
      const limit = limitFor(value, maximum, at, 'Maximum boundary');
      if (schema.exclusiveMaximum ? value >= limit : value > limit) {
        const than = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
        fail(at, (path) => badNumber(path, value, `${path} in body should be ${than} ${limitText(limit)}`));
      }
    }
    return 1;
  };
}

const limitText = (limit: number | bigint): string => (typeof limit === 'bigint' ? String(limit) : goFloatText(limit));

function checkMultiple(value: number | bigint, factor: number | bigint, at: Place): void {
  if (factor <= 0) {
    fail(at, (path) =>
      badNumber(path, factor, `factor MultipleOf declared for ${path} must be positive: ${limitText(factor)}`),
    );
    return;
  }
  if (isMultiple(value, factor)) return;
  fail(at, (path) => badNumber(path, value, `${path} in body should be a multiple of ${limitText(factor)}`));
}

function isMultiple(value: number | bigint, factor: number | bigint): boolean {
  if (typeof factor === 'bigint') return BigInt(value) % factor === 0n;
  const number = Number(value);
  return isNearlyWhole(factor < 1 ? (1 / factor) * number : number / factor);
}

/** Does a number fit a numeric type and format? */
function rangeOf(type: string, format: string): (value: number | bigint) => boolean {
  if (type === 'integer' && format === 'int32') {
    return (value) => kindOf(value) === 'integer' && value >= int32.min && value <= int32.max;
  }
  if (type === 'integer') return (value) => typeof value === 'bigint' || isInt64(value);
  if (type === 'number' && format === 'float') return (value) => Number.isFinite(Math.fround(Number(value)));
  return () => true;
}

function compileArray(schema: Schema, options: Session): Check {
  const { minItems, maxItems } = schema;
  const checkItem = schema.items && compileNode(schema.items, options);
  return (value, at, old) => {
    if (!Array.isArray(value)) return 0;
    let matched = 1;
    if (checkItem) {
      const oldItem = oldItems(old, schema);
      for (let i = 0; i < value.length; i++) {
        at.path.push(i);
        matched += checkItem(value[i], at, oldItem(value[i]));
        at.path.pop();
      }
    }
    if (minItems !== undefined && value.length < minItems) {
      fail(at, (path) => invalid(path, value.length, `${path} in body should have at least ${minItems} items`));
    }
    if (maxItems !== undefined && value.length > maxItems) fail(at, (path) => tooMany(path, value.length, maxItems));
    return matched;
  };
}

function compileObject(schema: Schema, options: Session): Check {
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
  const step = (check: Check, value: unknown, name: string, segment: string, at: Place, old: Old): number => {
    const isTypeMeta = at.path.length === 0 && (name === 'apiVersion' || name === 'kind');
    at.path.push(segment);
    const matched = check(value, at, old === absent || isTypeMeta ? absent : oldMember(old, name));
    at.path.pop();
    return matched;
  };
  return (given, at, old) => {
    // Called for objects only.
    const value = given as Readonly<Record<string, unknown>>;
    let matched = 0;
    if (needsNames) {
      const names = Object.keys(value);
      if (minProperties !== undefined && names.length < minProperties) {
        fail(at, (path) =>
          invalid(path, names.length, `${path} in body should have at least ${minProperties} properties`),
        );
      }
      if (maxProperties !== undefined && names.length > maxProperties) {
        fail(at, (path) => tooMany(path, names.length, maxProperties));
      }
      for (const name of names) {
        if (isDeclared(name)) continue;
        if (additionalProperties === false) {
          fail(at, (path) => invalid(path, name, `${path}.${name} in body is a forbidden property`));
        } else if (checkOther) {
          matched += step(checkOther, value[name], name, at.path.length === 0 ? `.${name}` : name, at, old);
        }
      }
    }
    for (const { name, check } of properties) {
      if (Object.hasOwn(value, name)) matched += step(check, value[name], name, name, at, old);
    }
    for (const name of mustHave) {
      if (Object.hasOwn(value, name)) continue;
      at.path.push(at.path.length === 0 ? `.${name}` : name);
      fail(at, (path) => required(path));
      at.path.pop();
    }
    return matched;
  };
}
