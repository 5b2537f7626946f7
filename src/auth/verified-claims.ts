import { aggregate, quoteList } from '../api/go-text.js';
import { commonAudiences } from './audience-agnostic.js';
import { AuthenticationError } from './authenticator.js';
import { parseToken, verifiesToken } from './jws.js';
import { readTokenClaims, type TokenClaims } from './service-account-claims.js';
import type { VerificationKey } from './service-account-keys.js';

export interface VerifiedClaims {
  readonly token: TokenClaims;
  readonly claims: Readonly<Record<string, unknown>>;
  /** The requested audiences that the token is for. */
  readonly audiences: readonly string[];
}

/** The parameters for verifying tokens of some issuers. */
export interface TokenVerification {
  readonly issuers: readonly string[];
  keys(): readonly VerificationKey[];
  /** The audiences of the API server; a token without audiences is for these. */
  readonly apiAudiences: readonly string[];
}

const badSignature = 'go-jose/go-jose: error in cryptographic primitive';

/**
 * Verifies issuer, signature and audience of a token, in this order; undefined if the text is no token of these
 * issuers. Only the key determines the algorithm, so that neither `none` nor a public key used as an HMAC secret is
 * accepted.
 */
export function verifiedClaims(
  token: string,
  requested: readonly string[],
  { issuers, keys, apiAudiences }: TokenVerification,
): VerifiedClaims | undefined {
  const parsed = parseToken(token);
  if (parsed === undefined) return undefined;
  const { iss } = parsed.claims;
  if (typeof iss !== 'string' || !issuers.includes(iss)) return undefined;

  const { kid } = parsed.header;
  const candidates = keys().filter(({ keyId }) => !kid || keyId === kid);
  if (candidates.length === 0) throw new AuthenticationError('invalid signature, no keys found');
  if (!candidates.some((key) => verifiesToken(parsed, key))) {
    throw new AuthenticationError(aggregate(candidates.map(() => badSignature)));
  }

  const repeated = parsed.repeated();
  if (repeated !== undefined) throw new AuthenticationError(`json: duplicate key '${repeated}' in object`);
  const claims = readTokenClaims(parsed.claims);
  const own = claims.audiences.length === 0 ? apiAudiences : claims.audiences;
  const audiences = commonAudiences(requested, own);
  if (audiences.length === 0 && apiAudiences.length > 0) {
    throw new AuthenticationError(
      `token audiences ${quoteList(own)} is invalid for the target audiences ${quoteList(requested)}`,
    );
  }
  return { token: claims, claims: parsed.claims, audiences };
}
