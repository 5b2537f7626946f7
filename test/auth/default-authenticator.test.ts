import { beforeEach, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { AuthenticationError } from '../../src/auth/authenticator.js';
import { type AuthenticationOptions, defaultAuthenticator } from '../../src/auth/default-authenticator.js';
import { generateServiceAccountKey, readSigningKey } from '../../src/auth/service-account-keys.js';
import { staticTokens } from '../../src/auth/static-tokens.js';
import { tokenIssuer } from '../../src/auth/token-issuer.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { credentials } from './credentials.js';
import { FixedObjects } from './fixed-objects.js';
import { attributes, extensions, forge, usages } from './forge.js';

const key = readSigningKey(await generateServiceAccountKey());
const root = forge({ subject: [[attributes.commonName, 'root']], extensions: [extensions.authority()] });
const proxies = forge({ subject: [[attributes.commonName, 'proxies']], extensions: [extensions.authority()] });
const leaf = (name: string, issuer = root) =>
  forge({ subject: [[attributes.commonName, name]], issuer, extensions: [extensions.extendedKeyUsage(usages.client)] });

const clock = new FakeClock();
let objects: FixedObjects;
beforeEach(() => {
  objects = new FixedObjects().put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'sa', uid: 'u' } });
});
const token = (audiences: readonly string[] = ['api']): string =>
  tokenIssuer({ issuer: 'https://i', key: () => key, domains: defaultDomains, clock }).issue({
    namespace: 'ns',
    account: { name: 'sa', uid: 'u' },
    audiences,
    seconds: 3_600,
  }).token;
const ask = (given: Parameters<typeof credentials>, options: Partial<AuthenticationOptions> = {}) =>
  defaultAuthenticator({
    issuers: ['https://i'],
    keys: () => [key],
    apiAudiences: ['api'],
    objects,
    domains: defaultDomains,
    clock,
    clientBundle: () => root.pem,
    staticTokens: staticTokens('fixed,bob,\n'),
    frontProxy: { bundle: () => proxies.pem },
    anonymous: () => true,
    ...options,
  }).authenticate(credentials(...given));
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const presenting = (certificate: ReturnType<typeof leaf>) => ({ certificates: [certificate.der] });

test.each<[string, Parameters<typeof credentials>, string]>([
  ['no credentials', [], 'system:anonymous'],
  ['another authentication scheme', [{ authorization: 'Basic eA==' }], 'system:anonymous'],
  ['a static token', [bearer('fixed')], 'bob'],
  ['a service account token', [bearer(token())], 'system:serviceaccount:ns:sa'],
  ['a client certificate', [{}, presenting(leaf('alice'))], 'alice'],
  ['a client certificate and a bad token', [bearer('bad'), presenting(leaf('alice'))], 'alice'],
  ['a bad client certificate and a good token', [bearer('fixed'), presenting(leaf('alice', proxies))], 'bob'],
  [
    'a proxy certificate and a remote user',
    [{ 'x-remote-user': 'carol' }, presenting(leaf('front', proxies))],
    'carol',
  ],
  ['a client certificate and a remote user', [{ 'x-remote-user': 'carol' }, presenting(leaf('alice'))], 'alice'],
])('a request with %s is authenticated', async (_name, given, username) => {
  expect((await ask(given))?.user.username).toBe(username);
});

test('authenticated users get their groups, with system:authenticated as the last one', async () => {
  expect((await ask([bearer(token())]))?.user.groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:ns',
    'system:authenticated',
  ]);
  expect((await ask([]))?.user.groups).toEqual(['system:unauthenticated']);
});

describe('refusals', () => {
  test.each<[string, Parameters<typeof credentials>, string]>([
    ['an unknown token', [bearer('opaque')], 'invalid bearer token'],
    [
      'a token for another audience',
      [bearer(token(['v']))],
      '[invalid bearer token, token audiences ["v"] is invalid for the target audiences ["api"]]',
    ],
    [
      'a token with extra characters',
      [bearer(`${token()}AAAA`)],
      '[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]',
    ],
    ['a static token for another audience', [bearer('fixed'), { audiences: ['v'] }], 'invalid bearer token'],
  ])('%s is refused', async (_name, given, message) => {
    await expect(ask(given)).rejects.toThrow(new AuthenticationError(message));
  });

  test('a bad certificate is refused, not treated as anonymous', async () => {
    await expect(ask([{}, presenting(leaf('alice', leaf('x')))])).rejects.toThrow('verifying certificate');
  });

  test('a request without credentials authenticates nobody if anonymous access is off', async () => {
    expect(await ask([], { anonymous: () => false })).toBeUndefined();
  });
});

test('an extra space before the token makes a request anonymous, with a warning', async () => {
  const found = await ask([{ authorization: 'Bearer  fixed' }]);
  expect(found?.user.username).toBe('system:anonymous');
  expect(found?.warnings).toEqual([
    'the provided Authorization header contains extra space before the bearer token, and is ignored',
  ]);
});

test('a token that was used stays valid for ten seconds after its account is deleted', async () => {
  const authenticator = defaultAuthenticator({
    issuers: ['https://i'],
    keys: () => [key],
    apiAudiences: ['api'],
    objects,
    domains: defaultDomains,
    clock,
    clientBundle: () => root.pem,
    anonymous: () => true,
  });
  const request = credentials(bearer(token()));
  await authenticator.authenticate(request);
  objects.remove(ServiceAccounts, { namespace: 'ns', name: 'sa' });
  expect(await authenticator.authenticate(request)).toBeDefined();
  await clock.advance(10_000);
  await expect(authenticator.authenticate(request)).rejects.toThrow('serviceaccounts "sa" not found');
});
