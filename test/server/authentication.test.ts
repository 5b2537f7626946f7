import { createHash } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { authenticationMetrics } from '../../src/auth/authentication-metrics.js';
import { generateServiceAccountKey } from '../../src/auth/service-account-keys.js';
import { type Clock, systemClock } from '../../src/runtime/clock.js';
import { type Logger, silentLogger } from '../../src/runtime/logger.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { type AuthenticationOptions, openAuthentication } from '../../src/server/authentication.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';
import { credentials } from '../auth/credentials.js';
import { FixedObjects } from '../auth/fixed-objects.js';
import { attributes, extensions, forge, usages } from '../auth/forge.js';
import { IssuerServer, issuerUrl, testKey, testToken } from '../auth/jwt/issuer.js';
import { seriesOf } from '../series.js';

let directory: string;
let stopping: AbortController;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-authentication-'));
  stopping = new AbortController();
});
afterEach(() => {
  stopping.abort();
  rmSync(directory, { recursive: true, force: true });
});
const file = (name: string, text: string): { readonly file: string } => {
  const path = join(directory, name);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  return { file: path };
};

const [first, second] = [await generateServiceAccountKey('ES256'), await generateServiceAccountKey('ES384')];
const objects = new FixedObjects().put(ServiceAccounts, { metadata: { namespace: 'ns', name: 'sa', uid: 'u' } });
const open = (more: Partial<AuthenticationOptions> = {}, clock: Clock = systemClock, log: Logger = silentLogger) =>
  openAuthentication(
    {
      signingKey: first,
      verificationKeys: [],
      issuers: ['https://own.example.org', 'https://former.example.org'],
      apiAudiences: [],
      serverAddress: () => 'localhost:1',
      clientCa: () => '',
      anonymous: true,
      ...more,
    },
    { objects, domains: defaultDomains, clock, log, signal: stopping.signal },
  );
type Opened = Awaited<ReturnType<typeof open>>;
const ask = async ({ authenticator }: Opened, ...given: Parameters<typeof credentials>) => {
  try {
    return (await authenticator.authenticate(credentials(...given)))?.user.username;
  } catch (error) {
    return (error as Error).name;
  }
};
/** Returns the number of published keys. */
const shown = ({ openId }: Opened): number => {
  const found = openId?.keys as { readonly keys: readonly unknown[] } | undefined;
  return found?.keys.length ?? 0;
};
const bearing = (token: string) => ({ authorization: `Bearer ${token}` });
const issue = ({ issuer }: Opened): string =>
  issuer.issue({
    namespace: 'ns',
    account: { name: 'sa', uid: 'u' },
    audiences: ['https://own.example.org'],
    seconds: 600,
  }).token;
const sa = 'system:serviceaccount:ns:sa';

test('static tokens follow their file', async () => {
  const opened = await open({ staticTokens: file('tokens', 'one,alice,\n') });
  expect(await ask(opened, bearing('one'))).toBe('alice');
  file('tokens', 'two,bob,\n');
  await eventually(
    () => ask(opened, bearing('two')),
    (user) => user === 'bob',
  );
  file('tokens', 'broken');
  file('tokens', 'three,carol,\n');
  await eventually(
    () => ask(opened, bearing('three')),
    (user) => user === 'carol',
  );
});

describe('keys of service account tokens', () => {
  test('can be rotated without interruption', async () => {
    const signingKey = file('signing', first);
    const verifying = file('verifying', second);
    const opened = await open({ signingKey, verificationKeys: [verifying] });
    const old = issue(opened);
    // First the key that continues to verify, then the one that is to sign.
    file('verifying', first);
    await eventually(
      () => shown(opened),
      (keys) => keys === 1,
    );
    file('signing', second);
    await eventually(
      () => (issue(opened).split('.', 1)[0] === old.split('.', 1)[0] ? 'old' : 'new'),
      (key) => key === 'new',
    );
    expect(await ask(opened, bearing(old))).toBe(sa);
    expect(await ask(opened, bearing(issue(opened)))).toBe(sa);
    expect(opened.openId?.configuration).toMatchObject({ id_token_signing_alg_values_supported: ['ES256', 'ES384'] });
  });

  test('no longer count when removed, not even for tokens in the cache', async () => {
    const before = await open();
    const token = issue(before);
    const after = await open({ signingKey: second });
    expect(await ask(after, bearing(token))).toBe('AuthenticationError');
  });

  test('are published once if given twice', async () => {
    expect(shown(await open({ verificationKeys: [first, second, second] }))).toBe(2);
  });

  test('must be valid keys', async () => {
    await expect(open({ signingKey: 'x' })).rejects.toThrow('no PEM private key found');
    await expect(open({ verificationKeys: [file('none', 'x')] })).rejects.toThrow('no PEM key found');
  });
});

