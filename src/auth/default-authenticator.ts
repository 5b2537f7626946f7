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
  /** PEM of the CAs whose client certificates count now. */
  readonly clientBundle: () => string;
  readonly staticTokens?: TokenAuthenticator | undefined;
  readonly frontProxy?: Omit<FrontProxyOptions, 'clock'> | undefined;
  /** Authenticators of tokens that this server did not issue, tried last, in this order. They check audiences themselves. */
  readonly externalTokens?: readonly TokenAuthenticator[] | undefined;
  readonly secretTokenUsed?: SecretTokenOptions['used'];
  readonly certificateLifetimeLeft?: ((seconds: number) => void) | undefined;
  /** Returns the current policy about requests without credentials. */
  readonly anonymous: () => AnonymousPolicy;
  readonly metrics?: AuthenticationMetrics | undefined;
}

/** Returns the authenticator of all supported credentials, in the order they are tried. */
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
 * Tries the second only if the first neither recognised nor refused the caller: an invalid credential is never anonymous.
 *
 * Kubernetes compares a bearer token with that of the server itself before anything else. Here the server has no such
 * token, but the error for a token begins with that refusal nevertheless.
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
