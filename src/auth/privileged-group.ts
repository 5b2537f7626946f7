import { wellKnown } from '../api/user.js';
import { type Authorizer, noRules } from './authorizer.js';

/** Authorizes everything for members of `system:masters`, regardless of roles, so that they cannot be locked out. */
export const privilegedGroup: Authorizer = {
  authorize: async ({ user }) => ({
    verdict: user.groups.includes(wellKnown.masters) ? 'allow' : 'no-opinion',
    reason: '',
  }),
  rulesFor: async () => noRules(),
};
