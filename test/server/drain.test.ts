import type { IncomingHttpHeaders } from 'node:http';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createServer } from '../../src/embed.js';
import { systemClock } from '../../src/runtime/clock.js';
import { eventually } from '../../src/testing/until.js';
import { configMap, configMaps, keyOfConfigMap, runningServer } from './running-server.js';

/** Follows an HTTP/2 request. */
function follow(session: ClientHttp2Session, headers: Record<string, string>) {
  const stream: ClientHttp2Stream = session.request(headers);
  const seen: { code: unknown; text: string; end: string } = { code: undefined, text: '', end: '' };
  stream.on('response', (response: IncomingHttpHeaders) => {
    seen.code = response[':status'];
  });
  stream.on('data', (chunk) => (seen.text += chunk));
  stream.on('end', () => (seen.end = 'clean'));
  stream.on('error', (error) => (seen.end = error.message));
  return seen;
}

test('a stopping server ends watches, finishes requests and refuses new ones', async () => {
  const server = await runningServer();
  const { ask, store, headersOf } = server;
  const session = server.http2();
  let goaway: number | undefined;
  session.on('goaway', (code) => (goaway = code));
  const watched = follow(session, { ':path': `${configMaps}?watch=1`, ...headersOf('alice') });
  const overHttp1 = ask('alice', `GET ${configMaps}?watch=1`);
  store.hold(keyOfConfigMap('slow'));
  const slow = follow(session, { ':path': `${configMaps}/slow`, ...headersOf('alice') });
  const slowToo = ask('alice', `GET ${configMaps}/slow`);
  await eventually(
    () => [watched.code, store.waiting],
    ([code, waiting]) => code === 200 && waiting === 2,
  );

  const stopped = server.server.stop();
  await eventually(
    () => watched.end,
    (end) => end !== '',
  );
  expect(watched.end).toBe('clean');
  expect((await overHttp1).code).toBe(200);
  expect(
    await eventually(
      () => goaway,
      (code) => code !== undefined,
    ),
  ).toBe(0);
  await expect(ask('alice', 'GET /version', undefined, { agent: false })).rejects.toThrow('ECONNREFUSED');
  expect([slow.code, slow.end]).toEqual([undefined, '']);

  store.release();
  const { code, headers } = await slowToo;
  expect([code, headers.connection]).toEqual([404, 'close']);
  await eventually(
    () => slow.end,
    (end) => end !== '',
  );
  expect([slow.code, slow.end]).toEqual([404, 'clean']);
  await stopped;
});

test('a request of many steps is completed while the server stops', async () => {
  const server = await runningServer();
  for (const name of ['a', 'b', 'c']) await server.ask('alice', `POST ${configMaps}`, configMap(name));
  server.store.hold(keyOfConfigMap('a'));
  const deleted = server.ask('alice', `DELETE ${configMaps}`);
  await eventually(
    () => server.store.waiting,
    (waiting) => waiting === 1,
  );
  const stopped = server.server.stop();
  server.store.release();
  expect((await deleted).code).toBe(200);
  await stopped;
});

test('a request that does not finish in time is cut off', async () => {
  const server = await runningServer({ graceMs: 30 });
  server.store.hold(keyOfConfigMap('slow'));
  const slow = server.ask('alice', `GET ${configMaps}/slow`);
  slow.catch(() => {});
  await eventually(
    () => server.store.waiting,
    (waiting) => waiting === 1,
  );
  await server.server.stop();
  await expect(slow).rejects.toThrow('socket hang up');
});

test('during a stop, a connection ends with its pending response, and later requests go elsewhere', async () => {
  const server = await runningServer();
  const { store, headersOf } = server;
  const session = server.http2();
  await new Promise((resolve) => session.once('connect', resolve));
  store.hold(keyOfConfigMap('slow'));
  const pipeline = await rawConnection(server.url);
  pipeline.send(
    `GET ${configMaps}/slow HTTP/1.1\r\nhost: a\r\nauthorization: ${headersOf('alice')['authorization']}\r\n\r\n`,
  );
  await eventually(
    () => store.waiting,
    (waiting) => waiting === 1,
  );
  const stopped = server.server.stop();
  pipeline.send('GET /readyz HTTP/1.1\r\nhost: a\r\n\r\nGET /version HTTP/1.1\r\nhost: a\r\n\r\n');
  store.release();
  await stopped;
  // The first response ends the connection.
  expect(pipeline.text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
  session.destroy();
});

test('with a shutdown delay, a server keeps serving for a while but is not ready', async () => {
  const waits: number[] = [];
  let goOn = (): void => {};
  const clock = {
    ...systemClock,
    sleep: (milliseconds: number, signal?: AbortSignal): Promise<void> => {
      if (milliseconds !== 12_345) return systemClock.sleep(milliseconds, signal);
      waits.push(milliseconds);
      return new Promise((resolve) => (goOn = resolve));
    },
  };
  const server = await runningServer({ clock, shutdownDelayMs: 12_345 });
  const { ask } = server;
  const stopped = server.server.stop();
  expect(waits).toEqual([12_345]);
  expect((await ask('alice', `GET ${configMaps}`)).code).toBe(200);
  expect((await ask('alice', 'GET /livez')).code).toBe(200);
  const { code, text } = await ask('alice', 'GET /readyz');
  expect(code).toBe(500);
  expect(text).toContain('[-]shutdown failed: reason withheld\nreadyz check failed\n');
  goOn();
  await stopped;
});

/** Opens a TLS connection for arbitrary bytes. */
async function rawConnection(url: string) {
  const { connect } = await import('node:tls');
  const { port } = new URL(url);
  const socket = connect({
    host: '127.0.0.1',
    port: Number(port),
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  });
  let text = '';
  socket.on('data', (chunk) => (text += chunk));
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  return { send: (bytes: string) => void socket.write(bytes), text: () => text };
}

test('a server whose start fails after its port was opened closes it', async () => {
  let port = '';
  const onListening = async ({ url }: { readonly url: string }): Promise<never> => {
    ({ port } = new URL(url));
    throw new Error('no space left');
  };
  await expect(createServer({ controllers: [], listen: {}, onListening })).rejects.toThrow('no space left');
  const refused = await new Promise<NodeJS.ErrnoException>((resolve) =>
    connect(Number(port), '127.0.0.1').once('error', resolve),
  );
  expect(refused.code).toBe('ECONNREFUSED');
});
