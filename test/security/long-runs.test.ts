import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/embed.js';
import { expectShort } from '../processor-time.js';
import { type RawOptions, rawHttp1 } from './raw-http.js';

/**
 * Long runs of one character within headers and paths, and many items of one sort with different names. A regular
 * expression that searches for the end of a text takes quadratic time for such a run, and so does work that goes
 * through all names for each of them; unauthenticated callers can send both.
 */
let server: Server;
let options: RawOptions;
beforeAll(async () => {
  server = await createServer({
    listen: {},
    controllers: [],
    staticTokens: 'alice-token,alice,1,system:masters\n',
    operations: {
      audit: {
        policy: 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]',
        logFile: '/dev/null',
      },
    },
  });
  options = { url: server.url ?? '' };
});
afterAll(() => server.stop());

const length = 100_000;
/** Quadratic time for such a run would be seconds. In processor time, because the server is in this process. */
const mostMs = 1_000;
const alice = 'Authorization: Bearer alice-token';
const configMap = '/api/v1/namespaces/default/configmaps/c';
const ask = async (line: string, headers: readonly string[], most = mostMs): Promise<readonly number[]> => {
  let codes: readonly number[] = [];
  await expectShort(most, async () => {
    codes = await rawHttp1([`${line} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers], options);
  });
  return codes;
};

const pieces = [' ', '/', ':', ';', ',', '=', '.', 'a', '0', '-', '*', '(', '"', '\\', '%', '[', '{', '|', '+', '\t'];
const runs = pieces.flatMap((piece) => [`x${piece.repeat(length)}x`, `${piece.repeat(length)}x`]);

test.each([
  ['accept', `GET ${configMap}`],
  ['accept', 'GET /version'],
  ['content-type', `PATCH ${configMap}`],
  ['x-forwarded-for', `GET ${configMap}`],
  ['x-real-ip', `GET ${configMap}`],
  ['impersonate-user', `GET ${configMap}`],
  ['impersonate-extra-a', `GET ${configMap}`],
  ['user-agent', `GET ${configMap}`],
  ['accept-encoding', `GET ${configMap}`],
  ['if-none-match', 'GET /openapi/v2'],
])('a long run in the header %s of %s is answered quickly', async (name, line) => {
  for (const run of runs) expect((await ask(line, [alice, `${name}: ${run}`]))[0]).toBeGreaterThanOrEqual(200);
});

test('a long run in unknown credentials is answered quickly', async () => {
  for (const run of runs) expect((await ask('GET /version', [`Authorization: ${run}`]))[0]).toBeGreaterThanOrEqual(200);
  for (const run of runs) await ask('GET /version', [`Authorization: Bearer ${run}`]);
});

test.each([
  '/openapi',
  '/openapi/v3/',
  '/healthz',
  '/version',
  '/api/v1/namespaces/',
  '/apis/',
  '/metrics',
  '/.well-known/',
])('a long run in a path below %s is answered quickly', async (prefix) => {
  for (const piece of ['/', '%2f', '.', 'a', ':', '-']) {
    const [code] = await ask(`GET ${prefix}${piece.repeat(length / piece.length)}x`, [alice]);
    expect(code).toBeGreaterThanOrEqual(400);
  }
});

const each = (count: number, one: (name: string) => string, joint = ''): string =>
  Array.from({ length: count }, (_, at) => one(at.toString(36).padStart(3, '0'))).join(joint);
const headers = (count: number, one: (name: string) => string): readonly string[] => each(count, one, '\n').split('\n');
const impersonating = 'Impersonate-User: x';

test.each<[what: string, line: string, headers: readonly string[]]>([
  ['headers', 'GET /version', headers(15_000, (name) => `${name}:`)],
  ['extra attributes', 'GET /version', [impersonating, ...headers(5_000, (name) => `Impersonate-Extra-${name}:`)]],
  ['extra attributes without credentials', 'GET /version', headers(5_000, (name) => `Impersonate-Extra-${name}:`)],
  ['groups', 'GET /version', [impersonating, ...headers(5_000, (name) => `Impersonate-Group: ${name}`)]],
  ['cookies', 'GET /version', [`Cookie: ${each(15_000, (name) => `${name}=1`, '; ')}`]],
  ['types', 'GET /api', [`Accept: ${each(7_000, (name) => `application/${name}`, ',')}`]],
  ['parameters of a type', 'GET /api', [`Accept: application/json;${each(15_000, (name) => `${name}=1`, ';')}`]],
  ['encodings', 'GET /openapi/v2', [`Accept-Encoding: ${each(20_000, (name) => name, ',')}`]],
  ['entity tags', 'GET /openapi/v2', [`If-None-Match: ${each(15_000, (name) => `"${name}"`, ',')}`]],
  [
    'protocols of a WebSocket',
    'GET /version',
    ['Connection: Upgrade', 'Upgrade: websocket', `Sec-WebSocket-Protocol: ${each(20_000, (name) => name, ',')}`],
  ],
  ['parameters', `GET ${configMap}?${each(20_000, (name) => `${name}=1`, '&')}`, []],
  ['labels of a selector', `GET /api/v1/configmaps?labelSelector=${each(15_000, (name) => `${name}!=1`, ',')}`, []],
  ['values of a selector', `GET /api/v1/configmaps?labelSelector=a+in+(${each(20_000, (name) => name, ',')})`, []],
  [
    'fields of a selector',
    `GET /api/v1/configmaps?fieldSelector=${each(5_000, (name) => `metadata.name!=${name}`, ',')}`,
    [],
  ],
])('many different %s are answered quickly', async (_, line, sent) => {
  for (const credentials of [[], [alice]]) {
    const [code] = await ask(line, [...credentials, ...sent], mostMs / 2);
    expect(code).toBeGreaterThanOrEqual(200);
    expect(code).not.toBe(431);
  }
});
