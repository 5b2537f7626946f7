import { type AlternativeNames, noAlternativeNames } from './alternative-names.js';
import type { AlgorithmIdentifier } from './asn1-reader.js';
import { type CertificateExtension, readExtensionValues } from './certificate-extensions.js';
import { constructed, context, DerCursor, rightAligned, smallInteger, tags } from './der.js';
import { readGeneralizedTime, readUtcTime } from './der-time.js';
import { type DistinguishedName, readName } from './distinguished-name.js';
import { memoized } from './memoized.js';
import { certificateBlocks } from './pem.js';
import { malformed } from './pki-error.js';
import { type PublicKey, readPublicKey } from './public-key.js';

/** An X.509 certificate (RFC 5280). Its signature, dates and chain have not been verified. */
export interface Certificate {
  readonly der: Buffer;
  /** 1, 2 or 3. */
  readonly version: number;
  /** The magnitude in hexadecimal, in lower case. */
  readonly serial: string;
  readonly issuer: DistinguishedName;
  /** The name as encoded in the certificate. */
  readonly issuerDer: Buffer;
  readonly subject: DistinguishedName;
  readonly subjectDer: Buffer;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly publicKey: PublicKey;
  /** As in basicConstraints; false without that extension. */
  readonly isCA: boolean;
  /** Whether its key may sign certificates; true without a keyUsage extension. */
  readonly signsCertificates: boolean;
  /** The maximum number of CAs below it; undefined for no limit. */
  readonly pathLength: number | undefined;
  readonly subjectKeyId: Buffer | undefined;
  readonly authorityKeyId: Buffer | undefined;
  readonly alternativeNames: AlternativeNames;
  /** The value of subjectAltName, which may contain no name of a kind that is read; empty without the extension. */
  readonly alternativeNamesDer: Buffer;
  /** Object identifiers in dotted form; undefined for any purpose. */
  readonly extendedKeyUsages: readonly string[] | undefined;
  readonly hasNameConstraints: boolean;
  /** Whether it has requireExplicitPolicy, for any number of certificates; critical or not. */
  readonly requiresExplicitPolicy: boolean;
  /** Whether there is a critical extension that is not or not fully understood. Such a certificate must be rejected. */
  readonly hasUnhandledCritical: boolean;
  readonly toBeSigned: Buffer;
  readonly signatureAlgorithm: AlgorithmIdentifier;
  readonly signature: Buffer;
}

/** Returns the value; throws an error with this text if there is none. */
function need<T>(value: T | undefined, problem: string): T {
  if (value === undefined) throw malformed(problem);
  return value;
}

interface ReadCertificate {
  readonly certificate: Certificate;
  /** The number of bytes read. */
  readonly length: number;
}

/** Reads one certificate in DER. Throws PkiError (`parse`) with Go's text, also if bytes follow it. */
export function readCertificate(der: Buffer): Certificate {
  const { certificate, length } = readOne(der);
  if (length !== der.length) throw malformed('trailing data');
  return certificate;
}

/** Reads consecutive certificates; returns none for no bytes. Throws PkiError (`parse`). */
export function readCertificates(der: Buffer): readonly Certificate[] {
  const certificates: Certificate[] = [];
  for (let at = 0; at < der.length; ) {
    const { certificate, length } = readOne(der.subarray(at));
    certificates.push(certificate);
    at += length;
  }
  return certificates;
}

/**
 * Returns the certificates of a PEM text, in order. Blocks of other types, and those with headers, are skipped. Throws
 * PkiError (`parse`).
 */
export const readPemCertificates = (pem: Uint8Array | string): readonly Certificate[] =>
  certificateBlocks(pem).map(readCertificate);

/** Several parts of the program read an issued certificate in turn, so the latest results are cached. */
const readOne: (der: Buffer) => ReadCertificate = memoized(read);

