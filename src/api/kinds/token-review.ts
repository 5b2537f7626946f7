import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** Asks which user a token belongs to. Answered at once, never stored. */
export interface TokenReview extends ApiObject {
  readonly spec: {
    readonly token?: string;
    /** The audiences that the token should be for; empty for the API server. */
    readonly audiences?: readonly string[];
  };
  readonly status?: TokenReviewStatus;
}

/** The user of the token, or in `error` why it was not authenticated. */
export interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: ReviewedUser;
  /** The requested audiences that the token is for. */
  readonly audiences?: readonly string[];
  readonly error?: string;
}

/** UserInfo on the wire, where every member is optional. */
export interface ReviewedUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The API group of TokenReview, SelfSubjectReview and TokenRequest. */
export const authenticationGroup = `authentication.${defaultDomains.api}`;

/** The resource `tokenreviews` of `authentication.k8s.io/v1`, cluster-scoped; it can only be created. */
export const TokenReviews = resourceType<TokenReview>({
  group: authenticationGroup,
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
});
