import { constants, createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import { runSync } from '../../../src/api/steps.js';
import { AuthenticationError } from '../../../src/auth/authenticator.js';
import { Expressions } from '../../../src/auth/jwt/expressions.js';
import type { JwtIssuer } from '../../../src/auth/jwt/jwt-issuer.js';
import { jwtTokens } from '../../../src/auth/jwt/jwt-tokens.js';
import { silentLogger } from '../../../src/runtime/logger.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { IssuerServer, issuerUrl, jwtIssuer, testKey, testToken } from './issuer.js';

const key = testKey('ES256');
const rsa = testKey('RS256');
const start = Date.UTC(2026, 0, 1);
const now = start / 1_000;
const claims = { iss: issuerUrl, sub: 'alice', aud: 'kedge', exp: now + 300, iat: now };

let clock: FakeClock;
let server: IssuerServer;
beforeEach(() => {
  clock = new FakeClock(start);
  server = new IssuerServer([key, rsa]);
});
const partsFor = (jwt: JwtIssuer) => ({
  expressions: runSync(Expressions.of([jwt])),
  domains: defaultDomains,
  log: silentLogger,
  fetch: server.fetch,
});
const open = (jwt: JwtIssuer = jwtIssuer()) => jwtTokens(jwt, { ...partsFor(jwt), clock });
const ask = (token: string, jwt?: JwtIssuer) => open(jwt).authenticateToken(token, ['api']);

describe('valid tokens', () => {
  test('authenticate a user by the claim mappings', async () => {
    const token = testToken({ ...claims, groups: ['dev', 'ops'], uid: 'u-1', jti: 'j' }, key);
    expect(await ask(token)).toEqual({
      user: {
        username: 'login:alice',
        uid: 'u-1',
        groups: ['login:dev', 'login:ops'],
        extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j'] },
      },
    });
  });

  test.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'])(
    'are accepted if signed by an RSA key with %s',
    async (alg) => {
      expect((await ask(testToken({ ...claims, uid: 'u' }, rsa, { alg })))?.user.username).toBe('login:alice');
    },
  );

  test('are accepted with a salt of any length', async () => {
    const token = testToken({ ...claims, uid: 'u' }, rsa, { alg: 'PS256' }, constants.RSA_PSS_SALTLEN_MAX_SIGN);
    expect(await ask(token)).toBeDefined();
  });

  test.each(['ES256', 'ES384', 'ES512'])('are accepted if signed by an EC key with %s', async (alg) => {
    const own = testKey(alg);
    server.keys = [own.jwk];
    expect((await ask(testToken({ ...claims, uid: 'u' }, own, { alg })))?.user.username).toBe('login:alice');
  });

  test.each<[string, object, readonly string[]]>([
    ['a single group as a string', { groups: 'dev' }, ['login:dev']],
    ['no groups', {}, []],
    ['null as groups', { groups: null }, []],
  ])('may have %s', async (_name, more, groups) => {
    expect((await ask(testToken({ ...claims, uid: 'u', ...more }, key)))?.user.groups).toEqual(groups);
  });

  test.each([
    { exp: String(now + 300), nbf: String(now) },
    { exp: `${(now + 300) / 1_000}e3`, nbf: null },
  ])('may have times as numbers or numeric strings: %j', async (times) => {
    expect(await ask(testToken({ ...claims, uid: 'u', ...times }, key))).toBeDefined();
  });

  test('need only one of several audiences', async () => {
    const jwt = jwtIssuer({ audiences: ['a', 'kedge'] });
    expect(await ask(testToken({ ...claims, uid: 'u', aud: ['x', 'kedge'] }, key), jwt)).toBeDefined();
  });
});

test.each([
  ['https://accounts.google.com', 'accounts.google.com', true],
  ['https://accounts.google.com', 'https://accounts.google.com', true],
  [issuerUrl, 'login.example.org', false],
  [issuerUrl, 'accounts.google.com', false],
])('the issuer %s accepts a token of %s: %s', async (url, iss, isFrom) => {
  server.issuer = url;
  const jwt = jwtIssuer({ issuer: { url, audiences: ['kedge'], audienceMatchPolicy: 'MatchAny' } });
  expect((await ask(testToken({ ...claims, iss, uid: 'u' }, key), jwt)) !== undefined).toBe(isFrom);
});

