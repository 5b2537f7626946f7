import type * as Crypto from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { TokenAuthenticator } from '../../src/auth/bearer-token.js';
import { bootstrapTokens } from '../../src/auth/bootstrap-token.js';
import { secretTokens } from '../../src/auth/secret-tokens.js';
import { generateServiceAccountKey, readSigningKey } from '../../src/auth/service-account-keys.js';
import { staticTokens } from '../../src/auth/static-tokens.js';
import { TokenCache } from '../../src/auth/token-cache.js';
import { tokenIssuer } from '../../src/auth/token-issuer.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FixedObjects } from '../auth/fixed-objects.js';

/**
 * The time of a comparison must not reveal how much of a token is right. Measuring it is unreliable on a busy machine,
 * so the test checks what is compared, and how.
 */
const compared: (readonly [NodeJS.ArrayBufferView, NodeJS.ArrayBufferView])[] = [];
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof Crypto>();
  return {
    ...crypto,
    timingSafeEqual: (a: NodeJS.ArrayBufferView, b: NodeJS.ArrayBufferView) => {
      compared.push([a, b]);
      return crypto.timingSafeEqual(a, b);
    },
  };
});

const clock = new FakeClock();
const key = readSigningKey(await generateServiceAccountKey());
const inSecret = tokenIssuer({ issuer: 'x', key: () => key, domains: defaultDomains, clock }).issueForSecret({
  namespace: 'ns',
  secretName: 'tok',
  accountName: 'sa',
  accountUid: 'u',
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const objects = new FixedObjects()
  .put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'sa', uid: 'u' } })
  .put(Secrets, { metadata: { namespace: 'ns', name: 'tok' }, data: { token: base64(`${inSecret}x`) } })
  .put(Secrets, {
    metadata: { namespace: 'kube-system', name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    data: {
      'token-id': base64('abcdef'),
      'token-secret': base64('0123456789abcdef'),
      'usage-bootstrap-authentication': base64('true'),
    },
  });

beforeEach(() => {
  compared.length = 0;
});

describe('secrets are compared as digests of one length, in constant time', () => {
  const given = { objects, domains: defaultDomains, clock, keys: () => [key], apiAudiences: ['api'] };
  test.each<[string, TokenAuthenticator, readonly string[]]>([
    [
      'bootstrap tokens',
      bootstrapTokens(given),
      ['abcdef.0000000000000000', 'abcdef.0123456789abcdee', 'abcdef.0123456789abcdef'],
    ],
    ['tokens in Secrets', secretTokens(given), [inSecret]],
  ])('%s', async (_name, tokens, presented) => {
    for (const token of presented) await tokens.authenticateToken(token, ['api']).catch(() => {});
    expect(compared).toHaveLength(presented.length);
    for (const [a, b] of compared) expect([a.byteLength, b.byteLength]).toEqual([32, 32]);
  });
});

describe('secrets are looked up by their digests', () => {
  const seen: unknown[] = [];
  const { get, has } = Map.prototype;
  beforeEach(() => {
    seen.length = 0;
    vi.spyOn(Map.prototype, 'get').mockImplementation(function (this: Map<unknown, unknown>, wanted: unknown) {
      seen.push(wanted);
      return get.call(this, wanted);
    });
    vi.spyOn(Map.prototype, 'has').mockImplementation(function (this: Map<unknown, unknown>, wanted: unknown) {
      seen.push(wanted);
      return has.call(this, wanted);
    });
  });
  afterEach(() => vi.restoreAllMocks());

  test.each<[string, TokenAuthenticator]>([
    ['static tokens', staticTokens('secret-token,alice,1\n')],
    ['the cache', new TokenCache(staticTokens('secret-token,alice,1\n'), { clock })],
  ])('%s', async (_name, tokens) => {
    for (const token of ['secret-token', 'secret-toke', 'x']) await tokens.authenticateToken(token, ['api']);
    expect(seen.length).toBeGreaterThan(0);
    for (const wanted of seen) expect(String(wanted)).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  });
});
