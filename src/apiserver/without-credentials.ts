import { withoutTokenProtocols } from '../auth/bearer-token.js';

/** By lower-case name: what is left of a header after authentication, so that credentials go no further. */
const passed: Readonly<Record<string, (value: string) => string | undefined>> = {
  authorization: () => undefined,
  'sec-websocket-protocol': withoutTokenProtocols,
};

export const withoutCredentials = (name: string, value: string | undefined): string | undefined =>
  value === undefined || !Object.hasOwn(passed, name) ? value : passed[name]?.(value);