const verify = 'oidc: verify token: ';
const unsigned = `${verify}failed to verify signature: failed to verify id token signature`;
const [head = '', body = '', signature = ''] = testToken({ ...claims, uid: 'u' }, key).split('.');
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const unsupported = (alg: string): string =>
  `${verify}oidc: id token signed with unsupported algorithm, expected ["ES256" "ES384" "ES512" "PS256" "PS384" "PS512" "RS256" "RS384" "RS512"] got "${alg}"`;

const field = (name: string): string => `into Go struct field idToken.${name} of type`;

test.each<[object, string]>([
  [{ aud: ['kedge', 5] }, `json: cannot unmarshal number ${field('aud')} string`],
  [{ aud: { kedge: true } }, `json: cannot unmarshal object ${field('aud')} []string`],
  [{ sub: ['alice'] }, `json: cannot unmarshal array ${field('sub')} string`],
  [{ nonce: 5 }, `json: cannot unmarshal number ${field('nonce')} string`],
  [{ at_hash: true }, `json: cannot unmarshal bool ${field('at_hash')} string`],
  [{ exp: [] }, `json: cannot unmarshal array ${field('exp')} json.Number`],
  [{ iat: null }, 'strconv.ParseFloat: parsing "": invalid syntax'],
  [{ iat: 'x' }, 'json: invalid number literal, trying to unmarshal "\\"x\\"" into Number'],
  [{ nbf: ' 5' }, 'json: invalid number literal, trying to unmarshal "\\" 5\\"" into Number'],
])('claims of the wrong type make a token invalid, used or not: %j', async (wrong, why) => {
  await expect(ask(testToken({ ...claims, uid: 'u', ...wrong }, key))).rejects.toThrow(
    new AuthenticationError(`${verify}oidc: failed to unmarshal claims: ${why}`),
  );
});

test.each([{ aud: ['kedge', null] }, { nonce: null }, { nbf: null }, { at_hash: 'x', iat: now + 0.5 }])(
  'claims may be null: %j',
  async (more) => {
    expect(await ask(testToken({ ...claims, uid: 'u', ...more }, key))).toBeDefined();
  },
);

