import { constants, type KeyObject, sign, verify } from 'node:crypto';
import { bytesOfUnpaddedUrlBase64 } from '../api/base64.js';
import { readJson } from '../api/json-text.js';
import { isObject } from '../api/object.js';
import { hasReadableMembers, isTextOrNone } from './jws-header.js';

/** JSON Web Signatures in compact form (RFC 7515), by the asymmetric algorithms of RFC 7518. */

/** The algorithms that this server signs with. The algorithm in the header of a token must be that of the key. */
export type SignatureAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512';

/** The algorithms that other issuers may sign with: only asymmetric ones, and never `none`. */
export type VerificationAlgorithm = SignatureAlgorithm | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512';

/** All verification algorithms, in the order in which error messages list them. */
export const verificationAlgorithms: readonly VerificationAlgorithm[] = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];

/** The curve of the ECDSA keys of each algorithm. */
const curves: ReadonlyMap<string, string> = new Map([
  ['ES256', 'prime256v1'],
  ['ES384', 'secp384r1'],
  ['ES512', 'secp521r1'],
]);

/** Whether the type of the key fits the algorithm. */
export function keyFits(algorithm: VerificationAlgorithm, key: KeyObject): boolean {
  const curve = curves.get(algorithm);
  if (curve === undefined) return key.asymmetricKeyType === 'rsa';
  return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve;
}

/** A parsed token. Nothing in it is verified. */
export interface UnverifiedToken {
  readonly header: JwsHeader;
  /** The payload, if it is a JSON object. */
  readonly claims: Readonly<Record<string, unknown>>;
  /**
   * Returns the name of a repeated member of the payload; undefined if there is none. `claims` contains the last
   * occurrence.
   */
  repeated(): string | undefined;
  /** The header and payload as they were signed. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

interface JwsHeader {
  readonly alg: string;
  readonly kid?: string;
  /** The names of extensions that must be understood; none is supported. */
  readonly crit?: unknown;
}

/**
 * Parses a token; undefined if the text is no token: if it is not three parts of unpadded base64url, if the header or
 * payload is no JSON object, or if members of the header are repeated or unreadable. White space is ignored, as in
 * go-jose; in the payload only line breaks are, as in the base64 of Go.
 */
export function parseToken(token: string): UnverifiedToken | undefined {
  const parts = token.split('.', 4).map((part, at) => part.replace(at === 1 ? /[\r\n]/g : /\p{White_Space}/gu, ''));
  if (parts.length !== 3) return undefined;
  const [header, payload, signature] = parts.map(bytesOfUnpaddedUrlBase64);
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  const [head, claims] = [readHeader(header), jsonObject(payload)];
  if (head === undefined || claims === undefined) return undefined;
  const { alg, kid, crit } = head;
  if (!isTextOrNone(alg) || !isTextOrNone(kid) || !hasReadableMembers(head)) return undefined;
  return {
    header: { alg: alg ?? '', ...(kid ? { kid } : {}), ...(crit === undefined ? {} : { crit }) },
    claims,
    repeated: () => /^duplicate field "(.*)"$/.exec(readJson(payload).duplicates[0] ?? '')?.[1],
    signed: Buffer.from(`${parts[0]}.${parts[1]}`, 'latin1'),
    signature,
  };
}

/** Parses a header; undefined if a member is repeated. */
function readHeader(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const { value, duplicates } = readJson(bytes);
    return isObject(value) && duplicates.length === 0 ? value : undefined;
  } catch {
    // This includes headers that are nested too deeply.
    return undefined;
  }
}

function jsonObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the token was signed with the private key of this public key, by the key's algorithm. */
export function verifiesToken(
  { header, signed, signature }: UnverifiedToken,
  key: { readonly algorithm: VerificationAlgorithm; readonly publicKey: KeyObject },
): boolean {
  if (header.alg !== key.algorithm || header.crit !== undefined) return false;
  return verify(hashOf(key.algorithm), signed, { key: key.publicKey, ...parameters(key.algorithm) }, signature);
}

/** Signs claims. The header contains only `alg` and `kid`. */
export function signToken(
  claims: object,
  key: { readonly algorithm: SignatureAlgorithm; readonly keyId: string; readonly privateKey: KeyObject },
): string {
  const signed = `${encode({ alg: key.algorithm, kid: key.keyId })}.${encode(claims)}`;
  const options = { key: key.privateKey, ...parameters(key.algorithm) };
  const signature = sign(hashOf(key.algorithm), Buffer.from(signed, 'latin1'), options);
  return `${signed}.${signature.toString('base64url')}`;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const hashOf = (algorithm: VerificationAlgorithm): string => `sha${algorithm.slice(2)}`;

function parameters(algorithm: VerificationAlgorithm) {
  switch (algorithm.slice(0, 2)) {
    case 'RS':
      return { padding: constants.RSA_PKCS1_PADDING };
    case 'PS':
      // Some issuers use other lengths than RFC 7518 says; kube-apiserver accepts any, too.
      return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    default:
      return { dsaEncoding: 'ieee-p1363' as const };
  }
}
