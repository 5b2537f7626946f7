import { mkdtemp, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ControllerMetrics } from '../../src/controller/controller-metrics.js';
import { createManager } from '../../src/controller/manager.js';
import type { CertificateAuthority } from '../../src/pki/certificate-authority.js';
import { aborted } from '../../src/runtime/abort.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';
import { mutatingWebhook, validatingWebhook } from '../../src/webhook/admission.js';
import type { Webhook } from '../../src/webhook/webhook.js';
import {
  type OpenWebhookServer,
  openWebhookServer,
  type ServingCertificate,
  webhookServer,
} from '../../src/webhook/webhook-server.js';
import { type Line, request, reviewContext } from './review.js';

const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: request() };
const host = '127.0.0.1';

interface Answer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

let authority: CertificateAuthority;
const serving = () => authority.issueServing({ commonName: 'hooks', ipAddresses: [host], seconds: 3_600 });
beforeAll(async () => {
  authority = await testAuthority();
});

const open: OpenWebhookServer[] = [];
afterAll(async () => {
  await Promise.all(open.map((server) => server.stop()));
});

/** Starts a server; returns its log lines, and functions to call it. */
async function served(
  webhooks: Readonly<Record<string, Webhook>>,
  options: Partial<ServingCertificate> & { readonly clientCa?: string } = {},
  limits: { readonly heldBytes?: number } = {},
) {
  const context = reviewContext();
  const given = { ...(await serving()), ...options, webhooks, host, port: 0 };
  const server = await openWebhookServer(given, context, limits);
  open.push(server);
  return { server, lines: context.lines as readonly Line[], ask: asking(server.port) };
}

const asking =
  (port: number) =>
  (path: string, body: unknown = review, options: RequestOptions = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const given = { host, port, path, method: 'POST', ca: authority.anchors, headers, ...options };
      const asked = httpsRequest(given, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({
            code: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString('utf8'),
          }),
        );
      });
      asked.on('error', reject);
      asked.end(Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body));
    });

/** Opens a connection without sending a request. */
const connected = (port: number): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ host, port, ca: authority.anchors }, () => resolve(socket));
    socket.once('error', reject);
  });

const allow = validatingWebhook({ validate: () => {} });

test.each(['v1', 'v1beta1'])('a review of %s is answered in its version, with its uid', async (version) => {
  const { ask } = await served({ '/allow': allow });
  const apiVersion = `admission.k8s.io/${version}`;
  const { code, headers, text } = await ask('/allow?timeout=10s', { ...review, apiVersion });
  expect(code).toBe(200);
  expect(headers['content-type']).toBe('application/json');
  expect(JSON.parse(text)).toEqual({ kind: 'AdmissionReview', apiVersion, response: { uid: 'u', allowed: true } });
});

test.each<[string, unknown, string]>([
  ['empty', '', 'unexpected end of JSON input'],
  ['not JSON', '{"kind":', 'unexpected end of JSON input'],
  ['not UTF-8', Buffer.from([0xff, 0xfe]), 'invalid character'],
  ['not an object', [], 'a review must be an object'],
  ['nested too deep', '['.repeat(100_000), 'exceeded max depth'],
  ['a review of another kind', { ...review, kind: 'ConversionReview' }, 'expected admission.k8s.io/v1 AdmissionReview'],
  [
    'a review of an unknown version',
    { ...review, apiVersion: 'admission.k8s.io/v2' },
    'expected admission.k8s.io/v1 AdmissionReview',
  ],
  ['a review without a request', { ...review, request: null }, 'request is missing'],
  ['a review without a uid', { ...review, request: { ...review.request, uid: 1 } }, 'request.uid is missing'],
  [
    'an object with a member named __proto__',
    '{"__proto__":{"kind":"AdmissionReview"}}',
    'expected admission.k8s.io/v1',
  ],
])('a body that is %s is refused with 400', async (_, body, message) => {
  const { ask, lines } = await served({ '/allow': allow });
  const answer = await ask('/allow', body);
  expect(answer).toMatchObject({ code: 400, text: expect.stringContaining(message) });
  const refused = { level: 'warn', message: 'rejected a review', fields: { webhook: '/allow', code: 400 } };
  expect(lines.slice(1)).toMatchObject([refused]);
});

test('an unknown path, a method other than POST and a body that is not JSON are refused', async () => {
  const { ask } = await served({ '/allow': allow });
  expect(await ask('/other')).toMatchObject({ code: 404, text: 'nothing is served at "/other"\n' });
  expect(await ask('/allow', '', { method: 'PUT' })).toMatchObject({ code: 405, headers: { allow: 'POST' } });
  const headers = { 'content-type': 'text/yaml' };
  expect(await ask('/allow', 'a: 1', { headers })).toMatchObject({ code: 415 });
});

