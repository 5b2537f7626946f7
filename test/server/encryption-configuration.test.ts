import { afterAll, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { readEncryptionConfiguration } from '../../src/server/encryption-configuration.js';
import { openEncryption } from '../../src/server/open-encryption.js';

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n';
const read = (text: string, domains = defaultDomains) => readEncryptionConfiguration(text, domains);
const rule = (resources: readonly string[], ...providers: readonly object[]) => ({ resources, providers });
const textOf = (...resources: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources });
const readRules = (...resources: readonly object[]) => read(textOf(...resources));
const stopping = new AbortController();
afterAll(() => stopping.abort());
const open = (text: string, domains = defaultDomains) =>
  openEncryption(text, { domains, clock: systemClock, log: silentLogger, signal: stopping.signal });
const secret = Buffer.alloc(32, 7).toString('base64');
const kms = (name: string) => ({ kms: { apiVersion: 'v2', name, endpoint: 'unix:///nowhere' } });
const aesgcm = (...names: readonly string[]) => ({ aesgcm: { keys: names.map((name) => ({ name, secret })) } });

test('a typical file is read', async () => {
  const encryption = await open(`${head}
resources:
- resources: [secrets, configmaps, ci.example.org]
  providers:
  - secretbox: { keys: [{ name: key2, secret: ${secret} }] }
  - aescbc:
      keys:
      - name: key1
        secret: ${secret}
  - identity: {}
- resources: ['*.example.com', events]
  providers: [{ identity: {} }]
- resources: ['*.*']
  providers:
  - aesgcm: { keys: [{ name: "0", secret: ${secret} }] }
`);
  expect(encryption.writesAs('core/secrets/default/a')).toMatch(/^k8s:enc:secretbox:v1:key2:/);
  expect(encryption.writesAs('example.org/ci/a')).toMatch(/^k8s:enc:secretbox:v1:key2:/);
  expect(encryption.writesAs('example.com/ci/a')).toBe('');
  expect(encryption.writesAs('core/events/default/a')).toBe('');
  expect(encryption.writesAs('rbac.authorization.k8s.io/roles/default/a')).toMatch(/^k8s:enc:aesgcm:v1:0:/);
  const document = Buffer.from('{}');
  expect(encryption.decrypt('core/secrets/default/a', document)).toEqual({ document, keptAs: '' });
});

test('a resource of several rules is read with all their providers, and written with those of the first', async () => {
  const encryption = await open(
    textOf(rule(['secrets'], aesgcm('new')), rule(['secrets'], aesgcm('old'), { identity: {} })),
  );
  const before = await open(textOf(rule(['secrets'], aesgcm('old'))));
  const key = 'core/secrets/default/a';
  const document = Buffer.from('{}');
  expect(encryption.writesAs(key)).toMatch(/^k8s:enc:aesgcm:v1:new:/);
  expect(encryption.decrypt(key, before.encrypt(key, document)).keptAs).toBe(before.writesAs(key));
  expect(encryption.decrypt(key, document).keptAs).toBe('');
});

test("the groups and the version of the file follow the server's domain", async () => {
  const domains = { ...defaultDomains, api: 'acme.test' };
  const encryption = await open(
    JSON.stringify({
      apiVersion: 'apiserver.config.acme.test/v1',
      kind: 'EncryptionConfiguration',
      resources: [rule(['certificatesigningrequests.certificates.acme.test'], aesgcm('one'))],
    }),
    domains,
  );
  const prefix = /^k8s:enc:aesgcm:v1:one:/;
  expect(encryption.writesAs('certificates.k8s.io/certificatesigningrequests/a')).toMatch(prefix);
  await expect(read(head, domains)).rejects.toThrow('must be EncryptionConfiguration of apiserver.config.acme.test/v1');
});

