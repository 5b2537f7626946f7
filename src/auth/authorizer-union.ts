import { type Authorizer, type Decision, noRules } from './authorizer.js';

export interface UnionMember {
  readonly authorizer: Authorizer;
  /** Called with the verdict of each of its decisions. */
  decided?(verdict: Decision['verdict']): void;
}

/**
 * Combines authorizers: the first verdict other than `no-opinion` decides. If there is none, the request is forbidden,
 * with the reasons of all authorizers.
 */
export function unionAuthorizer(...members: readonly UnionMember[]): Required<Authorizer> {
  return {
    async authorize(attributes) {
      const undecided: Decision[] = [];
      for (const member of members) {
        const decision = await member.authorizer.authorize(attributes);
        member.decided?.(decision.verdict);
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
        members.map(async ({ authorizer }) => (await authorizer.rulesFor?.(user, namespace)) ?? unlisted),
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

const unlisted = noRules('an authorizer does not support user rule resolution');