test('the discovery document has the key set URL of this server or a configured one', async () => {
  const at = async (more: Partial<AuthenticationOptions>) => (await open(more)).openId?.configuration;
  expect(await at({})).toMatchObject({
    issuer: 'https://own.example.org',
    jwks_uri: 'https://localhost:1/openid/v1/jwks',
  });
  expect(await at({ keySetUri: 'https://keys.example.org/k' })).toMatchObject({
    jwks_uri: 'https://keys.example.org/k',
  });
  expect(await at({ issuers: ['kedge'] })).toBeUndefined();
});

test('tokens of every configured issuer are accepted, and the first one is used for new tokens', async () => {
  const former = await open({ issuers: ['https://former.example.org'] });
  const token = former.issuer.issue({
    namespace: 'ns',
    account: { name: 'sa', uid: 'u' },
    audiences: ['https://own.example.org'],
    seconds: 600,
  }).token;
  expect(await ask(await open(), bearing(token))).toBe(sa);
  expect(await ask(await open({ issuers: ['https://own.example.org'] }), bearing(token))).toBe('AuthenticationError');
});

describe('anonymous requests', () => {
  test('are allowed everywhere, nowhere, or on some paths', async () => {
    const policy = async (anonymous: AuthenticationOptions['anonymous'], path: string) =>
      ask(await open({ anonymous }), {}, { path });
    expect(await policy(true, '/x')).toBe('system:anonymous');
    expect(await policy(false, '/x')).toBeUndefined();
    const some = { paths: ['/livez', '/readyz'] };
    expect(await policy(some, '/livez')).toBe('system:anonymous');
    expect(await policy(some, '/livez/')).toBeUndefined();
    expect(await policy(some, '/api')).toBeUndefined();
  });

  test('are not allowed by a blank token if paths are limited', async () => {
    expect(await ask(await open({ anonymous: { paths: ['/livez'] } }), bearing(' '))).toBeUndefined();
  });

  test('follow the configuration file', async () => {
    const say = (anonymous: string): string =>
      `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: ${anonymous}\n`;
    const opened = await open({ configuration: file('config', say('{enabled: true, conditions: [{path: /livez}]}')) });
    expect(await ask(opened, {}, { path: '/livez' })).toBe('system:anonymous');
    expect(await ask(opened, {}, { path: '/api' })).toBeUndefined();
    file('config', say('{enabled: false}'));
    await eventually(
      () => ask(opened, {}, { path: '/livez' }),
      (user) => user === undefined,
    );
  });
});

test.each<[readonly string[], string | undefined]>([
  [['kedge', 'a b', 'https://own.example.org', 'urn:own'], undefined],
  [
    ['a b:c'],
    'the issuer "a b:c" of service account tokens has a ":" and is no URL: parse "a b:c": first path segment',
  ],
  [['kedge', 'https://[', 'x'], 'the issuer "https://[" of service account tokens has a ":" and is no URL'],
  [['kedge', 'x', 'kedge'], 'the issuer "kedge" of service account tokens is given twice'],
])('service account issuers: %j', async (issuers, problem) => {
  if (problem === undefined) await open({ issuers });
  else await expect(open({ issuers })).rejects.toThrow(problem);
});

