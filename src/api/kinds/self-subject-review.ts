import { type ApiObject, resourceType } from '../object.js';
import { authenticationGroup, type ReviewedUser } from './token-review.js';

/** Returns the identity of the caller, after impersonation. Answered in the response to its creation, never stored. */
export interface SelfSubjectReview extends ApiObject {
  /** Result; set by the server. */
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
