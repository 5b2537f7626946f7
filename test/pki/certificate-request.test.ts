import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCertificateRequest, readRequestDer } from '../../src/pki/certificate-request.js';
import { constructed, context, tags } from '../../src/pki/der.js';
import { encode, encodeOid, sequence, setOf, unsignedInteger } from '../../src/pki/der-writer.js';
import { type KeyType, spkiOf } from '../../src/pki/key-pair.js';
import { encodePem, firstPemBlock } from '../../src/pki/pem.js';
import { PkiError } from '../../src/pki/pki-error.js';
import { testKey, testRequest } from '../../src/testing/certificates.js';
import { expectShort } from '../processor-time.js';
import { requestOf } from './raw-request.js';

interface Recorded {
  readonly name: string;
  /** The base64 of PEM. */
  readonly request: string;
  readonly error?: string;
}
const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded-requests.json'), 'utf8'),
);

const failureOf = (pem: Uint8Array | string): unknown => {
  try {
    readCertificateRequest(pem);
    return undefined;
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    return error.message;
  }
};

describe('requests that Kubernetes answered', () => {
  test.each(recorded.map((one) => [one.name, one] as const))('%s', (_, { request, error }) => {
    expect(failureOf(Buffer.from(request, 'base64'))).toBe(error);
  });
});

const keyTypes: readonly KeyType[] = ['P-256', 'P-384', 'P-521', 'Ed25519', 'RSA-2048'];
test.each(keyTypes)('a request with a key of type %s is read', async (keyType) => {
  const key = await testKey(keyType);
  const { pem } = await testRequest({
    keyType,
    commonName: 'system:node:a',
    organizations: ['system:nodes', 'more'],
    dnsNames: ['a.example'],
    emailAddresses: ['a@example.com'],
    ipAddresses: ['10.0.0.1', 'fd00::1'],
    uris: ['spiffe://td.example/a'],
  });
  const read = readCertificateRequest(pem);
  expect(read.subject).toMatchObject({ commonName: 'system:node:a', organizations: ['more', 'system:nodes'] });
  expect(read).toMatchObject({
    dnsNames: ['a.example'],
    emailAddresses: ['a@example.com'],
    ipAddresses: ['10.0.0.1', 'fd00::1'],
    uris: ['spiffe://td.example/a'],
  });
  expect(read.publicKey.spki).toEqual(spkiOf(key));
});

const attribute = (type: string, value: Buffer): Buffer => setOf([sequence(encodeOid(type), value)]);
const text = (tag: number, content: string | Buffer): Buffer => encode(tag, Buffer.from(content as string));

const subjects: readonly (readonly [string, readonly Buffer[], { readonly commonName?: string } | string])[] = [
  [
    'the last common name applies',
    [attribute('2.5.4.3', text(tags.utf8String, 'a')), attribute('2.5.4.3', text(tags.utf8String, 'b'))],
    { commonName: 'b' },
  ],
  ['BMPString', [attribute('2.5.4.3', text(tags.bmpString, Buffer.from('00fc', 'hex')))], { commonName: 'ü' }],
  ['T61String is Latin-1', [attribute('2.5.4.3', text(tags.t61String, Buffer.from([0xfc])))], { commonName: 'ü' }],
  ['a byte order mark is kept', [attribute('2.5.4.3', text(tags.utf8String, '\ufeffa'))], { commonName: '\ufeffa' }],
  ['a number is not a name', [attribute('2.5.4.3', unsignedInteger(Buffer.from([1])))], { commonName: '' }],
  [
    'an at sign in a PrintableString',
    [attribute('2.5.4.3', text(tags.printableString, 'a@b'))],
    'asn1: syntax error: PrintableString contains invalid character',
  ],
  ['invalid UTF-8', [attribute('2.5.4.3', text(tags.utf8String, Buffer.from([0xff])))], 'asn1: invalid UTF-8 string'],
  ['half a BMP character', [attribute('2.5.4.3', text(tags.bmpString, 'a'))], 'invalid BMPString'],
  ['an attribute without a value', [setOf([sequence(encodeOid('2.5.4.3'))])], 'asn1: syntax error: sequence truncated'],
  [
    'a sequence in place of a set',
    [sequence(sequence(encodeOid('2.5.4.3'), text(tags.utf8String, 'a')))],
    'asn1: structure error: sequence tag mismatch',
  ],
];
test.each(subjects)('subject: %s', async (_, rdns, expected) => {
  const pem = await requestOf({ subject: sequence(...rdns) });
  if (typeof expected === 'string') expect(failureOf(pem)).toBe(expected);
  else expect(readCertificateRequest(pem).subject).toMatchObject(expected);
});