test.each<[string, boolean]>([
  ['https://own.example.org/path', false],
  ['https://own.example.org/?tenant=1', true],
  ['https://own.example.org/#', true],
  ['kedge', false],
])('an https issuer without discovery documents is warned of: %s', async (issuer, isWarned) => {
  const warned: object[] = [];
  await open({ issuers: [issuer] }, systemClock, { ...silentLogger, warn: (fields) => void warned.push(fields) });
  expect(warned).toEqual(isWarned ? [{ issuer }] : []);
});

describe('JWT issuers', () => {
  const key = testKey('ES256');
  const configuration = (prefix: string): string => `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: { url: ${issuerUrl}, audiences: [kedge] }
  claimMappings:
    username: { claim: sub, prefix: '${prefix}' }
`;
  const token = (jti: string) =>
    testToken({ iss: issuerUrl, sub: 'alice', aud: 'kedge', exp: Date.now() / 1_000 + 60, jti }, key);

  test('follow the configuration file, with keys fetched before the first token', async () => {
    const server = new IssuerServer([key]);
    const opened = await open({ configuration: file('config', configuration('a:')), fetch: server.fetch });
    await eventually(
      () => server.asked.length,
      (count) => count === 2,
    );
    expect(await ask(opened, bearing(token('1')))).toBe('a:alice');
    file('config', configuration('b:'));
    await eventually(
      () => ask(opened, bearing(token('2'))),
      (user) => user === 'b:alice',
    );
  });

  test('have metrics, also of their keys and the configuration file', async () => {
    const metrics = openMetrics();
    const server = new IssuerServer([key]);
    const config = configuration('a:');
    const opened = await open({
      configuration: file('config', config),
      fetch: server.fetch,
      metrics: authenticationMetrics(metrics, systemClock, 'here'),
    });
    const values = async (name: string) => (await seriesOf(metrics, `apiserver_authentication_${name}`)).map(simple);
    const hash = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
    const simple = (line: string): string =>
      line
        .replaceAll(hash('here'), 'here')
        .replaceAll(hash(issuerUrl), 'issuer')
        .replaceAll(hash(config), 'config')
        .replace(/\d{10}(\.\d+)?$/, 'now');
    expect(await ask(opened, bearing(token('6')))).toBe('a:alice');
    await ask(opened, bearing(testToken({ iss: issuerUrl }, key)));
    expect(await values('jwt_authenticator_latency_seconds_count')).toEqual([
      '{jwt_issuer_hash="issuer",result="success"} 1',
      '{jwt_issuer_hash="issuer",result="failure"} 1',
    ]);
    const fetched = 'jwt_authenticator_jwks_fetch_last_timestamp_seconds';
    expect(await values(fetched)).toEqual(['{apiserver_id_hash="here",jwt_issuer_hash="issuer",result="success"} now']);
    const reloads = 'config_controller_automatic_reloads_total';
    expect(await values(reloads)).toEqual([]);
    expect(await values('config_controller_last_config_info')).toEqual(['{apiserver_id_hash="here",hash="config"} 1']);

    file('config', 'no');
    await eventually(
      () => values(reloads),
      (lines) => lines.length === 1,
    );
    file('config', configuration('').split('jwt:')[0] ?? '');
    await eventually(
      () => values(reloads),
      (lines) => lines.length === 2,
    );
    expect(await values(reloads)).toEqual([
      '{apiserver_id_hash="here",status="failure"} 1',
      '{apiserver_id_hash="here",status="success"} 1',
    ]);
    expect(await values('config_controller_automatic_reload_last_timestamp_seconds')).toHaveLength(2);
    // There is no issuer any more.
    expect(await values(fetched)).toEqual([]);
  });

  test('keep their keys when something else in the file changes, even if the issuer is down', async () => {
    const server = new IssuerServer([key]);
    const opened = await open({ configuration: file('config', configuration('a:')), fetch: server.fetch });
    expect(await ask(opened, bearing(token('4')))).toBe('a:alice');
    server.down = true;
    file('config', `${configuration('a:')}anonymous: { enabled: false }\n`);
    await eventually(
      () => ask(opened, {}),
      (user) => user === undefined,
    );
    expect(await ask(opened, bearing(token('5')))).toBe('a:alice');
  });

  test('replace others only once their keys have been fetched', async () => {
    const clock = new FakeClock(Date.now());
    const server = new IssuerServer([key]);
    const opened = await open({ configuration: file('config', configuration('a:')), fetch: server.fetch }, clock);
    const exp = Date.now() / 1_000 + 3_600;
    let count = 0;
    const asked = () =>
      ask(opened, bearing(testToken({ iss: issuerUrl, sub: 'alice', aud: 'kedge', exp, jti: `${++count}` }, key)));
    expect(await asked()).toBe('a:alice');
    server.down = true;
    const before = server.asked.length;
    file('config', `${configuration('b:')}anonymous: { enabled: false }\n`);
    const wait = async <T>(read: () => T | Promise<T>): Promise<T> => {
      await clock.advance(10_000);
      return read();
    };
    await eventually(
      () => wait(() => server.asked.length - before),
      (tries) => tries >= 8,
    );
    expect(await asked()).toBe('a:alice');
    expect(await ask(opened, {})).toBe('system:anonymous');
    server.down = false;
    await eventually(
      () => wait(asked),
      (user) => user === 'b:alice',
    );
    expect(await ask(opened, {})).toBeUndefined();
  });

  test('accept tokens for this server only, whatever audience is asked for', async () => {
    const opened = await open({ configuration: configuration(''), fetch: new IssuerServer([key]).fetch });
    expect(await ask(opened, bearing(token('3')), { audiences: ['elsewhere'] })).toBe('AuthenticationError');
  });

  test("cannot be issuers of the server's own tokens", async () => {
    const text = configuration('').replace(issuerUrl, 'https://former.example.org');
    await expect(open({ configuration: text })).rejects.toThrow('URL must not overlap with disallowed issuers');
  });
});

