import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { Nodes } from '../../src/api/kinds/node.js';
import { Pods } from '../../src/api/kinds/pod.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { ObjectKey, ResourceType } from '../../src/api/object.js';
import { timestamp } from '../../src/api/time.js';
import { AuthenticationError } from '../../src/auth/authenticator.js';
import { type SignatureAlgorithm, signToken } from '../../src/auth/jws.js';
import {
  generateServiceAccountKey,
  readSigningKey,
  readVerificationKeys,
} from '../../src/auth/service-account-keys.js';
import { serviceAccountTokens } from '../../src/auth/service-account-tokens.js';
import { type IssueRequest, tokenIssuer } from '../../src/auth/token-issuer.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { expectShort } from '../processor-time.js';
import { FixedObjects } from './fixed-objects.js';

const issuer = 'https://issuer.example.com';
const signer = readSigningKey(await generateServiceAccountKey('ES256'));
const rsa = readSigningKey(await generateServiceAccountKey('RS256'));
const domains = defaultDomains;
const minute = 60_000;

let clock: FakeClock;
let objects: FixedObjects;
beforeEach(() => {
  clock = new FakeClock();
  objects = new FixedObjects()
    .put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'sa', uid: 'sa-uid' } })
    .put(Secrets, { metadata: { namespace: 'ns', name: 'bound', uid: 'secret-uid' } })
    .put(Pods, { metadata: { namespace: 'ns', name: 'bound', uid: 'pod-uid' } })
    .put(Nodes, { metadata: { name: 'bound', uid: 'node-uid' } });
});

const counted: string[] = [];
const verifier = (keys = [signer, rsa]) =>
  serviceAccountTokens({
    issuers: [issuer, 'https://older.example.com'],
    keys: () => keys,
    apiAudiences: ['api'],
    objects,
    domains,
    clock,
    metrics: {
      legacyToken: () => counted.push('legacy'),
      renewedToken: (isStale) => counted.push(isStale ? 'stale' : 'valid'),
    },
  });
const issue = (more: Partial<IssueRequest> = {}, key = signer): string =>
  tokenIssuer({ issuer, key: () => key, domains, clock, newId: () => 'id-1' }).issue({
    namespace: 'ns',
    account: { name: 'sa', uid: 'sa-uid' },
    audiences: ['api'],
    seconds: 3_600,
    ...more,
  }).token;
const verify = (token: string, audiences: readonly string[] = ['api']) =>
  verifier().authenticateToken(token, audiences);
const decoded = (token: string) =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const badSignature = 'go-jose/go-jose: error in cryptographic primitive';

test('the claims are those of Kubernetes, in alphabetical order', () => {
  const [header, payload] = decoded(
    issue({ pod: { name: 'p', uid: 'u' }, node: { name: 'n', uid: '' }, warnAfterSeconds: 10 }),
  );
  const now = clock.now() / 1_000;
  expect(header).toEqual({ alg: 'ES256', kid: signer.keyId });
  expect(JSON.stringify(payload)).toBe(
    JSON.stringify({
      aud: ['api'],
      exp: now + 3_600,
      iat: now,
      iss: issuer,
      jti: 'id-1',
      'kubernetes.io': {
        namespace: 'ns',
        node: { name: 'n' },
        pod: { name: 'p', uid: 'u' },
        serviceaccount: { name: 'sa', uid: 'sa-uid' },
        warnafter: now + 10,
      },
      nbf: now,
      sub: 'system:serviceaccount:ns:sa',
    }),
  );
});

test.each<SignatureAlgorithm>(['RS256', 'ES256', 'ES384', 'ES512'])(
  'a token signed with %s is verified',
  async (algorithm) => {
    const key = readSigningKey(await generateServiceAccountKey(algorithm));
    expect(key.algorithm).toBe(algorithm);
    expect(await verifier([key]).authenticateToken(issue({}, key), ['api'])).toMatchObject({ audiences: ['api'] });
  },
);

test('verification keys are read from PEM blocks of any kind', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = [
    publicKey.export({ type: 'spki', format: 'pem' }),
    privateKey.export({ type: 'sec1', format: 'pem' }),
    rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }),
  ].join('');
  expect(readVerificationKeys(pem).map(({ algorithm }) => algorithm)).toEqual(['ES256', 'ES256', 'RS256']);
  expect(() => readVerificationKeys('nothing')).toThrow('no PEM key found');
  const weak = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  expect(() => readSigningKey(weak)).toThrow('must be RSA or ECDSA on P-256, P-384 or P-521, not ed25519');
});

