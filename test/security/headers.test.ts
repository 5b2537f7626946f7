import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ClusterRoles } from '../../src/api/kinds/role.js';
import { ClusterRoleBindings } from '../../src/api/kinds/role-binding.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import type { Client } from '../../src/client/client.js';
import { createServer, type Server } from '../../src/embed.js';
import { createCertificateAuthority } from '../../src/pki/certificate-authority.js';
import { type RawOptions, rawHttp1, rawHttp2 } from './raw-http.js';

/**
 * Mallory has a token and no permissions. Whatever headers are sent with it, in whatever form, the response must be
 * that for an unprivileged user: no Secret is ever returned.
 */
let server: Server;
let client: Client;
let options: RawOptions;
let proxy: RawOptions;
beforeAll(async () => {
  const proxies = await createCertificateAuthority({ commonName: 'proxies' });
  server = await createServer({
    listen: {},
    controllers: [],
    staticTokens: 'mallory-token,mallory,1\nboss-token,boss,2\n',
    frontProxy: { ca: proxies.anchors, allowedNames: ['front'] },
  });
  client = server.client();
  await client
    .resource(Secrets)
    .create({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'default', name: 's' } });
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const bind = (name: string, user: string, rules: readonly object[]) =>
    Promise.all([
      client.resource(ClusterRoles).create({ apiVersion, kind: 'ClusterRole', metadata: { name }, rules }),
      client.resource(ClusterRoleBindings).create({
        apiVersion,
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      }),
    ]);
  const readsSecrets = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }];
  await bind('secrets', 'reader', readsSecrets);
  await bind('blanks', ' eve ', readsSecrets);
  await bind('boss', 'boss', [
    { verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['reader', 'mallory', ' eve '] },
  ]);
  options = { url: server.url ?? '' };
  const front = await proxies.issueClient({ commonName: 'front', organizations: [], seconds: 3_600 });
  proxy = { ...options, certificate: { cert: front.certificate, key: front.key } };
});
afterAll(() => server.stop());