const alternativeName = (value: Buffer): readonly Buffer[] => [
  sequence(
    encodeOid('1.2.840.113549.1.9.14'),
    setOf([sequence(sequence(encodeOid('2.5.29.17'), encode(tags.octetString, value)))]),
  ),
];
test('names of other kinds are dropped', async () => {
  const value = sequence(encode(constructed(0), encodeOid('1.2.3')), encode(context(2), Buffer.from('a.b')));
  const pem = await requestOf({ attributes: alternativeName(value) });
  expect(readCertificateRequest(pem)).toMatchObject({
    dnsNames: ['a.b'],
    ipAddresses: [],
    emailAddresses: [],
    uris: [],
  });
});

test('IPv4-mapped IPv6 addresses are IPv4', async () => {
  const mapped = Buffer.from('00000000000000000000ffff0a000001', 'hex');
  const pem = await requestOf({ attributes: alternativeName(sequence(encode(context(7), mapped))) });
  expect(readCertificateRequest(pem).ipAddresses).toEqual(['10.0.0.1']);
});

test('parse errors and signature errors are distinguished', async () => {
  const { pem } = await testRequest();
  const der = Buffer.from(firstPemBlock(pem)?.bytes ?? []);
  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1;
  expect(() => readRequestDer(der)).toThrow(expect.objectContaining({ problem: 'signature' }));
  expect(() => readRequestDer(der.subarray(1))).toThrow(expect.objectContaining({ problem: 'parse' }));
  expect(() => readCertificateRequest('')).toThrow(expect.objectContaining({ problem: 'pem' }));
});

/** Returns everything in a request except its signature, which may be encoded in more than one way. */
const meaning = (pem: string): unknown => {
  const { publicKey, ...rest } = readCertificateRequest(pem);
  return { ...rest, spki: publicKey.spki.toString('hex') };
};

/** The time limit of one reading, with a margin for a busy machine. */
/** In milliseconds of processor time; each reading takes a few. */
const most = 500;

test('a damaged request is refused or has the same meaning, quickly', async () => {
  const { pem } = await testRequest({ organizations: ['o'], dnsNames: ['a.b'], ipAddresses: ['10.0.0.1'] });
  const der = firstPemBlock(pem)?.bytes ?? Buffer.alloc(0);
  const original = meaning(pem);
  const damage = fc.oneof(
    fc.record({ at: fc.nat(der.length - 1), bit: fc.nat(7) }).map(({ at, bit }) => {
      const out = Buffer.from(der);
      out[at] = (out[at] ?? 0) ^ (1 << bit);
      return out;
    }),
    fc.record({ at: fc.nat(der.length - 1), byte: fc.nat(255) }).map(({ at, byte }) => {
      const out = Buffer.from(der);
      out[at] = byte;
      return out;
    }),
    fc.nat(der.length).map((length) => der.subarray(0, length)),
    fc
      .record({ at: fc.nat(der.length), junk: fc.uint8Array({ minLength: 1, maxLength: 8 }) })
      .map(({ at, junk }) => Buffer.concat([der.subarray(0, at), junk, der.subarray(at)])),
  );
  await fc.assert(
    fc.asyncProperty(damage, async (damaged) => {
      const text = encodePem('CERTIFICATE REQUEST', damaged);
      await expectShort(most, () => {
        if (failureOf(text) === undefined) expect(meaning(text)).toEqual(original);
      });
    }),
    { numRuns: 600 },
  );
});

