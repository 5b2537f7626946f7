import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { generateKey, type KeyType, privateKeyPem } from '../pki/key-pair.js';
import { keyFits, type SignatureAlgorithm } from './jws.js';

/**
 * Keys of service account tokens. One key signs; several may verify, so that keys can be replaced without interruption.
 */

export interface VerificationKey {
  /**
   * The ID of the key: SHA-256 of the DER SubjectPublicKeyInfo, in unpadded base64url. It reveals nothing about the
   * key.
   */
  readonly keyId: string;
  readonly algorithm: SignatureAlgorithm;
  readonly publicKey: KeyObject;
}
export interface TokenSigningKey extends VerificationKey {
  readonly privateKey: KeyObject;
}

/** The type of key that is generated for each algorithm. */
const keyTypes: Readonly<Record<SignatureAlgorithm, KeyType>> = {
  RS256: 'RSA-2048',
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
};
const algorithms = Object.keys(keyTypes) as readonly SignatureAlgorithm[];

/**
 * Returns the algorithm that a key signs with. Throws Error for keys that are neither RSA nor on one of the three NIST
 * curves.
 */
function algorithmOf(key: KeyObject): SignatureAlgorithm {
  const found = algorithms.find((algorithm) => keyFits(algorithm, key));
  if (found !== undefined) return found;
  const type = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? 'unknown';
  throw new Error(`service account keys must be RSA or ECDSA on P-256, P-384 or P-521, not ${type}`);
}

/** Generates a private key and returns it as PEM (PKCS#8). */
export const generateServiceAccountKey = async (algorithm: SignatureAlgorithm = 'ES256'): Promise<string> =>
  privateKeyPem(await generateKey(keyTypes[algorithm]));

/** Parses a private key in PEM (PKCS#1, PKCS#8 or SEC 1). Throws Error for anything else. */
export function readSigningKey(pem: string): TokenSigningKey {
  const privateKey = privateKeyIn(pem);
  return { ...verificationKey(createPublicKey(privateKey)), privateKey };
}

function privateKeyIn(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new Error('no PEM private key found', { cause: error });
  }
}

/** Parses every public key, private key and certificate in a PEM text. Throws Error if there is none. */
export function readVerificationKeys(pem: string): readonly VerificationKey[] {
  const blocks = pem.split(/(?=-----BEGIN )/).filter((block) => block.startsWith('-----BEGIN '));
  const keys = blocks
    .filter((block) => !block.startsWith('-----BEGIN EC PARAMETERS'))
    .map((block) => verificationKey(createPublicKey(block)));
  if (keys.length === 0) throw new Error('no PEM key found');
  return keys;
}

/** Returns the verification key for a public key. */
function verificationKey(publicKey: KeyObject): VerificationKey {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return {
    keyId: createHash('sha256').update(der).digest('base64url'),
    algorithm: algorithmOf(publicKey),
    publicKey,
  };
}
