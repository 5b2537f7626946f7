import { nameKinds } from './alternative-names.js';
import type { CertificateRequest } from './certificate-request.js';
import { DerCursor, tags } from './der.js';
import { encode } from './der-writer.js';
import { attributeTypes } from './distinguished-name.js';
import { oids } from './oids.js';

const subjectTypes: ReadonlySet<string> = new Set(Object.values(attributeTypes));
/** Extensions that ordinary tools write, and whose contents are decided elsewhere. */
const harmless: ReadonlySet<string> = new Set([
  oids.subjectKeyId,
  oids.keyUsage,
  oids.extendedKeyUsage,
  oids.alternativeNames,
]);
/**
 * Attributes that ordinary tools write, and which are never copied to a certificate: challengePassword,
 * unstructuredName, and those of Windows (its version, the program, where the key is).
 */
const harmlessAttributes: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.9.7',
  '1.2.840.113549.1.9.2',
  '1.3.6.1.4.1.311.13.2.3',
  '1.3.6.1.4.1.311.21.20',
  '1.3.6.1.4.1.311.13.2.2',
]);
/**
 * Matches control characters: a program that ends a text at one would read another name. URIs that contain one are
 * rejected earlier.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression is meant to match them
const controlCharacter = /[\0-\x1f\x7f]/;
/**
 * Returns, as a sentence, what a request contains beyond the fields of `CertificateRequest`; undefined if nothing. The
 * signers here drop such parts, but an external signer gets the whole request, so code that decides by the fields must
 * not let them pass.
 */
export function unusualPart(request: CertificateRequest): string | undefined {
  const { subject, extensions, dnsNames, emailAddresses } = request;
  const foreign = subject.attributes.find(({ type }) => !subjectTypes.has(type));
  if (foreign !== undefined) return `the subject has an attribute of type ${foreign.type}`;
  for (const [type, plural] of [
    [attributeTypes.commonName, 'common names'],
    [attributeTypes.serialNumber, 'serial numbers'],
  ] as const) {
    if (subject.attributes.filter((attribute) => attribute.type === type).length > 1) {
      return `the subject has several ${plural}`;
    }
  }
  const texts = [...subject.attributes.map(({ value }) => value), ...dnsNames, ...emailAddresses];
  if (texts.some((text) => controlCharacter.test(text))) return 'a name has a control character';
  for (const { oid, value } of extensions) {
    if (oid === oids.basicConstraints) {
      if (!isNoAuthority(value)) return 'the request asks for a CA';
    } else if (!harmless.has(oid)) return `the request asks for the extension ${oid}`;
    if (oid === oids.alternativeNames && !hasOnlyReadNames(value)) {
      return 'an alternative name is of a kind other than DNS, IP, mail and URI';
    }
  }
  return hiddenPart(request);
}

/**
 * Returns, as a sentence, what other programs may read in a request although `CertificateRequest` does not contain it:
 * values of the subject that are not strings, and attributes; undefined if there is nothing. OpenSSL reads extensions
 * from Microsoft's attribute as well as from the standard one, also if their encoding is not the shortest.
 */
export function hiddenPart({ textless, attributes }: CertificateRequest): string | undefined {
  const [type] = textless;
  if (type !== undefined) return `the subject has a value of type ${type} that is not a string`;
  for (const attribute of attributes) {
    const hidden = hiddenAttribute(attribute);
    if (hidden !== undefined) return hidden;
  }
  return undefined;
}

function hiddenAttribute(attribute: Buffer): string | undefined {
  const members = new DerCursor(attribute).enter(tags.sequence);
  const type = members?.oid();
  const values = members?.enter(tags.set);
  if (type === undefined || values === undefined || !members?.empty)
    return 'an attribute of the request cannot be read';
  if (harmlessAttributes.has(type)) return undefined;
  if (type !== oids.extensionRequest) return `the request has an attribute of type ${type}`;
  values.any();
  return values.empty ? undefined : 'the request asks for several lists of extensions';
}

const emptySequence = encode(tags.sequence);
const spelledFalse = encode(tags.sequence, encode(tags.boolean, Buffer.from([0])));
const isNoAuthority = (value: Buffer): boolean => value.equals(emptySequence) || value.equals(spelledFalse);

function hasOnlyReadNames(value: Buffer): boolean {
  const cursor = new DerCursor(value);
  const names = cursor.enter(tags.sequence);
  if (names === undefined || !cursor.empty) return false;
  while (!names.empty) {
    const name = names.any();
    if (name === undefined || !nameKinds.has(name.tag)) return false;
  }
  return true;
}
