import type { AccessRules, Authorizer, Decision } from './authorizer.js';

/** The first answer that is not 'no-opinion' wins; if none, the reasons are joined and the request is forbidden. */
export function union(...authorizers: readonly Authorizer[]): Authorizer {
  return {
    async authorize(attributes) {
      const undecided: Decision[] = [];
      for (const authorizer of authorizers) {
        const decision = await authorizer.authorize(attributes);
        if (decision.verdict !== 'no-opinion') return decision;
        undecided.push(decision);
      }
      const errors = undecided.flatMap(({ error }) => (error === undefined ? [] : [error]));
      return {
        verdict: 'no-opinion',
        reason: undecided
          .map(({ reason }) => reason)
          .filter((reason) => reason !== '')
          .join('\n'),
        ...(errors.length > 0 ? { error: errors.join('\n') } : {}),
      };
    },

    async rulesFor(user, namespace) {
      const all = await Promise.all(
        authorizers.map(async (one) => (await one.rulesFor?.(user, namespace)) ?? unlisted),
      );
      return {
        resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
        nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
        incomplete: all.some(({ incomplete }) => incomplete),
        errors: all.flatMap(({ errors }) => errors),
      };
    },
  };
}

const unlisted: AccessRules = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  errors: ['an authorizer does not support user rule resolution'],
};
