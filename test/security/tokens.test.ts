import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { Agent, request } from 'node:https';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Pods } from '../../src/api/kinds/pod.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { BoundObjectReference, TokenRequest } from '../../src/api/kinds/token-request.js';
import { generateServiceAccountKey } from '../../src/auth/service-account-keys.js';
import type { Client } from '../../src/client/client.js';
import { createServer, type Server } from '../../src/embed.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

/** Tokens of an attacker, over HTTPS, with a clock controlled by the test. */

const [signingKey, otherKey] = [await generateServiceAccountKey('RS256'), await generateServiceAccountKey('ES256')];
const publicPem = createPublicKey(signingKey).export({ type: 'spki', format: 'pem' }).toString();
const publicDer = createPublicKey(signingKey).export({ type: 'spki', format: 'der' });

let clock: FakeClock;
let server: Server;
let client: Client;
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
beforeAll(async () => {
  clock = new FakeClock(Date.now());
  server = await createServer({
    listen: {},
    controllers: [],
    clock,
    serviceAccountSigningKey: signingKey,
    serviceAccountVerificationKeys: [otherKey],
  });
  client = server.client();
});
afterAll(async () => {
  agent.destroy();
  await server.stop();
});

const key = { namespace: 'default', name: 'sa' };
beforeEach(async () => {
  await client
    .resource(ServiceAccounts)
    .delete(key)
    .catch(() => {});
  await client.resource(ServiceAccounts).create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: key });
});

