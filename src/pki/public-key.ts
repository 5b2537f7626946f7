import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { DerCursor, smallInteger, tags } from './der.js';
import { derNull, encodeBits, encodeOid, sequence, unsignedInteger } from './der-writer.js';
import { type MlDsa, type MlDsaParameters, mlDsaParameterSets } from './ml-dsa.js';
import { oids } from './oids.js';
import { PkiError } from './pki-error.js';

/** Public keys of requests and certificates (RFC 3279, RFC 5480, RFC 8410). */

/** Curves of ECDSA keys, with NIST's names. */
export type Curve = 'P-224' | 'P-256' | 'P-384' | 'P-521';

/** A public key of a request or a certificate (SubjectPublicKeyInfo, RFC 5280). */
export interface PublicKey {
  /** `other` is a well-formed key of a type that is neither used for signing nor certified here. */
  readonly kind: 'RSA' | 'ECDSA' | 'Ed25519' | MlDsa | 'DSA' | 'other';
  /** The size of the modulus or field; 0 if it has no meaning. */
  readonly bits: number;
  readonly curve?: Curve;
  /** The SubjectPublicKeyInfo, encoded again from the parsed key; empty for `DSA` and `other`. */
  readonly spki: Buffer;
  /** The key itself, the contents of its BIT STRING. */
  readonly raw: Buffer;
  /** The public exponent of an RSA key. */
  readonly exponent?: bigint;
}

/** The largest modulus that is supported. Go has no limit; OpenSSL verifies nothing above this one. */
const maxModulusBits = 16_384;

interface CurveFacts {
  readonly name: Curve;
  readonly oid: string;
  /** The field prime, and the constant term of `y^2 = x^3 - 3x + b` (SP 800-186). */
  readonly prime: bigint;
  readonly b: bigint;
  readonly bits: number;
  /** Go's name for a coordinate that is not below the prime. */
  readonly element: string;
}

const curves: readonly CurveFacts[] = [
  {
    name: 'P-224',
    oid: '1.3.132.0.33',
    prime: 2n ** 224n - 2n ** 96n + 1n,
    b: 0xb4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4n,
    bits: 224,
    element: 'P224Element',
  },
  {
    name: 'P-256',
    oid: '1.2.840.10045.3.1.7',
    prime: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    bits: 256,
    element: 'P256 element',
  },
  {
    name: 'P-384',
    oid: '1.3.132.0.34',
    prime: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    bits: 384,
    element: 'P384Element',
  },
  {
    name: 'P-521',
    oid: '1.3.132.0.35',
    prime: 2n ** 521n - 1n,
    b: 0x51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
    bits: 521,
    element: 'P521Element',
  },
];

const keyOids = {
  rsa: '1.2.840.113549.1.1.1',
  ec: '1.2.840.10045.2.1',
  dsa: '1.2.840.10040.4.1',
} as const;
/** The AlgorithmIdentifiers of keys. */
const algorithms = {
  rsa: sequence(encodeOid(keyOids.rsa), derNull),
  ed25519: sequence(encodeOid(oids.ed25519)),
  ...(Object.fromEntries(
    curves.map((curve) => [curve.name, sequence(encodeOid(keyOids.ec), encodeOid(curve.oid))]),
  ) as Readonly<Record<Curve, Buffer>>),
};

/** An AlgorithmIdentifier with its key, not yet parsed. */
export interface KeyMaterial {
  /** The object identifier in dotted form. */
  readonly algorithm: string;
  /** The whole parameters element; empty if there is none. */
  readonly parameters: Buffer;
  readonly key: Buffer;
}

const parseError = (message: string): PkiError => new PkiError('parse', message);

const readers: ReadonlyMap<string, (material: KeyMaterial) => PublicKey> = new Map([
  [keyOids.rsa, readRsa],
  [keyOids.ec, readEc],
  [oids.ed25519, readEd25519],
  [keyOids.dsa, readDsa],
  ...mlDsaParameterSets.map((set) => [set.oid, (material: KeyMaterial) => readMlDsa(set, material)] as const),
]);

/** Parses a key. Throws PkiError (`parse`) for a malformed one; unknown algorithms are `other`. */
export const readPublicKey = (material: KeyMaterial): PublicKey =>
  readers.get(material.algorithm)?.(material) ?? { kind: 'other', bits: 0, spki: Buffer.alloc(0), raw: material.key };

const magnitudeBits = (magnitude: Buffer): number => {
  const start = magnitude.findIndex((byte) => byte !== 0);
  return start < 0 ? 0 : (magnitude.length - start) * 8 - (Math.clz32(magnitude[start] ?? 0) - 24);
};
const isPositive = (integer: Buffer): boolean => (integer[0] ?? 0) < 0x80 && integer.some((byte) => byte !== 0);

