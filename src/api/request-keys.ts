import { badRequest } from './errors.js';
import { quote } from './go-text.js';
import { pathSegment } from './names.js';
import { isObject, keyOf, type ObjectKey, type ObjectMeta } from './object.js';

/** An object is looked for only under a name that it can have: others, as none or `..`, lead elsewhere in a path. */
export const checkName = (name: string): void => checkGiven('Name', name);

/** The same of all that a client is given: only a collection is without a name, and only what is read may be of all namespaces. */
export function checkRequestPath({ namespace, isInOne, name, subresource }: Place): void {
  if (name !== undefined) checkName(name);
  if (isInOne) checkGiven('Namespace', namespace ?? '');
  else if (namespace) checkSegment('Namespace', namespace);
  if (subresource !== undefined) checkGiven('Subresource', subresource);
}

interface Place {
  readonly namespace?: string | undefined;
  /** It has to be in a namespace. */
  readonly isInOne: boolean;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** Where an object is written that a client is given. Throws ApiError (400) for what is none. */
export function requestKey(object: { readonly metadata: ObjectMeta }): ObjectKey {
  const { metadata } = (isObject(object) ? object : {}) as { readonly metadata?: unknown };
  if (!isObject(metadata)) throw badRequest('the object that is given has no metadata');
  return keyOf(object);
}

/** No path is longer: servers and what stands before them refuse it unread. */
const longestName = 8_192;

/** Can there be an object under this key at all? */
export const isValidKey = ({ namespace, name }: Partial<ObjectKey>): boolean =>
  Boolean(name) &&
  [name ?? '', namespace ?? ''].every((text) => text.length <= longestName && pathSegment(text).length === 0);

function checkGiven(what: string, text: string): void {
  if (text === '') throw badRequest(`${what} parameter required.`);
  checkSegment(what, text);
}

function checkSegment(what: string, text: string): void {
  const wrong = pathSegment(text);
  if (wrong.length > 0) throw badRequest(`${what} parameter invalid: ${quote(text)}: ${wrong.join(';')}`);
}
