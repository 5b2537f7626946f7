import { type Authorizer, noRules } from './authorizer.js';

/** Allows everything; for tests and for servers that trust all their callers. */
export const alwaysAllow: Authorizer = {
  authorize: async () => ({ verdict: 'allow', reason: '' }),
  rulesFor: async () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
    errors: [],
  }),
};

/** Allows nothing. */
export const alwaysDeny: Authorizer = {
  authorize: async () => ({ verdict: 'no-opinion', reason: 'Everything is forbidden.' }),
  rulesFor: async () => noRules(),
};
