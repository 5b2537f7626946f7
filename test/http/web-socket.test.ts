import { once } from 'node:events';
import { createServer as createPlainServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClientOptions, type RawData, WebSocket } from 'ws';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { createServer, type Server } from '../../src/embed.js';
import { acceptWebSocket } from '../../src/http/web-socket.js';

let server: Server;
let token: string;
beforeAll(async () => {
  token = 'secret';
  server = await createServer({
    listen: { port: 0 },
    controllers: [],
    staticTokens: 'secret,admin,1,"system:masters"\n',
  });
});
afterAll(() => server.stop());

const watch = '/api/v1/namespaces/default/configmaps?watch=true';
const origin = 'https://example.com';

function open(path: string, options: ClientOptions & { readonly protocols?: readonly string[] } = {}): WebSocket {
  const { protocols = [], headers, ...rest } = options;
  return new WebSocket(`${server.url?.replace('https', 'wss')}${path}`, [...protocols], {
    rejectUnauthorized: false,
    origin,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...rest,
  });
}

/** Returns the messages of a socket one after the other. */
function messagesOf(socket: WebSocket) {
  const waiting: { readonly bytes: Buffer; readonly isBinary: boolean }[] = [];
  socket.on('message', (data: RawData, isBinary: boolean) => waiting.push({ bytes: data as Buffer, isBinary }));
  return async () => {
    while (waiting.length === 0) await once(socket, 'message');
    return waiting.shift() as (typeof waiting)[number];
  };
}

const configMaps = () => server.client().resource(ConfigMaps);
const configMap = (name: string, data: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

test('each event of a watch is a text message with one line, and the end is a close frame', async () => {
  const socket = open(`${watch}&fieldSelector=metadata.name%3Da&timeoutSeconds=1`);
  const next = messagesOf(socket);
  await once(socket, 'open');
  await configMaps().create(configMap('a'));
  const { bytes, isBinary } = await next();
  expect(isBinary).toBe(false);
  expect(bytes.at(-1)).toBe(0x0a);
  expect(JSON.parse(bytes.toString())).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
  const [code] = await once(socket, 'close');
  expect(code).toBe(1000);
});

test('large events arrive complete and in order, in every format', async () => {
  const names = Array.from({ length: 6 }, (_, at) => `large-${at}`);
  const selected = `${watch}&labelSelector=large`;
  const text = open(selected);
  const binary = open(selected, { headers: { accept: 'application/vnd.kubernetes.protobuf' } });
  const [nextText, nextBinary] = [messagesOf(text), messagesOf(binary)];
  await Promise.all([once(text, 'open'), once(binary, 'open')]);
  text.pause();
  binary.pause();
  for (const [at, name] of names.entries()) {
    const object = configMap(name, { x: String(at).repeat(50_000 + 65_535 * at) });
    await configMaps().create({ ...object, metadata: { ...object.metadata, labels: { large: '' } } });
  }
  text.resume();
  binary.resume();
  for (const [at, name] of names.entries()) {
    const told = JSON.parse((await nextText()).bytes.toString());
    expect([told.object.metadata.name, told.object.data.x.length]).toEqual([name, 50_000 + 65_535 * at]);
    const { bytes, isBinary } = await nextBinary();
    expect(isBinary).toBe(true);
    // The fields of an event: its type, and an object with a length of three bytes before it.
    expect(bytes.subarray(0, 8).toString('latin1')).toBe('\n\x05ADDED\x12');
    expect(bytes.includes(name)).toBe(true);
    expect(bytes.length).toBeGreaterThan(50_000 + 65_535 * at);
  }
  text.terminate();
  binary.terminate();
});

test('a token may be sent as a subprotocol, and the other subprotocol is chosen', async () => {
  const credential = `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
  const socket = open(watch, { headers: { authorization: '' }, protocols: [credential, 'base64.binary.k8s.io'] });
  await once(socket, 'open');
  expect(socket.protocol).toBe('base64.binary.k8s.io');
  socket.close();
});

test.each<[string, Parameters<typeof open>[1] & { path?: string }, number]>([
  ['without an origin', { origin: '' }, 403],
  ['from a page with an opaque origin', { origin: 'null' }, 403],
  ['from an origin that is not a URL', { origin: 'example.com' }, 403],
  ['from an unreadable origin', { origin: 'http://%zz' }, 403],
  ['with several protocols', { protocols: ['a', 'b'] }, 400],
  ['with a protocol and an empty one', { headers: { 'sec-websocket-protocol': 'a, ' } }, 400],
  ['with an older WebSocket version', { protocolVersion: 8 }, 400],
  ['with a wrong token', { headers: { authorization: 'Bearer wrong' } }, 401],
  ['from an invalid resource version', { path: `${watch}&resourceVersion=abc` }, 500],
  ['of an unserved resource', { path: '/apis/none/v1/none?watch=true' }, 404],
])('a watch %s is refused like any request', async (_, { path = watch, ...options }, code) => {
  if (options.origin === '') Object.assign(options, { origin: undefined });
  const socket = open(path, options);
  const [error] = await once(socket, 'error');
  expect(error.message).toBe(`Unexpected server response: ${code}`);
});

const plainly = async (
  path: string,
  { method = 'GET', headers = {}, body = '' },
): Promise<{ readonly code: number | undefined; readonly text: string }> => {
  const sent = httpsRequest(`${server.url}${path}`, {
    method,
    rejectUnauthorized: false,
    headers: { authorization: `Bearer ${token}`, connection: 'Upgrade', ...headers },
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { code: response.statusCode, text };
};

test('an upgrade of a request other than a watch, or to an unknown protocol, is answered as usual', async () => {
  await configMaps().create(configMap('long', { x: 'x'.repeat(1_000_000) }));
  const list = await plainly('/api/v1/namespaces/default/configmaps', { headers: { upgrade: 'websocket' } });
  expect([list.code, JSON.parse(list.text).kind]).toEqual([200, 'ConfigMapList']);
  const lines = await plainly(`${watch}&timeoutSeconds=1`, { headers: { upgrade: 'h2c' } });
  expect([lines.code, JSON.parse(lines.text.split('\n')[0] ?? '').type]).toEqual([200, 'ADDED']);
});

test('an upgrade behind other requests of its connection is answered after them or ends it, and no other', async () => {
  const host = new URL(server.url ?? '');
  const asks = (path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`;
  const upgrade = asks('/healthz', 'Connection: Upgrade, close\r\nUpgrade: other\r\n');
  const received = async (write: (socket: TLSSocket) => Promise<void> | void): Promise<string> => {
    const socket = connect({ host: host.hostname, port: Number(host.port), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
    });
    socket.on('error', () => {});
    await write(socket);
    await once(socket, 'close');
    return text;
  };
  for (let i = 0; i < 5; i++) {
    await received((socket) => void socket.write(asks('/version') + upgrade));
    await received((socket) => {
      socket.write(asks('/version'));
      socket.write(upgrade);
    });
  }
  const one = await received(async (socket) => {
    socket.write(asks('/version'));
    await once(socket, 'data');
    socket.write(upgrade);
  });
  expect(one.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
});

test('a body before a possible upgrade is refused or read, and never lost', async () => {
  await configMaps().create(configMap('kept'));
  const body = JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] });
  const answer = await plainly('/api/v1/namespaces/default/configmaps/kept', {
    method: 'DELETE',
    headers: { upgrade: 'websocket', 'content-type': 'application/json', 'content-length': body.length },
    body,
  });
  // Newer versions of Node.js read the body.
  expect([200, 400]).toContain(answer.code);
  expect(await configMaps().get({ namespace: 'default', name: 'kept' })).toBeDefined();
});

