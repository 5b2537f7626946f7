import { wellKnown } from '../api/user.js';
import type { Authenticator } from './authenticator.js';

/** May requests come without credentials? `paths`: only to these, to the letter. */
export type AnonymousPolicy = boolean | { readonly paths: readonly string[] };

/**
 * Makes callers without credentials `system:anonymous`, where the current policy admits it. Comes last: a refused
 * credential is an error before this one is asked.
 */
export const anonymous = (given: {
  readonly apiAudiences: readonly string[];
  readonly policy: () => AnonymousPolicy;
}): Authenticator => ({
  async authenticate({ audiences, path }) {
    if (!admits(given.policy(), path)) return undefined;
    return {
      user: { username: wellKnown.anonymous, groups: [wellKnown.unauthenticated] },
      audiences: audiences ?? given.apiAudiences,
    };
  },
});

const admits = (policy: AnonymousPolicy, path: string | undefined): boolean =>
  typeof policy === 'boolean' ? policy : path !== undefined && policy.paths.includes(path);
