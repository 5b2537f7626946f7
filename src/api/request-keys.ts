import { badRequest } from './errors.js';
import { quote } from './go-text.js';
import { pathSegment } from './names.js';
import { isObject, keyOf, type ObjectKey, type ObjectMeta } from './object.js';

/** Throws BadRequest for an invalid name: an empty one or `..` would lead to another path. */
export const checkName = (name: string): void => checkGiven('Name', name);

/** Throws BadRequest for a path that cannot exist. `name` is undefined for a collection only; all namespaces can only be read. */
export function checkRequestPath({ namespace, isInOne, name, subresource }: RequestLocation): void {
  if (name !== undefined) checkName(name);
  if (isInOne) checkGiven('Namespace', namespace ?? '');
  else if (namespace) checkSegment('Namespace', namespace);
  if (subresource !== undefined) checkGiven('Subresource', subresource);
}

interface RequestLocation {
  readonly namespace?: string | undefined;
  /** Whether the object has to be in a namespace. */
  readonly isInOne: boolean;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** Returns the key under which a client is to write an object. Throws ApiError (400) for what is not an object. */
export function requestKey(object: { readonly metadata: ObjectMeta }): ObjectKey {
  const { metadata } = (isObject(object) ? object : {}) as { readonly metadata?: unknown };
  if (!isObject(metadata)) throw badRequest('the object that is given has no metadata');
  return keyOf(object);
}

/** The maximum length of a name: servers and proxies refuse URLs with longer ones. */
const longestName = 8_192;

/** Whether an object can have this key. */
export const isValidKey = ({ namespace, name }: Partial<ObjectKey>): boolean =>
  Boolean(name) &&
  [name ?? '', namespace ?? ''].every((text) => text.length <= longestName && pathSegment(text).length === 0);

function checkGiven(parameter: string, text: string): void {
  if (text === '') throw badRequest(`${parameter} parameter required.`);
  checkSegment(parameter, text);
}

function checkSegment(parameter: string, text: string): void {
  const wrong = pathSegment(text);
  if (wrong.length > 0) throw badRequest(`${parameter} parameter invalid: ${quote(text)}: ${wrong.join(';')}`);
}
