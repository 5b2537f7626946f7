import { isObject } from './object.js';

/** A small schema builder for untyped values from outside: options, and the contents of files. Pure. */

/** A problem of a value, and its path within the value. */
export interface Problem {
  /** The path, such as `rules[0].name`; empty for the value itself. */
  readonly path: string;
  /** The text after the path: `must be …, not …`, `is missing`, `is unknown`. */
  readonly wrong: string;
}

/** Returns the first problem of the value at a path; undefined if it is valid. */
export type Check = (value: unknown, path: string) => Problem | undefined;
/** A check for every member of a type. */
export type Checks<T> = { readonly [K in keyof Required<T>]: Check };

/** A problem as one sentence that begins with its path. */
export const problemText = ({ path, wrong }: Problem): string => (path === '' ? wrong : `${path}: ${wrong}`);

export const checkThat =
  (expected: string, holds: (value: unknown) => boolean): Check =>
  (value, path) =>
    holds(value) ? undefined : { path, wrong: `must be ${expected}, not ${describe(value)}` };

function describe(value: unknown): string {
  if (value === null || ['undefined', 'number', 'boolean'].includes(typeof value)) return String(value);
  if (typeof value === 'string') return JSON.stringify(value.length > 50 ? `${value.slice(0, 50)}…` : value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export const isNonEmptyString = (value: unknown): value is string => typeof value === 'string' && value !== '';

export const nonEmptyString = checkThat('a text that is not empty', isNonEmptyString);
export const anyString = checkThat('a text', (value) => typeof value === 'string');
export const boolean = checkThat('true or false', (value) => typeof value === 'boolean');
export const anyObject = checkThat('an object', isObject);

export const oneOf = (values: readonly string[]): Check =>
  checkThat(`one of ${values.join(', ')}`, (value) => values.some((one) => one === value));

/** An integer from `from` to `to`, both included. */
export function integer({ from, to }: { readonly from: number; readonly to?: number }): Check {
  const expected = to === undefined ? `a whole number of at least ${from}` : `a whole number from ${from} to ${to}`;
  const most = to ?? Number.MAX_SAFE_INTEGER;
  return checkThat(expected, (value) => Number.isInteger(value) && Number(value) >= from && Number(value) <= most);
}

export const listOf =
  (each: Check, { least = 0 } = {}): Check =>
  (value, path) => {
    const isList = (items: unknown): boolean => Array.isArray(items) && items.length >= least;
    const problem = checkThat(least > 0 ? 'a list that is not empty' : 'a list', isList)(value, path);
    if (problem !== undefined) return problem;
    return first((value as readonly unknown[]).keys(), (at) =>
      each((value as readonly unknown[])[at], `${path}[${at}]`),
    );
  };

/** An object with arbitrary member names. */
export const mapOf =
  (each: Check): Check =>
  (value, path) =>
    anyObject(value, path) ??
    first(Object.entries(value as object), ([name, member]) => each(member, `${path}[${JSON.stringify(name)}]`));

/** An object with these members and no others; the `needed` ones are required. A member that is `undefined` counts as absent. */
export const fields =
  <T>(checks: Checks<T>, ...needed: readonly (keyof T & string)[]): Check =>
  (value, path) => {
    const problem = anyObject(value, path);
    if (problem !== undefined) return problem;
    const members = value as Readonly<Record<string, unknown>>;
    const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
    const unknown = Object.keys(members).find((name) => !Object.hasOwn(checks, name));
    if (unknown !== undefined) return { path: at(unknown), wrong: 'is unknown' };
    return first(Object.keys(checks) as (keyof T & string)[], (name) => {
      const member = members[name];
      if (member !== undefined) return checks[name](member, at(name));
      return needed.includes(name) ? { path: at(name), wrong: 'is missing' } : undefined;
    });
  };

/** A union: the value is checked by the first form whose distinguishing member it has. */
export const oneForm =
  (expected: string, forms: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    const problem = anyObject(value, path);
    if (problem !== undefined) return problem;
    const form = Object.keys(forms).find((name) => (value as Readonly<Record<string, unknown>>)[name] !== undefined);
    return form === undefined ? { path, wrong: `must have ${expected}` } : forms[form]?.(value, path);
  };

function first<T>(all: Iterable<T>, problemOf: (one: T) => Problem | undefined): Problem | undefined {
  for (const one of all) {
    const problem = problemOf(one);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
