import { badRequest } from './errors.js';
import { quote } from './go-text.js';
import { pathSegment } from './names.js';

/** An object is looked for only under a name that it can have: others, as none or `..`, lead elsewhere in a path. */
export function checkName(name: string): void {
  if (name === '') throw badRequest('Name parameter required.');
  checkSegment('Name', name);
}

/** None stands for all of them. */
export const checkNamespace = (namespace: string): void => checkSegment('Namespace', namespace);

function checkSegment(what: string, text: string): void {
  const wrong = pathSegment(text);
  if (wrong.length > 0) throw badRequest(`${what} parameter invalid: ${quote(text)}: ${wrong.join(';')}`);
}
