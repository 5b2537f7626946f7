import { randomBytes } from 'node:crypto';
import { createServer as createPlainServer } from 'node:http';
import { connect, createServer, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { Catalogue } from '../../src/apiserver/catalogue.js';
import { RequestMetrics } from '../../src/apiserver/operations/request-metrics.js';
import { RequestTracker } from '../../src/apiserver/operations/request-tracker.js';
import type { Body } from '../../src/apiserver/represent.js';
import type { ApiRequest, ApiResponse } from '../../src/apiserver/request.js';
import type { Exchange } from '../../src/http/exchange.js';
import { handleExchange } from '../../src/http/handle-exchange.js';
import { Http1Exchange } from '../../src/http/http1-exchange.js';
import { Http2Exchange } from '../../src/http/http2-exchange.js';
import { sendCompressed } from '../../src/http/send.js';
import type { Clock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';
import { collectGarbage } from '../collect-garbage.js';

const chunkBytes = 65_536;

/** A long body that counts how many of its chunks were generated. */
function counted(count: number): Body & { readonly made: () => number } {
  let made = 0;
  function* chunks(): Generator<Buffer, void> {
    while (made < count) yield Buffer.alloc(chunkBytes, 65 + (made++ % 26));
  }
  return { length: count * chunkBytes, chunks: chunks(), made: () => made };
}

const stops: (() => void)[] = [];
const stopAll = (): void => {
  for (const stop of stops.splice(0)) stop();
};
afterEach(stopAll);

const asked = (body: Body) =>
  answered((exchange) => exchange.send(200, { 'Content-Length': body.length }, body) ?? Promise.resolve());

interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

async function answered(
  answer: (exchange: Exchange) => Promise<void>,
  { headers = {}, clock = new FakeClock() }: Asking = {},
) {
  const server = createServer();
  let answering: Promise<void> | undefined;
  let outgoing: ServerHttp2Stream | undefined;
  server.on('stream', (stream: ServerHttp2Stream, sent) => {
    stream.on('error', () => {});
    outgoing = stream;
    answering = answer(new Http2Exchange(stream, sent, [], clock));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  stops.push(() => {
    session.destroy();
    server.close();
  });
  const stream = session.request({ ':path': '/', ...headers });
  await new Promise((resolve) => stream.once('response', resolve));
  return { stream, session, outgoing, sent: () => answering ?? Promise.reject(new Error('nothing was sent')) };
}

describe('a long response', () => {
  test('is produced as it is read, and arrives complete', async () => {
    const body = counted(400);
    const { stream, sent } = await asked(body);
    await new Promise((resolve) => setImmediate(resolve));
    expect(body.made()).toBeLessThan(50);
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    await sent();
    expect(body.made()).toBe(400);
    expect(Buffer.concat(chunks).equals(Buffer.concat([...counted(400).chunks]))).toBe(true);
  });

  test('is compressed as it is read, and given up when its reader leaves', async () => {
    const random = Array.from({ length: 200 }, () => randomBytes(chunkBytes));
    let made = 0;
    function* chunks(): Generator<Buffer, void> {
      for (const chunk of random) {
        made++;
        yield chunk;
      }
    }
    const result = { type: 'bytes', code: 200, bytes: Buffer.concat(random), contentType: 'text/plain' } as const;
    const whole = { length: random.length * chunkBytes, chunks: { [Symbol.iterator]: chunks } };
    const compress = (exchange: Exchange) => sendCompressed(exchange, result.code, {}, whole).then(() => {});
    const reading = await answered(compress);
    await eventually(async () => reading.outgoing?.writableNeedDrain === true, Boolean);
    expect(made).toBeLessThan(100);
    const read: Buffer[] = [];
    for await (const chunk of reading.stream) read.push(chunk as Buffer);
    await reading.sent();
    expect(gunzipSync(Buffer.concat(read)).equals(result.bytes)).toBe(true);
    made = 0;
    const gone = await answered(compress);
    gone.session.destroy();
    await gone.sent();
    expect(made).toBeLessThan(100);
  });

  test('is given up when its reader leaves', async () => {
    const body = counted(400);
    const { session, sent } = await asked(body);
    session.destroy();
    await sent();
    expect(body.made()).toBeLessThan(50);
  });

  test('is not kept in memory after its connection has ended', async () => {
    const gone = await (async () => {
      const { sent, outgoing } = await asked(counted(400));
      outgoing?.session?.destroy();
      stopAll();
      await sent();
      return new WeakRef(outgoing as object);
    })();
    const isGone = (): boolean => {
      collectGarbage();
      return gone.deref() === undefined;
    };
    await expect.poll(isGone).toBe(true);
  });

  test('is aborted and counted when nobody reads it', async () => {
    const metrics = openMetrics();
    const clock = new FakeClock();
    const operations = { clock, metrics: new RequestMetrics(metrics, new Catalogue([])), closing: () => false };
    const response: ApiResponse = {
      result: { type: 'bytes', code: 200, bytes: Buffer.alloc(400 * chunkBytes), contentType: 'text/plain' },
      warnings: [],
      representation: { mediaType: 'json', pretty: false },
    };
    const parts = {
      handle: async (request: ApiRequest) => new RequestTracker(operations, request).tracked(response),
      ...{ clock, log: silentLogger, stopping: new AbortController().signal },
    };
    const { outgoing, stream, sent } = await answered((exchange) => handleExchange(parts, exchange), { clock });
    const failed = new Promise((resolve) => stream.once('error', resolve));
    await eventually(async () => outgoing?.writableNeedDrain === true, Boolean);
    await clock.advance(30_000);
    await sent();
    expect(await failed).toMatchObject({ message: 'Stream closed with error code NGHTTP2_INTERNAL_ERROR' });
    expect((await metrics.expose()).text).toMatch(/^apiserver_request_aborts_total\{verb="GET",.*\} 1$/m);
  });
});

test('long responses over HTTP/1.1 arrive complete, one after another', async () => {
  const server = createPlainServer((request, response) => {
    const body = counted(5);
    void new Http1Exchange(request, response, new FakeClock()).send(200, { 'Content-Length': body.length }, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connectPlain((server.address() as AddressInfo).port, '127.0.0.1');
  const asked = 'GET / HTTP/1.1\r\nhost: a\r\n';
  socket.write(`${`${asked}\r\n`.repeat(9)}${asked}connection: close\r\n\r\n`);
  let bytes = 0;
  for await (const chunk of socket) bytes += (chunk as Buffer).length;
  expect(bytes).toBeGreaterThan(10 * 5 * chunkBytes);
  server.close();
});

test.each(['goes on', 'has ended'])('a response that %s can be aborted although nobody reads it', async (state) => {
  const { outgoing, stream } = await answered(async (exchange) => {
    const out = exchange.stream(200, {});
    out.write(Buffer.alloc(400 * chunkBytes));
    if (state === 'has ended') out.end();
    setImmediate(() => exchange.abort());
  });
  const error = await new Promise((resolve) => stream.once('error', resolve));
  expect(error).toMatchObject({ message: 'Stream closed with error code NGHTTP2_INTERNAL_ERROR' });
  expect(outgoing?.destroyed).toBe(true);
});

test('header values over HTTP/1.1 are sent as bytes, also before a streamed response', async () => {
  const server = createPlainServer((request, response) => {
    const exchange = new Http1Exchange(request, response, new FakeClock());
    const headers = { Warning: Buffer.from('299 - "für"').toString('latin1') };
    if (request.url === '/watch') exchange.stream(200, headers).end();
    else void exchange.send(200, headers, { length: 0, chunks: [] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connectPlain((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\nGET /watch HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString('utf8');
  expect(text.match(/299 - .*/g)).toEqual(['299 - "für"', '299 - "für"']);
  server.close();
});

test('header values are decoded as UTF-8', async () => {
  let read: string | undefined;
  const parts = {
    async handle(request: ApiRequest): Promise<ApiResponse> {
      read = request.header('user-agent');
      return {
        result: { type: 'bytes', code: 200, bytes: Buffer.alloc(0), contentType: 'text/plain' },
        warnings: [],
        representation: { mediaType: 'json', pretty: false },
      };
    },
    ...{ clock: new FakeClock(), log: silentLogger, stopping: new AbortController().signal },
  };
  const name = Buffer.from('é/1').toString('latin1');
  const { sent } = await answered((exchange) => handleExchange(parts, exchange), { headers: { 'user-agent': name } });
  await sent();
  expect(read).toBe('é/1');
});

test.each([
  ['small', 100, 1],
  ['large', 20_000, 5],
])('simultaneous requests with a %s head are handled in as few turns as they need', async (_, length, turns) => {
  const turnsTaken = new Set<number>();
  let turn = 0;
  const count = (): void => {
    turn++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  stops.push(() => clearImmediate(counting));
  const parts = {
    async handle(): Promise<ApiResponse> {
      turnsTaken.add(turn);
      // The time that parsing a selector of that length takes on a slow machine.
      const begun = performance.now();
      while (performance.now() - begun < 10);
      return {
        result: { type: 'bytes', code: 200, bytes: Buffer.alloc(0), contentType: 'text/plain' },
        warnings: [],
        representation: { mediaType: 'json', pretty: false },
      };
    },
    ...{ clock: new FakeClock(), log: silentLogger, stopping: new AbortController().signal },
  };
  const exchange = {
    version: 1,
    method: 'GET',
    url: `/api?labelSelector=${'a'.repeat(length)}`,
    rawHeaders: [],
    header: () => undefined,
    peer: { certificates: [], address: '' },
    onClosed: () => {},
    send: () => undefined,
  } as unknown as Exchange;
  await Promise.all(Array.from({ length: 5 }, () => handleExchange(parts, exchange)));
  expect(turnsTaken.size).toBe(turns);
});
