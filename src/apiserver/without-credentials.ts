import { withoutTokenProtocols } from '../auth/bearer-token.js';

/**
 * The part of a header that is kept after authentication, by lower-case name, so that credentials are not passed on.
 */
const passed: Readonly<Record<string, (value: string) => string | undefined>> = {
  authorization: () => undefined,
  'sec-websocket-protocol': withoutTokenProtocols,
};

export const withoutCredentials = (name: string, value: string | undefined): string | undefined =>
  value === undefined || !Object.hasOwn(passed, name) ? value : passed[name]?.(value);