function readRsa({ parameters, key }: KeyMaterial): PublicKey {
  if (!parameters.equals(derNull)) throw parseError('x509: RSA key missing NULL parameters');
  const members = new DerCursor(key).enter(tags.sequence);
  if (members === undefined) throw parseError('x509: invalid RSA public key');
  const modulus = members.integer();
  if (modulus === undefined) throw parseError('x509: invalid RSA modulus');
  const exponentBytes = members.integer();
  const exponent = exponentBytes && smallInteger(exponentBytes);
  if (exponent === undefined) throw parseError('x509: invalid RSA public exponent');
  if (!isPositive(modulus)) throw parseError('x509: RSA modulus is not a positive number');
  if (exponent <= 0n) throw parseError('x509: RSA public exponent is not a positive number');
  const size = magnitudeBits(modulus);
  if (size > maxModulusBits) throw parseError(`x509: RSA modulus has more than ${maxModulusBits} bits`);
  const raw = sequence(unsignedInteger(modulus), unsignedInteger(exponentBytes ?? Buffer.alloc(1)));
  return {
    kind: 'RSA',
    bits: size,
    spki: sequence(algorithms.rsa, encodeBits(raw)),
    raw,
    exponent,
  };
}

function readEc({ parameters, key }: KeyMaterial): PublicKey {
  const named = new DerCursor(parameters).oid();
  if (named === undefined) throw parseError('x509: invalid ECDSA parameters');
  const curve = curves.find((known) => known.oid === named);
  if (curve === undefined) throw parseError('x509: unsupported elliptic curve');
  checkPoint(curve, key);
  return {
    kind: 'ECDSA',
    bits: curve.bits,
    curve: curve.name,
    spki: sequence(algorithms[curve.name], encodeBits(key)),
    raw: key,
  };
}

/** Checks that a point is an uncompressed point on the curve (SEC 1, 2.3.3). */
function checkPoint({ name, prime, b, bits: size, element }: CurveFacts, point: Buffer): void {
  const label = name.replace('-', '');
  if (point[0] !== 4) throw parseError('ecdsa: invalid uncompressed public key');
  const width = Math.ceil(size / 8);
  if (point.length !== 1 + 2 * width) throw parseError(`invalid ${label} point encoding`);
  const x = BigInt(`0x${point.toString('hex', 1, 1 + width)}`);
  const y = BigInt(`0x${point.toString('hex', 1 + width)}`);
  if (x >= prime || y >= prime) throw parseError(`invalid ${element} encoding`);
  if ((y * y - (x * x * x - 3n * x + b)) % prime !== 0n) throw parseError(`${label} point not on curve`);
}

function readEd25519({ parameters, key }: KeyMaterial): PublicKey {
  if (parameters.length !== 0) throw parseError('x509: Ed25519 key encoded with illegal parameters');
  if (key.length !== 32) throw parseError('x509: wrong Ed25519 public key size');
  return { kind: 'Ed25519', bits: 256, spki: sequence(algorithms.ed25519, encodeBits(key)), raw: key };
}

function readMlDsa({ name, identifier, keyBytes }: MlDsaParameters, { parameters, key }: KeyMaterial): PublicKey {
  if (parameters.length !== 0) throw parseError(`x509: ${name} key encoded with illegal parameters`);
  if (key.length !== keyBytes) throw parseError(`x509: wrong ${name} public key size`);
  return { kind: name, bits: 0, spki: sequence(identifier, encodeBits(key)), raw: key };
}

function readDsa({ parameters, key }: KeyMaterial): PublicKey {
  const y = new DerCursor(key).integer();
  if (y === undefined) throw parseError('x509: invalid DSA public key');
  const members = new DerCursor(parameters).enter(tags.sequence);
  const numbers = [members?.integer(), members?.integer(), members?.integer()];
  if (numbers.includes(undefined)) throw parseError('x509: invalid DSA parameters');
  if (![y, ...numbers].every((number) => number !== undefined && isPositive(number))) {
    throw parseError('x509: zero or negative DSA parameter');
  }
  return { kind: 'DSA', bits: magnitudeBits(numbers[0] ?? y), spki: Buffer.alloc(0), raw: key };
}

const base64url = (bytes: Buffer): string => bytes.toString('base64url');

/** Returns the key as a JSON Web Key, which OpenSSL reads in half the time of DER; undefined if it has no such form. */
function jsonWebKey({ kind, curve, raw }: PublicKey): JsonWebKey | undefined {
  if (kind === 'Ed25519') return { kty: 'OKP', crv: 'Ed25519', x: base64url(raw) };
  if (kind === 'RSA') {
    const members = new DerCursor(raw).enter(tags.sequence);
    const [n, e] = [members?.integer(), members?.integer()];
    return n && e && { kty: 'RSA', n: base64url(n), e: base64url(e) };
  }
  if (curve === undefined || curve === 'P-224') return undefined;
  const width = (raw.length - 1) / 2;
  return { kty: 'EC', crv: curve, x: base64url(raw.subarray(1, 1 + width)), y: base64url(raw.subarray(1 + width)) };
}

/** Returns the key in the form of node:crypto. Throws PkiError for `DSA`, `other`, and keys that OpenSSL rejects. */
export function keyObject(key: PublicKey): KeyObject {
  const unimplemented = 'x509: cannot verify signature: algorithm unimplemented';
  if (key.spki.length === 0) throw new PkiError('signature', unimplemented);
  const jwk = jsonWebKey(key);
  try {
    return jwk
      ? createPublicKey({ key: jwk, format: 'jwk' })
      : createPublicKey({ key: key.spki, format: 'der', type: 'spki' });
  } catch (cause) {
    throw new PkiError('signature', unimplemented, { cause });
  }
}