test('a body beyond the limit is refused, with and without a content length', async () => {
  const { ask } = await served({ '/allow': { ...allow, maxBytes: 1_000 } });
  const body = JSON.stringify({ ...review, more: 'x'.repeat(2_000) });
  expect(await ask('/allow', body)).toMatchObject({ code: 413 });
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  expect(await ask('/allow', body, { headers })).toMatchObject({ code: 413 });
});

test('a failure is logged and not shown to the caller', async () => {
  const error = new Error('the password is wrong');
  const { ask, lines } = await served({ '/fails': validatingWebhook({ validate: () => Promise.reject(error) }) });
  expect(await ask('/fails')).toMatchObject({ code: 500, text: 'the webhook failed\n' });
  const fields = { webhook: '/fails', err: error };
  expect(lines.slice(1)).toEqual([{ level: 'error', message: 'the webhook failed', fields }]);
});

test('a response that is not serializable as JSON is a failure', async () => {
  const circle: Record<string, unknown> = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} };
  circle['self'] = circle;
  const { ask } = await served({ '/circle': mutatingWebhook({ mutate: () => circle as never }) });
  expect(await ask('/circle')).toMatchObject({ code: 500 });
});

/** A webhook that responds once `release` is called, and counts the reviews it has begun. */
function waiting() {
  const release = new AbortController();
  const seen = { begun: 0 };
  const webhook: Webhook = {
    ...allow,
    async respond(_, { signal }) {
      seen.begun++;
      await aborted(AbortSignal.any([signal, release.signal]));
      return { allowed: true };
    },
  };
  const begun = (count: number) =>
    eventually(
      async () => seen.begun,
      (is) => is === count,
    );
  return { webhook, seen, begun, release: () => release.abort() };
}

