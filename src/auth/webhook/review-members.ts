import { jsonKind } from '../../api/json-exact.js';
import { isObject, type Json } from '../../api/object.js';

/**
 * Readers of members of a review's status. An absent or null member has the empty value. One of another type is an error,
 * with Go's text: guessing what a webhook meant could let somebody in. `field` is the member's place in the Go types.
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
  throw new Error(`json: cannot unmarshal ${jsonKind(value as Json)} into Go struct field ${field} of type ${type}`);
}
