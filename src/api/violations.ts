import { goJson, goJsonInSteps, goNumber, quote } from './go-text.js';
import type { Json } from './object.js';
import { isSteps, runSync, type Steps } from './steps.js';

/**
 * One broken rule of one field. A list of them becomes a 422 Status (see `errors.ts`);
 * wording and cause reasons follow Kubernetes' field errors.
 */
export interface Violation {
  readonly reason: CauseReason;
  /** Path such as `spec.usages[0]`; `<nil>` where Kubernetes has no path. */
  readonly field: string;
  /** The text after `<field>: `, and the `message` of the cause. */
  readonly body: string;
}

/** Violations, which come in steps if finding them can take long. */
export type Findings = readonly Violation[] | Steps<readonly Violation[]>;

/** The type of a violation, as in `details.causes[].reason`. */
export type CauseReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooShort'
  | 'FieldValueTooMany'
  | 'FieldValueTooFew'
  | 'InternalError';

const tail = (detail: string | undefined): string => (detail ? `: ${detail}` : '');
const plural = (count: number, one: string): string => (count === 1 ? one : `${one}s`);

/** Formats an invalid value as Go does in field errors: strings quoted, numbers and booleans bare, the rest as JSON. */
function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value);
  if (typeof value === 'boolean') return String(value);
  return goJson(value);
}

export const required = (field: string, detail?: string): Violation => ({
  reason: 'FieldValueRequired',
  field,
  body: `Required value${tail(detail)}`,
});

export const invalid = (field: string, value: unknown, detail?: string): Violation =>
  invalidText(field, valueText(value), detail);

/** Like `invalid`, with a text for the value. */
export const invalidText = (field: string, text: string, detail?: string): Violation => ({
  reason: 'FieldValueInvalid',
  field,
  body: `Invalid value: ${text}${tail(detail)}`,
});

/** Like `invalid`, without showing the value. */
export const invalidWithoutValue = (field: string, detail: string): Violation => ({
  reason: 'FieldValueInvalid',
  field,
  body: `Invalid value: ${detail}`,
});

/** Like `invalid`, in steps for a value that may be large. */
export function* invalidInSteps(field: string, value: Json, detail: string): Steps<Violation> {
  const text = typeof value === 'object' ? yield* goJsonInSteps(value) : valueText(value);
  return { reason: 'FieldValueInvalid', field, body: `Invalid value: ${text}${tail(detail)}` };
}

/** One violation for each detail about a value, which may be long and is formatted once. */
export const eachInvalid = (field: string, value: unknown, details: readonly string[]): readonly Violation[] =>
  details.map(invalidOnce(field, value));

/** Returns the error for a number outside a range, both ends included; empty if it is valid. */
export const outOfRange = (number: number, least: number, most: number): readonly string[] =>
  number >= least && number <= most ? [] : [`must be between ${least} and ${most}, inclusive`];

/** Returns the error for a port number; empty if it is valid. */
export const invalidPort = (number: number): readonly string[] => outOfRange(number, 1, 65_535);

/** Like `invalid` for several details about one value, which is formatted once. */
export function invalidOnce(field: string, value: unknown): (detail: string) => Violation {
  let body: string | undefined;
  return (detail) => {
    body ??= `Invalid value: ${valueText(value)}`;
    return { reason: 'FieldValueInvalid', field, body: `${body}${tail(detail)}` };
  };
}

/** Violation for an expression that does not compile or that, where this counts as an internal error, fails before evaluation. */
export const invalidExpression = (
  field: string,
  expression: string,
  { wrong, isInternal = false }: { readonly wrong: string; readonly isInternal?: boolean },
): Violation =>
  isInternal ? { reason: 'InternalError', field, body: `Internal error: ${wrong}` } : invalid(field, expression, wrong);

/** Like `invalid`, for a value of the wrong type. */
export const typeInvalid = (field: string, value: unknown, detail: string): Violation => ({
  ...invalid(field, value, detail),
  reason: 'FieldValueTypeInvalid',
});

