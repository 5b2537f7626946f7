import type { Authenticator } from '../../auth/authenticator.js';
import type { Authorizer } from '../../auth/authorizer.js';
import { genericDefinition, type ResourceDefinition } from '../../registry/resource-definition.js';
import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
} from './access-reviews.js';
import { selfSubjectReviews } from './self-subject-review.js';
import { tokenReviews } from './token-review.js';

/** The kinds that are answered and never stored: by group, within a group by their plural. */

export const authenticationReviews = (parts: {
  readonly authenticator: Authenticator;
  readonly apiAudiences: readonly string[];
}): readonly ResourceDefinition[] => [selfSubjectReviews, tokenReviews(parts)].map(genericDefinition);

export const authorizationReviews = ({
  authorizer,
}: {
  readonly authorizer: Authorizer;
}): readonly ResourceDefinition[] =>
  [
    localSubjectAccessReviews(authorizer),
    selfSubjectAccessReviews(authorizer),
    selfSubjectRulesReviews(authorizer),
    subjectAccessReviews(authorizer),
  ].map(genericDefinition);