describe('an authenticated token', () => {
  test('gives the account, its groups and the credential id', async () => {
    expect((await verify(issue()))?.user).toEqual({
      username: 'system:serviceaccount:ns:sa',
      uid: 'sa-uid',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=id-1'] },
    });
  });

  test('gives pod and node if bound to a pod, nothing more if bound to a secret', async () => {
    const pod = { name: 'bound', uid: 'pod-uid' };
    const bound = await verify(issue({ pod, node: { name: 'n', uid: 'u' } }));
    expect(bound?.user.extra).toEqual({
      'authentication.kubernetes.io/credential-id': ['JTI=id-1'],
      'authentication.kubernetes.io/pod-name': ['bound'],
      'authentication.kubernetes.io/pod-uid': ['pod-uid'],
      'authentication.kubernetes.io/node-name': ['n'],
      'authentication.kubernetes.io/node-uid': ['u'],
    });
    const secret = await verify(issue({ secret: { name: 'bound', uid: 'secret-uid' } }));
    expect(Object.keys(secret?.user.extra ?? {})).toHaveLength(1);
  });
});

describe('audiences', () => {
  test('are compared quickly even if there are very many', async () => {
    const audiences = (prefix: string): readonly string[] =>
      Array.from({ length: 40_000 }, (_, at) => `${prefix}-${'x'.repeat(14)}${at}`);
    const token = issue({ audiences: audiences('a') });
    const wanted = audiences('b');
    await expectShort(2_000, () =>
      expect(verify(token, wanted)).rejects.toThrow('is invalid for the target audiences'),
    );
  });

  test.each([
    [['a', 'b'], ['b'], ['b']],
    [
      ['a', 'b'],
      ['b', 'a'],
      ['b', 'a'],
    ],
    [['a', 'b'], ['c', 'a', 'd'], ['a']],
    [['a'], ['a', 'a'], ['a', 'a']],
  ])('of a token %j requested as %j give %j', async (own, wanted, common) => {
    expect((await verify(issue({ audiences: own }), wanted))?.audiences).toEqual(common);
  });

  test('of a token that match none of the requested ones are refused', async () => {
    await expect(verify(issue({ audiences: ['a', 'b'] }), ['d', 'c'])).rejects.toThrow(
      'token audiences ["a" "b"] is invalid for the target audiences ["d" "c"]',
    );
  });

  test('may be a single string', async () => {
    const [, payload] = decoded(issue());
    expect(await verify(signToken({ ...payload, aud: 'api' }, signer))).toMatchObject({
      audiences: ['api'],
      annotations: {},
    });
  });

  test('of a token without any are those of the API server', async () => {
    const found = await verify(issue({ audiences: [] }), ['api', 'x']);
    expect(found?.audiences).toEqual(['api']);
    expect(found?.annotations).toEqual({ 'authentication.k8s.io/legacy-token': 'system:serviceaccount:ns:sa' });
  });
});

describe('times', () => {
  test('a token is accepted for a minute after its expiry, but no longer', async () => {
    const token = issue({ seconds: 600 });
    await clock.advance(11 * minute);
    expect(await verify(token)).toBeDefined();
    await clock.advance(1_000);
    await expect(verify(token)).rejects.toThrow('service account token has expired');
  });

  test.each([
    [{ nbf: 61 }, 'service account token is not valid yet'],
    [{ nbf: 0, iat: 61 }, 'service account token is issued in the future'],
    [{ nbf: 61, exp: -61 }, 'service account token is not valid yet'],
  ])('a token with the time offsets %j is refused: %s', async (offsets, message) => {
    const now = clock.now() / 1_000;
    const [, payload] = decoded(issue());
    const times = Object.fromEntries(Object.entries(offsets).map(([name, offset]) => [name, now + offset]));
    await expect(verify(signToken({ ...payload, ...times }, signer))).rejects.toThrow(message);
  });

  test('a token used after its warning threshold is accepted and annotated', async () => {
    const token = issue({ seconds: 86_400, warnAfterSeconds: 3_607 });
    await clock.advance(3_610_000);
    expect((await verify(token))?.annotations).toEqual({
      'authentication.k8s.io/stale-token': 'subject: system:serviceaccount:ns:sa, seconds after warning threshold: 3',
    });
  });

  test('valid and stale tokens are counted by the warning threshold, and legacy ones without audiences', async () => {
    const token = issue({ seconds: 86_400, warnAfterSeconds: 3_607 });
    counted.length = 0;
    await verify(token);
    await verify(issue());
    await verify(issue({ audiences: [] }));
    await clock.advance(3_610_000);
    await verify(token);
    objects.remove(ServiceAccounts, { namespace: 'ns', name: 'sa' });
    await verify(token).catch(() => {});
    expect(counted).toEqual(['valid', 'legacy', 'stale']);
  });
});