test('arbitrary bytes are refused without a crash', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (junk) => {
      expect(failureOf(encodePem('CERTIFICATE REQUEST', junk))).toBeTypeOf('string');
    }),
    { numRuns: 300 },
  );
});

/** Returns a megabyte of nested sequences, built from the innermost. */
function nested(): Buffer {
  const heads: Buffer[] = [];
  for (let length = 0; length < 1_000_000; length += heads.at(-1)?.length ?? 0) {
    const size =
      length < 0x80
        ? [length]
        : length < 0x100
          ? [0x81, length]
          : length < 0x10000
            ? [0x82, length >> 8, length & 0xff]
            : [0x83, length >> 16, (length >> 8) & 0xff, length & 0xff];
    heads.push(Buffer.from([tags.sequence, ...size]));
  }
  return Buffer.concat(heads.reverse());
}

const bombs: Readonly<Record<string, () => Buffer>> = {
  'nesting without end': nested,
  'a length of four gigabytes': () => Buffer.from('3084ffffffff', 'hex'),
  'an indefinite length': () => Buffer.from('3080', 'hex'),
  'a tag of many bytes': () => Buffer.concat([Buffer.from([0x3f]), Buffer.alloc(100_000, 0xff)]),
  'a length of many bytes': () => Buffer.concat([Buffer.from([0x30, 0xff]), Buffer.alloc(127, 1)]),
};
test.each(Object.entries(bombs))('%s is refused quickly', async (_, make) => {
  const pem = encodePem('CERTIFICATE REQUEST', make());
  await expectShort(most, () => expect(failureOf(pem)).toMatch(/^asn1: /));
});

test('1,500 names are read quickly', async () => {
  const dnsNames = Array.from({ length: 1_500 }, (_, at) => `host-${at}.example.com`);
  const { pem } = await testRequest({ dnsNames });
  await expectShort(most, () => expect(readCertificateRequest(pem).dnsNames).toHaveLength(1_500));
});

test('an object identifier of half a megabyte is refused quickly', async () => {
  const huge = setOf([sequence(encode(tags.oid, Buffer.alloc(500_000, 0x78)), text(tags.utf8String, 'a'))]);
  const pem = await requestOf({ subject: sequence(huge) });
  await expectShort(most, () =>
    expect(failureOf(pem)).toBe('asn1: structure error: object identifier of more than 64 bytes'),
  );
});

test('extensions of all extension requests are counted together', async () => {
  const extension = (id: number): Buffer =>
    sequence(encodeOid(`1.2.3.${1_000 + (id >> 7)}.${id & 127}`), encode(tags.octetString));
  const attribute = (from: number, count: number): Buffer =>
    sequence(
      encodeOid('1.2.840.113549.1.9.14'),
      setOf([sequence(...Array.from({ length: count }, (_, at) => extension(from + at)))]),
    );
  const halves = [attribute(0, 5_000), attribute(5_000, 5_000)];
  expect(failureOf(await requestOf({ attributes: halves }))).toBeUndefined();
  const more = await requestOf({ attributes: [...halves, attribute(10_000, 1)] });
  expect(failureOf(more)).toBe('x509: more than 10000 requested extensions');
});

test('unreadable attributes are ignored quickly, those that may request extensions are counted', async () => {
  const many = (attribute: Buffer, count: number) =>
    requestOf({ attributes: Array.from({ length: count }, () => attribute) });
  const garbage = await many(encode(0x2e, Buffer.alloc(16, 0x2e)), 9_000);
  await expectShort(most, () => expect(failureOf(garbage)).toBeUndefined());
  const broken = sequence(encodeOid('1.2.840.113549.1.9.14'), Buffer.from([0x31, 0x80]));
  expect(failureOf(await many(broken, 100))).toBeUndefined();
  expect(failureOf(await many(broken, 101))).toBe('x509: more than 100 extension requests');
});
