import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/embed.js';
import { type RawOptions, rawHttp1 } from './raw-http.js';

/**
 * Long runs of one character within headers and paths. Whatever is looked for at the end of a text by a regular expression
 * takes the square of such a run, and strangers send them.
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
/** The square of such a run takes seconds. */
const mostMs = 1_000;
const alice = 'Authorization: Bearer alice-token';
const configMap = '/api/v1/namespaces/default/configmaps/c';
const ask = async (line: string, headers: readonly string[]): Promise<readonly number[]> => {
  const started = performance.now();
  const codes = await rawHttp1([`${line} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers], options);
  expect(performance.now() - started, line.slice(0, 40)).toBeLessThan(mostMs);
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
])('in the header %s of %s', async (name, line) => {
  for (const run of runs) expect((await ask(line, [alice, `${name}: ${run}`]))[0]).toBeGreaterThanOrEqual(200);
});

test('in the credentials of strangers', async () => {
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
])('in a path below %s', async (prefix) => {
  for (const piece of ['/', '%2f', '.', 'a', ':', '-']) {
    const [code] = await ask(`GET ${prefix}${piece.repeat(length / piece.length)}x`, [alice]);
    expect(code).toBeGreaterThanOrEqual(400);
  }
});