describe('client certificates', () => {
  const signer = (name: string) =>
    forge({
      subject: [[attributes.commonName, name]],
      extensions: [extensions.authority()],
      notAfter: Date.UTC(2050, 0, 1),
    });
  const [own, other] = [signer('own'), signer('other')];
  const of = (issuer: ReturnType<typeof signer>, name: string) => {
    const leaf = forge({
      subject: [[attributes.commonName, name]],
      issuer,
      extensions: [extensions.extendedKeyUsage(usages.client)],
      notAfter: Date.UTC(2050, 0, 1),
    });
    return { certificates: [leaf.der] };
  };

  test('of additional CAs are accepted while the file has those', async () => {
    const more = file('clients', other.pem);
    const opened = await open({ clientCa: () => own.pem, moreClientCas: more });
    expect(await ask(opened, {}, of(own, 'alice'))).toBe('alice');
    expect(await ask(opened, {}, of(other, 'bob'))).toBe('bob');
    file('clients', signer('third').pem);
    await eventually(
      () => ask(opened, {}, of(other, 'bob')),
      (user) => user === 'AuthenticationError',
    );
    expect(await ask(opened, {}, of(own, 'alice'))).toBe('alice');
  });

  test('of a front proxy let it name users, in the configured headers', async () => {
    const frontProxy = { ca: file('proxies', other.pem), allowedNames: ['front'], usernameHeaders: ['X-My-User'] };
    const opened = await open({ clientCa: () => own.pem, frontProxy });
    const named = { 'x-my-user': 'carol', 'x-remote-user': 'mallory' };
    expect(await ask(opened, named, of(other, 'front'))).toBe('carol');
    expect(await ask(opened, { 'x-remote-user': 'mallory' }, of(other, 'front'))).toBe('AuthenticationError');
    expect(await ask(opened, named, of(other, 'back'))).toBe('AuthenticationError');
    expect(await ask(opened, named, of(own, 'alice'))).toBe('alice');
    expect(await ask(opened, named)).toBe('system:anonymous');
    // Other servers that trust the proxy get the header names as configured.
    expect(opened.info().frontProxy?.usernameHeaders).toEqual(['X-My-User']);
  });

  test('require a CA in the file: without one the server does not start', async () => {
    await expect(open({ moreClientCas: file('empty', '') })).rejects.toThrow('no certificate in the CA bundle');
    await expect(open({ frontProxy: { ca: (await testAuthority()).anchors.slice(0, 40) } })).rejects.toThrow();
  });
});
