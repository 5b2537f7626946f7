import { type Authorizer, noRules } from './authorizer.js';

/** Authorizes every request, for tests and for servers that trust all callers. */
export const alwaysAllow: Authorizer = {
  authorize: async () => ({ verdict: 'allow', reason: '' }),
  rulesFor: async () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
    errors: [],
  }),
};

/** Authorizes no request. */
export const alwaysDeny: Authorizer = {
  authorize: async () => ({ verdict: 'no-opinion', reason: 'Everything is forbidden.' }),
  rulesFor: async () => noRules(),
};
