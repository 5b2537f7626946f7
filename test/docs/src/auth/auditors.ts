import type { Authorizer } from '../../../../src/auth/authorizer.js';

const reads: readonly string[] = ['get', 'list', 'watch'];

/** Members of a group may read everything but Secrets. Never denies: other authorizers may allow more. */
export const auditors = (group: string): Authorizer => ({
  async authorize({ user, verb, path, resource }) {
    const allowed = user.groups.includes(group) && reads.includes(verb) && path === undefined && resource !== 'secrets';
    return allowed
      ? { verdict: 'allow', reason: `auditors: member of ${group}` }
      : { verdict: 'no-opinion', reason: '' };
  },
});
