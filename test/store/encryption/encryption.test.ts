import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aesCbc, aesGcm, aesGcmOfSeed } from '../../../src/store/encryption/aes.js';
import {
  type Cipher,
  decryptDocument,
  identity,
  isEncrypted,
  keyProvider,
  latest,
  type Provider,
  ResourceEncryption,
} from '../../../src/store/encryption/encryption.js';
import { secretbox } from '../../../src/store/encryption/secretbox.js';

const secret = (length: number, first = 0): Buffer => Buffer.from(Array.from({ length }, (_, at) => first + at));
const key = 'core/secrets/default/s';
const other = 'core/secrets/default/t';
const text = (bytes: Buffer): string => bytes.toString('utf8');

/** The output of Kubernetes' own providers for one document under one key, with the secret 0, 1, 2, ... */
const recorded: readonly [string, (secret: Buffer) => Cipher, readonly number[], string][] = [
  ['aesgcm', aesGcm, [16, 24, 32], 'wYeKU+Dkm2yCE1ay1uBsJoohoKWxbl4hnQjkQHk8gOEmUfOAiT8b/ByOigzD'],
  ['aescbc', aesCbc, [16, 24, 32], 'CncN+JTeJNz/BaUFR+hf2kB/Bv+TQk91ABHsAFO0hVeryQe0s0Mm/I66lB+7LAM3'],
  ['secretbox', secretbox, [32], '4dropQNqjAMOO24IT1Y6M8Los7aJSpbEgOPw9tmC18ZIaXxpxI6yA6hfiD+TiG72ViboEErErmJ8'],
];

describe.each(recorded)('%s', (_, make, lengths, encrypted) => {
  test('reads what Kubernetes wrote', () => {
    expect(text(make(secret(32)).decrypt(key, Buffer.from(encrypted, 'base64')))).toBe('{"kind":"Secret"}');
  });

  test('reads what it wrote, for any document and every key length', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), fc.constantFrom(...lengths), (json, at, length) => {
        const document = Buffer.from(json);
        const provider = make(secret(length));
        const kept = provider.encrypt(at, document);
        expect(kept.includes(document) && document.length > 4).toBe(false);
        expect(provider.decrypt(at, kept)).toEqual(document);
      }),
      { numRuns: 50 },
    );
  });

  test('never produces the same ciphertext twice', () => {
    const provider = make(secret(32));
    const kept = new Set(Array.from({ length: 100 }, () => provider.encrypt(key, Buffer.from('a')).toString('hex')));
    expect(kept.size).toBe(100);
  });

  test.each([0, 1, 12, 15, 16, 27, 28, 39, 40])('refuses %d arbitrary bytes', (length) => {
    expect(() => make(secret(32)).decrypt(key, Buffer.alloc(length, 1))).toThrow(/^the stored data (was|is not)/);
  });

  test('does not read what was written with another key', () => {
    const kept = make(secret(32)).encrypt(key, Buffer.from('a document of some length'));
    expect(() => make(secret(32, 1)).decrypt(key, kept)).toThrow('the stored data was not encrypted with this key');
  });
});

test.each<[string, (secret: Buffer) => Cipher]>([
  ['aesgcm', aesGcm],
  ['aesgcm with a seed', aesGcmOfSeed],
  ['secretbox', secretbox],
])('%s detects every changed byte', (_, make) => {
  const provider = make(secret(32));
  const kept = provider.encrypt(key, Buffer.from('{"kind":"Secret"}'));
  for (let at = 0; at < kept.length; at++) {
    const changed = Buffer.from(kept);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => provider.decrypt(key, changed)).toThrow('the stored data was not encrypted with this key');
  }
});

test('aescbc refuses what has a valid padding and is not JSON', () => {
  const provider = aesCbc(secret(32));
  const kept = provider.encrypt(key, Buffer.from('{"kind":"Secret","data":{"a":"Yg=="}}'));
  const changed = Buffer.from(kept);
  changed[16] = (changed[16] ?? 0) ^ 1;
  for (const other of [changed, provider.encrypt(key, Buffer.of(0xff)), provider.encrypt(key, Buffer.from('{"a":}'))]) {
    expect(() => provider.decrypt(key, other)).toThrow('the stored data was not encrypted with this key');
  }
});

test("aesgcm detects a document that was moved to another object's key", () => {
  const provider = aesGcm(secret(32));
  const kept = provider.encrypt(key, Buffer.from('a'));
  expect(() => provider.decrypt(other, kept)).toThrow('the stored data was not encrypted with this key');
});