test('a client that closes, vanishes or sends too much ends its watch only', async () => {
  const sockets = [open(watch), open(watch), open(watch), open(watch)];
  await Promise.all(sockets.map((socket) => once(socket, 'open')));
  const [leaving, gone, loud, staying] = sockets as [WebSocket, WebSocket, WebSocket, WebSocket];
  const next = messagesOf(staying);
  leaving.close(1000);
  gone.terminate();
  loud.send('x'.repeat(100_000));
  await Promise.all([leaving, gone, loud].map((socket) => once(socket, 'close')));
  await configMaps().create(configMap('later'));
  let told = '';
  while (!told.includes('"later"')) told = (await next()).bytes.toString();
  staying.ping();
  await once(staying, 'pong');
  staying.terminate();
});

test('a handshake that the WebSocket package refuses ends the stream of events', async () => {
  let accepted: Promise<Writable> | undefined;
  const plain = createPlainServer().on('upgrade', (request, socket, head) => {
    accepted = acceptWebSocket(request, { socket: socket as Socket, head, binary: false });
  });
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const sent = httpRequest({
    port: (plain.address() as AddressInfo).port,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': 'a b',
    },
  });
  sent.end();
  const [response] = await once(sent, 'response');
  response.resume();
  expect(response.statusCode).toBe(400);
  expect((await accepted)?.destroyed).toBe(true);
  plain.close();
});

test('a stopping server closes its WebSockets normally', async () => {
  const other = await createServer({
    listen: { port: 0 },
    controllers: [],
    staticTokens: 'secret,admin,1,"system:masters"\n',
  });
  const socket = new WebSocket(`${other.url?.replace('https', 'wss')}${watch}`, {
    rejectUnauthorized: false,
    origin,
    headers: { authorization: `Bearer ${token}` },
  });
  await once(socket, 'open');
  const closed = once(socket, 'close');
  await other.stop();
  expect((await closed)[0]).toBe(1000);
});
