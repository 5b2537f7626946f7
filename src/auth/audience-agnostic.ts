import type { Authenticated, Authenticator } from './authenticator.js';
import type { TokenAuthenticator } from './bearer-token.js';

/** Returns the wanted audiences that are among `known`, in the order of `wanted` and with its duplicates. */
export function commonAudiences(wanted: readonly string[], known: readonly string[]): readonly string[] {
  const those = new Set(known);
  return wanted.filter((audience) => those.has(audience));
}

/**
 * Wraps a token authenticator that does not know audiences: its tokens count as tokens for the API server's own
 * audiences.
 */
export const forApiAudiences = (inner: TokenAuthenticator, apiAudiences: readonly string[]): TokenAuthenticator => ({
  authenticateToken: (token, wanted) => within(apiAudiences, wanted, () => inner.authenticateToken(token, wanted)),
});

/** Like `forApiAudiences`, for credentials other than tokens. */
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