/** Returns the head of a request with a body of this many bytes. */
const head = (path: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

const padded = (bytes: number, of: object = review) => ({ ...of, padding: 'x'.repeat(bytes) });

test('when the bodies held for one kind reach the limit, callers with large bodies get 429', async () => {
  const { webhook, begun, release } = waiting();
  const convert: Webhook = {
    ...allow,
    review: 'ConversionReview',
    group: 'apiextensions.k8s.io',
    respond: async () => ({}),
  };
  const { ask } = await served({ '/waits': webhook, '/allow': allow, '/convert': convert }, {}, { heldBytes: 20_000 });
  const first = ask('/waits', padded(80_000));
  await begun(1);
  expect(await ask('/allow', padded(80_000))).toMatchObject({ code: 429, headers: { 'retry-after': '1' } });
  expect(await ask('/allow', padded(60_000))).toMatchObject({ code: 200 });
  const conversion = { ...review, kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' };
  expect(await ask('/convert', padded(80_000, conversion))).toMatchObject({ code: 200 });
  release();
  expect(await first).toMatchObject({ code: 200 });
  expect(await ask('/allow', padded(80_000))).toMatchObject({ code: 200 });
});

test('a body that is never completed is dropped to make room for others', async () => {
  const { ask, server } = await served({ '/allow': allow }, {}, { heldBytes: 20_000 });
  const slow = await connected(server.port);
  slow.write(`${head('/allow', 90_000)}${' '.repeat(80_000)}`);
  let answer = '';
  slow.once('data', (chunk: Buffer) => {
    answer = chunk.toString();
  });
  const others = new Set<number>();
  await eventually(
    async () => others.add((await ask('/allow', padded(80_000))).code),
    () => answer !== '',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 429 /);
  expect([...others]).toEqual([200]);
  slow.destroy();
});

test('a caller that sends another request before the answer is cut off, and its bodies are released', async () => {
  const { webhook, begun } = waiting();
  const { ask, server } = await served({ '/waits': webhook, '/allow': allow }, {}, { heldBytes: 20_000 });
  const text = JSON.stringify(padded(80_000));
  for (const count of [1, 2, 3]) {
    const socket = await connected(server.port);
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${head('/waits', text.length)}${text}`);
    await begun(count);
    socket.write(`${head('/waits', text.length)}${text}`);
    await closed;
  }
  await eventually(
    () => ask('/allow', padded(80_000)),
    ({ code }) => code === 200,
  );
});

test('large reviews are answered one at a time, small ones meanwhile', async () => {
  const { webhook, seen, begun, release } = waiting();
  const { ask } = await served({ '/waits': webhook, '/allow': allow });
  const large = padded(1_100_000);
  const first = ask('/waits', large);
  await begun(1);
  const second = ask('/waits', large);
  expect(await ask('/allow', padded(900_000))).toMatchObject({ code: 200 });
  expect(seen.begun).toBe(1);
  release();
  expect(await first).toMatchObject({ code: 200 });
  expect(await second).toMatchObject({ code: 200 });
});

test('bytes that are announced but never sent do not count as held', async () => {
  const { ask, server } = await served({ '/allow': allow }, {}, { heldBytes: 2_000 });
  const idle = await connected(server.port);
  idle.write(head('/allow', 1_999));
  expect(await ask('/allow')).toMatchObject({ code: 200 });
  idle.destroy();
});

test('an answer that the caller does not read is given up', async () => {
  const clock = new FakeClock();
  const answer: Webhook = { ...allow, respond: async () => ({ padding: 'x'.repeat(20_000_000) }) };
  const context = { ...reviewContext(), clock };
  const given = { ...(await serving()), webhooks: { '/large': answer }, host, port: 0 };
  const server = await openWebhookServer(given, context);
  open.push(server);
  const socket = await connected(server.port);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  const text = JSON.stringify(review);
  socket.write(`${head('/large', text.length)}${text}`);
  await new Promise((resolve) => socket.once('readable', resolve));
  await clock.advance(30_000);
  socket.resume();
  await closed;
});

test('a body of many small values is refused before it costs much', async () => {
  const { ask } = await served({ '/allow': { ...allow, maxBytes: 80_000 } });
  const answer = await ask('/allow', `[${'[],'.repeat(20_000)}0]`);
  expect(answer).toMatchObject({ code: 400, text: 'exceeded 10000 values\n' });
});

test('the server survives whatever a handler throws', async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const throws = validatingWebhook({ validate: () => Promise.reject(proxy) });
  const { ask } = await served({ '/throws': throws, '/allow': allow });
  await expect(ask('/throws')).rejects.toThrow('socket hang up');
  expect(await ask('/allow')).toMatchObject({ code: 200 });
});

test.each<[string, boolean]>([
  ['a connection without a request', true],
  ['a connection without a handshake', false],
])('%s does not delay a stop', async (_, withTls) => {
  const given = { ...(await serving()), webhooks: {}, host, port: 0 };
  const server = await openWebhookServer(given, reviewContext());
  const socket = withTls ? await connected(server.port) : connectTcp(server.port, host);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  if (!withTls) await new Promise((resolve) => socket.once('connect', resolve));
  socket.resume();
  await server.stop();
  await closed;
});

test('a request that arrives just before a stop is answered', async () => {
  const { server } = await served({ '/allow': allow });
  const socket = await connected(server.port);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const answer = new Promise<string>((resolve) => socket.once('data', (chunk: Buffer) => resolve(chunk.toString())));
  const stopped = server.stop();
  const text = JSON.stringify(review);
  socket.write(`${head('/allow', text.length)}${text}`);
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  await Promise.all([stopped, closed]);
});

test('the signal of a review aborts when its caller disconnects', async () => {
  let seen: AbortSignal | undefined;
  const waits = validatingWebhook({
    async validate(_, { signal }) {
      seen = signal;
      await aborted(signal);
      throw new Error('broken off');
    },
  });
  const { server, lines } = await served({ '/waits': waits });
  const headers = { 'content-type': 'application/json' };
  const asked = httpsRequest({
    host,
    port: server.port,
    path: '/waits',
    method: 'POST',
    ca: authority.anchors,
    headers,
  });
  asked.on('error', () => {});
  asked.end(JSON.stringify(review));
  await eventually(
    async () => seen,
    (signal) => signal !== undefined,
  );
  expect(seen?.aborted).toBe(false);
  asked.destroy();
  await eventually(
    async () => lines.at(-1)?.message,
    (message) => message === 'the webhook failed after its caller had gone',
  );
  expect([seen?.aborted, lines.at(-1)?.level]).toEqual([true, 'debug']);
});

test('probes are answered, unless a webhook is served at their path', async () => {
  const { ask } = await served({ '/healthz': allow });
  expect(await ask('/readyz', '', { method: 'GET' })).toMatchObject({ code: 200, text: 'ok' });
  expect(await ask('/healthz', '', { method: 'GET' })).toMatchObject({ code: 405 });
});

test('many probes at once are all answered, without a process warning', async () => {
  const warnings: string[] = [];
  const heard = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', heard);
  const { server } = await served({ '/allow': allow });
  const socket = await connected(server.port);
  let answers = '';
  socket.on('data', (part) => (answers += part.toString()));
  socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(20));
  await eventually(
    async () => answers.split('200 OK').length - 1,
    (count) => count === 20,
  );
  socket.destroy();
  process.off('warning', heard);
  expect(warnings).toEqual([]);
});

test('with a client CA, only its clients are served', async () => {
  const { ask } = await served({ '/allow': allow }, { clientCa: authority.anchors });
  await expect(ask('/allow')).rejects.toThrow();
  const { certificate, key } = await authority.issueClient({ commonName: 'kube-apiserver', seconds: 3_600 });
  expect(await ask('/allow', review, { cert: certificate, key })).toMatchObject({ code: 200 });
  const stranger = await (await testAuthority()).issueClient({ commonName: 'kube-apiserver', seconds: 3_600 });
  await expect(ask('/allow', review, { cert: stranger.certificate, key: stranger.key })).rejects.toThrow();
});

test('renewed files are loaded, a mismatched pair is not', async () => {
  const folder = await mkdtemp(join(process.env['KEDGE_TEST_FOLDER'] ?? '', 'webhooks-'));
  const [certificateFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  const write = async (pair: { readonly certificate: string; readonly key: string }): Promise<void> => {
    await writeFile(certificateFile, pair.certificate);
    await writeFile(keyFile, pair.key);
  };
  const shown = (port: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket: TLSSocket = connect({ host, port, ca: authority.anchors }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      });
      socket.on('error', reject);
    });
  await write(await serving());
  const context = reviewContext();
  const server = await openWebhookServer({ certificateFile, keyFile, webhooks: {}, host, port: 0 }, context);
  open.push(server);
  expect(await shown(server.port)).toBe('hooks');
  const renewed = await authority.issueServing({ commonName: 'renewed', ipAddresses: [host], seconds: 3_600 });
  await writeFile(certificateFile, renewed.certificate);
  await eventually(
    async () => context.lines,
    (lines) => lines.some(({ level }) => level === 'warn'),
  );
  expect(await shown(server.port)).toBe('hooks');
  await writeFile(keyFile, renewed.key);
  expect(
    await eventually(
      () => shown(server.port),
      (name) => name === 'renewed',
    ),
  ).toBe('renewed');
});

test('only reviews are counted, by path and status', async () => {
  const counted: unknown[] = [];
  const metrics: ControllerMetrics = {
    reconciled: () => {},
    reviewing: (webhook) => (code) => void counted.push([webhook, code]),
  };
  const given = { ...(await serving()), webhooks: { '/allow': allow }, host, port: 0 };
  const server = await openWebhookServer(given, { ...reviewContext(), metrics });
  open.push(server);
  const ask = asking(server.port);
  for (const body of [review, []]) await ask('/allow', body);
  await ask('/other');
  const leaves = await connected(server.port);
  leaves.end('POST /allow HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{');
  await eventually(
    async () => counted,
    ({ length }) => length === 3,
  );
  expect(counted).toEqual([
    ['/allow', 200],
    ['/allow', 400],
    ['/allow', 499],
  ]);
});

test('a manager runs the server and stops it', async () => {
  const { client, log, lines } = reviewContext();
  const stop = new AbortController();
  const options = { ...(await serving()), webhooks: { '/allow': allow }, host, port: 0 };
  const running = createManager({ client, log }).add(webhookServer(options)).run(stop.signal);
  await eventually(
    async () => lines,
    ([served]) => served?.message === 'serving webhooks',
  );
  const ask = asking(Object.assign({ port: 0 }, lines[0]?.fields).port);
  expect(await ask('/allow')).toMatchObject({ code: 200 });
  stop.abort();
  await running;
  await expect(ask('/allow')).rejects.toThrow();
});

test.each<[string, object, RegExp]>([
  ['a path without a slash', { webhooks: { allow } }, /webhooks: "allow" is not a path/],
  ['a path with a query', { webhooks: { '/allow?x': allow } }, /webhooks: "\/allow\?x" is not a path/],
  ['an invalid certificate', { certificate: 'x' }, /PEM|no start line/],
  ['no certificate', { certificate: undefined }, /certificate is missing/],
  ['no key', { key: '' }, /key is missing/],
  ['an invalid key', { key: 'x' }, /^webhooks: certificate and key: /],
  ['a pair of missing files', { certificateFile: 'no/such.crt', keyFile: 'no/such.key' }, /cannot read no\/such/],
  ['an address of another machine', { host: '203.0.113.1' }, /is not an address of this machine/],
])('%s is refused at the start', async (_, options, message) => {
  const given = { ...(await serving()), webhooks: {}, host, port: 0, ...options };
  await expect(openWebhookServer(given, reviewContext())).rejects.toThrow(message);
});
