import { wellKnown } from '../api/user.js';
import { aggregateError } from './aggregate.js';
import { type Authenticated, AuthenticationError, type Authenticator } from './authenticator.js';
import { bearerWarning, type TokenAuthenticator } from './bearer-token.js';

/**
 * Tries authenticators in order; the first one that recognises the caller decides. If none does, throws all errors as
 * one aggregate.
 */
export const unionAuthenticator = (...authenticators: readonly Authenticator[]): Authenticator => ({
  authenticate: (credentials) => firstKnown(authenticators, (one) => one.authenticate(credentials)),
});

/** Like `unionAuthenticator`, for tokens. */
export const unionTokenAuthenticator = (...authenticators: readonly TokenAuthenticator[]): TokenAuthenticator => ({
  authenticateToken: (token, audiences) => firstKnown(authenticators, (one) => one.authenticateToken(token, audiences)),
});

async function firstKnown<T>(
  all: readonly T[],
  ask: (one: T) => Promise<Authenticated | undefined>,
): Promise<Authenticated | undefined> {
  const errors: AuthenticationError[] = [];
  for (const one of all) {
    try {
      const found = await ask(one);
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error;
      errors.push(error);
    }
  }
  if (errors.length > 0) throw aggregateError(errors);
  return undefined;
}

const generalGroups: readonly string[] = [wellKnown.authenticated, wellKnown.unauthenticated];

/**
 * Adds `system:authenticated` to every authenticated user. For the same user object, the result is the same object too.
 */
export const withAuthenticatedGroup = (inner: Authenticator): Authenticator => {
  const known = new WeakMap<Authenticated, Authenticated>();
  return {
    async authenticate(credentials) {
      const found = await inner.authenticate(credentials);
      if (found === undefined) return undefined;
      const before = known.get(found);
      if (before !== undefined) return before;
      const grouped = inAuthenticatedGroup(found);
      known.set(found, grouped);
      return grouped;
    },
  };
};

function inAuthenticatedGroup(found: Authenticated): Authenticated {
  const { user } = found;
  if (user.username === wellKnown.anonymous || user.groups.some((group) => generalGroups.includes(group))) return found;
  return { ...found, user: { ...user, groups: [...user.groups, wellKnown.authenticated] } };
}

/** Adds a warning about an Authorization header that could not be read. */
export const withBearerWarning = (inner: Authenticator): Authenticator => ({
  async authenticate(credentials) {
    const found = await inner.authenticate(credentials);
    const warning = bearerWarning(credentials);
    if (found === undefined || warning === undefined) return found;
    return { ...found, warnings: [warning, ...(found.warnings ?? [])] };
  },
});