/** Violation for an unsupported value. The supported values are printed in quotes, in the given order. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): Violation =>
  notSupportedText(field, valueText(value), supported);

const notSupportedText = (field: string, text: string, supported: readonly string[]): Violation => ({
  reason: 'FieldValueNotSupported',
  field,
  body: `Unsupported value: ${text}${supported.length ? `: supported values: ${supported.map(quote).join(', ')}` : ''}`,
});

/** Like `invalid`, for a string of a named Go type, which Kubernetes prints as JSON. */
export const invalidTypedString = (field: string, word: string, detail: string): Violation =>
  invalidText(field, goJson(word), detail);

/** Like `notSupported`, for a string of a named Go type. */
export const notSupportedTypedString = (field: string, word: string, supported: readonly string[]): Violation =>
  notSupportedText(field, goJson(word), supported);

export const forbiddenField = (field: string, detail: string): Violation => ({
  reason: 'FieldValueForbidden',
  field,
  body: `Forbidden${tail(detail)}`,
});

export const duplicate = (field: string, value: unknown): Violation => ({
  reason: 'FieldValueDuplicate',
  field,
  body: `Duplicate value: ${valueText(value)}`,
});

export const notFoundValue = (field: string, value: unknown): Violation => ({
  reason: 'FieldValueNotFound',
  field,
  body: `Not found: ${valueText(value)}`,
});

export const tooLong = (field: string, maxBytes: number): Violation => ({
  reason: 'FieldValueTooLong',
  field,
  body: `Too long: ${maxBytes < 0 ? 'value is too long' : `may not be more than ${maxBytes} ${plural(maxBytes, 'byte')}`}`,
});

export const tooMany = (field: string, actual: number, max: number): Violation => ({
  reason: 'FieldValueTooMany',
  field,
  body: `Too many: ${actual}: ${max < 0 ? 'has too many items' : `must have at most ${max} ${plural(max, 'item')}`}`,
});

/** Returns the path `base.member`; a member of the root has no leading dot. */
export const child = (path: string, ...members: readonly string[]): string =>
  members.reduce((joined, member) => (joined === '' ? member : `${joined}.${member}`), path);
export const index = (path: string, at: number): string => `${path}[${at}]`;
/** Returns the path of a map's element: `data[key]`. */
export const mapKey = (path: string, key: string): string => `${path}[${key}]`;

/**
 * The maximum number of violations reported for one list: a hostile body may break a rule in every item, and an answer that
 * repeats all of it helps nobody.
 */
export const maxViolations = 1_000;

/** The maximum number of characters of all violations in one response; the first one is reported whatever its size. */
export const maxViolationChars = 1_048_576;

/** Returns the leading violations that fit into one response. */
export function limitViolations(violations: readonly Violation[]): readonly Violation[] {
  let size = 0;
  const end = violations.findIndex(({ field, body }, at) => {
    size += field.length + body.length;
    return at > 0 && (size > maxViolationChars || at >= maxViolations);
  });
  return end < 0 ? violations : violations.slice(0, end);
}

/** Returns a function that appends any number of violations; spreading them into `push` could exceed the argument limit. */
export const appenderTo =
  (found: Violation[]) =>
  (more: readonly Violation[]): void => {
    for (const violation of more) found.push(violation);
  };

/** Returns the violations of all items, in order; stops once there are `maxViolations`. */
export function validateEach<T>(
  items: Iterable<T>,
  check: (item: T, at: number) => readonly Violation[],
): readonly Violation[] {
  return runSync(validateEachInSteps(items, check));
}

/** Like `validateEach`, in steps for items that may be large. */
export function* validateEachInSteps<T>(
  items: Iterable<T>,
  check: (item: T, at: number) => Findings,
): Steps<readonly Violation[]> {
  const found: Violation[] = [];
  let at = 0;
  for (const item of items) {
    if (found.length >= maxViolations) break;
    const violations = check(item, at++);
    // Not `resultOf`, which would create another generator for each of many items.
    for (const violation of isSteps(violations) ? yield* violations : violations) found.push(violation);
    yield;
  }
  return found;
}