describe('invalid tokens', () => {
  const stranger = testKey('ES256', key.kid);
  test.each<[string, string, string]>([
    ['signed with another key', testToken({ ...claims, uid: 'u' }, stranger), unsigned],
    ['with an unknown key id', testToken({ ...claims, uid: 'u' }, { ...key, kid: 'other' }), unsigned],
    ['without a signature', `${head}.${body}.`, unsigned],
    ['with a shortened signature', `${head}.${body}.${signature.slice(0, -8)}`, unsigned],
    ['with changed claims', `${head}.${part({ ...claims, sub: 'root', uid: 'u' })}.${signature}`, unsigned],
    ['with alg none', `${part({ alg: 'none' })}.${body}.`, unsupported('none')],
    ['with alg NONE', `${part({ alg: 'NONE', kid: key.kid })}.${body}.`, unsupported('NONE')],
    [
      'signed with the public key as a shared secret',
      (() => {
        const signed = `${part({ alg: 'HS256', kid: rsa.kid })}.${body}`;
        return `${signed}.${createHmac('sha256', JSON.stringify(rsa.jwk)).update(signed).digest('base64url')}`;
      })(),
      unsupported('HS256'),
    ],
    [
      'signed with an RSA key under the id of an EC key',
      testToken({ ...claims, uid: 'u' }, { ...rsa, kid: key.kid }, { alg: 'RS256' }),
      unsigned,
    ],
    ['that require an extension', testToken({ ...claims, uid: 'u' }, key, { crit: ['x'], x: 1 }), unsigned],
    [
      'that are expired',
      testToken({ ...claims, exp: now - 1 }, key),
      `${verify}oidc: token is expired (Token Expiry: 2025-12-31 23:59:59 +0000 UTC)`,
    ],
    [
      'without an expiry',
      testToken({ ...claims, exp: undefined }, key),
      `${verify}oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)`,
    ],
    [
      'with an expiry that is not a number',
      testToken({ ...claims, exp: '1e400' }, key),
      `${verify}oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)`,
    ],
    [
      'with a lifetime that no int64 holds',
      testToken({ ...claims, exp: 1e300 }, key),
      `${verify}oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)`,
    ],
    [
      'that are not yet valid',
      testToken({ ...claims, nbf: now + 61 }, key),
      `${verify}oidc: current time 2026-01-01 00:00:00 +0000 UTC before the nbf (not before) time: 2026-01-01 00:01:01 +0000 UTC`,
    ],
    [
      'for other audiences',
      testToken({ ...claims, aud: ['x', 'y'] }, key),
      `${verify}oidc: expected audience "kedge" got ["x" "y"]`,
    ],
    [
      'without an audience',
      testToken({ ...claims, aud: undefined }, key),
      `${verify}oidc: expected audience "kedge" got []`,
    ],
    [
      'without a username',
      testToken({ ...claims, sub: undefined }, key),
      'oidc: parse username claims "sub": claim not present',
    ],
    [
      'with an empty username',
      testToken({ ...claims, sub: '' }, key),
      'oidc: parse username claims "sub": claim is empty',
    ],
    [
      'with a uid that is not a string',
      testToken({ ...claims, uid: 1 }, key),
      'oidc: parse uid claim "uid": json: cannot unmarshal number into Go value of type string',
    ],
    [
      'with groups that are not strings',
      testToken({ ...claims, groups: [1] }, key),
      'oidc: parse groups claim "groups": json: cannot unmarshal array into Go value of type string',
    ],
    ['without a uid', testToken(claims, key), 'oidc: parse uid claim "uid": claim not present'],
  ])('%s are refused', async (_name, token, message) => {
    await expect(ask(token)).rejects.toThrow(new AuthenticationError(message));
  });

  test('for an audience outside several accepted ones are refused', async () => {
    const jwt = jwtIssuer({ audiences: ['b', 'a'] });
    await expect(ask(testToken({ ...claims, aud: 'c' }, key), jwt)).rejects.toThrow(
      new AuthenticationError(`${verify}oidc: expected audience in ["a" "b"] got ["c"]`),
    );
  });

  test.each([
    ['without structure', 'opaque'],
    ['of another issuer', testToken({ ...claims, iss: 'https://other.example.org' }, key)],
    ['of an issuer that differs by a slash', testToken({ ...claims, iss: `${issuerUrl}/` }, key)],
    ['with an issuer that is not a string', testToken({ ...claims, iss: [issuerUrl] }, key)],
    ['with four parts', `${head}.${body}.${signature}.x`],
    ['without JSON claims', `${head}.${Buffer.from('{').toString('base64url')}.${signature}`],
  ])('%s are left to other authenticators', async (_name, token) => {
    expect(await ask(token)).toBeUndefined();
    expect(server.asked).toEqual([]);
  });
});

describe('claim validation rules', () => {
  const jwt = jwtIssuer({ claimValidationRules: [{ claim: 'hd', requiredValue: 'example.org' }] });
  test.each<[string, object, string | undefined]>([
    ['accept the required value', { hd: 'example.org' }, undefined],
    [
      'refuse another value',
      { hd: 'example.com' },
      'oidc: required claim hd value does not match. Got = example.com, want = example.org',
    ],
    ['refuse a missing claim', {}, 'oidc: required claim hd not present in ID token'],
    [
      'refuse a claim of another type',
      { hd: true },
      'oidc: parse claim hd: json: cannot unmarshal bool into Go value of type string',
    ],
    ['ignore inherited properties of objects', { hd: 'example.org', constructor: 'x' }, undefined],
  ])('%s', async (_name, more, message) => {
    const answer = ask(testToken({ ...claims, uid: 'u', ...more }, key), jwt);
    if (message === undefined) expect(await answer).toBeDefined();
    else await expect(answer).rejects.toThrow(new AuthenticationError(message));
  });
});

