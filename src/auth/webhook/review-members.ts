import { cannotUnmarshalField } from '../../api/json-exact.js';
import { isObject, type Json } from '../../api/object.js';

/**
 * Readers of the members of a review's status. Absent and null members have the empty value. A member of another type is
 * an error, with Go's text: guessing what a webhook meant could grant access. `field` is the field of the Go type.
 */

export const flagIn = (value: unknown, field: string): boolean =>
  isAbsent(value) ? false : ofType<boolean>(typeof value === 'boolean', value, field, 'bool');

export const textIn = (value: unknown, field: string): string =>
  isAbsent(value) ? '' : ofType<string>(typeof value === 'string', value, field, 'string');

export const textsIn = (value: unknown, field: string, type = '[]string'): readonly string[] =>
  isAbsent(value)
    ? []
    : ofType<readonly unknown[]>(Array.isArray(value), value, field, type).map((one) => textIn(one, field));

export const membersIn = (value: unknown, field: string, type: string): Readonly<Record<string, unknown>> =>
  isAbsent(value) ? {} : ofType<Readonly<Record<string, unknown>>>(isObject(value), value, field, type);

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null;

function ofType<T>(fits: boolean, value: unknown, field: string, type: string): T {
  if (fits) return value as T;
  throw new Error(cannotUnmarshalField(value as Json, field, type));
}
