import { randomBytes } from 'node:crypto';
import type { Domains } from '../api/domains.js';
import type { Authenticator } from '../auth/authenticator.js';
import { defaultAuthenticator } from '../auth/default-authenticator.js';
import { isDiscoverable, keySet, openIdConfiguration } from '../auth/discovery-documents.js';
import type { ObjectSource } from '../auth/object-source.js';
import { readSigningKey, readVerificationKeys } from '../auth/service-account-keys.js';
import { staticTokens } from '../auth/static-tokens.js';
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
  const authenticator = defaultAuthenticator({
    issuers: options.issuers,
    keys: () => keys,
    apiAudiences,
    objects,
    domains,
    clock,
    clientBundle: options.clientCa,
    // Nobody is ever told this token; it stands where Kubernetes has one, and rejects as that does.
    loopbackSecret: randomBytes(32).toString('base64url'),
    staticTokens: options.tokenFile === undefined ? undefined : staticTokens(options.tokenFile),
    anonymous: options.anonymous,
  });
  return {
    authenticator,
    issuer: tokenIssuer({ issuer, key: () => signingKey, domains, clock }),
    apiAudiences,
    openId: isDiscoverable(issuer)
      ? {
          configuration: openIdConfiguration({
            issuer,
            keySetUri: `${issuer.replace(/\/$/, '')}/openid/v1/jwks`,
            keys,
          }),
          keys: keySet(keys),
        }
      : undefined,
  };
}
