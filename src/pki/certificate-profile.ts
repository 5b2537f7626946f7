import { createHash } from 'node:crypto';
import { type AlternativeNames, hasAlternativeNames, writeAlternativeNames } from './alternative-names.js';
import { constructed, context, tags } from './der.js';
import {
  derTrue,
  encode,
  encodeBits,
  encodeFlags,
  encodeOid,
  encodeTime,
  octetString,
  sequence,
  unsignedInteger,
} from './der-writer.js';
import { emptyName } from './distinguished-name.js';
import { oids } from './oids.js';
import { certificateUsages } from './usages.js';

/** The profile of issued certificates (RFC 5280): version 3, extensions in this order, and nothing else. */

export interface CertificateContents {
  /** The magnitude of the serial number. */
  readonly serial: Buffer;
  readonly issuerDer: Buffer;
  readonly subjectDer: Buffer;
  readonly spki: Buffer;
  /** In milliseconds since the epoch; fractions of seconds are dropped. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The AlgorithmIdentifier of the signature. */
  readonly algorithm: Buffer;
  readonly extensions: readonly Buffer[];
}

const version3 = encode(constructed(0), unsignedInteger(Buffer.from([2])));

/** Returns the bytes to be signed. */
export const toBeSigned = (contents: CertificateContents): Buffer =>
  sequence(
    version3,
    unsignedInteger(contents.serial),
    contents.algorithm,
    contents.issuerDer,
    sequence(encodeTime(contents.notBefore), encodeTime(contents.notAfter)),
    contents.subjectDer,
    contents.spki,
    encode(constructed(3), sequence(...contents.extensions)),
  );

/** Returns the certificate in DER. */
export const signedCertificate = (signed: Buffer, algorithm: Buffer, signature: Buffer): Buffer =>
  sequence(signed, algorithm, encodeBits(signature));

const ids = {
  subjectKeyId: encodeOid(oids.subjectKeyId),
  keyUsage: encodeOid(oids.keyUsage),
  alternativeNames: encodeOid(oids.alternativeNames),
  basicConstraints: encodeOid(oids.basicConstraints),
  authorityKeyId: encodeOid(oids.authorityKeyId),
  extendedKeyUsage: encodeOid(oids.extendedKeyUsage),
} as const;

const extension = (id: Buffer, value: Buffer): Buffer => sequence(id, octetString(value));
const critical = (id: Buffer, value: Buffer): Buffer => sequence(id, derTrue, octetString(value));

const authorityKeyId = (keyId: Buffer | undefined): readonly Buffer[] =>
  keyId === undefined || keyId.length === 0 ? [] : [extension(ids.authorityKeyId, sequence(encode(context(0), keyId)))];

const noAuthority = critical(ids.basicConstraints, encode(tags.sequence));

export interface LeafExtensions {
  readonly usages: readonly string[];
  readonly names: AlternativeNames;
  readonly subjectDer: Buffer;
  /** The key identifier of the issuer; undefined if it has none. */
  readonly issuerKeyId: Buffer | undefined;
}

/**
 * Returns keyUsage, extKeyUsage, basicConstraints, authorityKeyIdentifier and subjectAltName; empty ones are left out.
 */
export function leafExtensions({ usages, names, subjectDer, issuerKeyId }: LeafExtensions): readonly Buffer[] {
  const { keyUsage, extendedKeyUsage } = certificateUsages(usages);
  const alternative = subjectDer.equals(emptyName) ? critical : extension;
  return [
    ...(keyUsage.size === 0 ? [] : [critical(ids.keyUsage, encodeFlags(keyUsage))]),
    ...(extendedKeyUsage.length === 0 ? [] : [extension(ids.extendedKeyUsage, sequence(...extendedKeyUsage))]),
    noAuthority,
    ...authorityKeyId(issuerKeyId),
    ...(hasAlternativeNames(names) ? [alternative(ids.alternativeNames, writeAlternativeNames(names))] : []),
  ];
}

const caKeyUsage = critical(ids.keyUsage, encodeFlags(new Set([0, 5, 6])));
const isAuthority = critical(ids.basicConstraints, sequence(derTrue));

/**
 * Returns the extensions of a CA certificate: keyUsage, basicConstraints, subjectKeyIdentifier, authorityKeyIdentifier.
 */
export const authorityExtensions = (keys: {
  readonly keyId: Buffer;
  readonly issuerKeyId: Buffer | undefined;
}): readonly Buffer[] => [
  caKeyUsage,
  isAuthority,
  extension(ids.subjectKeyId, octetString(keys.keyId)),
  ...authorityKeyId(keys.issuerKeyId),
];

/** Returns the leftmost 160 bits of the SHA-256 of a key (RFC 7093, method 1). */
export const keyIdentifier = (rawKey: Buffer): Buffer => createHash('sha256').update(rawKey).digest().subarray(0, 20);
