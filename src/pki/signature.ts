import { constants, verify } from 'node:crypto';
import { type AlgorithmIdentifier, Asn1Reader, readAlgorithm } from './asn1-reader.js';
import type { Certificate } from './certificate.js';
import { DerCursor, tags, universal } from './der.js';
import { derNull } from './der-writer.js';
import { type MlDsa, mlDsaParameterSets } from './ml-dsa.js';
import { oids } from './oids.js';
import { PkiError } from './pki-error.js';
import { keyObject, type PublicKey } from './public-key.js';

/** The supported signature algorithms. Error texts are those of Go's crypto/x509 and crypto/rsa. */

interface Algorithm {
  /** The kind of key as Go's text names it. */
  readonly key: 'RSA' | 'DSA' | 'ECDSA' | 'Ed25519' | MlDsa;
  /** undefined if the algorithm includes hashing. */
  readonly hash: 'sha1' | 'sha256' | 'sha384' | 'sha512' | undefined;
  readonly pss?: true;
  /** The salt of PSS may have any length, not just that of the hash. */
  readonly anySalt?: true;
  /** The name of an algorithm that is known and rejected. */
  readonly insecure?: string;
}

const algorithms: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  [oids.md5WithRsa, { key: 'RSA', hash: undefined, insecure: 'MD5-RSA' }],
  [oids.sha1WithRsa, { key: 'RSA', hash: 'sha1' }],
  [oids.sha1WithRsaIso, { key: 'RSA', hash: 'sha1' }],
  [oids.sha256WithRsa, { key: 'RSA', hash: 'sha256' }],
  ['1.2.840.113549.1.1.12', { key: 'RSA', hash: 'sha384' }],
  ['1.2.840.113549.1.1.13', { key: 'RSA', hash: 'sha512' }],
  [oids.dsaWithSha1, { key: 'DSA', hash: 'sha1' }],
  ['2.16.840.1.101.3.4.3.2', { key: 'DSA', hash: 'sha256' }],
  [oids.ecdsaWithSha1, { key: 'ECDSA', hash: 'sha1' }],
  [oids.ecdsaWithSha256, { key: 'ECDSA', hash: 'sha256' }],
  [oids.ecdsaWithSha384, { key: 'ECDSA', hash: 'sha384' }],
  [oids.ecdsaWithSha512, { key: 'ECDSA', hash: 'sha512' }],
]);
/** The algorithms without parameters. */
const bareAlgorithms: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  [oids.ed25519, { key: 'Ed25519', hash: undefined }],
  ...mlDsaParameterSets.map(({ name, oid }) => [oid, { key: name, hash: undefined }] as const),
]);
const oidPss = '1.2.840.113549.1.1.10';
const oidMgf1 = '1.2.840.113549.1.1.8';
const pssHashes: ReadonlyMap<string, 'sha256' | 'sha384' | 'sha512'> = new Map([
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
] as const);
const saltBytes = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;

function algorithmFor({ oid, parameters }: AlgorithmIdentifier): Algorithm | undefined {
  if (oid === oidPss) return pss(parameters);
  const bare = bareAlgorithms.get(oid);
  if (bare !== undefined) return parameters.length === 0 ? bare : undefined;
  return algorithms.get(oid);
}

/**
 * Reads RSASSA-PSS parameters (RFC 4055): the same hash everywhere, a salt of its length, the usual trailer; nothing
 * else is supported.
 */
