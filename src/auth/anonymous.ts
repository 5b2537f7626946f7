import { wellKnown } from '../api/user.js';
import type { Authenticator } from './authenticator.js';

/**
 * Takes whoever presented nothing for `system:anonymous`. Comes last: a credential that was refused is an
 * error before this one is asked.
 */
export const anonymous = ({ apiAudiences }: { readonly apiAudiences: readonly string[] }): Authenticator => ({
  authenticate: async ({ audiences }) => ({
    user: { username: wellKnown.anonymous, groups: [wellKnown.unauthenticated] },
    audiences: audiences ?? apiAudiences,
  }),
});
