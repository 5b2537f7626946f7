import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** Asks whose a token is. Answered at once, never stored. */
export interface TokenReview extends ApiObject {
  readonly spec: {
    readonly token?: string;
    /** Audiences that the token should be for; none: the API server. */
    readonly audiences?: readonly string[];
  };
  readonly status?: TokenReviewStatus;
}

/** Whose the token is; `error` says why nobody's. */
export interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: ReviewedUser;
  /** Those of the audiences asked for that the token is for. */
  readonly audiences?: readonly string[];
  readonly error?: string;
}

/** UserInfo as it goes over the wire: every member may be left out. */
export interface ReviewedUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Group of TokenReview, SelfSubjectReview and TokenRequest. */
export const authenticationGroup = `authentication.${defaultDomains.api}`;

/** The resource `tokenreviews` of `authentication.k8s.io/v1`, cluster-scoped; it can only be created. */
export const TokenReviews = resourceType<TokenReview>({
  group: authenticationGroup,
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
});
