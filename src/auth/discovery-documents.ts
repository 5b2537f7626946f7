import type { VerificationKey } from './service-account-keys.js';

/**
 * The documents with which others can verify service account tokens themselves (OpenID Connect Discovery 1.0, RFC
 * 7517).
 */

export const openIdConfigurationPath = '/.well-known/openid-configuration';
export const keySetPath = '/openid/v1/jwks';
/** The number of seconds for which clients may cache the documents. */
export const discoveryMaxAge = 3_600;

/** Whether the documents of an issuer can be discovered: it must be an https URL without query or fragment. */
export const isDiscoverable = (issuer: string): boolean =>
  URL.canParse(issuer) && new URL(issuer).protocol === 'https:' && !/[?#]/.test(issuer);

/** Returns the provider configuration, which is served as application/json. */
export const openIdConfiguration = (options: {
  readonly issuer: string;
  readonly keySetUri: string;
  readonly keys: readonly VerificationKey[];
}): object => ({
  issuer: options.issuer,
  jwks_uri: options.keySetUri,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: [...new Set(options.keys.map(({ algorithm }) => algorithm))].sort(),
});

/** Returns the public keys, which are served as application/jwk-set+json. */
export const keySet = (keys: readonly VerificationKey[]): object => ({
  keys: keys.map(({ keyId, algorithm, publicKey }) => {
    const { kty, n, e, crv, x, y } = publicKey.export({ format: 'jwk' });
    const head = { use: 'sig', kty, kid: keyId };
    return kty === 'RSA' ? { ...head, alg: algorithm, n, e } : { ...head, crv, alg: algorithm, x, y };
  }),
});
