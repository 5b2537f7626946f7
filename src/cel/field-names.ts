import { isReserved } from './reserved.js';

/** Names of fields as expressions write them (KEP-2876): `a-b` is `a__dash__b`, `namespace` is `__namespace__`. */

const escapes: ReadonlyMap<string, string> = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
]);
const meanings: ReadonlyMap<string, string> = new Map([
  ['underscores', '__'],
  ['dot', '.'],
  ['dash', '-'],
  ['slash', '/'],
]);

/** Returns the name of a field in expressions; undefined when no expression can name it. */
export function escapeField(name: string): string | undefined {
  if (isReserved(name)) return `__${name}__`;
  if (!/^[A-Za-z_./-][\w./-]*$/.test(name)) return undefined;
  return name.replace(/__|[./-]/g, (found) => escapes.get(found) ?? found);
}

/** Returns the field that an expression names; undefined when it is not the name of a field. */
export function unescapeField(escaped: string): string | undefined {
  if (!escaped.includes('__')) return escaped;
  let fits = true;
  const name = escaped.replace(/__([^_]+)__/g, (found, inside: string) => {
    const meaning = meanings.get(inside);
    if (meaning !== undefined) return meaning;
    if (!isReserved(inside) || found !== escaped) fits = false;
    return inside;
  });
  return fits ? name : undefined;
}