describe('forged or malformed tokens', () => {
  const [header, payload] = decoded(
    tokenIssuer({ issuer, key: () => signer, domains, clock: new FakeClock() }).issue({
      namespace: 'ns',
      account: { name: 'sa', uid: 'sa-uid' },
      audiences: ['api'],
      seconds: 3_600,
    }).token,
  );
  const signature = (token: string): string => token.split('.')[2] ?? '';
  const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
  const hmac = (head: object, key: string | Buffer): string => {
    const signed = `${encoded(head)}.${encoded(payload)}`;
    return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
  };
  const signedAs = (head: object): string => {
    const signed = `${encoded(head)}.${encoded(payload)}`;
    const key = { key: signer.privateKey, dsaEncoding: 'ieee-p1363' as const };
    return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
  };
  const other = readSigningKey(
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  );

  const twice = Buffer.from(JSON.stringify(header).replace('{', '{"alg":"ES256",')).toString('base64url');
  const tooDeep = Buffer.from(`{"alg":"ES256","x":${'['.repeat(1_000)}${']'.repeat(1_000)}}`).toString('base64url');
  const rsaKey = { kty: 'RSA', n: 'AQAB', e: 'AQAB' };
  const unreadable = [
    ...[5, 'x', [], {}, { kty: 5 }, { kty: 'oct', k: 'AA' }, { ...rsaKey, e: '!' }, { ...rsaKey, d: 'AQAB' }],
    ...[
      { ...rsaKey, use: 5 },
      { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
      { kty: 'EC', crv: 'P-1' },
    ],
  ].map((jwk): object => ({ jwk }));
  unreadable.push({ nonce: 5 }, { x5c: 5 }, { x5c: ['!'] });
  const readable = [
    { jwk: null },
    { jwk: rsaKey },
    { jwk: { kty: 'OKP', crv: 'Ed25519', x: 'AA' } },
    { x5c: [] },
    { typ: 5 },
  ];

  test.each<[string, string, string | undefined]>([
    ['alg none', `${encoded({ alg: 'none' })}.${encoded(payload)}.`, badSignature],
    ...['none', 'HS256', 'ES384'].map((alg): [string, string, string] => [
      `${alg} in the header with a correct signature`,
      signedAs({ alg, kid: signer.keyId }),
      badSignature,
    ]),
    [
      'alg none with the right key id',
      `${encoded({ alg: 'none', kid: signer.keyId })}.${encoded(payload)}.`,
      badSignature,
    ],
    ['the RSA public key as a shared secret', hmac({ alg: 'HS256', kid: rsa.keyId }, publicPem), badSignature],
    ['the public key as a shared secret without a key id', hmac({ alg: 'HS256' }, publicPem), badSignature],
    [
      'the algorithm of another key',
      `${encoded({ alg: 'RS256', kid: signer.keyId })}.${encoded(payload)}.${signature(issueNow())}`,
      badSignature,
    ],
    ['an unknown key', signToken(payload, other), 'invalid signature, no keys found'],
    ['an unknown key under a known key id', signToken(payload, { ...other, keyId: signer.keyId }), badSignature],
    ['a key in its own header', forgedWithOwnKey(), badSignature],
    [
      'a critical extension',
      `${encoded({ ...header, crit: ['b64'], b64: false })}.${encoded(payload)}.${signature(issueNow())}`,
      badSignature,
    ],
    [
      'changed claims',
      `${encoded(header)}.${encoded({ ...payload, sub: 'system:serviceaccount:kube-system:admin' })}.${signature(issueNow())}`,
      badSignature,
    ],
    ['a longer signature', `${issueNow()}AAAA`, badSignature],
    ['a padded signature', `${issueNow()}==`, undefined],
    ['no signature', `${encoded(header)}.${encoded(payload)}.`, badSignature],
    ['a fourth part', `${issueNow()}.x`, undefined],
    ['only two parts', `${encoded(header)}.${encoded(payload)}`, undefined],
    ['a letter in front', `x${issueNow()}`, undefined],
    ['a space within the payload', issueNow().replace('.', '. '), undefined],
    ['an empty header', `${encoded({})}.${encoded(payload)}.${signature(issueNow())}`, badSignature],
    [
      'a header of nulls',
      `${encoded({ alg: null, kid: null })}.${encoded(payload)}.${signature(issueNow())}`,
      badSignature,
    ],
    ['a number as alg', `${encoded({ alg: 5 })}.${encoded(payload)}.${signature(issueNow())}`, undefined],
    ['a header that is nested too deeply', `${tooDeep}.${encoded(payload)}.${signature(issueNow())}`, undefined],
    ['a repeated alg', `${twice}.${encoded(payload)}.${signature(issueNow())}`, undefined],
    ...unreadable.map((more): [string, string, undefined] => [
      `in the header ${JSON.stringify(more)}`,
      `${encoded({ ...header, ...more })}.${encoded(payload)}.${signature(issueNow())}`,
      undefined,
    ]),
    ...readable.map((more): [string, string, string] => [
      `in the header ${JSON.stringify(more)}`,
      `${encoded({ ...header, ...more })}.${encoded(payload)}.${signature(issueNow())}`,
      badSignature,
    ]),
    ['an unknown issuer', signToken({ ...payload, iss: 'https://evil.example.com' }, signer), undefined],
    ['an issuer that is not a string', signToken({ ...payload, iss: [issuer] }, signer), undefined],
    ['no structure', 'opaque', undefined],
    ['no characters', '', undefined],
    ['only dots', '..', undefined],
    ['the JSON serialization', JSON.stringify({ payload: encoded(payload), signatures: [] }), undefined],
  ])('are not accepted: %s', async (_name, token, message) => {
    const answer = verify(token);
    if (message === undefined) expect(await answer).toBeUndefined();
    else await expect(answer).rejects.toThrow(new AuthenticationError(message));
  });

  const noNumber = 'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate';
  const noAudience = 'go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience';
  const noRef = 'of type serviceaccount.ref';
  const own = payload['kubernetes.io'] as Readonly<Record<string, unknown>>;
  test.each<[object, string]>([
    ...['5', true, [], {}].map((exp): [object, string] => [{ exp }, noNumber]),
    [{ exp: 1e19 }, 'service account token has expired'],
    [{ aud: 'foreign' }, 'token audiences ["foreign"] is invalid for the target audiences ["api"]'],
    [{ nbf: 'x' }, noNumber],
    [{ iat: {} }, noNumber],
    ...[null, 5, {}, [5], [null], [null, 'api']].map((aud): [object, string] => [{ aud }, noAudience]),
    [{ 'kubernetes.io': { ...own, pod: 5 } }, noRef],
    [{ 'kubernetes.io': { ...own, secret: [] } }, noRef],
    [{ 'kubernetes.io': { ...own, warnafter: 'x' } }, noNumber],
    [{ 'kubernetes.io': 5 }, 'json: cannot unmarshal number'],
    [{ sub: 5 }, 'json: cannot unmarshal number'],
    [{ jti: 5 }, 'json: cannot unmarshal number'],
  ])('a correctly signed token with the claims %j is refused', async (changes, message) => {
    await expect(verify(signToken({ ...payload, ...changes }, signer))).rejects.toThrow(message);
  });

  test('a correctly signed token with a repeated claim is refused', async () => {
    const twice = JSON.stringify(payload).replace('{', '{"aud":["foreign"],');
    const signed = `${encoded(header)}.${Buffer.from(twice).toString('base64url')}`;
    const key = { key: signer.privateKey, dsaEncoding: 'ieee-p1363' as const };
    const token = `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
    await expect(verify(token)).rejects.toThrow("json: duplicate key 'aud' in object");
  });

  function issueNow(): string {
    return signToken(payload, signer);
  }
  function forgedWithOwnKey(): string {
    const token = signToken(payload, { ...other, keyId: signer.keyId });
    const head = { ...decoded(token)[0], jwk: other.publicKey.export({ format: 'jwk' }) };
    return `${encoded(head)}.${token.split('.').slice(1).join('.')}`;
  }

  test.each([
    ['in front', (token: string) => `\t${token}`],
    ['at the end', (token: string) => `${token}\n\u2003`],
    ['around the dots', (token: string) => token.replaceAll('.', '\n.\n')],
  ])('white space %s of a token is ignored', async (_where, spaced) => {
    expect(await verify(spaced(issueNow()))).toBeDefined();
  });

  test('no mutation of a token is accepted or causes any other error', async () => {
    const token = issue();
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.integer({ min: 0, max: 127 }), async (at, code) => {
        const mutated = token.slice(0, at) + String.fromCharCode(code) + token.slice(at + 1);
        // The last character of the signature contains two bits that decoders ignore.
        if (mutated === token || at === token.length - 1) return;
        const found = await verify(mutated).catch((error: unknown) => {
          expect(error).toBeInstanceOf(AuthenticationError);
        });
        expect(found).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  test('a huge invalid token is refused quickly', async () => {
    const huge = `${encoded({ alg: 'ES256' })}.${encoded({ iss: issuer, x: '['.repeat(100_000) })}.${randomBytes(500_000).toString('base64url')}`;
    await expectShort(5_000, async () => {
      await expect(verify(huge)).rejects.toThrow(badSignature);
      expect(await verify('.'.repeat(1_000_000))).toBeUndefined();
    });
  });
});

test('a token without a key id is tried with every key', async () => {
  const [, payload] = decoded(issue());
  const signed = signToken(payload, { ...rsa, keyId: '' });
  expect(await verify(signed)).toBeDefined();
});

describe('a token depends on its account', () => {
  const gone = (milliseconds: number) => ({ deletionTimestamp: timestamp(clock.now() - milliseconds) });

  test.each([
    [
      'which must exist',
      () => objects.remove(ServiceAccounts, { namespace: 'ns', name: 'sa' }),
      'serviceaccounts "sa" not found',
    ],
    [
      'which must not have been recreated',
      () => objects.put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'sa', uid: 'new' } }),
      'service account UID (new) does not match claim (sa-uid)',
    ],
    [
      'which must not have been deleted long ago',
      () => objects.put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'sa', uid: 'sa-uid', ...gone(61_000) } }),
      'service account ns/sa has been deleted',
    ],
    [
      'which may have been deleted just now',
      () => objects.put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'sa', uid: 'sa-uid', ...gone(60_000) } }),
      undefined,
    ],
  ])('%s', async (_name, change, message) => {
    const token = issue();
    change();
    if (message === undefined) expect(await verify(token)).toBeDefined();
    else await expect(verify(token)).rejects.toThrow(message);
  });

  test.each<[string, ResourceType, ObjectKey]>([
    ['secret', Secrets, { namespace: 'ns', name: 'bound' }],
    ['pod', Pods, { namespace: 'ns', name: 'bound' }],
    ['node', Nodes, { name: 'bound' }],
  ])('a bound %s must exist with the same uid and not have been deleted long ago', async (word, type, key) => {
    const token = issue({ [word]: { name: 'bound', uid: `${word}-uid` } });
    expect(await verify(token)).toBeDefined();
    objects.put(type, {
      metadata: {
        name: key.name,
        ...(key.namespace ? { namespace: key.namespace } : {}),
        uid: `${word}-uid`,
        ...gone(61_000),
      },
    });
    await expect(verify(token)).rejects.toThrow('service account token has been invalidated');
    objects.put(type, {
      metadata: { name: key.name, ...(key.namespace ? { namespace: key.namespace } : {}), uid: 'new' },
    });
    await expect(verify(token)).rejects.toThrow(
      `${word} UID (new) does not match service account ${word} ref claim (${word}-uid)`,
    );
    objects.remove(type, key);
    await expect(verify(token)).rejects.toThrow('service account token has been invalidated');
  });

  test('of a bound pod and node only the pod must exist', async () => {
    const token = issue({ pod: { name: 'bound', uid: 'pod-uid' }, node: { name: 'elsewhere', uid: 'x' } });
    expect(await verify(token)).toBeDefined();
  });
});
