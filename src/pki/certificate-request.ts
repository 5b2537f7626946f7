import { type AlternativeNames, noAlternativeNames, readAlternativeNames } from './alternative-names.js';
import {
  type AlgorithmIdentifier,
  Asn1Reader,
  readAlgorithm,
  readBitString,
  readBoolean,
  readInteger,
  readOid,
} from './asn1-reader.js';
import type { CertificateExtension } from './certificate-extensions.js';
import { maxElements, rightAligned, universal } from './der.js';
import { asn1TimeProblem } from './der-time.js';
import { encodeOid } from './der-writer.js';
import { decodeString } from './directory-string.js';
import { type DistinguishedName, type NameAttribute, nameFromAttributes } from './distinguished-name.js';
import { memoized } from './memoized.js';
import { oids } from './oids.js';
import { firstPemBlock } from './pem.js';
import { PkiError } from './pki-error.js';
import { type KeyMaterial, type PublicKey, readPublicKey } from './public-key.js';
import { type Signed, verifySignature } from './signature.js';

/** A PKCS#10 request (RFC 2986) that was parsed and whose signature was verified. */
export interface CertificateRequest extends AlternativeNames {
  readonly subject: DistinguishedName;
  readonly publicKey: PublicKey;
  /** The requested extensions, including those other than subjectAltName, which are never granted. */
  readonly extensions: readonly CertificateExtension[];
  /** The types of subject attributes whose values are not strings; these are in no other field. */
  readonly textless: readonly string[];
  /** The attributes as received, each in full, including those that are not evaluated. */
  readonly attributes: readonly Buffer[];
}

const writtenExtensionRequest = encodeOid(oids.extensionRequest);

/** More than any request needs, and few enough not to block others for long. */
const maxNameAttributes = 10_000;
const maxExtensionRequests = 100;

const struct = (goType: string) => ({ tag: universal.sequence, constructed: true, goType }) as const;
const primitive = (tag: number, goType: string) => ({ tag, constructed: false, goType }) as const;

const shapes = {
  request: struct('certificateRequest'),
  toBeSigned: struct('tbsCertificateRequest'),
  version: primitive(universal.integer, 'int'),
  publicKeyInfo: struct('publicKeyInfo'),
  algorithm: struct('AlgorithmIdentifier'),
  oid: primitive(universal.oid, 'ObjectIdentifier'),
  bits: primitive(universal.bitString, 'BitString'),
  attributes: { tag: 0, constructed: true, context: true, goType: '' },
  name: struct('RDNSequence'),
  relativeName: { tag: universal.set, constructed: true, goType: 'RelativeDistinguishedNameSET' },
  attributeTypeAndValue: struct('AttributeTypeAndValue'),
  attribute: struct('pkcs10Attribute'),
  attributeValues: { tag: universal.set, constructed: true, goType: '' },
  extensions: struct(''),
  extension: struct('Extension'),
  critical: primitive(universal.boolean, 'bool'),
  value: primitive(universal.octetString, ''),
} as const;

/**
 * Reads the first PEM block, which must be a CERTIFICATE REQUEST, and verifies that its key signed it, over the bytes
 * as received. Throws only PkiError, with Go's texts (`pem`, `parse`, `signature`). Time and memory are linear in the
 * length of the text, which callers limit; at most 10,000 values of a subject and as many alternative names are read.
 */
export const readCertificateRequest = (pem: Uint8Array | string): CertificateRequest => readRequestDer(derOf(pem));

/** Like `readCertificateRequest` without verifying the signature, for checks before validation. */
export const readUnverifiedRequest = (pem: Uint8Array | string): CertificateRequest => parsed(derOf(pem)).request;

/** Like `readUnverifiedRequest`, for DER. */
export const readUnverifiedDer = (der: Buffer): CertificateRequest => parsed(der).request;

/** Reads a SubjectPublicKeyInfo by itself, as those in requests are read. Throws PkiError (`parse`). */
export function readPublicKeyDer(der: Buffer): PublicKey {
  const input = new Asn1Reader(der);
  const material = readKeyMaterial(input);
  if (!input.done) throw new PkiError('parse', 'x509: trailing data after ASN.1 of public-key');
  return readPublicKey(material);
}

function derOf(pem: Uint8Array | string): Buffer {
  const block = firstPemBlock(pem);
  if (block === undefined || block.type !== 'CERTIFICATE REQUEST') {
    throw new PkiError('pem', 'PEM block type must be CERTIFICATE REQUEST');
  }
  return block.bytes;
}

/**
 * Like `readCertificateRequest`, for DER without PEM. Validation, approver and signer read a request in turn, and
 * verifying it takes most of their time, so the latest results are cached.
 */
export const readRequestDer: (der: Buffer) => CertificateRequest = memoized((der) => {
  const { request, signed } = parsed(der);
  verifySignature(signed, request.publicKey);
  return request;
});

function parsed(der: Buffer): { readonly request: CertificateRequest; readonly signed: Signed } {
  const input = new Asn1Reader(der);
  const raw = readStructure(input.field(shapes.request).contents);
  if (!input.done) throw new PkiError('parse', 'asn1: syntax error: trailing data');

  const publicKey = readPublicKey(raw.key);
  const { subject, textless } = readSubject(raw.subject);
  const extensions = readExtensions(raw.attributes);
  const alternativeNames = extensions.find(({ oid }) => oid === oids.alternativeNames);
  const names = alternativeNames ? readAlternativeNames(alternativeNames.value) : noAlternativeNames;
  return {
    request: { subject, publicKey, extensions, textless, attributes: raw.attributes, ...names },
    signed: { algorithm: raw.algorithm, data: raw.toBeSigned, signature: raw.signature },
  };
}

