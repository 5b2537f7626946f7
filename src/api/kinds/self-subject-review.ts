import { type ApiObject, resourceType } from '../object.js';
import { authenticationGroup, type ReviewedUser } from './token-review.js';

/** Asks who the caller is. Answered at once, never stored. */
export interface SelfSubjectReview extends ApiObject {
  readonly status?: { readonly userInfo?: ReviewedUser };
}

export const SelfSubjectReviews = resourceType<SelfSubjectReview>({
  group: authenticationGroup,
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
});
