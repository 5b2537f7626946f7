import { encodeOid, sequence } from './der-writer.js';
import { PkiError } from './pki-error.js';

/** ML-DSA (FIPS 204) in requests and certificates (RFC 9881). Node.js supports it from version 24.6 on. */
export type MlDsa = 'ML-DSA-44' | 'ML-DSA-65' | 'ML-DSA-87';

export interface MlDsaParameters {
  readonly name: MlDsa;
  readonly oid: string;
  /** The AlgorithmIdentifier of keys and of signatures, in DER. */
  readonly identifier: Buffer;
  /** The length of a public key. */
  readonly keyBytes: number;
}

const facts = (name: MlDsa, type: string, keyBytes: number): MlDsaParameters => ({
  name,
  oid: type,
  identifier: sequence(encodeOid(type)),
  keyBytes,
});

export const mlDsaParameterSets: readonly MlDsaParameters[] = [
  facts('ML-DSA-44', '2.16.840.1.101.3.4.3.17', 1_312),
  facts('ML-DSA-65', '2.16.840.1.101.3.4.3.18', 1_952),
  facts('ML-DSA-87', '2.16.840.1.101.3.4.3.19', 2_592),
];

/** Returns the error for a key that this version of Node.js does not support. */
export const mlDsaUnsupported = (name: MlDsa, cause: unknown): PkiError =>
  new PkiError('authority', `${name} needs Node.js 24.6 or later, and this is ${process.version}`, { cause });
