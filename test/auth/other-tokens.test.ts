import { beforeEach, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { forApiAudiences } from '../../src/auth/audience-agnostic.js';
import { authenticationMetrics } from '../../src/auth/authentication-metrics.js';
import { AuthenticationError } from '../../src/auth/authenticator.js';
import type { TokenAuthenticator } from '../../src/auth/bearer-token.js';
import { bootstrapTokens } from '../../src/auth/bootstrap-token.js';
import { staticTokens } from '../../src/auth/static-tokens.js';
import { TokenCache } from '../../src/auth/token-cache.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { collectGarbage } from '../collect-garbage.js';
import { seriesOf } from '../series.js';
import { FixedObjects } from './fixed-objects.js';

const userOf = async (tokens: TokenAuthenticator, token: string) =>
  (await tokens.authenticateToken(token, ['api']))?.user;

describe('static tokens', () => {
  const tokens = staticTokens(
    'one,alice,u1,"dev,ops"\r\n\ntwo,bob,\n,nobody,x\nthree,"a ""quoted"" name",u3\none,carol,u4,only\nfour, dave,u5\nfive,erin,u6,\n',
  );
  test.each([
    ['one', { username: 'carol', uid: 'u4', groups: ['only'] }],
    ['two', { username: 'bob', groups: [] }],
    ['three', { username: 'a "quoted" name', uid: 'u3', groups: [] }],
    ['four', { username: ' dave', uid: 'u5', groups: [] }],
    ['five', { username: 'erin', uid: 'u6', groups: [''] }],
    ['', undefined],
    ['on', undefined],
  ])('the token %j belongs to %j', async (token, user) => {
    expect(await userOf(tokens, token)).toEqual(user);
  });

  test.each([
    ['a,b\n', 'at least 3 columns (token, user name, user uid), found 2 in record 1'],
    ['a,b,c\nx\n', 'found 1 in record 2'],
    ['a,"b,c\n', 'record 1 is not readable as CSV'],
  ])('the file %j is refused', (csv, message) => {
    expect(() => staticTokens(csv)).toThrow(message);
  });
});

test('tokens without audiences are valid for the audiences of the API server', async () => {
  const tokens = forApiAudiences(staticTokens('secret,bob,\n'), ['api', 'api2']);
  expect((await tokens.authenticateToken('secret', ['x', 'api2']))?.audiences).toEqual(['api2']);
  expect(await tokens.authenticateToken('secret', ['x'])).toBeUndefined();
});

describe('bootstrap tokens', () => {
  const clock = new FakeClock();
  const good = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
  };
  const token = 'abcdef.0123456789abcdef';
  const user = (
    data: Readonly<Record<string, string>>,
    { type = 'bootstrap.kubernetes.io/token', metadata = {}, presented = token } = {},
  ) =>
    userOf(
      bootstrapTokens({
        objects: new FixedObjects().put(Secrets, {
          metadata: { namespace: 'kube-system', name: 'bootstrap-token-abcdef', ...metadata },
          type,
          data: Object.fromEntries(
            Object.entries({ ...good, ...data }).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
          ),
        }),
        domains: defaultDomains,
        clock,
      }),
      presented,
    );

  test('authenticate a bootstrapping node', async () => {
    expect(await user({ 'auth-extra-groups': 'system:bootstrappers:b,system:bootstrappers:a' })).toEqual({
      username: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:b'],
    });
    expect(await user({ expiration: '2026-01-01T00:00:01Z' })).toBeDefined();
  });

  test.each<[string, Parameters<typeof user>[0], Parameters<typeof user>[1]]>([
    ['with the wrong secret', { 'token-secret': '0123456789abcdeg' }, {}],
    ['without a secret', { 'token-secret': '' }, {}],
    ['with another id in the Secret', { 'token-id': 'abcdeg' }, {}],
    ['that are expired', { expiration: '2025-12-31T23:59:59Z' }, {}],
    ['that expire at this moment', { expiration: '2026-01-01T00:00:00Z' }, {}],
    ['with an unreadable expiration', { expiration: 'tomorrow' }, {}],
    ['that expire on a day that does not exist', { expiration: '2026-02-30T00:00:00Z' }, {}],
    ['not meant for authentication', { 'usage-bootstrap-authentication': 'True' }, {}],
    ['with a group outside bootstrappers', { 'auth-extra-groups': 'system:masters' }, {}],
    ['of a Secret of another type', {}, { type: 'Opaque' }],
    ['of a Secret being deleted', {}, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ['in upper case', {}, { presented: token.toUpperCase() }],
    ['with an extra character', {}, { presented: `${token}0` }],
  ])('%s authenticate nobody', async (_name, data, more) => {
    expect(await user(data, more)).toBeUndefined();
  });
});

describe('the token cache', () => {
  const clock = new FakeClock();
  let calls: string[];
  let cache: TokenCache;
  beforeEach(() => {
    calls = [];
    const inner: TokenAuthenticator = {
      async authenticateToken(token, audiences) {
        calls.push(token);
        if (token === 'bad') throw new AuthenticationError('bad');
        return token === 'unknown' ? undefined : { user: { username: token, groups: [] }, audiences };
      },
    };
    cache = new TokenCache(inner, { clock, keepMs: 10_000, limit: 3 });
  });
  const ask = (token: string, audiences = ['api']) => cache.authenticateToken(token, audiences).catch(() => undefined);

  test('keeps successes for ten seconds, per audiences', async () => {
    await ask('a');
    expect((await ask('a'))?.user.username).toBe('a');
    await ask('a', ['x']);
    expect(calls).toEqual(['a', 'a']);
    await clock.advance(10_000);
    await ask('a');
    expect(calls).toHaveLength(3);
  });

  test('keeps successes no longer if the clock is set back', async () => {
    await ask('a');
    clock.set(clock.now() - 3_600_000);
    await ask('a');
    await clock.advance(10_000);
    await ask('a');
    expect(calls).toEqual(['a', 'a']);
  });

  test('keeps no failures', async () => {
    for (const token of ['bad', 'bad', 'unknown', 'unknown']) await ask(token);
    expect(calls).toHaveLength(4);
  });

  test('counts hits and misses', async () => {
    const metrics = openMetrics();
    const slow: TokenAuthenticator = {
      async authenticateToken(token) {
        await clock.advance(20);
        if (token === 'bad') throw new AuthenticationError('bad');
        return { user: { username: token, groups: [] } };
      },
    };
    cache = new TokenCache(slow, { clock, metrics: authenticationMetrics(metrics, clock, 'here') });
    for (const token of ['a', 'a', 'bad']) await ask(token);
    const prefix = 'authentication_token_cache';
    expect(await seriesOf(metrics, `${prefix}_request_total`)).toEqual(['{status="miss"} 2', '{status="hit"} 1']);
    expect(await seriesOf(metrics, `${prefix}_fetch_total`)).toEqual(['{status="ok"} 1', '{status="error"} 1']);
    expect(await seriesOf(metrics, `${prefix}_request_duration_seconds_sum`)).toEqual([
      '{status="miss"} 0.04',
      '{status="hit"} 0',
    ]);
  });

  test('evicts the oldest token when it is full', async () => {
    for (const token of ['a', 'b', 'c', 'd', 'b', 'a']) await ask(token);
    expect(calls).toEqual(['a', 'b', 'c', 'd', 'a']);
  });

  test('drops expired entries when others are added, even if there are few', async () => {
    const found = new WeakRef((await ask('a')) as object);
    await clock.advance(10_000);
    await ask('b');
    const isGone = (): boolean => {
      collectGarbage();
      return found.deref() === undefined;
    };
    await expect.poll(isGone).toBe(true);
  });
});
