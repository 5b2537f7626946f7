import { type Domains, defaultDomains, groupIn } from '../../api/domains.js';
import { badRequest } from '../../api/errors.js';
import {
  type LocalSubjectAccessReview,
  LocalSubjectAccessReviews,
  type SelfSubjectAccessReview,
  SelfSubjectAccessReviews,
  type SelfSubjectRulesReview,
  SelfSubjectRulesReviews,
  type SubjectAccessReview,
  type SubjectAccessReviewSpec,
  SubjectAccessReviews,
} from '../../api/kinds/access-review.js';
import type { UserInfo } from '../../api/user.js';
import type { Violation } from '../../api/violations.js';
import { aggregate } from '../../auth/aggregate.js';
import type { AccessRules, Authorizer } from '../../auth/authorizer.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { answerQuestion } from './access-question.js';
import { checkLocalReview, checkSelfReview, checkSubjectReview, invalidQuestion } from './access-review-rules.js';
import {
  localSubjectAccessReviewSchema,
  selfSubjectAccessReviewSchema,
  selfSubjectRulesReviewSchema,
  subjectAccessReviewSchema,
} from './access-review-schema.js';

/** The kinds that answer questions about access, all by the same authorizer that decides about requests. */

export const subjectAccessReviews = (
  authorizer: Authorizer,
  domains: Domains = defaultDomains,
): ResourceDefinition<SubjectAccessReview> =>
  defineResource<SubjectAccessReview>({
    ...SubjectAccessReviews,
    origin: 'built-in',
    schema: subjectAccessReviewSchema,
    verbs: ['create'],
    async answer(given) {
      const review = { ...given, spec: given.spec ?? {} };
      refuse(groupIn(domains, SubjectAccessReviews.group), checkSubjectReview(review));
      return { ...review, status: await answerQuestion(authorizer, subjectOf(review.spec), review.spec) };
    },
  });

export const localSubjectAccessReviews = (
  authorizer: Authorizer,
  domains: Domains = defaultDomains,
): ResourceDefinition<LocalSubjectAccessReview> =>
  defineResource<LocalSubjectAccessReview>({
    ...LocalSubjectAccessReviews,
    origin: 'built-in',
    schema: localSubjectAccessReviewSchema,
    verbs: ['create'],
    async answer(given) {
      const review = { ...given, spec: given.spec ?? {} };
      refuse(groupIn(domains, LocalSubjectAccessReviews.group), checkLocalReview(review));
      return { ...review, status: await answerQuestion(authorizer, subjectOf(review.spec), review.spec) };
    },
  });

export const selfSubjectAccessReviews = (
  authorizer: Authorizer,
  domains: Domains = defaultDomains,
): ResourceDefinition<SelfSubjectAccessReview> =>
  defineResource<SelfSubjectAccessReview>({
    ...SelfSubjectAccessReviews,
    origin: 'built-in',
    schema: selfSubjectAccessReviewSchema,
    verbs: ['create'],
    async answer(given, { user }) {
      const review = { ...given, spec: given.spec ?? {} };
      refuse(groupIn(domains, SelfSubjectAccessReviews.group), checkSelfReview(review));
      return { ...review, status: await answerQuestion(authorizer, user, review.spec) };
    },
  });

export const selfSubjectRulesReviews = (authorizer: Authorizer): ResourceDefinition<SelfSubjectRulesReview> =>
  defineResource<SelfSubjectRulesReview>({
    ...SelfSubjectRulesReviews,
    origin: 'built-in',
    schema: selfSubjectRulesReviewSchema,
    verbs: ['create'],
    async answer({ apiVersion, kind, spec }, { user }) {
      const namespace = spec?.namespace ?? '';
      if (namespace === '') throw badRequest('no namespace on request');
      const { errors, ...rules } = (await authorizer.rulesFor?.(user, namespace)) ?? unlisted;
      const status = { ...rules, ...(errors.length > 0 ? { evaluationError: aggregate(errors) } : {}) };
      return { kind, apiVersion, metadata: {}, spec: {}, status };
    },
  });

const unlisted: AccessRules = { resourceRules: [], nonResourceRules: [], incomplete: true, errors: [] };

function refuse(group: string, violations: readonly Violation[]): void {
  if (violations.length > 0) throw invalidQuestion(group, violations);
}

/** The user asked about has what the question says and nothing else, not even the groups that everybody is in. */
const subjectOf = ({ user = '', uid, groups = [], extra }: SubjectAccessReviewSpec): UserInfo => ({
  username: user,
  groups,
  ...(uid === undefined ? {} : { uid }),
  ...(extra === undefined ? {} : { extra }),
});
