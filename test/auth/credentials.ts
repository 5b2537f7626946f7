import type { Credentials } from '../../src/auth/authenticator.js';

/** Returns the credentials of a request with these headers (lower-case names) and peer certificates. */
export const credentials = (
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  more: Partial<Pick<Credentials, 'certificates' | 'audiences' | 'path'>> = {},
): Credentials => {
  const values = new Map(Object.entries(headers).map(([name, value]) => [name, [value].flat()]));
  return {
    header: (name) => values.get(name) ?? [],
    headerNames: () => [...values.keys()],
    certificates: [],
    ...more,
  };
};
