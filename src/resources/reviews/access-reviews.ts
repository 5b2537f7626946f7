import { badRequest } from '../../api/errors.js';
import { aggregate } from '../../api/go-text.js';
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
import type { AccessRules, Authorizer } from '../../auth/authorizer.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { reviewAccess } from './access-question.js';
import { checkLocalReview, checkSelfReview, checkSubjectReview } from './access-review-rules.js';
import {
  localSubjectAccessReviewSchema,
  selfSubjectAccessReviewSchema,
  selfSubjectRulesReviewSchema,
  subjectAccessReviewSchema,
} from './access-review-schema.js';

/** The kinds of access reviews, which use the authorizer that also decides about requests. */

export const subjectAccessReviews = (authorizer: Authorizer): ResourceDefinition<SubjectAccessReview> =>
  defineResource<SubjectAccessReview>({
    ...SubjectAccessReviews,
    origin: 'built-in',
    schema: subjectAccessReviewSchema,
    verbs: ['create'],
    validate: checkSubjectReview,
    async answer(sent) {
      const review = { ...sent, spec: sent.spec ?? {} };
      return { ...review, status: await reviewAccess(authorizer, subjectOf(review.spec), review.spec) };
    },
  });

export const localSubjectAccessReviews = (authorizer: Authorizer): ResourceDefinition<LocalSubjectAccessReview> =>
  defineResource<LocalSubjectAccessReview>({
    ...LocalSubjectAccessReviews,
    origin: 'built-in',
    schema: localSubjectAccessReviewSchema,
    verbs: ['create'],
    validate: checkLocalReview,
    async answer(sent) {
      if (!sent.metadata.namespace) throw badRequest('namespace is required on this type: ');
      const review = { ...sent, spec: sent.spec ?? {} };
      return { ...review, status: await reviewAccess(authorizer, subjectOf(review.spec), review.spec) };
    },
  });

export const selfSubjectAccessReviews = (authorizer: Authorizer): ResourceDefinition<SelfSubjectAccessReview> =>
  defineResource<SelfSubjectAccessReview>({
    ...SelfSubjectAccessReviews,
    origin: 'built-in',
    schema: selfSubjectAccessReviewSchema,
    verbs: ['create'],
    validate: checkSelfReview,
    async answer(sent, { user }) {
      const review = { ...sent, spec: sent.spec ?? {} };
      return { ...review, status: await reviewAccess(authorizer, user, review.spec) };
    },
  });

export const selfSubjectRulesReviews = (authorizer: Authorizer): ResourceDefinition<SelfSubjectRulesReview> =>
  defineResource<SelfSubjectRulesReview>({
    ...SelfSubjectRulesReviews,
    origin: 'built-in',
    schema: selfSubjectRulesReviewSchema,
    verbs: ['create'],
    validate({ spec }) {
      if (!spec?.namespace) throw badRequest('no namespace on request');
      return [];
    },
    async answer({ apiVersion, kind, spec }, { user }) {
      const { namespace = '' } = spec ?? {};
      const { errors, ...rules } = (await authorizer.rulesFor?.(user, namespace)) ?? unlisted;
      const status = { ...rules, ...(errors.length > 0 ? { evaluationError: aggregate(errors) } : {}) };
      return { kind, apiVersion, metadata: {}, spec: {}, status };
    },
  });

const unlisted: AccessRules = { resourceRules: [], nonResourceRules: [], incomplete: true, errors: [] };

/** Returns the user that a review is about: only what the review contains, without any implied groups. */
const subjectOf = ({ user = '', uid, groups = [], extra }: SubjectAccessReviewSpec): UserInfo => ({
  username: user,
  groups,
  ...(uid === undefined ? {} : { uid }),
  ...(extra === undefined ? {} : { extra }),
});
