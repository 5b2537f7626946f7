import { badRequest } from './errors.js';
import { quote } from './go-text.js';
import { pathSegment } from './names.js';
import type { ObjectKey } from './object.js';

/** An object is looked for only under a name that it can have: others, as none or `..`, lead elsewhere in a path. */
export function checkName(name: string): void {
  if (name === '') throw badRequest('Name parameter required.');
  checkSegment('Name', name);
}

/** None stands for all of them. */
export const checkNamespace = (namespace: string): void => checkSegment('Namespace', namespace);

/** No path is longer: servers and what stands before them refuse it unread. */
const longestName = 8_192;

/** Can there be an object under this key at all? */
export const canBeLookedUp = ({ namespace, name }: Partial<ObjectKey>): boolean =>
  Boolean(name) &&
  [name ?? '', namespace ?? ''].every((text) => text.length <= longestName && pathSegment(text).length === 0);

function checkSegment(what: string, text: string): void {
  const wrong = pathSegment(text);
  if (wrong.length > 0) throw badRequest(`${what} parameter invalid: ${quote(text)}: ${wrong.join(';')}`);
}