const issue = async (
  spec: { audiences?: readonly string[]; boundObjectRef?: BoundObjectReference; expirationSeconds?: number } = {},
) => {
  const asked: TokenRequest = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec };
  const answer = await client.resource(ServiceAccounts).subresource<TokenRequest>('token').create(key, asked);
  return answer.status?.token ?? '';
};
/** Returns the status of a request that every authenticated user may make. */
const ask = (token: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(`${server.url}/api`, { agent, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end();
  });

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const read = (text: string | undefined): Record<string, unknown> =>
  JSON.parse(Buffer.from(text ?? '', 'base64url').toString());

test('an issued token is accepted', async () => {
  expect(await ask(await issue())).toBe(200);
});

describe('a forged variant of a token is refused', () => {
  type Parts = { head: Record<string, unknown>; body: Record<string, unknown>; parts: readonly string[] };
  const hmac = (head: object, body: object, secret: string | Buffer): string => {
    const signed = `${part(head)}.${part(body)}`;
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  };
  const signedBy = (pem: string, head: object, body: object): string => {
    const signed = `${part(head)}.${part(body)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: pem, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

  test.each<[string, (given: Parts) => string]>([
    [
      'another account',
      ({ parts: [head, , signature], body }) =>
        `${head}.${part({ ...body, sub: 'system:serviceaccount:kube-system:admin' })}.${signature}`,
    ],
    [
      'a longer life',
      ({ parts: [head, , signature], body }) => `${head}.${part({ ...body, exp: 9_999_999_999 })}.${signature}`,
    ],
    ['no signature', ({ parts: [head, body] }) => `${head}.${body}.`],
    ['only two parts', ({ parts: [head, body] }) => `${head}.${body}`],
    ['a fourth part', ({ parts }) => `${parts.join('.')}.x`],
    ['an empty part', ({ parts: [head, , signature] }) => `${head}..${signature}`],
    [
      'half a signature',
      ({ parts: [head, body, signature = ''] }) => `${head}.${body}.${signature.slice(0, signature.length / 2)}`,
    ],
    ['padding', ({ parts }) => `${parts.join('.')}==`],
    ['a signature of zeros', ({ parts: [head, body] }) => `${head}.${body}.${Buffer.alloc(256).toString('base64url')}`],
    ['alg none', ({ parts: [, body] }) => `${part({ alg: 'none', typ: 'JWT' })}.${body}.`],
    [
      'alg none with its signature',
      ({ head, parts: [, body, signature] }) => `${part({ ...head, alg: 'none' })}.${body}.${signature}`,
    ],
    ['alg nOnE', ({ head, parts: [, body] }) => `${part({ ...head, alg: 'nOnE' })}.${body}.`],
    [
      'an unknown alg',
      ({ head, parts: [, body, signature] }) => `${part({ ...head, alg: null })}.${body}.${signature}`,
    ],
    ['the public key (PEM) as a secret', ({ head, body }) => hmac({ ...head, alg: 'HS256' }, body, publicPem)],
    ['the public key (DER) as a secret', ({ head, body }) => hmac({ ...head, alg: 'HS256' }, body, publicDer)],
    ['an empty secret', ({ head, body }) => hmac({ ...head, alg: 'HS256' }, body, '')],
    ['a foreign key', ({ head, body }) => signedBy(stranger, head, body)],
    [
      'a foreign key in the header',
      ({ head, body }) =>
        signedBy(stranger, { ...head, jwk: createPublicKey(stranger).export({ format: 'jwk' }) }, body),
    ],
    [
      'a foreign key at a URL',
      ({ head, body }) =>
        signedBy(stranger, { ...head, jku: 'https://evil.example.org/keys', x5u: 'https://evil.example.org/c' }, body),
    ],
    ['a foreign key and no key id', ({ head: { kid: _kid, ...head }, body }) => signedBy(stranger, head, body)],
    [
      'a foreign key and another key id',
      ({ head, body }) => signedBy(stranger, { ...head, kid: '../../../../dev/null' }, body),
    ],
    [
      'another algorithm for the same key',
      ({ head, parts: [, body, signature] }) => `${part({ ...head, alg: 'PS256' })}.${body}.${signature}`,
    ],
    [
      'an unknown critical header',
      ({ head, parts: [, body, signature] }) => `${part({ ...head, crit: ['exp'] })}.${body}.${signature}`,
    ],
    ['claims in a list', ({ parts: [head, , signature], body }) => `${head}.${part([body])}.${signature}`],
    [
      'the issuer of Secret tokens',
      ({ head, body }) => signedBy(stranger, head, { ...body, iss: 'kubernetes/serviceaccount' }),
    ],
  ])('with %s', async (_name, make) => {
    const token = await issue();
    const parts = token.split('.');
    expect(await ask(make({ parts, head: read(parts[0]), body: read(parts[1]) }))).toBe(401);
    expect(await ask(token)).toBe(200);
  });

  test('with parts of two tokens', async () => {
    const [one, two] = [(await issue()).split('.'), (await issue()).split('.')];
    expect(await ask([one[0], two[1], one[2]].join('.'))).toBe(401);
  });

  test.each([100_000, 1_000])('made of %d dots, or of as many letters', async (size) => {
    expect([400, 401, 431]).toContain(await ask('.'.repeat(Math.min(size, 8_000))));
    expect([400, 401, 431]).toContain(await ask('a'.repeat(Math.min(size, 8_000))));
  });
});

test('a token for another audience is refused', async () => {
  expect(await ask(await issue({ audiences: ['vault'] }))).toBe(401);
  expect(await ask(await issue({ audiences: ['vault', 'https://kubernetes.default.svc'] }))).toBe(200);
});

test('a token expires', async () => {
  const token = await issue({ expirationSeconds: 600 });
  await clock.advance(600_000 + 59_000);
  expect(await ask(token)).toBe(200);
  await clock.advance(12_000);
  expect(await ask(token)).toBe(401);
});

describe('a token is revoked', () => {
  const secret = { namespace: 'default', name: 'bound' };
  const whatFor: readonly [string, () => Promise<string>, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'its account',
      () => issue(),
      () => client.resource(ServiceAccounts).delete(key),
      () => client.resource(ServiceAccounts).create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: key }),
    ],
    [
      'the Secret it is bound to',
      async () => {
        await client.resource(Secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata: secret });
        return issue({ boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'bound' } });
      },
      () => client.resource(Secrets).delete(secret),
      () => client.resource(Secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata: secret }),
    ],
    [
      'the pod it is bound to',
      async () => {
        await client.resource(Pods).create({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { ...key, name: 'pod' },
          spec: { serviceAccountName: 'sa', containers: [{ name: 'c', image: 'i' }] },
        });
        return issue({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'pod' } });
      },
      () => client.resource(Pods).delete({ ...key, name: 'pod' }),
      () =>
        client.resource(Pods).create({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { ...key, name: 'pod' },
          spec: { serviceAccountName: 'sa', containers: [{ name: 'c', image: 'i' }] },
        }),
    ],
  ];
  test.each(whatFor)('with %s, and does not come back with another of its name', async (_name, make, remove, again) => {
    const token = await make();
    expect(await ask(token)).toBe(200);
    await remove();
    await clock.advance(10_000);
    expect(await ask(token)).toBe(401);
    await again();
    expect(await ask(token)).toBe(401);
  });
});
