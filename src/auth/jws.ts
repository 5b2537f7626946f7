import { constants, type KeyObject, sign, verify } from 'node:crypto';

/** JSON Web Signatures in compact form (RFC 7515), as far as tokens of service accounts go. */

/** Algorithms a token may be signed with; what it claims in its header must be that of the key. */
export type SignatureAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512';

const hashes: Readonly<Record<SignatureAlgorithm, string>> = {
  RS256: 'sha256',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
};

/** A token taken apart. Nothing in it is verified. */
export interface UnverifiedToken {
  readonly header: JwsHeader;
  /** The payload, if it is a JSON object. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Header and payload as they were signed. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

export interface JwsHeader {
  readonly alg: string;
  readonly kid?: string;
  /** Names of extensions that must be understood; none is. */
  readonly crit?: unknown;
}

/** undefined for what is no token: not three parts of unpadded base64url, header or payload no JSON object. */
export function parseToken(token: string): UnverifiedToken | undefined {
  const parts = token.split('.', 4);
  if (parts.length !== 3) return undefined;
  const [header, payload, signature] = parts.map(decode);
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  const head = jsonObject(header);
  const claims = jsonObject(payload);
  if (head === undefined || claims === undefined) return undefined;
  const { alg, kid, crit } = head;
  if (typeof alg !== 'string' || (kid !== undefined && typeof kid !== 'string')) return undefined;
  return {
    header: { alg, ...(kid === undefined ? {} : { kid }), ...(crit === undefined ? {} : { crit }) },
    claims,
    signed: Buffer.from(token.slice(0, token.lastIndexOf('.')), 'latin1'),
    signature,
  };
}

function decode(part: string): Buffer | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(part) || part.length % 4 === 1) return undefined;
  return Buffer.from(part, 'base64url');
}

function jsonObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A JSON object; arrays are none. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Was this token signed with the private half of the key, and by the key's algorithm? */
export function isSignedBy(
  { header, signed, signature }: UnverifiedToken,
  key: { readonly algorithm: SignatureAlgorithm; readonly publicKey: KeyObject },
): boolean {
  if (header.alg !== key.algorithm || header.crit !== undefined) return false;
  return verify(hashes[key.algorithm], signed, { key: key.publicKey, ...parameters(key.algorithm) }, signature);
}

/** Signs claims; the header is `alg` and `kid`, nothing else. */
export function signToken(
  claims: object,
  key: { readonly algorithm: SignatureAlgorithm; readonly keyId: string; readonly privateKey: KeyObject },
): string {
  const signed = `${encode({ alg: key.algorithm, kid: key.keyId })}.${encode(claims)}`;
  const options = { key: key.privateKey, ...parameters(key.algorithm) };
  const signature = sign(hashes[key.algorithm], Buffer.from(signed, 'latin1'), options);
  return `${signed}.${signature.toString('base64url')}`;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const parameters = (algorithm: SignatureAlgorithm) =>
  algorithm === 'RS256' ? { padding: constants.RSA_PKCS1_PADDING } : { dsaEncoding: 'ieee-p1363' as const };
