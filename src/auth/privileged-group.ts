import { wellKnown } from '../api/user.js';
import { type Authorizer, noRules } from './authorizer.js';

/** Allows members of `system:masters` everything, whatever the roles say; nobody can lock them out. */
export const privilegedGroup: Authorizer = {
  authorize: async ({ user }) => ({
    verdict: user.groups.includes(wellKnown.masters) ? 'allow' : 'no-opinion',
    reason: '',
  }),
  rulesFor: async () => noRules(),
};
