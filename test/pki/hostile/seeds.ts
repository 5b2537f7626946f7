import type { KeyObject } from 'node:crypto';
import { constructed, tags } from '../../../src/pki/der.js';
import {
  derNull,
  directoryString,
  encode,
  encodeBits,
  encodeOid,
  octetString,
  sequence,
  setOf,
  unsignedInteger,
} from '../../../src/pki/der-writer.js';
import { signingAlgorithm, signWith, spkiOf } from '../../../src/pki/key-pair.js';
import { firstPemBlock } from '../../../src/pki/pem.js';
import { createCertificateRequest } from '../../../src/pki/request-writer.js';

/** Requests to start from: ordinary ones, and edge cases. All are DER and signed. */
export async function seedRequests(key: KeyObject): Promise<readonly Buffer[]> {
  const many = (count: number, make: (at: number) => string): readonly string[] =>
    Array.from({ length: count }, (_, at) => make(at));
  const plain = await Promise.all(
    [
      { subject: { commonName: 'alice', organizations: ['a', 'b'] } },
      { subject: {}, dnsNames: ['a.example', '*.b.example'], ipAddresses: ['10.0.0.1', 'fd00::1'] },
      { subject: { commonName: 'c' }, uris: ['spiffe://a.example/ns/x/sa/y'], emailAddresses: ['a@b.example'] },
      { subject: { commonName: 'names' }, dnsNames: many(1_500, (at) => `host-${at}.example.test`) },
      { subject: { commonName: 'x'.repeat(40_000), organizations: many(200, (at) => `org-${at}`) } },
      { subject: { commonName: 'ü\u{1f511}\u202e', countries: ['DE'], localities: [''], postalCodes: ['1', '2'] } },
    ].map(
      async (contents) => firstPemBlock(await createCertificateRequest({ ...contents, key }))?.bytes ?? Buffer.alloc(0),
    ),
  );
  return [...plain, await signed(oddRequest(key), key), await signed(deepRequest(key), key)];
}

const version = unsignedInteger(Buffer.from([0]));
const attribute = (type: string, value: Buffer): Buffer => sequence(encodeOid(type), value);

/** Returns a request with RDNs of several values, empty RDNs, repeated types, and values of unusual types. */
function oddRequest(key: KeyObject): Buffer {
  const subject = sequence(
    setOf([attribute('2.5.4.3', directoryString('one')), attribute('2.5.4.10', directoryString('two'))]),
    encode(tags.set),
    setOf([attribute('2.5.4.3', encode(0x1e, Buffer.from('003100320033', 'hex')))]),
    setOf([attribute('2.5.4.10', encode(0x16, Buffer.from('ia5@')))]),
    setOf([attribute('2.5.4.5', encode(0x14, Buffer.from([0xe9, 0x41])))]),
    setOf([attribute('1.2.840.113549.1.9.1', encode(0x16, Buffer.from('mail@example')))]),
    setOf([attribute('2.5.4.6', encode(tags.integer, Buffer.from([5])))]),
  );
  const otherName = encode(
    0xa0,
    Buffer.concat([encodeOid('1.3.6.1.4.1.311.20.2.3'), encode(0xa0, octetString(Buffer.from('x')))]),
  );
  const names = sequence(otherName, encode(0x82, Buffer.from('a.example')), encode(0x87, Buffer.from([0, 0, 0, 0])));
  const extensions = sequence(
    sequence(encodeOid('2.5.29.17'), octetString(names)),
    sequence(
      encodeOid('2.5.29.19'),
      encode(tags.boolean, Buffer.from([255])),
      octetString(sequence(encode(tags.boolean, Buffer.from([255])))),
    ),
    sequence(encodeOid('1.2.3.4'), octetString(Buffer.from('anything'))),
  );
  const attributes = [
    sequence(encodeOid('1.2.840.113549.1.9.7'), setOf([directoryString('challenge')])),
    sequence(encodeOid('1.2.840.113549.1.9.14'), setOf([extensions])),
  ];
  return sequence(version, subject, spkiOf(key), encode(constructed(0), ...attributes));
}

/** Returns a request with sequences in sequences, two thousand deep. */
function deepRequest(key: KeyObject): Buffer {
  let deep = derNull;
  for (let i = 0; i < 2_000; i++) deep = sequence(deep);
  return sequence(
    version,
    sequence(),
    spkiOf(key),
    encode(constructed(0), sequence(encodeOid('1.2.3'), setOf([deep]))),
  );
}

/** Returns a request with these bytes and a valid signature over them. */
export async function signed(toBeSigned: Buffer, key: KeyObject): Promise<Buffer> {
  const algorithm = signingAlgorithm(key);
  return sequence(toBeSigned, algorithm.identifier, encodeBits(await signWith(key, algorithm, toBeSigned)));
}