interface Structure {
  /** The signed bytes. */
  readonly toBeSigned: Buffer;
  readonly subject: Buffer;
  readonly key: KeyMaterial;
  /** Each attribute in full. */
  readonly attributes: readonly Buffer[];
  readonly algorithm: AlgorithmIdentifier;
  readonly signature: Buffer;
}

function readStructure(contents: Buffer): Structure {
  const outer = new Asn1Reader(contents);
  const toBeSigned = outer.field(shapes.toBeSigned);
  const inner = new Asn1Reader(toBeSigned.contents);
  readInteger(inner.field(shapes.version).contents);
  const subject = inner.any().fullBytes;
  const key = readKeyMaterial(inner);
  const attributes = new Asn1Reader(inner.field(shapes.attributes).contents)
    .elements()
    .map(({ fullBytes }) => fullBytes);
  const algorithm = readAlgorithm(outer.field(shapes.algorithm));
  const signature = rightAligned(readBitString(outer.field(shapes.bits).contents));
  return {
    toBeSigned: toBeSigned.fullBytes,
    subject,
    key,
    attributes,
    algorithm,
    signature,
  };
}

function readKeyMaterial(input: Asn1Reader): KeyMaterial {
  const info = new Asn1Reader(input.field(shapes.publicKeyInfo).contents);
  const { oid: algorithm, parameters } = readAlgorithm(info.field(shapes.algorithm));
  return { algorithm, parameters, key: rightAligned(readBitString(info.field(shapes.bits).contents)) };
}

function readSubject(der: Buffer): Pick<CertificateRequest, 'subject' | 'textless'> {
  const input = new Asn1Reader(der);
  const names = new Asn1Reader(input.field(shapes.name).contents).elements(shapes.relativeName);
  const attributes: NameAttribute[] = [];
  const textless: string[] = [];
  let count = 0;
  for (const { contents } of names) {
    for (const attribute of new Asn1Reader(contents).elements(shapes.attributeTypeAndValue)) {
      if (++count > maxNameAttributes)
        throw new PkiError('parse', `x509: subject of more than ${maxNameAttributes} values`);
      const { type, value } = readNameAttribute(attribute.contents);
      if (value === undefined) textless.push(type);
      else attributes.push({ type, value });
    }
  }
  return { subject: nameFromAttributes(attributes), textless };
}

/** Reads an attribute of a name; returns it without a value if that is not a string. */
function readNameAttribute(contents: Buffer): Pick<NameAttribute, 'type'> & Partial<NameAttribute> {
  const members = new Asn1Reader(contents);
  const type = readOid(members.field(shapes.oid).contents);
  const field = members.any();
  if (field.class !== 0 || field.constructed) return { type };
  const decoded = decodeString(field.tag, field.contents);
  if (decoded === undefined) {
    checkOtherValue(field.tag, field.contents);
    return { type };
  }
  if ('text' in decoded) return { type, value: decoded.text };
  if (decoded.broken === 'UTF-8 string') throw new PkiError('parse', 'asn1: invalid UTF-8 string');
  if (decoded.broken === 'BMPString') throw new PkiError('parse', 'invalid BMPString');
  throw new PkiError('parse', `asn1: syntax error: ${decoded.broken} contains invalid character`);
}

/** Values of the simple types must be well-formed even though they are dropped. */
function checkOtherValue(tag: number, contents: Buffer): void {
  if (tag === universal.boolean) readBoolean(contents);
  else if (tag === universal.integer) readInteger(contents);
  else if (tag === universal.bitString) readBitString(contents);
  else if (tag === universal.oid) readOid(contents);
  else if (tag === universal.utcTime || tag === universal.generalizedTime) {
    const problem = asn1TimeProblem(contents, tag === universal.utcTime ? 'utc' : 'generalized');
    if (problem !== undefined) throw new PkiError('parse', problem);
  }
}

function readExtensions(attributes: readonly Buffer[]): readonly CertificateExtension[] {
  const seen = new Set<string>();
  // Most other attributes are ruled out without parsing them, which is slow for malformed ones.
  const candidates = attributes.filter((attribute) => attribute.includes(writtenExtensionRequest));
  if (candidates.length > maxExtensionRequests) {
    throw new PkiError('parse', `x509: more than ${maxExtensionRequests} extension requests`);
  }
  return candidates.flatMap((attribute) => {
    const value = extensionRequest(attribute);
    if (value === undefined) return [];
    const members = new Asn1Reader(new Asn1Reader(value).field(shapes.extensions).contents);
    const extensions = members.elements(shapes.extension).map(({ contents }) => readExtension(contents));
    for (const { oid } of extensions) {
      if (seen.has(oid)) {
        throw new PkiError('parse', 'x509: certificate request contains duplicate requested extensions');
      }
      seen.add(oid);
    }
    if (seen.size > maxElements) throw new PkiError('parse', `x509: more than ${maxElements} requested extensions`);
    return extensions;
  });
}

/** Returns the first value of an extensionRequest attribute; undefined for other attributes and for malformed ones. */
function extensionRequest(attribute: Buffer): Buffer | undefined {
  try {
    const input = new Asn1Reader(attribute);
    const members = new Asn1Reader(input.field(shapes.attribute).contents);
    const oid = readOid(members.field(shapes.oid).contents);
    const values = new Asn1Reader(members.field(shapes.attributeValues).contents).elements();
    return oid === oids.extensionRequest && input.done ? values[0]?.fullBytes : undefined;
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}

function readExtension(contents: Buffer): CertificateExtension {
  const members = new Asn1Reader(contents);
  const oid = readOid(members.field(shapes.oid).contents);
  const critical = members.optional(shapes.critical);
  return {
    oid,
    critical: critical !== undefined && readBoolean(critical.contents),
    value: members.field(shapes.value).contents,
  };
}
