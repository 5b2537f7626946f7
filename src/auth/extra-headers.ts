import { utf8Text } from '../api/utf8-text.js';
import type { Credentials } from './authenticator.js';

/**
 * Reads the extra attributes of a user from headers `<prefix><key>: value` with any of the prefixes. Keys are in lower
 * case and percent-decoded; a key that cannot be decoded is left as it is. The values of a key keep their order.
 */
export function readExtraHeaders(
  headers: Pick<Credentials, 'header' | 'headerNames'>,
  ...prefixes: readonly string[]
): Readonly<Record<string, readonly string[]>> {
  const extra = new Map<string, string[]>();
  for (const name of new Set(headers.headerNames())) {
    for (const prefix of prefixes.filter((each) => name.startsWith(each))) {
      const key = decoded(name.slice(prefix.length));
      const values = extra.get(key);
      if (values === undefined) extra.set(key, [...headers.header(name)]);
      else for (const value of headers.header(name)) values.push(value);
    }
  }
  return Object.fromEntries(extra);
}

function decoded(key: string): string {
  if (/%(?![0-9a-f]{2})/.test(key)) return key;
  const bytes = key.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return utf8Text(Buffer.from(bytes, 'latin1'));
}
