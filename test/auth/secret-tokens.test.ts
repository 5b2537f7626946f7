import { beforeEach, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { ObjectMeta } from '../../src/api/object.js';
import { signToken } from '../../src/auth/jws.js';
import { secretTokens } from '../../src/auth/secret-tokens.js';
import { secretTokenPayload } from '../../src/auth/service-account-claims.js';
import { generateServiceAccountKey, readSigningKey } from '../../src/auth/service-account-keys.js';
import { FixedObjects } from './fixed-objects.js';

const key = readSigningKey(await generateServiceAccountKey());
const domains = defaultDomains;
const payload = secretTokenPayload(
  { namespace: 'ns', secretName: 'tok', accountName: 'sa', accountUid: 'sa-uid' },
  domains,
);
const token = signToken(payload, key);
const account = { namespace: 'ns', name: 'sa', uid: 'sa-uid' };
const secretMeta = { namespace: 'ns', name: 'tok', uid: 'secret-uid' };

let objects: FixedObjects;
const putSecret = (metadata: ObjectMeta = {}, text = token): FixedObjects =>
  objects.put(Secrets, {
    metadata: { ...secretMeta, ...metadata },
    data: { token: Buffer.from(text).toString('base64') },
  });
beforeEach(() => {
  objects = new FixedObjects().put(ServiceAccounts, { metadata: account });
  putSecret();
});
const used: string[] = [];
const counted: string[] = [];
const verify = (text = token) =>
  secretTokens({
    keys: () => [key],
    apiAudiences: ['api'],
    objects,
    domains,
    used: ({ metadata: { name = '' } }) => used.push(name),
    metrics: { legacyToken: () => counted.push('legacy'), secretToken: (how) => counted.push(how) },
  }).authenticateToken(text, ['api']);

test('the token in a Secret authenticates its service account', async () => {
  expect(await verify()).toEqual({
    user: {
      username: 'system:serviceaccount:ns:sa',
      uid: 'sa-uid',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
    },
    audiences: ['api'],
    annotations: {
      'authentication.k8s.io/legacy-token': 'system:serviceaccount:ns:sa',
      'authentication.k8s.io/legacy-token-manual-secret': 'tok',
    },
  });
  expect(used).toEqual(['tok']);
});

test('an automatically generated token causes a warning', async () => {
  objects.put(ServiceAccounts, { metadata: account, secrets: [{ name: 'tok' }] });
  expect((await verify())?.warnings?.[0]).toContain('instead of auto-generated secret-based tokens.');
});

test.each<[string, () => unknown, string]>([
  ['the Secret is deleted', () => objects.remove(Secrets, secretMeta), 'Token has been invalidated'],
  [
    'the Secret is being deleted',
    () => putSecret({ deletionTimestamp: '2026-01-01T00:00:00Z' }),
    'Token has been invalidated',
  ],
  ['the Secret contains another token', () => putSecret({}, `${token}x`), "Token does not match server's copy"],
  ['the Secret is empty', () => objects.put(Secrets, { metadata: secretMeta }), "Token does not match server's copy"],
  ['the account is deleted', () => objects.remove(ServiceAccounts, account), 'serviceaccounts "sa" not found'],
  [
    'the account is being deleted',
    () => objects.put(ServiceAccounts, { metadata: { ...account, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    'ServiceAccount ns/sa has been deleted',
  ],
  [
    'the account was recreated',
    () => objects.put(ServiceAccounts, { metadata: { ...account, uid: 'new' } }),
    'ServiceAccount UID (new) does not match claim (sa-uid)',
  ],
  [
    'the token is marked as invalid',
    () => putSecret({ labels: { 'kubernetes.io/legacy-token-invalid-since': '2025-01-01' } }),
    'the token in secret ns/tok for service account ns/sa has been marked invalid.',
  ],
])('a token is refused if %s', async (_name, change, message) => {
  change();
  await expect(verify()).rejects.toThrow(message);
});

test.each<[string, () => unknown, readonly string[]]>([
  ['a manually created token', () => {}, ['legacy', 'manual']],
  [
    'an automatically generated token',
    () => objects.put(ServiceAccounts, { metadata: account, secrets: [{ name: 'tok' }] }),
    ['legacy', 'auto'],
  ],
  [
    'a token marked as invalid',
    () => putSecret({ labels: { 'kubernetes.io/legacy-token-invalid-since': '2025-01-01' } }),
    ['legacy', 'invalid'],
  ],
  ['a token of a deleted Secret', () => objects.remove(Secrets, secretMeta), ['legacy']],
])('%s is counted', async (_name, change, expected) => {
  counted.length = 0;
  change();
  await verify().catch(() => {});
  expect(counted).toEqual(expected);
});

test('a token marked as invalid is recorded in the audit log', async () => {
  putSecret({ labels: { 'kubernetes.io/legacy-token-invalid-since': '2025-01-01' } });
  await expect(verify()).rejects.toMatchObject({
    annotations: {
      'authentication.k8s.io/legacy-token': 'system:serviceaccount:ns:sa',
      'authentication.k8s.io/legacy-token-invalidated': 'tok/ns',
    },
  });
});

const prefix = 'kubernetes.io/serviceaccount';
test.each([
  [{ sub: undefined }, 'sub claim is missing'],
  [{ [`${prefix}/namespace`]: undefined }, 'namespace claim is missing'],
  [{ [`${prefix}/secret.name`]: 1 }, 'json: cannot unmarshal number into Go value of type string'],
  [{ [`${prefix}/secret.name`]: undefined }, 'secretName claim is missing'],
  [{ exp: '5' }, 'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate'],
  [{ [`${prefix}/service-account.name`]: '' }, 'serviceAccountName claim is missing'],
  [{ [`${prefix}/service-account.uid`]: undefined }, 'serviceAccountUID claim is missing'],
  [{ sub: 'system:serviceaccount:ns:other' }, 'sub claim is invalid'],
])('a token with the claims %j is refused with a reason', async (changes, message) => {
  await expect(verify(signToken({ ...payload, ...changes }, key))).rejects.toThrow(message);
});

test('tokens of other issuers are left to other authenticators', async () => {
  expect(await verify(signToken({ ...payload, iss: 'https://x' }, key))).toBeUndefined();
});