const path = '/api/v1/namespaces/default/secrets/s';
const mallory = 'Authorization: Bearer mallory-token';
const boss = 'Authorization: Bearer boss-token';
const get = (headers: readonly string[], raw: RawOptions = options, body = '') =>
  rawHttp1([`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers], raw, body);

test('impersonation and the headers of a proxy work', async () => {
  expect(await get([boss, 'Impersonate-User: reader'])).toEqual([200]);
  expect(await get(['X-Remote-User: reader'], proxy)).toEqual([200]);
});

test.each<[string, readonly string[], number]>([
  ['one host', ['Host: x'], 403],
  ['a host with a port', ['Host: [::1]:6443'], 403],
  ['an empty host', ['Host:'], 403],
  ['no host', [], 400],
  ['two hosts', ['Host: a', 'Host: b'], 400],
  ['an invalid host', ['Host: a b'], 400],
])('a request over HTTP/1.1 must have one host: %s', async (_name, hosts, code) => {
  const lines = [`GET ${path} HTTP/1.1`, ...hosts, 'Connection: close', mallory];
  expect(await rawHttp1(lines, options)).toEqual([code]);
});

test('the first of duplicate headers counts', async () => {
  const found = ['Accept: text/html', 'Accept: application/json'];
  const asBoss = (accept: readonly string[]) => get([boss, 'Impersonate-User: reader', ...accept]);
  expect(await asBoss(found)).toEqual([406]);
  expect(await asBoss(found.reverse())).toEqual([200]);
});

const asReader = ['X-Remote-User: reader', 'X-Remote-Group: system:masters', 'X-Remote-Extra-x: y', 'X-Remote-Uid: 1'];

describe('over HTTP/1.1', () => {
  test.each<[string, readonly string[], number]>([
    ['no credentials', [], 403],
    ['a proxy’s headers without its certificate', asReader, 403],
    ['a proxy’s headers beside a token', [mallory, ...asReader], 403],
    ['a proxy’s headers in other spellings', [mallory, 'x-rEmOtE-uSeR: reader', 'X_REMOTE_USER: reader'], 403],
    ['impersonation without permission', [mallory, 'Impersonate-User: reader'], 403],
    ['impersonation of a group alone', [mallory, 'Impersonate-Group: system:masters'], 400],
    [
      'impersonation of a group with an empty user',
      [mallory, 'Impersonate-User:', 'Impersonate-Group: system:masters'],
      400,
    ],
    ['impersonation of extra attributes alone', [mallory, 'Impersonate-Extra-Scopes: all'], 400],
    ['impersonation without credentials', ['Impersonate-User: reader'], 403],
    [
      'permission for a user does not include a group',
      [boss, 'Impersonate-User: reader', 'Impersonate-Group: system:masters'],
      403,
    ],
    ['permission for a user does not include a uid', [boss, 'Impersonate-User: reader', 'Impersonate-Uid: 1'], 403],
    ['two users: the first counts', [boss, 'Impersonate-User: mallory', 'Impersonate-User: reader'], 403],
    ['two users, one without permission', [boss, 'Impersonate-User: system:admin', 'Impersonate-User: reader'], 403],
    ['two users in one header', [boss, 'Impersonate-User: mallory, reader'], 403],
    ['underscores for dashes', [boss, 'Impersonate_User: reader'], 403],
    ['two tokens: the first counts', [mallory, boss, 'Impersonate-User: reader'], 403],
    ['a bad token before a good one', ['Authorization: Bearer bad', boss], 401],
    ['headers listed in Connection', [boss, 'Connection: Impersonate-User', 'Impersonate-User: mallory'], 403],
    ['another method in a header', [mallory, 'X-HTTP-Method-Override: POST', 'X-Original-URL: /healthz'], 403],
    [
      'another address in a header',
      [mallory, 'X-Forwarded-For: 127.0.0.1', 'X-Forwarded-User: reader', 'Forwarded: for=127.0.0.1'],
      403,
    ],
  ])('%s', async (_name, headers, code) => {
    expect(await get(headers)).toEqual([code]);
  });

  test.each<[string, readonly string[]]>([
    ['a name followed by a space', [boss, 'Impersonate-User : reader']],
    ['a name after a space', [boss, ' Impersonate-User: reader']],
    ['a line without a colon', [boss, 'Impersonate-User']],
    ['a zero byte in a name', [boss, 'Impersonate-User\0: reader']],
    ['a zero byte in a value', [boss, 'Impersonate-User: reader\0x']],
    ['a bare carriage return', [boss, 'X: y\rImpersonate-User: reader']],
    ['two lengths', [boss, 'Content-Length: 0', 'Content-Length: 5', 'Impersonate-User: mallory']],
    [
      'a length and a transfer coding',
      [boss, 'Content-Length: 4', 'Transfer-Encoding: chunked', 'Impersonate-User: mallory'],
    ],
    ['an obfuscated transfer coding', [boss, 'Transfer-Encoding: xchunked', 'Impersonate-User: mallory']],
  ])('%s makes the request invalid', async (_name, headers) => {
    const codes = await get(headers);
    expect(codes.filter((code) => code === 200)).toEqual([]);
    expect(codes.length).toBeLessThanOrEqual(1);
  });

  test('a request inside the body of another is not executed', async () => {
    const hidden = `GET ${path} HTTP/1.1\r\nHost: x\r\n${boss}\r\nImpersonate-User: reader\r\n\r\n`;
    const lengths = [mallory, `Content-Length: ${hidden.length}`];
    expect(await get(lengths, options, hidden)).toEqual([403]);
    expect(
      await get(
        [mallory, 'Transfer-Encoding: chunked'],
        options,
        `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
      ),
    ).toEqual([403]);
  });

  test('headers of a request do not affect the next one on the connection', async () => {
    const first = [`GET ${path} HTTP/1.1`, 'Host: x', boss, 'Impersonate-User: reader', ''].join('\r\n');
    const codes = await rawHttp1([first, `GET ${path} HTTP/1.1`, 'Host: x', boss, 'Connection: close'], options);
    expect(codes).toEqual([200, 403]);
  });

  test('the user named by a proxy applies to one request only', async () => {
    const first = [`GET ${path} HTTP/1.1`, 'Host: x', 'X-Remote-User: reader', ''].join('\r\n');
    const codes = await rawHttp1([first, `GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close'], proxy);
    expect(codes[0]).toBe(200);
    expect(codes[1]).not.toBe(200);
  });

  test('a user named by a proxy cannot become another without permission', async () => {
    expect(await get(['X-Remote-User: mallory', 'Impersonate-User: reader'], proxy)).toEqual([403]);
    expect(await get(['X-Remote-User: mallory', boss], proxy)).toEqual([403]);
  });
});

describe('over HTTP/2', () => {
  const pseudo = [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', path],
    [':authority', 'x'],
  ] as const;
  const bearing = (name: string) => ['authorization', `Bearer ${name}-token`] as const;
  const ask = (...headers: readonly (readonly [string, string])[]) => rawHttp2([...pseudo, ...headers], options);

  test('impersonation and a front proxy’s headers work', async () => {
    expect(await ask(bearing('boss'), ['impersonate-user', 'reader'])).toEqual({ code: 200 });
    expect(await rawHttp2([...pseudo, ['x-remote-user', 'reader']], proxy)).toEqual({ code: 200 });
  });

  // Node 20 leaves out the header.
  test.skipIf(Number.parseInt(process.versions.node, 10) < 22)(
    'white space around a name is part of it, where Node.js lets it through',
    async () => {
      expect(await ask(bearing('boss'), ['impersonate-user', ' eve '])).toEqual({ code: 200 });
      expect(await ask(bearing('boss'), ['impersonate-user', 'reader '])).toEqual({ code: 403 });
      expect(await rawHttp2([...pseudo, ['x-remote-user', ' eve ']], proxy)).toEqual({ code: 200 });
      expect(await rawHttp2([...pseudo, ['x-remote-user', 'reader\t']], proxy)).toEqual({ code: 403 });
    },
  );

  test.each<[string, readonly (readonly [string, string])[], number]>([
    [
      'a proxy’s headers without its certificate',
      [
        ['x-remote-user', 'reader'],
        ['x-remote-group', 'system:masters'],
      ],
      403,
    ],
    ['a proxy’s headers beside a token', [bearing('mallory'), ['x-remote-user', 'reader']], 403],
    ['impersonation without permission', [bearing('mallory'), ['impersonate-user', 'reader']], 403],
    ['impersonation of a group alone', [bearing('mallory'), ['impersonate-group', 'system:masters']], 400],
    [
      'two users: the first counts',
      [bearing('boss'), ['impersonate-user', 'mallory'], ['impersonate-user', 'reader']],
      403,
    ],
    ['two tokens: the first counts', [bearing('mallory'), bearing('boss'), ['impersonate-user', 'reader']], 403],
  ])('%s', async (_name, headers, code) => {
    expect(await ask(...headers)).toEqual({ code });
  });

  test.each<[string, readonly (readonly [string, string])[]]>([
    ['a name in upper case', [bearing('boss'), ['Impersonate-User', 'reader']]],
    ['a name with a space', [bearing('boss'), ['impersonate-user ', 'reader']]],
    ['a name with a line break', [bearing('boss'), ['x\r\nimpersonate-user', 'reader']]],
    ['a value with a line break', [bearing('boss'), ['x', 'y\r\nimpersonate-user: reader']]],
    ['a value with a zero byte', [bearing('boss'), ['impersonate-user', 'reader\0']]],
    ['a connection header', [bearing('boss'), ['connection', 'impersonate-user'], ['impersonate-user', 'reader']]],
    ['a transfer coding', [bearing('boss'), ['transfer-encoding', 'chunked'], ['impersonate-user', 'reader']]],
    ['a second path', [bearing('boss'), [':path', '/healthz'], ['impersonate-user', 'reader']]],
    ['an unknown pseudo-header', [bearing('boss'), [':impersonate-user', 'reader']]],
  ])('%s makes the request invalid', async (_name, headers) => {
    const answer = await ask(...headers);
    expect(answer === 'broken off' || answer.code !== 200).toBe(true);
  });
});
