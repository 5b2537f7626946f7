import { expect, test } from 'vitest';
import { aggregateError } from '../../src/auth/aggregate.js';
import { AuthenticationError, type Authenticator } from '../../src/auth/authenticator.js';
import { unionAuthenticator, withAuthenticatedGroup, withBearerWarning } from '../../src/auth/authenticator-union.js';
import { credentials } from './credentials.js';

const nobody: Authenticator = { authenticate: async () => undefined };
const somebody = (username: string, ...groups: string[]): Authenticator => ({
  authenticate: async () => ({ user: { username, groups } }),
});
const refusing = (text: string): Authenticator => ({
  authenticate: async () => {
    throw new AuthenticationError(text);
  },
});
const ask = (authenticator: Authenticator) => authenticator.authenticate(credentials());

test('the first authenticator that succeeds wins, despite earlier refusals', async () => {
  const found = await ask(unionAuthenticator(refusing('bad'), nobody, somebody('a'), somebody('b')));
  expect(found?.user.username).toBe('a');
});

test.each([
  [['one'], 'one'],
  [['one', 'two'], '[one, two]'],
  [['one', 'one'], 'one'],
  [['two', 'one', 'two'], '[two, one]'],
])('the refusals %j are reported as %j', async (texts, message) => {
  await expect(ask(unionAuthenticator(...texts.map(refusing), nobody))).rejects.toThrow(
    new AuthenticationError(message),
  );
});

test('nested aggregate errors are flattened', async () => {
  const inner = unionAuthenticator(refusing('b'), refusing('c'));
  await expect(ask(unionAuthenticator(refusing('a'), inner))).rejects.toThrow('[a, b, c]');
  expect(aggregateError([new AuthenticationError('x')]).message).toBe('x');
});

test('an error that is not a refusal is thrown', async () => {
  const broken: Authenticator = { authenticate: () => Promise.reject(new TypeError('oops')) };
  await expect(ask(unionAuthenticator(broken, somebody('a')))).rejects.toThrow(TypeError);
});

test.each([
  ['alice', ['dev'], ['dev', 'system:authenticated']],
  ['alice', ['system:authenticated', 'dev'], ['system:authenticated', 'dev']],
  ['alice', ['system:unauthenticated'], ['system:unauthenticated']],
  ['system:anonymous', ['system:unauthenticated'], ['system:unauthenticated']],
  ['system:anonymous', [], []],
])('the user %s in groups %j gets the groups %j', async (username, groups, expected) => {
  const found = await ask(withAuthenticatedGroup(somebody(username, ...groups)));
  expect(found?.user.groups).toEqual(expected);
});

test('a malformed Authorization header causes a warning if another credential is accepted', async () => {
  const request = credentials({ authorization: 'Bearer  x' });
  expect((await withBearerWarning(somebody('a')).authenticate(request))?.warnings).toHaveLength(1);
  expect((await withBearerWarning(somebody('a')).authenticate(credentials()))?.warnings).toBeUndefined();
});
