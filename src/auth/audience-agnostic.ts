import type { Authenticated, Authenticator } from './authenticator.js';
import type { TokenAuthenticator } from './bearer-token.js';

/** Those of the wanted audiences that are among `known`, in the order (and with the repeats) wanted. */
export function commonAudiences(wanted: readonly string[], known: readonly string[]): readonly string[] {
  const those = new Set(known);
  return wanted.filter((audience) => those.has(audience));
}

/** For tokens that know nothing of audiences: they are meant for the API server's own. */
export const forApiAudiences = (inner: TokenAuthenticator, apiAudiences: readonly string[]): TokenAuthenticator => ({
  authenticateToken: (token, wanted) => within(apiAudiences, wanted, () => inner.authenticateToken(token, wanted)),
});

/** `forApiAudiences` for credentials that are not tokens. */
export const requestForApiAudiences = (inner: Authenticator, apiAudiences: readonly string[]): Authenticator => ({
  authenticate: (credentials) =>
    within(apiAudiences, credentials.audiences ?? apiAudiences, () => inner.authenticate(credentials)),
});

async function within(
  apiAudiences: readonly string[],
  wanted: readonly string[],
  ask: () => Promise<Authenticated | undefined>,
): Promise<Authenticated | undefined> {
  const audiences = commonAudiences(wanted, apiAudiences);
  if (audiences.length === 0) return undefined;
  const found = await ask();
  return found === undefined ? undefined : { ...found, audiences };
}