describe('CEL expressions', () => {
  const more = {
    'a.b': 'dot',
    groups: ['dev', '', 'ops'],
    roles: 'a,b',
    n: 3,
    nested: { 'c-d': ['x', { 'e/f': 'y' }], toString: 'own' },
    none: null,
    namespace: 'ns',
    empty: '',
    mixed: ['a', 1],
  };
  const map = (claimMappings: Partial<JwtIssuer['claimMappings']>, rules: Partial<JwtIssuer> = {}) =>
    ask(
      testToken({ ...claims, ...more }, key),
      jwtIssuer({ claimMappings: { username: { expression: '"u"' }, ...claimMappings }, ...rules }),
    );

  test.each<[string, string]>([
    ['claims.sub', 'alice'],
    ['claims.a__dot__b', 'dot'],
    ['claims["a.b"]', 'dot'],
    ['claims.__namespace__', 'ns'],
    ['claims.nested.c__dash__d[1].e__slash__f', 'y'],
    ['claims.nested["c__dash__d"][0]', 'x'],
    ['claims.nested.toString', 'own'],
    ['has(claims.constructor) ? "is" : "is not"', 'is not'],
    ['claims.?other.orValue("default")', 'default'],
    ['string(claims.n) + (type(claims.n) == double ? " double" : "")', '3 double'],
    ['claims.none == null ? "null" : ""', 'null'],
    ['claims.roles.split(",")[1]', 'b'],
  ])('may map the username: %s', async (expression, username) => {
    expect((await map({ username: { expression } }))?.user).toEqual({
      username,
      groups: [],
    });
  });

  test.each<[string, readonly string[]]>([
    ['claims.groups', ['dev', 'ops']],
    ['claims.roles', ['a,b']],
    ['claims.empty', []],
    ['claims.none', []],
    ['[]', []],
    ['claims.roles.split(",").map(role, "x:" + role)', ['x:a', 'x:b']],
    ['dyn(claims.groups).filter(group, group != "dev") + ["own"]', ['ops', 'own']],
  ])('may map the groups: %s', async (expression, groups) => {
    expect((await map({ groups: { expression } }))?.user.groups).toEqual(groups);
  });

  test('may map uid and extra, and empty values are omitted', async () => {
    const extra = [
      { key: 'a.io/roles', valueExpression: 'claims.roles' },
      { key: 'a.io/groups', valueExpression: 'claims.groups' },
      { key: 'a.io/empty', valueExpression: 'claims.empty' },
    ];
    expect((await map({ uid: { expression: 'claims.sub' }, extra }))?.user).toEqual({
      username: 'u',
      uid: 'alice',
      groups: [],
      extra: { 'a.io/roles': ['a,b'], 'a.io/groups': ['dev', 'ops'] },
    });
    expect((await map({ uid: { expression: 'claims.empty' } }))?.user).toEqual({ username: 'u', groups: [] });
  });

  const wrongList = 'expression must return a string or a list of strings';
  test.each<[Partial<JwtIssuer['claimMappings']>, string]>([
    [
      { username: { expression: 'claims.x' } },
      "oidc: error evaluating username claim expression: expression 'claims.x' resulted in error: no such key: x",
    ],
    [
      { username: { expression: 'claims.n' } },
      'oidc: error evaluating username claim expression: username claim expression must return a string',
    ],
    [{ username: { expression: 'claims.empty' } }, 'oidc: empty username via CEL expression is not allowed'],
    [{ groups: { expression: 'claims.mixed' } }, `oidc: error evaluating group claim expression: ${wrongList}`],
    [{ groups: { expression: 'claims.nested' } }, `oidc: error evaluating group claim expression: ${wrongList}`],
    [
      { uid: { expression: 'claims.n' } },
      'oidc: error evaluating uid claim expression: uid claim expression must return a string',
    ],
    [
      { extra: [{ key: 'a.io/b', valueExpression: 'claims.n' }] },
      `oidc: error evaluating extra claim expression: claims.n: ${wrongList}`,
    ],
    [
      { extra: [{ key: 'a.io/b', valueExpression: 'claims.x' }] },
      "expression 'claims.x' resulted in error: no such key: x",
    ],
  ])('that fail or return a wrong type are refused: %j', async (mappings, message) => {
    await expect(map(mappings)).rejects.toThrow(new AuthenticationError(message));
  });

  const judging = 'oidc: error evaluating claim validation expression: ';
  test.each<[NonNullable<JwtIssuer['claimValidationRules']>, string | undefined]>([
    [[{ expression: 'claims.sub == "alice"' }, { expression: 'claims.n > 2', message: 'm' }], undefined],
    [
      [{ expression: 'claims.sub == "bob"', message: 'not bob' }],
      `${judging}validation expression 'claims.sub == "bob"' failed: not bob`,
    ],
    [[{ expression: 'false' }], `${judging}validation expression 'false' failed: `],
    [
      [{ expression: 'false' }, { expression: 'claims.x == 1' }],
      `${judging}expression 'claims.x == 1' resulted in error: no such key: x`,
    ],
    [
      [{ expression: 'false' }, { claim: 'roles', requiredValue: 'c' }],
      'oidc: required claim roles value does not match. Got = a,b, want = c',
    ],
  ])('may validate claims: %j', async (claimValidationRules, message) => {
    const answer = map({}, { claimValidationRules });
    if (message === undefined) expect(await answer).toBeDefined();
    else await expect(answer).rejects.toThrow(new AuthenticationError(message));
  });

  const about = 'oidc: error evaluating user info validation rule: ';
  test.each<[string, string | undefined]>([
    ['user.username == "u" && user.uid == "" && user.groups == ["dev", "ops"]', undefined],
    ['user.extra["a.io/b"][0] == "a,b" && user.extra.a__dot__io__slash__b == ["a,b"]', undefined],
    [
      '!user.username.startsWith("u")',
      `${about}validation expression '!user.username.startsWith("u")' failed: reserved`,
    ],
    ['user.groups[5] == "x"', `${about}expression 'user.groups[5] == "x"' resulted in error: index out of bounds: 5`],
  ])('may validate the user: %s', async (expression, message) => {
    const extra = [{ key: 'a.io/b', valueExpression: 'claims.roles' }];
    const rules = { userValidationRules: [{ expression, message: 'reserved' }] };
    const answer = map({ groups: { expression: 'claims.groups' }, extra }, rules);
    if (message === undefined) expect(await answer).toBeDefined();
    else await expect(answer).rejects.toThrow(new AuthenticationError(message));
  });

  test('are stopped at the cost limit', async () => {
    const all = Array.from({ length: 8 }, (_, at) => `dyn(claims.groups).all(x${at}, `);
    const expression = `${all.join('')}[1,2,3,4,5,6,7,8,9].all(y, "${'a'.repeat(5_000)}".contains(string(y)) || true)${')'.repeat(all.length)}`;
    await expect(map({}, { claimValidationRules: [{ expression }] })).rejects.toThrow(
      /operation cancelled: actual cost limit exceeded$/,
    );
  });
});

