import { aggregateError } from './aggregate.js';
import { type AnonymousPolicy, anonymous } from './anonymous.js';
import { forApiAudiences, requestForApiAudiences } from './audience-agnostic.js';
import type { AuthenticationMetrics } from './authentication-metrics.js';
import { AuthenticationError, type Authenticator } from './authenticator.js';
import {
  unionAuthenticator,
  unionTokenAuthenticator,
  withAuthenticatedGroup,
  withBearerWarning,
} from './authenticator-union.js';
import {
  bearerToken,
  invalidBearerToken,
  readBearer,
  type TokenAuthenticator,
  webSocketToken,
} from './bearer-token.js';
import { bootstrapTokens } from './bootstrap-token.js';
import { clientCertificate } from './client-certificate.js';
import { type FrontProxyOptions, frontProxy } from './front-proxy.js';
import { type SecretTokenOptions, secretTokens } from './secret-tokens.js';
import { type ServiceAccountTokenOptions, serviceAccountTokens } from './service-account-tokens.js';
import { TokenCache } from './token-cache.js';

/** The options of the server's default authenticator. */
export interface AuthenticationOptions extends ServiceAccountTokenOptions {
  /** Returns the CAs in PEM whose client certificates are accepted now. */
  readonly clientBundle: () => string;
  readonly staticTokens?: TokenAuthenticator | undefined;
  readonly frontProxy?: Omit<FrontProxyOptions, 'clock'> | undefined;
  /**
   * Authenticators of tokens that this server did not issue. They are tried last, in this order, and check audiences
   * themselves.
   */
  readonly externalTokens?: readonly TokenAuthenticator[] | undefined;
  readonly secretTokenUsed?: SecretTokenOptions['used'];
  readonly certificateLifetimeLeft?: ((seconds: number) => void) | undefined;
  /** Returns the current policy about requests without credentials. */
  readonly anonymous: () => AnonymousPolicy;
  readonly metrics?: AuthenticationMetrics | undefined;
}

/** Returns the authenticator for all supported credentials, which are tried in a fixed order. */
export function defaultAuthenticator(options: AuthenticationOptions): Authenticator {
  const { apiAudiences, clock, domains } = options;
  const forUs = (tokens: TokenAuthenticator): TokenAuthenticator => forApiAudiences(tokens, apiAudiences);
  const tokens = new TokenCache(
    unionTokenAuthenticator(
      ...(options.staticTokens === undefined ? [] : [forUs(options.staticTokens)]),
      secretTokens({ ...options, used: options.secretTokenUsed }),
      serviceAccountTokens(options),
      forUs(bootstrapTokens(options)),
      ...(options.externalTokens ?? []),
    ),
    { clock, metrics: options.metrics },
  );
  const known = unionAuthenticator(
    ...(options.frontProxy === undefined
      ? []
      : [requestForApiAudiences(frontProxy({ ...options.frontProxy, clock }), apiAudiences)]),
    clientCertificate({
      bundle: options.clientBundle,
      clock,
      domains,
      lifetimeLeft: options.certificateLifetimeLeft,
    }),
    bearerToken(tokens, apiAudiences),
    webSocketToken(tokens, { apiAudiences, apiDomain: domains.api }),
  );
  const others = anonymous({ apiAudiences, policy: options.anonymous });
  return withBearerWarning(withAuthenticatedGroup(recognised(known, others)));
}

/**
 * Tries the second authenticator only if the first one neither recognised nor refused the caller: a caller with an
 * invalid credential is never anonymous. Kubernetes first compares a bearer token with its own loopback token. This
 * server has none, but the error for a token begins with that refusal nevertheless.
 */
const recognised = (first: Authenticator, second: Authenticator): Authenticator => ({
  async authenticate(credentials) {
    try {
      const found = await first.authenticate(credentials);
      if (found !== undefined) return found;
    } catch (error) {
      const { token } = readBearer(credentials.header('authorization')[0]);
      if (!(error instanceof AuthenticationError) || token === undefined) throw error;
      throw aggregateError([new AuthenticationError(invalidBearerToken), error]);
    }
    return second.authenticate(credentials);
  },
});