function pss(parameters: Buffer): Algorithm | undefined {
  try {
    const members = new Asn1Reader(new Asn1Reader(parameters).field(struct).contents);
    const hash = readAlgorithm(members.explicit(0, struct));
    const mask = readAlgorithm(members.explicit(1, struct));
    const maskHash = readAlgorithm(new Asn1Reader(mask.parameters).field(struct));
    const salt = members.explicit(2, integer)?.contents;
    const trailer = members.explicit(3, integer)?.contents ?? usualTrailer;
    const known = pssHashes.get(hash.oid);
    const isUsual =
      mask.oid === oidMgf1 &&
      maskHash.oid === hash.oid &&
      [hash, maskHash].every(({ parameters: none }) => none.length === 0 || none.equals(derNull)) &&
      trailer.equals(usualTrailer);
    return known && isUsual && salt?.equals(Buffer.from([saltBytes[known]]))
      ? { key: 'RSA', hash: known, pss: true }
      : undefined;
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}
const struct = { tag: universal.sequence, constructed: true, goType: '' } as const;
const integer = { tag: universal.integer, constructed: false, goType: 'int' } as const;
const usualTrailer = Buffer.from([1]);

const ofMlDsa = (text: string) => ({ 'ML-DSA-44': text, 'ML-DSA-65': text, 'ML-DSA-87': text });
const goTypes = {
  RSA: '*rsa.PublicKey',
  ECDSA: '*ecdsa.PublicKey',
  Ed25519: 'ed25519.PublicKey',
  ...ofMlDsa('*mldsa.PublicKey'),
};
const failures = {
  RSA: 'crypto/rsa: verification error',
  ECDSA: 'x509: ECDSA verification failure',
  Ed25519: 'x509: Ed25519 verification failure',
  ...ofMlDsa('x509: ML-DSA verification failure'),
};

const failed = (message: string): PkiError => new PkiError('signature', message);
const unimplemented = (): PkiError => failed('x509: cannot verify signature: algorithm unimplemented');

/** Returns why an RSA key is unusable; undefined if it is usable. */
function rsaProblem({ bits, raw, exponent = 0n }: PublicKey): string | undefined {
  if (bits < 1024) {
    return `crypto/rsa: ${bits}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`;
  }
  const modulus = new DerCursor(raw).enter(tags.sequence)?.integer();
  if (((modulus?.at(-1) ?? 0) & 1) === 0) return 'crypto/rsa: public modulus is even';
  return exponentProblem(exponent);
}

/** Returns why the public exponent of an RSA key is unusable; undefined if it is usable. With 1, everybody can sign. */
export function exponentProblem(exponent: bigint): string | undefined {
  if (exponent < 2n) return 'crypto/rsa: public exponent too small or negative';
  if ((exponent & 1n) === 0n) return 'crypto/rsa: public exponent is even';
  return exponent > 0x7fffffffn ? 'crypto/rsa: public exponent too large' : undefined;
}

export interface Signed {
  readonly algorithm: AlgorithmIdentifier;
  /** The bytes that were signed, as received. */
  readonly data: Buffer;
  readonly signature: Buffer;
}

/** Throws PkiError (`signature`) unless this key made this signature. SHA-1 is accepted, as it is for requests. */
export function verifySignature({ algorithm, data, signature }: Signed, key: PublicKey): void {
  const found = algorithmFor(algorithm);
  if (found === undefined) throw unimplemented();
  if (found.insecure) throw failed(`x509: cannot verify signature: insecure algorithm ${found.insecure}`);
  if (key.kind === 'DSA' || key.kind === 'other') throw unimplemented();
  if (found.key !== key.kind) {
    throw failed(
      `x509: signature algorithm specifies an ${found.key} public key, but have public key of type ${goTypes[key.kind]}`,
    );
  }
  const unfit = key.kind === 'RSA' ? rsaProblem(key) : undefined;
  if (unfit) throw failed(unfit);
  if (!verifies({ data, signature }, key, found)) throw failed(failures[key.kind]);
}

/** The algorithms with which keys prove possession by a signature without an algorithm identifier. */
const proofs: Readonly<Partial<Record<PublicKey['kind'], Algorithm>>> = {
  RSA: { key: 'RSA', hash: 'sha256', pss: true, anySalt: true },
  ECDSA: { key: 'ECDSA', hash: 'sha256' },
  Ed25519: { key: 'Ed25519', hash: undefined },
};

/**
 * Whether the key made this signature, whose algorithm is given by the key: RSASSA-PSS or ECDSA with SHA-256 (in DER),
 * or Ed25519.
 */
export function provesPossession(signed: Omit<Signed, 'algorithm'>, key: PublicKey): boolean {
  const algorithm = proofs[key.kind];
  return (
    algorithm !== undefined && (key.kind !== 'RSA' || rsaProblem(key) === undefined) && verifies(signed, key, algorithm)
  );
}

/** Whether the key of `issuer` signed the certificate. */
export function isSignedBy({ signatureAlgorithm, toBeSigned, signature }: Certificate, issuer: Certificate): boolean {
  try {
    verifySignature({ algorithm: signatureAlgorithm, data: toBeSigned, signature }, issuer.publicKey);
    return true;
  } catch (error) {
    if (error instanceof PkiError) return false;
    throw error;
  }
}

function verifies({ data, signature }: Omit<Signed, 'algorithm'>, key: PublicKey, algorithm: Algorithm): boolean {
  const { hash, pss: isPss, anySalt } = algorithm;
  const object = keyObject(key);
  const saltLength = anySalt ? constants.RSA_PSS_SALTLEN_AUTO : saltBytes[hash ?? 'sha256'];
  const options = isPss ? { key: object, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength } : { key: object };
  try {
    return verify(hash ?? null, data, options, signature);
  } catch {
    // OpenSSL reports some malformed signatures as errors instead of a mismatch.
    return false;
  }
}
