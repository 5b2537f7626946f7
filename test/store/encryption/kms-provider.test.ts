import { afterEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../../src/runtime/logger.js';
import { KmsProvider } from '../../../src/store/encryption/kms/kms-provider.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { FakeKeyService } from './fake-key-service.js';

const key = 'core/secrets/default/s';
const document = Buffer.from('{"kind":"Secret"}');
const minute = 60_000;

let stopping = new AbortController();
afterEach(() => {
  stopping.abort();
  stopping = new AbortController();
});

function provider(service = new FakeKeyService()) {
  const clock = new FakeClock();
  const log = silentLogger;
  return { service, clock, provider: new KmsProvider({ name: 'vault', service, clock, log, signal: stopping.signal }) };
}

async function started(service?: FakeKeyService) {
  const made = provider(service);
  await made.provider.start();
  return made;
}

test.each([
  [
    'a seed',
    'Ck3hAnoROjb4rbZ3MiUO7Pz8pxfb3lve1lOTiAwul+vnGKE2t+JsUU3T4yMvLjahSAH5YFDmroXSPnkbBDZfw6wsnirSVdGq+5wgjryMPBIFa2V5LTEaIJIJzyXQUlCKdrnd9Q/yly4oHRgQbgKGoFiHcjkN0jeGIhgKEWxvY2FsLmV4YW1wbGUuY29tEgMBAv8oAQ==',
  ],
  [
    'a key',
    'Ci0e9ypXAcqaOwAAAAAo1S3+3fRcFDWUHvieTFQT2L04ALW/lS1PzLdBnm6VrP0SBWtleS0xGiCygDcxmWt6Xxp/ZgbMFEvpGmooq0BrK2SXMziczOJvzyIYChFsb2NhbC5leGFtcGxlLmNvbRIDAQL/',
  ],
])('what Kubernetes wrote with %s is read', async (_, encrypted) => {
  const { service, provider: made } = provider();
  // The service with which the data was recorded.
  service.decrypt = async ({ ciphertext }) => Buffer.from(ciphertext.map((byte) => byte ^ 0x5a));
  await made.prepare(Buffer.from(encrypted, 'base64'));
  expect(made.decrypt(key, Buffer.from(encrypted, 'base64'))).toEqual({
    document,
    keptAs: 'k8s:enc:kms:v2:vault:key-1',
  });
});

test('the service is called once per data key, however much is written and read', async () => {
  const { service, provider: writer } = await started();
  const kept = Array.from({ length: 20 }, () => writer.encrypt(key, document));
  expect(new Set(kept.map((bytes) => bytes.toString('hex'))).size).toBe(20);
  for (const bytes of kept) {
    expect(writer.prepare(bytes)).toBeUndefined();
    expect(writer.decrypt(key, bytes).document).toEqual(document);
  }
  expect(service.asked).toEqual(['status', 'encrypt key-1']);

  const { provider: reader } = provider(service);
  expect(() => reader.decrypt(key, kept[0] as Buffer)).toThrow('failed to decrypt DEK, error: not called yet');
  await Promise.all(kept.map((bytes) => reader.prepare(bytes)));
  for (const bytes of kept) expect(reader.decrypt(key, bytes).document).toEqual(document);
  expect(service.asked.slice(2)).toEqual(['decrypt key-1 local.example.com']);
  expect(() => reader.decrypt('core/secrets/default/other', kept[0] as Buffer)).toThrow('the stored data was not');
});

test('a new key of the service is used after its next status call', async () => {
  const { service, clock, provider: made } = await started();
  const before = made.encrypt(key, document);
  service.keyId = 'key-2';
  expect(made.writesAs()).toBe('k8s:enc:kms:v2:vault:key-1');
  await clock.advance(minute);
  expect(made.writesAs()).toBe('k8s:enc:kms:v2:vault:key-2');
  expect(made.decrypt(key, before)).toEqual({ document, keptAs: 'k8s:enc:kms:v2:vault:key-1' });
  expect(made.decrypt(key, made.encrypt(key, document)).keptAs).toBe('k8s:enc:kms:v2:vault:key-2');
});

test('an unavailable service stops writes after three minutes, never reads, and is polled more often', async () => {
  const { service, clock, provider: made } = await started();
  const kept = made.encrypt(key, document);
  service.failure = new Error('connection refused');
  await clock.advance(minute);
  expect(made.problem).toBe('connection refused');
  service.asked.length = 0;
  for (let passed = 0; passed < 2 * minute; passed += 10_000) {
    made.encrypt(key, document);
    await clock.advance(10_000);
  }
  expect(service.asked).toEqual(Array.from({ length: 12 }, () => 'status'));
  await clock.advance(1);
  expect(() => made.encrypt(key, document)).toThrow('the key service vault cannot be used: connection refused');
  expect(made.decrypt(key, kept).document).toEqual(document);

  service.failure = undefined;
  await clock.advance(10_000);
  expect(made.problem).toBeUndefined();
  expect(made.decrypt(key, made.encrypt(key, document)).document).toEqual(document);
  expect(service.asked).not.toContain('encrypt key-1');
});

test('decryption of a data key is retried after a failure', async () => {
  const { service, provider: writer } = await started();
  const kept = writer.encrypt(key, document);
  const { provider: reader } = provider(service);
  service.failure = new Error('no right to decrypt');
  await reader.prepare(kept);
  expect(() => reader.decrypt(key, kept)).toThrow('failed to decrypt DEK, error: no right to decrypt');
  service.failure = undefined;
  await reader.prepare(kept);
  expect(reader.decrypt(key, kept).document).toEqual(document);
});

describe('a service with invalid answers is not used', () => {
  test.each<[string, (service: FakeKeyService) => void, string]>([
    ['is not healthy', (service) => (service.healthz = 'sealed'), 'got unexpected healthz status: sealed'],
    ['speaks another version', (service) => (service.version = 'v1'), 'expected KMSv2 API version v2, got v1'],
    ['names no key', (service) => (service.keyId = ''), 'keyID is empty'],
    [
      'names a key that is too long',
      (service) => (service.keyId = 'k'.repeat(1_025)),
      'keyID is 1025 bytes, which exceeds the max size of 1024',
    ],
    [
      'returns an empty ciphertext',
      (service) =>
        (service.encrypt = async () => ({ ciphertext: Buffer.alloc(0), keyId: 'key-1', annotations: new Map() })),
      'encrypted DEK source is empty',
    ],
    [
      'encrypts with another key',
      (service) =>
        (service.encrypt = async () => ({ ciphertext: Buffer.alloc(9), keyId: 'key-9', annotations: new Map() })),
      'the status names the key key-1, and key-9 was used',
    ],
  ])('one that %s', async (_, change, why) => {
    const service = new FakeKeyService();
    change(service);
    const { provider: made } = await started(service);
    expect(made.problem).toBe(why);
    expect(() => made.encrypt(key, document)).toThrow(`the key service vault cannot be used: ${why}`);
  });
});

test('an invalid envelope is refused without calling the service', async () => {
  const { service, provider: made } = await started();
  const kept = made.encrypt(key, document);
  const { provider: reader } = provider(service);
  service.asked.length = 0;
  for (let length = 0; length < kept.length - 20; length += 7) {
    const cut = kept.subarray(0, length);
    expect(reader.prepare(cut)).toBeUndefined();
    expect(() => reader.decrypt(key, cut)).toThrow();
  }
  expect(service.asked).toEqual([]);
});

test('at most 16 data keys are decrypted at a time, and none of thousands is dropped meanwhile', async () => {
  const service = new FakeKeyService();
  const { clock, provider: writer } = await started(service);
  const kept: Buffer[] = [];
  for (let number = 0; number < 2_500; number++) {
    service.keyId = `other-${number}`;
    await clock.advance(minute);
    kept.push(writer.encrypt(key, document));
  }
  service.asked.length = 0;
  let waiting = 0;
  let most = 0;
  const decrypt = service.decrypt.bind(service);
  service.decrypt = async (asked) => {
    most = Math.max(most, ++waiting);
    const plaintext = await decrypt(asked);
    waiting--;
    return plaintext;
  };
  const { provider: reader } = provider(service);
  await Promise.all(kept.map((bytes) => reader.prepare(bytes)));
  expect(most).toBe(16);
  expect(service.asked).toHaveLength(2_500);
  for (const bytes of kept) expect(reader.decrypt(key, bytes).document).toEqual(document);
});