describe('providers by resource', () => {
  const one = keyProvider('k8s:enc:aesgcm:v1:one:', aesGcm(secret(32)));
  const two = keyProvider('k8s:enc:secretbox:v1:two:', secretbox(secret(32, 1)));
  const document = Buffer.from('{"kind":"Secret"}');
  const by = (...rules: [string, [Provider, ...Provider[]]][]) => new ResourceEncryption(new Map(rules));

  test.each([
    ['core/secrets/default/s', 'k8s:enc:aesgcm:v1:one:'],
    ['core/secretsx/default/s', 'k8s:enc:secretbox:v1:two:'],
    ['core/configmaps/default/s', 'k8s:enc:secretbox:v1:two:'],
    ['example.org/secrets/default/s', 'k8s:enc:secretbox:v1:two:'],
    ['apps/secrets/default/s', ''],
    ['unfinished-copy', 'k8s:enc:secretbox:v1:two:'],
  ])('the most specific rule applies to %s', (at, prefix) => {
    const encryption = by(['core/secrets', [one]], ['core/*', [two]], ['apps/*', [identity]], ['*/*', [two]]);
    expect(encryption.writesAs(at)).toBe(prefix);
  });

  test('a document without a rule is kept as it is, and an encrypted one is not read as a document', () => {
    const none = by(['core/secrets', [one]]);
    expect(none.encrypt('core/configmaps/a/b', document)).toBe(document);
    expect(none.decrypt('core/configmaps/a/b', document)).toEqual({ document, keptAs: '' });
    const kept = none.encrypt(key, document);
    expect(text(kept.subarray(0, 22))).toBe('k8s:enc:aesgcm:v1:one:');
    expect(isEncrypted(kept)).toBe(true);
    expect(() => new ResourceEncryption().decrypt(key, kept)).toThrow(
      'identity transformer tried to read encrypted data',
    );
  });

  test('the first provider writes, every provider reads', () => {
    const before = by(['core/secrets', [identity, one]]);
    const between = by(['core/secrets', [one, identity]]);
    const after = by(['core/secrets', [two, one]]);
    expect(between.decrypt(key, before.encrypt(key, document))).toEqual({ document, keptAs: '' });
    const kept = between.encrypt(key, document);
    expect(after.decrypt(key, kept)).toEqual({ document, keptAs: one.prefix });
    expect(before.decrypt(key, kept)).toEqual({ document, keptAs: one.prefix });
    expect(after.writesAs(key)).toBe(two.prefix);
  });

  test('a newer key with the same name does not hide the older one', () => {
    const renamed = keyProvider(one.prefix, aesGcm(secret(32, 9)), `${one.prefix}9`);
    const kept = by(['core/secrets', [one]]).encrypt(key, document);
    const both = by(['core/secrets', [renamed, one]]);
    expect(both.decrypt(key, kept)).toEqual({ document, keptAs: one.prefix });
    expect([both.writesAs(key), both.decrypt(key, both.encrypt(key, document)).keptAs]).toEqual([
      `${one.prefix}9`,
      `${one.prefix}9`,
    ]);
  });

  test.each<[string, ResourceEncryption, Buffer, string]>([
    [
      'without its key',
      by(['core/secrets', [two]]),
      by(['core/secrets', [one]]).encrypt(key, document),
      'no matching prefix found',
    ],
    [
      'without its key, even where unencrypted documents are read, too',
      by(['core/secrets', [two, identity]]),
      by(['core/secrets', [one]]).encrypt(key, document),
      'no matching prefix found',
    ],
    ['without the identity provider', by(['core/secrets', [two]]), document, 'no matching prefix found'],
    [
      'with the wrong key',
      by(['core/secrets', [two]]),
      Buffer.concat([Buffer.from(two.prefix), one.encrypt(key, document)]),
      'the stored data was not encrypted with this key',
    ],
  ])('nothing is read %s', (_, encryption, kept, why) => {
    expect(() => decryptDocument(encryption, key, kept)).toThrow(
      `Internal error occurred: unable to transform key "core/secrets/default/s": ${why}`,
    );
  });
});

describe('an encryption that can be replaced at any time', () => {
  const document = Buffer.from('{"kind":"Secret"}');
  /** Returns an encryption that has to fetch a key before it can decrypt. */
  function fetching() {
    let isReady = false;
    let release = (): void => {};
    const fetched = new Promise<void>((resolve) => {
      release = () => {
        isReady = true;
        resolve();
      };
    });
    const provider: Provider = {
      ...identity,
      prepare: () => (isReady ? undefined : fetched),
      decrypt: (at, kept) => {
        if (!isReady) throw new Error('not called yet');
        return identity.decrypt(at, kept);
      },
    };
    return { release, encryption: new ResourceEncryption(new Map([['core/secrets', [provider]]])) };
  }

  test('prepares again with its replacement before reading', async () => {
    const [before, after] = [fetching(), fetching()];
    let current = before.encryption;
    const encryption = latest(() => current);
    const prepared = encryption.prepare?.([{ key, kept: document }]);
    current = after.encryption;
    before.release();
    setImmediate(after.release);
    await prepared;
    expect(encryption.decrypt(key, document).document).toEqual(document);
    expect(encryption.prepare?.([{ key, kept: document }])).toBeUndefined();
  });
});
