import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { derNull, encodeOid, sequence } from './der-writer.js';
import { ecdsaSignatures } from './ecdsa.js';
import { type MlDsa, mlDsaParameterSets, mlDsaUnsupported } from './ml-dsa.js';
import { oids } from './oids.js';
import { firstPemBlock } from './pem.js';
import { PkiError } from './pki-error.js';
import type { Curve } from './public-key.js';

/** Private keys: generating and reading them, and signing with the algorithm that suits them. */

/** The types of keys that can be generated; ML-DSA requires Node.js 24.6 or later. */
export type KeyType = 'P-256' | 'P-384' | 'P-521' | 'Ed25519' | 'RSA-2048' | 'RSA-3072' | 'RSA-4096' | MlDsa;

const generate = promisify(generateKeyPair);

const makers: Readonly<Record<KeyType, () => Promise<{ readonly privateKey: KeyObject }>>> = {
  'P-256': () => generate('ec', { namedCurve: 'P-256' }),
  'P-384': () => generate('ec', { namedCurve: 'P-384' }),
  'P-521': () => generate('ec', { namedCurve: 'P-521' }),
  Ed25519: () => generate('ed25519'),
  'RSA-2048': () => generate('rsa', { modulusLength: 2048 }),
  'RSA-3072': () => generate('rsa', { modulusLength: 3072 }),
  'RSA-4096': () => generate('rsa', { modulusLength: 4096 }),
  'ML-DSA-44': () => generateMlDsa('ML-DSA-44'),
  'ML-DSA-65': () => generateMlDsa('ML-DSA-65'),
  'ML-DSA-87': () => generateMlDsa('ML-DSA-87'),
};

/** Returns the name of the type in Node.js; the package's type definitions are those of a version without it. */
const nodeType = (name: MlDsa): 'ed25519' => name.toLowerCase() as 'ed25519';

const generateMlDsa = (name: MlDsa): Promise<{ readonly privateKey: KeyObject }> =>
  generate(nodeType(name)).catch((cause: unknown) => {
    throw mlDsaUnsupported(name, cause);
  });

export const keyTypes = Object.keys(makers) as readonly KeyType[];

/**
 * Generates a private key, off the main thread. Rejects with PkiError (`authority`) if Node.js does not support the
 * type.
 */
export const generateKey = async (type: KeyType): Promise<KeyObject> => (await makers[type]()).privateKey;

/** Returns a private key in PEM (PKCS#8). */
export const privateKeyPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/**
 * Returns a private key in PEM with its algorithm in the label: as SEC 1 if that form exists, else as PKCS#8. Some
 * clients, such as fabric8's, detect the algorithm only by the label.
 */
export const labelledPrivateKeyPem = (key: KeyObject): string =>
  key.asymmetricKeyType === 'ec' ? key.export({ type: 'sec1', format: 'pem' }).toString() : privateKeyPem(key);

/** Returns the SubjectPublicKeyInfo of a private key, in DER. */
export const spkiOf = (key: KeyObject): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' });

/** Reads a private key in PEM (PKCS#8, SEC 1 or PKCS#1, unencrypted). Throws PkiError (`authority`). */
export function readPrivateKey(pem: string): KeyObject {
  let cause: unknown;
  try {
    const key = createPrivateKey(pem);
    // OpenSSL may read kinds of keys that Node.js does not support.
    if (key.asymmetricKeyType !== undefined) return key;
  } catch (error) {
    cause = error;
  }
  const set = mlDsaParameterSets.find(({ identifier }) => firstPemBlock(pem)?.bytes.includes(identifier));
  if (set !== undefined) throw mlDsaUnsupported(set.name, cause);
  const problem = pem.includes('ENCRYPTED') ? 'is encrypted' : 'cannot be read';
  throw new PkiError('authority', `the private key ${problem}`, { cause });
}

export interface SigningAlgorithm {
  /** The AlgorithmIdentifier in DER. */
  readonly identifier: Buffer;
  /** null if the algorithm includes hashing. */
  readonly hash: 'sha256' | 'sha384' | 'sha512' | null;
}

const ecdsa = (curve: Curve): SigningAlgorithm => {
  const { oid, hash } = ecdsaSignatures[curve];
  return { identifier: sequence(encodeOid(oid)), hash };
};
/** Algorithms by the name of the curve in Node.js. */
const ofCurves: ReadonlyMap<string, SigningAlgorithm> = new Map([
  ['secp224r1', ecdsa('P-224')],
  ['prime256v1', ecdsa('P-256')],
  ['secp384r1', ecdsa('P-384')],
  ['secp521r1', ecdsa('P-521')],
]);
/** Algorithms by the type of key. */
const byKeyType: ReadonlyMap<string, SigningAlgorithm> = new Map<string, SigningAlgorithm>([
  ['rsa', { identifier: sequence(encodeOid(oids.sha256WithRsa), derNull), hash: 'sha256' }],
  ['ed25519', { identifier: sequence(encodeOid(oids.ed25519)), hash: null }],
  ...mlDsaParameterSets.map(({ name, identifier }) => [nodeType(name), { identifier, hash: null }] as const),
]);

/**
 * Returns the algorithm for a key. RSA: SHA-256 with PKCS#1 v1.5; ECDSA: the hash of the curve's size; Ed25519; ML-DSA.
 * Throws PkiError (`authority`) for other keys.
 */
export function signingAlgorithm(key: KeyObject): SigningAlgorithm {
  const { asymmetricKeyType: type = '' } = key;
  const found = type === 'ec' ? ofCurves.get(key.asymmetricKeyDetails?.namedCurve ?? '') : byKeyType.get(type);
  if (found === undefined)
    throw new PkiError('authority', 'the private key is of a type that is not supported for signing');
  return found;
}

/** A private key that can sign, wherever it is kept. */
export interface SigningKey {
  /** The SubjectPublicKeyInfo of its public key, in DER. */
  readonly spki: Buffer;
  /** The AlgorithmIdentifier of its signatures, in DER. */
  readonly identifier: Buffer;
  /** Signs data. Rejects for failures worth retrying. */
  sign(data: Buffer): Promise<Buffer>;
}

/**
 * Returns a signing key for a key in memory. Throws PkiError (`authority`) if its type is not supported for signing.
 */
export function keyInMemory(key: KeyObject): SigningKey {
  const algorithm = signingAlgorithm(key);
  return { spki: spkiOf(key), identifier: algorithm.identifier, sign: (data) => signWith(key, algorithm, data) };
}

/** Signs data; with RSA, which takes milliseconds, off the main thread. */
export async function signWith(key: KeyObject, { hash }: SigningAlgorithm, data: Buffer): Promise<Buffer> {
  if (key.asymmetricKeyType !== 'rsa') return sign(hash, data, key);
  return new Promise((resolve, reject) => {
    sign(hash, data, key, (error, signature) => (error ? reject(error) : resolve(signature)));
  });
}
