import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/**
 * Verifies a bearer token and returns the user that it belongs to. Answered in the response to its creation, never
 * stored.
 */
export interface TokenReview extends ApiObject {
  /** Token to verify, and its expected audiences. */
  readonly spec: {
    /** Bearer token to verify. */
    readonly token?: string;
    /** Identifiers of the server that received the token; by default those of the API server. */
    readonly audiences?: readonly string[];
  };
  /** Result; set by the server. */
  readonly status?: TokenReviewStatus;
}

/** Result of the verification of a token. */
export interface TokenReviewStatus {
  /** Whether the token belongs to a known user. */
  readonly authenticated?: boolean;
  /** User that the token belongs to. */
  readonly user?: ReviewedUser;
  /** Audiences that are in both the request and the token. */
  readonly audiences?: readonly string[];
  /** Reason why the token could not be verified. */
  readonly error?: string;
}

/** Attributes of an authenticated user, as in requests and responses: every member is optional. */
export interface ReviewedUser {
  /** Name of the user, unique among all active users. */
  readonly username?: string;
  /** Unique ID of the user over time: a later user of the same name has a different one. */
  readonly uid?: string;
  /** Names of the groups that the user belongs to. */
  readonly groups?: readonly string[];
  /** Additional attributes from the authenticator. */
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
