import { describe, expect, test } from 'vitest';
import { type HealthCheck, type HealthObserver, health } from '../../src/apiserver/health.js';
import { parseQuery } from '../../src/http/request-info.js';

const checks: readonly HealthCheck[] = [
  { name: 'ping', check: async () => undefined },
  { name: 'hook/first', check: async () => undefined },
  { name: 'leaving', onlyReady: true, check: async () => 'going' },
];
const broken: readonly HealthCheck[] = [
  ...checks,
  {
    name: 'broken',
    check: async () => {
      throw new Error('no answer');
    },
  },
];

const ask = (url: string, given = checks, observed?: HealthObserver) => {
  const [path = '', query = ''] = url.split('?');
  return health(given, path, parseQuery(query), observed);
};

describe('health checks over HTTP', () => {
  test.each([
    ['/livez', 200, 'ok'],
    ['/healthz', 200, 'ok'],
    ['/livez?verbose', 200, '[+]ping ok\n[+]hook/first ok\nlivez check passed\n'],
    ['/livez?verbose=false', 200, '[+]ping ok\n[+]hook/first ok\nlivez check passed\n'],
    ['/readyz', 500, '[+]ping ok\n[+]hook/first ok\n[-]leaving failed: reason withheld\nreadyz check failed\n'],
    ['/readyz?exclude=leaving', 200, 'ok'],
    [
      '/readyz?verbose&exclude=leaving&exclude=hook/first',
      200,
      '[+]ping ok\n[+]hook/first excluded: ok\n[+]leaving excluded: ok\nreadyz check passed\n',
    ],
    [
      '/livez?verbose&exclude=x&exclude=a,b',
      200,
      '[+]ping ok\n[+]hook/first ok\nwarn: some health checks cannot be excluded: no matches for "a,b","x"\nlivez check passed\n',
    ],
    ['/livez/ping', 200, 'ok'],
    ['/livez/hook/first', 200, 'ok'],
    ['/livez/hook', 404, '404 page not found\n'],
    ['/livez/leaving', 404, '404 page not found\n'],
    ['/readyz/leaving', 500, 'internal server error: going\n'],
  ])('%s', async (url, code, text) => {
    // Only a single check that succeeds is answered without this header.
    const headers = text === 'ok' && url.split('/').length > 2 ? {} : { 'X-Content-Type-Options': 'nosniff' };
    expect(await ask(url)).toEqual({ type: 'text', code, text, headers });
  });

  test('report a check that throws as failed', async () => {
    expect((await ask('/livez', broken)).text).toContain('[-]broken failed: reason withheld\n');
    expect((await ask('/livez/broken', broken)).text).toBe('internal server error: no answer\n');
  });

  test('notify the observer of checks in a summary, but not of single or excluded checks', async () => {
    const seen: unknown[] = [];
    const observed: HealthObserver = (...given) => void seen.push(given);
    await ask('/readyz?exclude=hook/first', checks, observed);
    await ask('/livez/ping', checks, observed);
    expect(seen).toEqual([
      ['ping', 'readyz', true],
      ['leaving', 'readyz', false],
    ]);
  });
});
