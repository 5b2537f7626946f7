import type { CertificateRequest } from './certificate-request.js';
import { context, DerCursor, encode, tags } from './der.js';

/** Attributes of subjects that stand in a field of `DistinguishedName` and come into certificates. */
const subjectTypes: ReadonlySet<string> = new Set([
  '2.5.4.3',
  '2.5.4.5',
  '2.5.4.6',
  '2.5.4.7',
  '2.5.4.8',
  '2.5.4.9',
  '2.5.4.10',
  '2.5.4.11',
  '2.5.4.17',
]);
const alternativeNames = '2.5.29.17';
const basicConstraints = '2.5.29.19';
/** subjectKeyIdentifier, keyUsage, extKeyUsage: ordinary tools write them, and what they say is decided elsewhere. */
const harmless: ReadonlySet<string> = new Set(['2.5.29.14', '2.5.29.15', '2.5.29.37', alternativeNames]);
/** rfc822Name, dNSName, uniformResourceIdentifier, iPAddress. */
const nameKinds: ReadonlySet<number> = new Set([context(1), context(2), context(6), context(7)]);

/**
 * What a request asks for beyond what `CertificateRequest` tells in its fields, as a sentence; undefined if nothing.
 * The signers here drop such parts, but a signer elsewhere gets the whole request, so nothing that decides by the
 * fields may let them pass unseen.
 */
export function unusualPart({ subject, extensions }: CertificateRequest): string | undefined {
  const foreign = subject.attributes.find(({ type }) => !subjectTypes.has(type));
  if (foreign !== undefined) return `the subject has an attribute of type ${foreign.type}`;
  for (const [type, what] of [
    ['2.5.4.3', 'common names'],
    ['2.5.4.5', 'serial numbers'],
  ] as const) {
    if (subject.attributes.filter((attribute) => attribute.type === type).length > 1) {
      return `the subject has several ${what}`;
    }
  }
  for (const { oid, value } of extensions) {
    if (oid === basicConstraints) {
      if (!isNoAuthority(value)) return 'the request asks for a CA';
    } else if (!harmless.has(oid)) return `the request asks for the extension ${oid}`;
    if (oid === alternativeNames && !hasOnlyReadNames(value)) {
      return 'an alternative name is of a kind other than DNS, IP, mail and URI';
    }
  }
  return undefined;
}

const emptySequence = encode(tags.sequence);
const spelledFalse = encode(tags.sequence, encode(tags.boolean, Buffer.from([0])));
const isNoAuthority = (value: Buffer): boolean => value.equals(emptySequence) || value.equals(spelledFalse);

function hasOnlyReadNames(value: Buffer): boolean {
  const whole = new DerCursor(value);
  const names = whole.enter(tags.sequence);
  if (names === undefined || !whole.empty) return false;
  while (!names.empty) {
    const name = names.any();
    if (name === undefined || !nameKinds.has(name.tag)) return false;
  }
  return true;
}
