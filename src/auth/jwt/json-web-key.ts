import { createPublicKey, type KeyObject } from 'node:crypto';
import { isObject } from '../../api/object.js';
import { exponentProblem } from '../../pki/signature.js';
import { keyFits, type VerificationAlgorithm, verificationAlgorithms } from '../jws.js';

/** A public key of an issuer. */
export interface IssuerKey {
  /** The ID of the key; empty if it has none. */
  readonly keyId: string;
  readonly publicKey: KeyObject;
  /** The algorithms that the key may be used with: the one that it names, or all that fit its type. */
  readonly algorithms: readonly VerificationAlgorithm[];
}

/** The maximum number of keys that are read from one key set. */
const maxKeys = 100;
/** The minimum size of RSA keys in bits; smaller ones are rejected as insecure. */
const minRsaBits = 2_048;

/**
 * Returns the keys of a JSON Web Key Set (RFC 7517) that can verify tokens; undefined if it is no key set. Symmetric and
 * private keys, keys for encryption, weak keys and unreadable keys are left out.
 */
export function readKeySet(value: unknown): readonly IssuerKey[] | undefined {
  if (!isObject(value) || !Array.isArray(value['keys'])) return undefined;
  return value['keys'].slice(0, maxKeys).flatMap(readKey);
}

function readKey(jwk: unknown): readonly IssuerKey[] {
  if (!isObject(jwk)) return [];
  const { kty, use, alg, kid, d } = jwk;
  // An issuer that publishes a private key lets everybody sign with it.
  if (d !== undefined && d !== null) return [];
  if ((kty !== 'RSA' && kty !== 'EC') || (use !== undefined && use !== 'sig')) return [];
  const publicKey = publicKeyOf(jwk);
  if (publicKey === undefined) return [];
  if (kty === 'RSA' && !isStrong(publicKey)) return [];
  const algorithms = verificationAlgorithms
    .filter((algorithm) => alg === undefined || alg === algorithm)
    .filter((algorithm) => keyFits(algorithm, publicKey));
  return algorithms.length === 0 ? [] : [{ keyId: typeof kid === 'string' ? kid : '', publicKey, algorithms }];
}

/** Whether an RSA key is large enough and has an exponent with which only its owner can sign. */
function isStrong({ asymmetricKeyDetails: { modulusLength = 0, publicExponent = 0n } = {} }: KeyObject): boolean {
  return modulusLength >= minRsaBits && exponentProblem(publicExponent) === undefined;
}

/** Returns the public key. */
function publicKeyOf({ kty, n, e, crv, x, y }: Readonly<Record<string, unknown>>): KeyObject | undefined {
  const members = kty === 'RSA' ? { n, e } : { crv, x, y };
  const texts = Object.entries(members).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  try {
    return createPublicKey({ key: { kty: String(kty), ...Object.fromEntries(texts) }, format: 'jwk' });
  } catch {
    return undefined;
  }
}
