import { canonicalBase64 } from '../api/base64.js';
import { isObject } from '../api/object.js';

/** Checks the members of the header of a token that must be valid although they are not used. */

/** Whether those members are readable that go-jose parses in every header, although they are not used here. */
export const hasReadableMembers = ({ nonce, jwk, x5c }: Readonly<Record<string, unknown>>): boolean =>
  isTextOrNone(nonce) && isNoneOr(jwk, isPublicKey) && isNoneOr(x5c, isChain);

export const isTextOrNone = (value: unknown): value is string | null | undefined =>
  isNoneOr(value, (present) => typeof present === 'string');

const isNoneOr = (value: unknown, test: (value: unknown) => boolean): boolean =>
  value === null || value === undefined || test(value);

/** The length of a coordinate in bytes, by the name of the curve. */
const coordinates: ReadonlyMap<unknown, number> = new Map([
  ['P-256', 32],
  ['P-384', 48],
  ['P-521', 66],
]);

/** Whether a value has the form of a public key; the key itself is not checked. */
function isPublicKey(jwk: unknown): boolean {
  if (!isObject(jwk)) return false;
  const { kty, d, n, e, crv, x, y, ...others } = jwk;
  if (isBytes(d) || !['use', 'kid', 'alg'].every((name) => isTextOrNone(others[name]))) return false;
  if (kty === 'RSA') return isBytes(n) && isBytes(e);
  if (kty === 'EC') return isBytes(x, coordinates.get(crv) ?? -1) && isBytes(y, coordinates.get(crv) ?? -1);
  return kty === 'OKP' && crv === 'Ed25519' && isBytes(x);
}

/** Whether a value is base64url of at least one byte, and of exactly `length` bytes if given. */
function isBytes(value: unknown, length?: number): boolean {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-]+$/.test(value)) return false;
  return length === undefined || Buffer.from(value, 'base64url').length === length;
}

const isChain = (x5c: unknown): boolean =>
  Array.isArray(x5c) && x5c.every((item) => typeof item === 'string' && typeof canonicalBase64(item) === 'string');
