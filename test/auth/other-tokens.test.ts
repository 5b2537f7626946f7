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
  ])('%j is %j', async (token, user) => {
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

test('tokens that know no audience are for the API server', async () => {
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

  test('a machine being set up', async () => {
    expect(await user({ 'auth-extra-groups': 'system:bootstrappers:b,system:bootstrappers:a' })).toEqual({
      username: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:b'],
    });
    expect(await user({ expiration: '2026-01-01T00:00:01Z' })).toBeDefined();
  });

  test.each<[string, Parameters<typeof user>[0], Parameters<typeof user>[1]]>([
    ['wrong secret', { 'token-secret': '0123456789abcdeg' }, {}],
    ['no secret', { 'token-secret': '' }, {}],
    ['other id inside', { 'token-id': 'abcdeg' }, {}],
    ['expired', { expiration: '2025-12-31T23:59:59Z' }, {}],
    ['expires just now', { expiration: '2026-01-01T00:00:00Z' }, {}],
    ['expiration unreadable', { expiration: 'tomorrow' }, {}],
    ['expires on a day that is none', { expiration: '2026-02-30T00:00:00Z' }, {}],
    ['not for authentication', { 'usage-bootstrap-authentication': 'True' }, {}],
    ['a group of others', { 'auth-extra-groups': 'system:masters' }, {}],
    ['type wrong', {}, { type: 'Opaque' }],
    ['going', {}, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ['upper case', {}, { presented: token.toUpperCase() }],
    ['longer', {}, { presented: `${token}0` }],
  ])('%s is nobody', async (_name, data, more) => {
    expect(await user(data, more)).toBeUndefined();
  });
});

describe('the cache', () => {
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

  test('remembers successes for ten seconds, each by its audiences', async () => {
    await ask('a');
    expect((await ask('a'))?.user.username).toBe('a');
    await ask('a', ['x']);
    expect(calls).toEqual(['a', 'a']);
    await clock.advance(10_000);
    await ask('a');
    expect(calls).toHaveLength(3);
  });

  test('remembers for no longer when the clock is set back', async () => {
    await ask('a');
    clock.set(clock.now() - 3_600_000);
    await ask('a');
    await clock.advance(10_000);
    await ask('a');
    expect(calls).toEqual(['a', 'a']);
  });

  test('remembers no failures', async () => {
    for (const token of ['bad', 'bad', 'unknown', 'unknown']) await ask(token);
    expect(calls).toHaveLength(4);
  });

  test('counts what it knew and what had to be found out', async () => {
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

  test('forgets the oldest when there are too many', async () => {
    for (const token of ['a', 'b', 'c', 'd', 'b', 'a']) await ask(token);
    expect(calls).toEqual(['a', 'b', 'c', 'd', 'a']);
  });

  test('drops what is over when others come, however few there are', async () => {
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
