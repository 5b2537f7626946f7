import { type ApiObject, resourceType } from '../object.js';
import { authenticationGroup, type ReviewedUser } from './token-review.js';

/** Asks who the caller is. Answered at once, never stored. */
export interface SelfSubjectReview extends ApiObject {
  readonly status?: { readonly userInfo?: ReviewedUser };
}

/** The resource `selfsubjectreviews` of `authentication.k8s.io/v1`, cluster-scoped; it can only be created. */
export const SelfSubjectReviews = resourceType<SelfSubjectReview>({
  group: authenticationGroup,
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
});
