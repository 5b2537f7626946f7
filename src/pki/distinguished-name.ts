import { DerCursor, maxElements, tags } from './der.js';
import { directoryString, encode, encodeOid, sequence, setOf } from './der-writer.js';
import { decodeString } from './directory-string.js';
import { PkiError } from './pki-error.js';

/** Names of subjects and issuers (X.501, RFC 5280 4.1.2.4). */

/** One part of a distinguished name, such as a common name. */
export interface NameAttribute {
  /** The object identifier in dotted form. */
  readonly type: string;
  readonly value: string;
}

/** The attributes that are copied from a request to a certificate; everything else in a name is dropped. */
export interface DistinguishedName {
  /** The last common name, if there are several; empty if there is none. */
  readonly commonName: string;
  readonly serialNumber: string;
  readonly countries: readonly string[];
  readonly organizations: readonly string[];
  readonly organizationalUnits: readonly string[];
  readonly localities: readonly string[];
  readonly provinces: readonly string[];
  readonly streetAddresses: readonly string[];
  readonly postalCodes: readonly string[];
  /** Every attribute with a text, in order, regardless of its RDN. */
  readonly attributes: readonly NameAttribute[];
}

/** Object identifiers of the attributes that have a field in `DistinguishedName` and are written to certificates. */
export const attributeTypes = {
  commonName: '2.5.4.3',
  serialNumber: '2.5.4.5',
  country: '2.5.4.6',
  locality: '2.5.4.7',
  province: '2.5.4.8',
  streetAddress: '2.5.4.9',
  organization: '2.5.4.10',
  organizationalUnit: '2.5.4.11',
  postalCode: '2.5.4.17',
} as const;
const encodedTypes = Object.fromEntries(
  Object.entries(attributeTypes).map(([name, type]) => [name, encodeOid(type)]),
) as Readonly<Record<keyof typeof attributeTypes, Buffer>>;

/** Sorts attributes into the fields of a name. */
export function nameFromAttributes(attributes: readonly NameAttribute[]): DistinguishedName {
  const all = (type: string): readonly string[] =>
    attributes.filter((attribute) => attribute.type === type).map(({ value }) => value);
  return {
    commonName: all(attributeTypes.commonName).at(-1) ?? '',
    serialNumber: all(attributeTypes.serialNumber).at(-1) ?? '',
    countries: all(attributeTypes.country),
    organizations: all(attributeTypes.organization),
    organizationalUnits: all(attributeTypes.organizationalUnit),
    localities: all(attributeTypes.locality),
    provinces: all(attributeTypes.province),
    streetAddresses: all(attributeTypes.streetAddress),
    postalCodes: all(attributeTypes.postalCode),
    attributes,
  };
}

const malformed = (detail: string): PkiError => new PkiError('parse', `x509: invalid RDNSequence${detail}`);

/** Reads a name of a certificate. */
export function readName(der: Buffer): DistinguishedName {
  const rdns = new DerCursor(der).enter(tags.sequence);
  if (rdns === undefined) throw malformed('');
  const attributes: NameAttribute[] = [];
  while (!rdns.empty) {
    const rdn = rdns.enter(tags.set);
    if (rdn === undefined) throw malformed('');
    while (!rdn.empty) {
      if (attributes.length === maxElements) throw malformed(': too many attributes');
      attributes.push(readAttribute(rdn));
    }
  }
  return nameFromAttributes(attributes);
}

function readAttribute(rdn: DerCursor): NameAttribute {
  const attribute = rdn.enter(tags.sequence);
  if (attribute === undefined) throw malformed(': invalid attribute');
  const type = attribute.oid();
  if (type === undefined) throw malformed(': invalid attribute type');
  const value = attribute.any();
  if (value === undefined) throw malformed(': invalid attribute value');
  const decoded = decodeString(value.tag, value.value);
  if (decoded === undefined) throw malformed(`: invalid attribute value: unsupported string type: ${value.tag}`);
  if ('broken' in decoded) throw malformed(`: invalid attribute value: invalid ${decoded.broken}`);
  return { type, value: decoded.text };
}

export const emptyName: Buffer = encode(tags.sequence);

/** The parts of a name that can be written; absent ones are left out. */
export type WritableName = Partial<Omit<DistinguishedName, 'attributes'>>;

/**
 * Writes a name: C, ST, L, street, postalCode, O, OU, CN, serialNumber, each one RDN with all its values. Throws
 * PkiError (`unissuable`) for a text that is no Unicode.
 */
export function writeName(name: WritableName): Buffer {
  const one = (value: string | undefined): readonly string[] => (value ? [value] : []);
  const rdns: readonly (readonly [Buffer, readonly string[] | undefined])[] = [
    [encodedTypes.country, name.countries],
    [encodedTypes.province, name.provinces],
    [encodedTypes.locality, name.localities],
    [encodedTypes.streetAddress, name.streetAddresses],
    [encodedTypes.postalCode, name.postalCodes],
    [encodedTypes.organization, name.organizations],
    [encodedTypes.organizationalUnit, name.organizationalUnits],
    [encodedTypes.commonName, one(name.commonName)],
    [encodedTypes.serialNumber, one(name.serialNumber)],
  ];
  return sequence(
    ...rdns.flatMap(([type, values = []]) =>
      values.length === 0 ? [] : [setOf(values.map((value) => sequence(type, directoryString(value))))],
    ),
  );
}