describe('an email as username', () => {
  const jwt = jwtIssuer({ claimMappings: { username: { claim: 'email', prefix: '' } } });
  test.each<[unknown, string | undefined]>([
    [undefined, undefined],
    [true, undefined],
    [false, 'oidc: email not verified'],
    [null, 'oidc: email not verified'],
    ['true', "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type bool"],
  ])('is accepted unless it is unverified: email_verified %j', async (verified, message) => {
    const answer = ask(testToken({ ...claims, email: 'a@example.org', email_verified: verified }, key), jwt);
    if (message === undefined) expect((await answer)?.user.username).toBe('a@example.org');
    else await expect(answer).rejects.toThrow(new AuthenticationError(message));
  });
});

test('a username claim named like an inherited property is not present', async () => {
  const jwt = jwtIssuer({ claimMappings: { username: { claim: 'toString', prefix: '' } } });
  await expect(ask(testToken(claims, key), jwt)).rejects.toThrow('claim not present');
});

describe('keys', () => {
  const good = testToken({ ...claims, uid: 'u' }, key);

  test('are fetched once', async () => {
    const tokens = open();
    await Promise.all([good, good, good].map((token) => tokens.authenticateToken(token, [])));
    expect(server.asked).toEqual([`${issuerUrl}/.well-known/openid-configuration`, `${issuerUrl}/keys`]);
  });

  test('that are new are fetched', async () => {
    const tokens = open();
    await tokens.authenticateToken(good, []);
    const next = testKey('ES256', 'next');
    server.keys = [next.jwk];
    const token = testToken({ ...claims, uid: 'u' }, next);
    await expect(tokens.authenticateToken(token, [])).rejects.toThrow('failed to verify');
    await clock.advance(10_000);
    expect(await tokens.authenticateToken(token, [])).toBeDefined();
    // The old key is no longer accepted.
    await expect(tokens.authenticateToken(good, [])).rejects.toThrow('failed to verify');
  });

  test('that are new under an old id are fetched', async () => {
    const tokens = open();
    await tokens.authenticateToken(good, []);
    const next = testKey('ES256', key.kid);
    server.keys = [next.jwk];
    await clock.advance(10_000);
    expect(await tokens.authenticateToken(testToken({ ...claims, uid: 'u' }, next), [])).toBeDefined();
  });

  test('that are withdrawn are accepted for an hour at most', async () => {
    const tokens = open();
    const token = testToken({ ...claims, uid: 'u', exp: now + 100_000 }, key);
    await tokens.authenticateToken(token, []);
    server.keys = [];
    await clock.advance(3_600_000);
    expect(await tokens.authenticateToken(token, [])).toBeDefined();
    await clock.advance(1);
    await expect(tokens.authenticateToken(token, [])).rejects.toThrow('failed to verify');
  });

  test('expire by elapsed time, even if the clock is set back', async () => {
    const back = new FakeClock();
    const tokens = jwtTokens(jwtIssuer(), { ...partsFor(jwtIssuer()), clock: back });
    const withdrawn = testToken({ ...claims, uid: 'u', exp: now + 100_000 }, key);
    await tokens.authenticateToken(withdrawn, []);
    back.set(back.now() - 86_400_000);
    const next = testKey('ES256', 'next');
    server.keys = [next.jwk];
    await back.advance(10_000);
    expect(await tokens.authenticateToken(testToken({ ...claims, uid: 'u' }, next), [])).toBeDefined();
    server.keys = [];
    await back.advance(3_600_001);
    await expect(tokens.authenticateToken(testToken({ ...claims, uid: 'u' }, next), [])).rejects.toThrow(
      'failed to verify',
    );
  });

  test('are not fetched again for each unknown key id', async () => {
    const tokens = open();
    for (let i = 0; i < 20; i++) {
      const token = testToken({ ...claims, uid: 'u' }, { ...key, kid: `made-up-${i}` });
      await tokens.authenticateToken(token, []).catch(() => {});
    }
    expect(server.asked).toHaveLength(2);
  });

  test('are required before the first token, and stay valid while the issuer is down', async () => {
    server.down = true;
    const tokens = open();
    await expect(tokens.authenticateToken(good, [])).rejects.toThrow('oidc: authenticator not initialized');
    server.down = false;
    await clock.advance(10_000);
    expect(await tokens.authenticateToken(good, [])).toBeDefined();
    server.down = true;
    await clock.advance(3_700_000);
    const later = testToken({ ...claims, uid: 'u', exp: now + 100_000 }, key);
    expect(await tokens.authenticateToken(later, [])).toBeDefined();
  });

  test('do not keep callers waiting for an issuer that was down and does not answer', async () => {
    const tokens = open();
    const token = testToken({ ...claims, uid: 'u', exp: now + 100_000 }, key);
    await tokens.authenticateToken(token, []);
    server.down = true;
    await clock.advance(3_700_000);
    await tokens.authenticateToken(token, []);
    server.silent = true;
    await clock.advance(10_000);
    expect(await tokens.authenticateToken(token, [])).toBeDefined();
    expect(server.asked).toHaveLength(4);
  });

  test('from a configuration of another issuer are ignored', async () => {
    server.issuer = 'https://evil.example.org';
    await expect(ask(good)).rejects.toThrow('oidc: authenticator not initialized');
  });

  test.each([203, 302, 404, 500])('from an answer with status %i are ignored', async (status) => {
    server.status = status;
    await expect(ask(good)).rejects.toThrow('oidc: authenticator not initialized');
  });

  test('can be fetched before the first token', async () => {
    const tokens = open();
    await tokens.warm();
    expect(server.asked).toHaveLength(2);
  });
});
