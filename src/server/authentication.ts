import { randomBytes } from 'node:crypto';
import type { Domains } from '../api/domains.js';
import { anonymous } from '../auth/anonymous.js';
import type { Authenticator } from '../auth/authenticator.js';
import { firstOf, firstTokenOf, withAuthenticatedGroup, withBearerWarning } from '../auth/authenticator-union.js';
import { bearerToken, type TokenAuthenticator, webSocketToken } from '../auth/bearer-token.js';
import { bootstrapTokens } from '../auth/bootstrap-token.js';
import { forApiAudiences } from '../auth/audience-agnostic.js';
import { clientCertificate } from '../auth/client-certificate.js';
import { isDiscoverable, keySet, openIdConfiguration } from '../auth/discovery-documents.js';
import { loopbackToken } from '../auth/loopback-token.js';
import type { ObjectSource } from '../auth/object-source.js';
import { secretTokens } from '../auth/secret-tokens.js';
import { readSigningKey, readVerificationKeys } from '../auth/service-account-keys.js';
import { serviceAccountTokens } from '../auth/service-account-tokens.js';
import { staticTokens } from '../auth/static-tokens.js';
import { TokenCache } from '../auth/token-cache.js';
import { type TokenIssuer, tokenIssuer } from '../auth/token-issuer.js';
import type { Clock } from '../runtime/clock.js';

/** Who may prove to be whom, and the tokens this server hands out itself. */
export interface Authentication {
  readonly authenticator: Authenticator;
  readonly issuer: TokenIssuer;
  readonly apiAudiences: readonly string[];
  /** Documents for relying parties; absent where the issuer is no https URL. */
  readonly openId: { readonly configuration: object; readonly keys: object } | undefined;
}

export interface AuthenticationOptions {
  /** PEM of the private key that signs service account tokens. */
  readonly signingKey: string;
  /** PEM of further keys that verify them. */
  readonly verificationKeys: readonly string[];
  /** The first signs, all are accepted. */
  readonly issuers: readonly string[];
  /** Default: the first issuer. */
  readonly apiAudiences: readonly string[];
  /** PEM of the CAs of client certificates. */
  readonly clientCa: () => string;
  /** CSV of static tokens. */
  readonly tokenFile: string | undefined;
  readonly anonymous: boolean;
}

export function openAuthentication(
  options: AuthenticationOptions,
  { objects, domains, clock }: { readonly objects: ObjectSource; readonly domains: Domains; readonly clock: Clock },
): Authentication {
  const signingKey = readSigningKey(options.signingKey);
  const keys = [signingKey, ...options.verificationKeys.flatMap((pem) => readVerificationKeys(pem))];
  const [issuer = ''] = options.issuers;
  const apiAudiences = options.apiAudiences.length ? options.apiAudiences : [issuer];
  const verification = { keys: () => keys, apiAudiences };
  const agnostic = (inner: TokenAuthenticator): TokenAuthenticator => forApiAudiences(inner, apiAudiences);
  const tokens = new TokenCache(
    firstTokenOf(
      ...(options.tokenFile === undefined ? [] : [agnostic(staticTokens(options.tokenFile))]),
      secretTokens({ ...verification, objects, domains }),
      serviceAccountTokens({ ...verification, issuers: options.issuers, objects, domains, clock }),
      agnostic(bootstrapTokens({ objects, domains, clock })),
    ),
    { clock },
  );
  const known = firstOf(
    // Nobody is ever told this token; it stands where Kubernetes has one, and rejects as that does.
    bearerToken(loopbackToken(randomBytes(32).toString('base64url')), apiAudiences),
    clientCertificate({ bundle: options.clientCa, clock, domains }),
    bearerToken(tokens, apiAudiences),
    webSocketToken(tokens, { apiAudiences, apiDomain: domains.api }),
  );
  const recognised = withAuthenticatedGroup(known);
  return {
    authenticator: withBearerWarning(options.anonymous ? orElse(recognised, anonymous({ apiAudiences })) : recognised),
    issuer: tokenIssuer({ issuer, key: () => signingKey, domains, clock }),
    apiAudiences,
    openId: isDiscoverable(issuer)
      ? { configuration: openIdConfiguration({ issuer, keySetUri: `${issuer.replace(/\/$/, '')}/openid/v1/jwks`, keys }), keys: keySet(keys) }
      : undefined,
  };
}

/** The second only if the first neither knew the caller nor refused: a bad credential is never anonymous. */
const orElse = (first: Authenticator, second: Authenticator): Authenticator => ({
  authenticate: async (credentials) => (await first.authenticate(credentials)) ?? second.authenticate(credentials),
});
