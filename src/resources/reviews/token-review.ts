import { type ApiError, badRequest, internalError } from '../../api/errors.js';
import { type TokenReview, type TokenReviewStatus, TokenReviews } from '../../api/kinds/token-review.js';
import { commonAudiences } from '../../auth/audience-agnostic.js';
import {
  type Authenticated,
  AuthenticationError,
  type Authenticator,
  type Credentials,
} from '../../auth/authenticator.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { boolean, field, list, string, structsOf } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';
import { userInfoSchema } from './user-info-schema.js';

const struct = structsOf('io.k8s.api.authentication.v1');

const schema = struct(
  'TokenReview',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Object metadata, returned as it was sent.' }),
    spec: field(
      2,
      struct(
        'TokenReviewSpec',
        {
          token: field(1, string(), { description: 'Bearer token to verify.' }),
          audiences: field(2, list(string(), { listType: 'atomic' }), {
            description: 'Identifiers of the server that received the token; by default those of the API server.',
          }),
        },
        { required: ['token'], description: 'Token to verify, and its expected audiences.' },
      ),
      { description: 'Token to verify, and its expected audiences.' },
    ),
    status: field(
      3,
      struct(
        'TokenReviewStatus',
        {
          authenticated: field(1, boolean(), { description: 'Whether the token belongs to a known user.' }),
          user: field(2, userInfoSchema, { description: 'User that the token belongs to.' }),
          audiences: field(4, list(string(), { listType: 'atomic' }), {
            description: 'Audiences that are in both the request and the token.',
          }),
          error: field(3, string(), { description: 'Reason why the token could not be verified.' }),
        },
        { description: 'Result of the verification of a token.' },
      ),
      { description: 'Result; set by the server.' },
    ),
  },
  { required: ['spec'], description: 'Verifies a bearer token and returns the user that it belongs to.' },
);

/** Returns the user of a token, with the authenticator that requests also go through. */
export const tokenReviews = ({
  authenticator,
  apiAudiences,
}: {
  readonly authenticator: Authenticator;
  readonly apiAudiences: readonly string[];
}): ResourceDefinition<TokenReview> =>
  defineResource<TokenReview>({
    ...TokenReviews,
    origin: 'built-in',
    schema,
    verbs: ['create'],

    validate({ spec }) {
      if (!spec?.token) throw badRequest('token is required for TokenReview in authentication');
      return [];
    },

    async answer(review) {
      const { token = '', audiences: requested = [] } = review.spec ?? {};
      const audiences = requested.length > 0 ? requested : apiAudiences;
      const found = await authenticate(authenticator, tokenCredentials(token, audiences));
      if (found instanceof AuthenticationError) return answered(review, { error: found.message });
      if (found === undefined) return answered(review, {});
      if (audiences.length > 0 && commonAudiences(audiences, found.audiences ?? []).length === 0) throw badAudiences();
      return answered(review, { authenticated: true, user: found.user, audiences: found.audiences ?? [] });
    },
  });

/**
 * Returns the review with the server's status. Other status members that the caller sent stay, except `authenticated`.
 */
const answered = (review: TokenReview, status: TokenReviewStatus): TokenReview => {
  const { authenticated: _claimed, ...given } = review.status ?? {};
  return { ...review, status: { ...given, ...status } };
};

/** Returns the credentials of a request that carries nothing but the token. */
const tokenCredentials = (token: string, audiences: readonly string[]): Credentials => ({
  header: (name) => (name === 'authorization' ? [`Bearer ${token}`] : []),
  headerNames: () => ['authorization'],
  certificates: [],
  audiences,
});

async function authenticate(
  authenticator: Authenticator,
  credentials: Credentials,
): Promise<Authenticated | AuthenticationError | undefined> {
  try {
    return await authenticator.authenticate(credentials);
  } catch (error) {
    if (error instanceof AuthenticationError) return error;
    throw error;
  }
}

const badAudiences = (): ApiError => internalError('error validating audiences');