describe('errors have their path, and never show a secret', () => {
  const bad = 'c2VjcmV0';
  const path = 'resources[0].providers[0]';
  test.each<[string, readonly object[], string]>([
    ['no rules', [], 'resources: Required value: at least one resources is required'],
    [
      'an empty rule',
      [{}],
      'resources[0].resources: Required value: at least one resources[0].resources is required; ' +
        'resources[0].providers: Required value: at least one resources[0].providers is required',
    ],
    [
      'an empty provider',
      [rule(['secrets'], {})],
      `${path}: Invalid value: {}: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity`,
    ],
    [
      'two providers in one',
      [rule(['secrets'], { identity: {}, ...aesgcm('a') })],
      `${path}: Invalid value: aesgcm, identity: more than one provider specified in a single element, should split into different list elements`,
    ],
    [
      'no keys',
      [rule(['secrets'], { aescbc: {} })],
      `${path}.aescbc.keys: Required value: at least one keys is required`,
    ],
    [
      'an empty key',
      [rule(['secrets'], { secretbox: { keys: [{}] } })],
      `${path}.secretbox.keys[0].name: Required value: name is a mandatory field for a key; ` +
        `${path}.secretbox.keys[0].secret: Required value: secret is a mandatory field for a key`,
    ],
    [
      'a secret that is not base64',
      [rule(['secrets'], { aesgcm: { keys: [{ name: 'a', secret: 'top secret' }] } })],
      `${path}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`,
    ],
    [
      'a secret of the wrong length',
      [rule(['secrets'], { aesgcm: { keys: [{ name: 'a', secret: bad }] } })],
      `${path}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 6, expected one of [16 24 32]`,
    ],
    [
      'a duplicate resource',
      [rule(['secrets', 'secrets'], aesgcm('a'))],
      'resources[0].resources: Invalid value: ["secrets","secrets"]: the same resource cannot be specified multiple times',
    ],
    [
      'overlapping resources',
      [rule(['*.', 'secrets'], aesgcm('a'))],
      'resources[0].resources: Invalid value: ["*.","secrets"]: using overlapping resources such as \'secrets\' and \'*.\' in the same resource list is not allowed as they will be masked',
    ],
    [
      'upper-case letters',
      [rule(['Secrets'], aesgcm('a'))],
      'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters',
    ],
    [
      'a single star',
      [rule(['*'], aesgcm('a'))],
      'resources[0].resources[0]: Invalid value: "*": use \'*.\' to encrypt all the resources from core API group or *.* to encrypt all resources',
    ],
    [
      'a resource of all groups',
      [rule(['secrets.*'], aesgcm('a'))],
      'resources[0].resources[0]: Invalid value: "secrets.*": encrypting the same resource across groups is not supported',
    ],
    [
      'a resource that an earlier rule masks',
      [rule(['*.'], aesgcm('a')), rule(['secrets'], aesgcm('b'))],
      'resource "secrets" is masked by earlier rule "*."',
    ],
    [
      'a group that an earlier rule masks',
      [rule(['*.*'], aesgcm('a')), rule(['*.apps'], aesgcm('b'))],
      'resource "*.apps" is masked by earlier rule "*.*"',
    ],
    [
      'an empty key service',
      [rule(['secrets'], { kms: {} })],
      `${path}.kms.name: Required value: name is a mandatory field for a provider; ` +
        `${path}.kms.endpoint: Required value: endpoint is a mandatory field for a kms; ` +
        `${path}.kms.apiVersion: Invalid value: "": unsupported apiVersion "" for KMS provider, only v2 is supported`,
    ],
    [
      'an invalid key service',
      [rule(['secrets'], { kms: { apiVersion: 'v1', name: 'a:b', endpoint: 'http://a', timeout: '-1s' } })],
      `${path}.kms.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'; ` +
        `${path}.kms.timeout: Invalid value: "-1s": timeout should be a positive value; ` +
        `${path}.kms.endpoint: Invalid value: "http://a": unsupported scheme "http" for KMS provider, only unix is supported; ` +
        `${path}.kms.apiVersion: Invalid value: "v1": unsupported apiVersion v1 for KMS provider, only v2 is supported`,
    ],
    [
      'two key services of the same name',
      [rule(['secrets'], kms('a')), rule(['events'], kms('a'))],
      'resources[1].providers[0].kms.name: Invalid value: "a": duplicate KMS provider name a, names must be unique',
    ],
    [
      'an unknown provider',
      [rule(['secrets'], { aes: {} })],
      'strict decoding error: unknown field "resources[0].providers[0].aes"',
    ],
  ])('%s', async (_, rules, why) => {
    const error = await readRules(...rules).catch(String);
    expect(error).toBe(`Error: ${why}`);
    expect(error).not.toContain(bad);
    expect(error).not.toContain('top secret');
  });

  test.each([
    ['an empty file', '', 'must be EncryptionConfiguration of apiserver.config.k8s.io/v1, not nothing of nothing'],
    ['another kind', 'kind: Secret', 'not Secret of nothing'],
    [
      'another version',
      head.replace('/v1', '/v1beta1'),
      'not EncryptionConfiguration of apiserver.config.k8s.io/v1beta1',
    ],
    ['a duplicate field', `${head}resources: []\nresources: []\n`, 'key "resources" already set in map'],
  ])('%s', async (_, text, why) => {
    await expect(read(text)).rejects.toThrow(why);
  });
});