function read(der: Buffer): ReadCertificate {
  const outer = need(new DerCursor(der).element(tags.sequence), 'malformed certificate');
  const input = new DerCursor(outer.value);
  const toBeSigned = need(input.element(tags.sequence), 'malformed tbs certificate');
  const tbs = new DerCursor(toBeSigned.value);
  const version = readVersion(tbs);
  const serial = need(tbs.integer(), 'malformed serial number');
  if ((serial[0] ?? 0) >= 0x80) throw malformed('negative serial number');
  const innerAlgorithm = need(tbs.read(tags.sequence), 'malformed signature algorithm identifier');
  const outerAlgorithm = need(input.read(tags.sequence), 'malformed algorithm identifier');
  if (!outerAlgorithm.equals(innerAlgorithm)) {
    throw malformed("inner and outer signature algorithm identifiers don't match");
  }
  const signatureAlgorithm = readAlgorithm(innerAlgorithm);
  const issuerDer = need(tbs.element(tags.sequence), 'malformed issuer').fullBytes;
  const issuer = readName(issuerDer);
  const validity = need(tbs.enter(tags.sequence), 'malformed validity');
  const notBefore = readTime(validity);
  const notAfter = readTime(validity);
  const subjectDer = need(tbs.element(tags.sequence), 'malformed issuer').fullBytes;
  const subject = readName(subjectDer);
  const publicKey = readKey(need(tbs.read(tags.sequence), 'malformed spki'));
  const { values: extensions, hasUnhandledCritical } = readExtensionValues(
    version > 1 ? extensionsOf(tbs, version) : [],
  );
  const signature = rightAligned(need(input.bitString(), 'malformed signature'));
  return {
    length: outer.fullBytes.length,
    certificate: {
      der: outer.fullBytes,
      version,
      serial: serial.toString('hex').replace(/^(?:00)+(?=.)/, ''),
      issuer,
      issuerDer,
      subject,
      subjectDer,
      notBefore,
      notAfter,
      publicKey,
      isCA: extensions.basicConstraints?.isCA ?? false,
      signsCertificates: extensions.signsCertificates ?? true,
      pathLength: extensions.basicConstraints?.pathLength,
      subjectKeyId: extensions.subjectKeyId,
      authorityKeyId: extensions.authorityKeyId,
      alternativeNames: extensions.alternativeNames ?? noAlternativeNames,
      alternativeNamesDer: extensions.alternativeNamesDer ?? Buffer.alloc(0),
      extendedKeyUsages: extensions.extendedKeyUsages,
      hasNameConstraints: extensions.hasNameConstraints ?? false,
      requiresExplicitPolicy: extensions.requiresExplicitPolicy ?? false,
      hasUnhandledCritical,
      toBeSigned: toBeSigned.fullBytes,
      signatureAlgorithm,
      signature,
    },
  };
}

/** Reads the version: 1, 2 or 3; the encoding counts from 0. */
function readVersion(tbs: DerCursor): number {
  if (!tbs.nextIs(constructed(0))) return 1;
  const explicit = need(tbs.enter(constructed(0)), 'malformed version');
  const encoded = explicit.integer();
  const version = encoded && explicit.empty ? smallInteger(encoded) : undefined;
  if (version === undefined || version < 0n) throw malformed('malformed version');
  if (version > 2n) throw malformed('invalid version');
  return Number(version) + 1;
}

function readAlgorithm(contents: Buffer): AlgorithmIdentifier {
  const members = new DerCursor(contents);
  const oid = need(members.oid(), 'malformed OID');
  if (members.empty) return { oid, parameters: Buffer.alloc(0) };
  return { oid, parameters: need(members.any(), 'malformed parameters').fullBytes };
}

/** Reads a SubjectPublicKeyInfo. Throws PkiError (`parse`). */
export const readPublicKeyInfo = (spki: Buffer): PublicKey =>
  readKey(need(new DerCursor(spki).read(tags.sequence), 'malformed spki'));

function readKey(contents: Buffer): PublicKey {
  const members = new DerCursor(contents);
  const algorithm = readAlgorithm(need(members.read(tags.sequence), 'malformed public key algorithm identifier'));
  const key = rightAligned(need(members.bitString(), 'malformed subjectPublicKey'));
  return readPublicKey({ algorithm: algorithm.oid, parameters: algorithm.parameters, key });
}

function extensionsOf(tbs: DerCursor, version: number): readonly CertificateExtension[] {
  for (const [number, name] of [
    [1, 'issuerUniqueID'],
    [2, 'subjectUniqueID'],
  ] as const) {
    if (tbs.nextIs(context(number))) need(tbs.any(), `malformed ${name}`);
  }
  if (version < 3 || !tbs.nextIs(constructed(3))) return [];
  const list = need(tbs.enter(constructed(3))?.enter(tags.sequence), 'malformed extensions');
  const seen = new Set<string>();
  const extensions: CertificateExtension[] = [];
  while (!list.empty) {
    const extension = readExtension(need(list.enter(tags.sequence), 'malformed extension'));
    if (seen.has(extension.oid)) {
      throw malformed(`certificate contains duplicate extension with OID "${extension.oid}"`);
    }
    seen.add(extension.oid);
    extensions.push(extension);
  }
  return extensions;
}

function readExtension(members: DerCursor): CertificateExtension {
  const oid = need(members.oid(), 'malformed extension OID field');
  const critical = members.nextIs(tags.boolean) ? need(members.boolean(), 'malformed extension critical field') : false;
  return { oid, critical, value: need(members.read(tags.octetString), 'malformed extension value field') };
}

function readTime(validity: DerCursor): number {
  if (validity.nextIs(tags.utcTime)) {
    return need(readUtcTime(validity.read(tags.utcTime)?.toString('latin1') ?? ''), 'malformed UTCTime');
  }
  if (validity.nextIs(tags.generalizedTime)) {
    const text = validity.read(tags.generalizedTime)?.toString('latin1') ?? '';
    return need(readGeneralizedTime(text), 'malformed GeneralizedTime');
  }
  throw malformed('unsupported time format');
}
