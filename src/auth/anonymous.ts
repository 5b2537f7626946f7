import { wellKnown } from '../api/user.js';
import type { Authenticator } from './authenticator.js';

/** Whether requests without credentials are accepted; with `paths`, only for exactly these paths. */
export type AnonymousPolicy = boolean | { readonly paths: readonly string[] };

/**
 * Authenticates requests without credentials as `system:anonymous` if the current policy allows it. Must be the last
 * authenticator: an invalid credential must be refused before this one is tried.
 */
export const anonymous = (options: {
  readonly apiAudiences: readonly string[];
  readonly policy: () => AnonymousPolicy;
}): Authenticator => ({
  async authenticate({ audiences, path }) {
    if (!admits(options.policy(), path)) return undefined;
    return {
      user: { username: wellKnown.anonymous, groups: [wellKnown.unauthenticated] },
      audiences: audiences ?? options.apiAudiences,
    };
  },
});

const admits = (policy: AnonymousPolicy, path: string | undefined): boolean =>
  typeof policy === 'boolean' ? policy : path !== undefined && policy.paths.includes(path);
