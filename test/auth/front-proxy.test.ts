import { expect, test } from 'vitest';
import { type FrontProxyOptions, frontProxy } from '../../src/auth/front-proxy.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { credentials } from './credentials.js';
import { attributes, extensions, forge, usages } from './forge.js';

const clock = new FakeClock();
const root = forge({ subject: [[attributes.commonName, 'proxies']], extensions: [extensions.authority()] });
const proxy = forge({
  subject: [[attributes.commonName, 'front']],
  issuer: root,
  extensions: [extensions.extendedKeyUsage(usages.client)],
});
const stranger = forge({ subject: [[attributes.commonName, 'front']] });
const ask = (
  headers: Parameters<typeof credentials>[0],
  { peer = proxy, ...options }: Partial<FrontProxyOptions> & { readonly peer?: typeof proxy | null } = {},
) =>
  frontProxy({ bundle: () => root.pem, clock, ...options }).authenticate(
    credentials(headers, { certificates: peer === null ? [] : [peer.der] }),
  );

test('headers of a proxy set user, uid, groups and extra', async () => {
  const found = await ask({
    'x-remote-user': ['alice', 'bob'],
    'x-remote-uid': 'u-1',
    'x-remote-group': ['dev', '', 'ops'],
    'x-remote-extra-acme.com%2fproject': ['a', 'b'],
    'x-remote-extra-bad%zz': 'c',
    'x-remote-extra-__proto__': 'd',
  });
  expect(found?.user).toEqual({
    username: 'alice',
    uid: 'u-1',
    groups: ['dev', 'ops'],
    extra: Object.fromEntries([
      ['acme.com/project', ['a', 'b']],
      ['bad%zz', ['c']],
      ['__proto__', ['d']],
    ]),
  });
});

test('of several username headers the first with a value counts; groups and extra are combined', async () => {
  const options = {
    usernameHeaders: ['x-user', 'x-remote-user'],
    groupHeaders: ['x-group', 'x-remote-group'],
    extraHeaderPrefixes: ['x-extra-', 'x-remote-extra-'],
  };
  const headers = {
    'x-user': ['', 'mallory'],
    'x-remote-user': 'alice',
    'x-group': 'dev',
    'x-remote-group': 'ops',
    'x-extra-team': 'red',
    'x-remote-extra-team': 'blue',
  };
  const found = await ask(headers, options);
  expect(found?.user).toEqual({ username: 'alice', groups: ['dev', 'ops'], extra: { team: ['red', 'blue'] } });
});

test('headers are ignored or refused without a trusted proxy certificate', async () => {
  const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };
  expect(await ask(headers, { peer: null })).toBeUndefined();
  await expect(ask(headers, { peer: stranger })).rejects.toThrow('x509: certificate signed by unknown authority');
  await expect(ask(headers, { allowedNames: ['other'] })).rejects.toThrow(
    'x509: subject with cn=front is not in the allowed list',
  );
  expect(await ask(headers, { allowedNames: ['front'] })).toBeDefined();
});

test('a proxy request without a username is not authenticated', async () => {
  expect(await ask({ 'x-remote-group': 'system:masters' })).toBeUndefined();
});
