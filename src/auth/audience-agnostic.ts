import type { Authenticated, Authenticator } from './authenticator.js';
import type { TokenAuthenticator } from './bearer-token.js';

/** Returns the wanted audiences that are among `known`, in the order of `requested` and with its duplicates. */
export function commonAudiences(requested: readonly string[], known: readonly string[]): readonly string[] {
  const knownSet = new Set(known);
  return requested.filter((audience) => knownSet.has(audience));
}

/**
 * Wraps a token authenticator that does not know audiences: its tokens count as tokens for the API server's own
 * audiences.
 */
export const forApiAudiences = (inner: TokenAuthenticator, apiAudiences: readonly string[]): TokenAuthenticator => ({
  authenticateToken: (token, audiences) =>
    withAudiences(apiAudiences, audiences, () => inner.authenticateToken(token, audiences)),
});

/** Like `forApiAudiences`, for credentials other than tokens. */
export const requestForApiAudiences = (inner: Authenticator, apiAudiences: readonly string[]): Authenticator => ({
  authenticate: (credentials) =>
    withAudiences(apiAudiences, credentials.audiences ?? apiAudiences, () => inner.authenticate(credentials)),
});

async function withAudiences(
  apiAudiences: readonly string[],
  requested: readonly string[],
  ask: () => Promise<Authenticated | undefined>,
): Promise<Authenticated | undefined> {
  const audiences = commonAudiences(requested, apiAudiences);
  if (audiences.length === 0) return undefined;
  const found = await ask();
  return found === undefined ? undefined : { ...found, audiences };
}
