import { quoteList } from '../api/go-text.js';
import { encodeOid } from './der-writer.js';
import { oids } from './oids.js';
import { PkiError } from './pki-error.js';

/** The usages of a request, and how certificates express them (RFC 5280 4.2.1.3 and 4.2.1.12). */

const keyUsageBits: ReadonlyMap<string, number> = new Map([
  ['signing', 0],
  ['digital signature', 0],
  ['content commitment', 1],
  ['key encipherment', 2],
  ['data encipherment', 3],
  ['key agreement', 4],
  ['cert sign', 5],
  ['crl sign', 6],
  ['encipher only', 7],
  ['decipher only', 8],
]);

/** In the order they are encoded. */
const extendedKeyUsages = [
  { oid: encodeOid(oids.anyUsage), names: ['any'] },
  { oid: encodeOid('1.3.6.1.5.5.7.3.1'), names: ['server auth'] },
  { oid: encodeOid(oids.clientAuth), names: ['client auth'] },
  { oid: encodeOid('1.3.6.1.5.5.7.3.3'), names: ['code signing'] },
  { oid: encodeOid('1.3.6.1.5.5.7.3.4'), names: ['email protection', 's/mime'] },
  { oid: encodeOid('1.3.6.1.5.5.7.3.5'), names: ['ipsec end system'] },
  { oid: encodeOid('1.3.6.1.5.5.7.3.6'), names: ['ipsec tunnel'] },
  { oid: encodeOid('1.3.6.1.5.5.7.3.7'), names: ['ipsec user'] },
  { oid: encodeOid('1.3.6.1.5.5.7.3.8'), names: ['timestamping'] },
  { oid: encodeOid('1.3.6.1.5.5.7.3.9'), names: ['ocsp signing'] },
  { oid: encodeOid('1.3.6.1.4.1.311.10.3.3'), names: ['microsoft sgc'] },
  { oid: encodeOid('2.16.840.1.113730.4.1'), names: ['netscape sgc'] },
];
const extendedNames = new Set(extendedKeyUsages.flatMap(({ names }) => names));

export interface CertificateUsages {
  /** The bits of keyUsage; 0 is digitalSignature. */
  readonly keyUsage: ReadonlySet<number>;
  /** The object identifiers of extKeyUsage in DER, each once, in the order they are encoded. */
  readonly extendedKeyUsage: readonly Buffer[];
}

/** Returns how a certificate expresses usages. Throws PkiError (`unissuable`) for unknown usages. */
export function certificateUsages(usages: readonly string[]): CertificateUsages {
  const unknown = usages.filter((usage) => !keyUsageBits.has(usage) && !extendedNames.has(usage));
  if (unknown.length > 0) throw new PkiError('unissuable', `unrecognized usage values: ${quoteList(unknown)}`);
  return {
    keyUsage: new Set(usages.flatMap((usage) => keyUsageBits.get(usage) ?? [])),
    extendedKeyUsage: extendedKeyUsages
      .filter(({ names }) => names.some((name) => usages.includes(name)))
      .map((usage) => usage.oid),
  };
}
