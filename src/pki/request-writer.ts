import type { KeyObject } from 'node:crypto';
import {
  type AlternativeNames,
  hasAlternativeNames,
  noAlternativeNames,
  writeAlternativeNames,
} from './alternative-names.js';
import type { CertificateExtension } from './certificate-extensions.js';
import { bits, constructed, encode, octetString, oid, sequence, setOf, truth, unsignedInteger } from './der.js';
import { type WritableName, writeName } from './distinguished-name.js';
import { signingAlgorithm, signWith, spkiOf } from './key-pair.js';
import { encodePem } from './pem.js';

export interface RequestContents extends Partial<AlternativeNames> {
  readonly subject: WritableName;
  readonly key: KeyObject;
  /** Beside subjectAltName. */
  readonly extensions?: readonly CertificateExtension[];
}

const version1 = unsignedInteger(Buffer.from([0]));
const extensionRequest = oid('1.2.840.113549.1.9.14');
const subjectAltName = '2.5.29.17';

const encodeExtension = ({ oid: id, critical, value }: CertificateExtension): Buffer =>
  sequence(oid(id), ...(critical ? [truth] : []), octetString(value));

/** A PKCS#10 request (RFC 2986) in PEM, signed by its key. */
export async function createCertificateRequest(contents: RequestContents): Promise<string> {
  const { subject, key, extensions = [], ...given } = contents;
  const names = { ...noAlternativeNames, ...given };
  const wanted = [
    ...(hasAlternativeNames(names)
      ? [{ oid: subjectAltName, critical: false, value: writeAlternativeNames(names) }]
      : []),
    ...extensions,
  ];
  const attributes =
    wanted.length === 0 ? [] : [sequence(extensionRequest, setOf([sequence(...wanted.map(encodeExtension))]))];
  const toBeSigned = sequence(version1, writeName(subject), spkiOf(key), encode(constructed(0), ...attributes));
  const algorithm = signingAlgorithm(key);
  const signature = await signWith(key, algorithm, toBeSigned);
  return encodePem('CERTIFICATE REQUEST', sequence(toBeSigned, algorithm.identifier, bits(signature)));
}
