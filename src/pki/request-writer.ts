import type { KeyObject } from 'node:crypto';
import {
  type AlternativeNames,
  hasAlternativeNames,
  noAlternativeNames,
  writeAlternativeNames,
} from './alternative-names.js';
import type { CertificateExtension } from './certificate-extensions.js';
import { constructed } from './der.js';
import { derTrue, encode, encodeBits, encodeOid, octetString, sequence, setOf, unsignedInteger } from './der-writer.js';
import { type WritableName, writeName } from './distinguished-name.js';
import { signingAlgorithm, signWith, spkiOf } from './key-pair.js';
import { oids } from './oids.js';
import { encodePem } from './pem.js';

/** The contents of a certificate request (PKCS#10, RFC 2986), and the private key that signs it. */
export interface RequestContents extends Partial<AlternativeNames> {
  readonly subject: WritableName;
  readonly key: KeyObject;
  /** Extensions besides subjectAltName. */
  readonly extensions?: readonly CertificateExtension[];
}

const version1 = unsignedInteger(Buffer.from([0]));
const extensionRequest = encodeOid(oids.extensionRequest);

const encodeExtension = ({ oid, critical, value }: CertificateExtension): Buffer =>
  sequence(encodeOid(oid), ...(critical ? [derTrue] : []), octetString(value));

/** Creates a PKCS#10 request (RFC 2986) in PEM, signed by its key. */
export async function createCertificateRequest(contents: RequestContents): Promise<string> {
  const { subject, key, extensions = [], ...given } = contents;
  const names = { ...noAlternativeNames, ...given };
  const requested = [
    ...(hasAlternativeNames(names)
      ? [{ oid: oids.alternativeNames, critical: false, value: writeAlternativeNames(names) }]
      : []),
    ...extensions,
  ];
  const attributes =
    requested.length === 0 ? [] : [sequence(extensionRequest, setOf([sequence(...requested.map(encodeExtension))]))];
  const toBeSigned = sequence(version1, writeName(subject), spkiOf(key), encode(constructed(0), ...attributes));
  const algorithm = signingAlgorithm(key);
  const signature = await signWith(key, algorithm, toBeSigned);
  return encodePem('CERTIFICATE REQUEST', sequence(toBeSigned, algorithm.identifier, encodeBits(signature)));
}
