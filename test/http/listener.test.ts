import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2, constants, type OutgoingHttpHeaders, type Settings } from 'node:http2';
import { Agent, get } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Backpressure } from '../../src/apiserver/backpressure.js';
import type { ApiRequest, ApiResponse, WatchItem } from '../../src/apiserver/request.js';
import type { ConnectionLimits } from '../../src/http/connection-limits.js';
import { Listener, type ListenerOptions } from '../../src/http/listener.js';
import { configMaps } from '../../src/resources/configmaps/definition.js';
import { type Clock, systemClock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { Observable } from '../../src/runtime/observable.js';
import { openCredentials } from '../../src/server/credentials.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';
import { attributes, extensions, forge } from '../auth/forge.js';
import { frame, framesIn, preface } from './frames.js';

let serving: { readonly certificate: string; readonly key: string };
beforeAll(async () => {
  const credentials = await openCredentials({
    directory: undefined,
    hosts: [],
    reliedOn: [],
    isNew: true,
    clock: systemClock,
    log: silentLogger,
  });
  serving = (await credentials.forListening()).serving;
});

const open: { stop(): Promise<void> }[] = [];
afterAll(async () => {
  for (const { stop } of open) await stop();
});

/** A grace period in milliseconds, so long that a test that waits for it would time out. */
const longerThanTests = 3_600_000;

/** Answers every request with its path; reads the body if there is one. */
async function listening(
  limits: Partial<ConnectionLimits> = {},
  answer: Partial<ApiResponse> | ((request: ApiRequest) => Partial<ApiResponse> | Promise<Partial<ApiResponse>>) = {},
  clock: Clock = systemClock,
  options: Pick<ListenerOptions, 'http2'> = {},
) {
  let failedHandshakes = 0;
  const warnings: string[] = [];
  const listener = new Listener(
    {
      handle: async (request) => {
        if (request.method === 'PUT') await request.body();
        const representation = { mediaType: 'json', pretty: false } as const;
        return {
          result: { type: 'text', code: 200, text: request.info.path },
          warnings: [],
          representation,
          ...(typeof answer === 'function' ? await answer(request) : answer),
        };
      },
      clock,
      log: { ...silentLogger, warn: (_, message) => void warnings.push(message) },
    },
    { ...serving, ...options, limits, onHandshakeFailed: () => failedHandshakes++ },
  );
  const port = await listener.listen({ host: '127.0.0.1', port: 0 });
  open.push({ stop: () => listener.stop(0) });
  return {
    port,
    stop: (graceMs: number) => listener.stop(graceMs),
    failedHandshakes: () => failedHandshakes,
    warnings,
    raw: (protocol: Protocol | readonly Protocol[], allowHalfOpen = false) =>
      rawConnection(port, [protocol].flat(), allowHalfOpen),
    http2: (settings: Settings = {}) => {
      const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, settings });
      session.on('error', () => {});
      return session;
    },
  };
}

type Protocol = 'h2' | 'http/1.1';

interface Raw {
  readonly socket: TLSSocket;
  send(bytes: string | Buffer): void;
  /** Everything received until the server closed the connection. */
  readonly all: Promise<Buffer>;
}

async function rawConnection(port: number, protocols: readonly Protocol[], allowHalfOpen: boolean): Promise<Raw> {
  const socket = connect({
    host: '127.0.0.1',
    port,
    rejectUnauthorized: false,
    ALPNProtocols: [...protocols],
    // Not in the type definitions.
    ...{ allowHalfOpen },
  });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => {});
  const all = new Promise<Buffer>((resolve) => socket.once('close', () => resolve(Buffer.concat(chunks))));
  await Promise.race([new Promise((resolve) => socket.once('secureConnect', resolve)), all]);
  return { socket, all, send: (bytes) => void socket.write(bytes) };
}

/** :method GET, :scheme https, :path /, :authority a */
const getRoot = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x61]);
/** The same with :method POST */
const postRoot = Buffer.from([0x83, 0x87, 0x84, 0x41, 0x01, 0x61]);
const cancel = Buffer.from([0, 0, 0, 8]);
/** Returns the code of the GOAWAY frame among the frames of a server. */
const goawayIn = (bytes: Buffer): number | undefined =>
  framesIn(bytes)
    .find(({ type }) => type === 7)
    ?.payload.readUInt32BE(4);

describe('HTTP/1.1', () => {
  const refused = (status: string): string =>
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`;

  test.each([
    ['a request that is not HTTP', 'HELLO\r\n\r\n', '400 Bad Request'],
    [
      'a long header',
      `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
      '431 Request Header Fields Too Large',
    ],
    ['a long URL', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, '431 Request Header Fields Too Large'],
  ])('%s is refused in plain text', async (_, bytes, status) => {
    const { raw } = await listening({ headerBytes: 16_384 });
    const connection = await raw('http/1.1');
    connection.send(bytes);
    expect((await connection.all).toString()).toBe(refused(status));
  });

  test.each([
    ['nothing', ''],
    ['half a header', 'GET / HTTP/1.1\r\nx'],
  ])('a client that sends %s is not waited for', async (_, bytes) => {
    // The handshake must be complete by then, also on a busy machine.
    const { raw } = await listening({ headersMs: 400 });
    const connection = await raw('http/1.1');
    connection.send(bytes);
    expect((await connection.all).toString()).toBe(refused('408 Request Timeout'));
  });

  test.each([
    ['https://a:1/b/c?d=e', '/b/c'],
    ['http://a?d=e', '/'],
    ['HTTP://a/b', '/b'],
  ])('a request target may include the host: %s', async (target, path) => {
    const { raw } = await listening();
    const connection = await raw('http/1.1');
    connection.send(`GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
    expect((await connection.all).toString()).toMatch(new RegExp(`^HTTP/1.1 200 OK.*\r\n${path}$`, 's'));
  });

  test('a malformed request is answered after all those before it', async () => {
    let answerSecond: () => void = () => {};
    const second = new Promise<void>((resolve) => {
      answerSecond = resolve;
    });
    const { raw } = await listening({}, async ({ info }) => {
      if (info.path === '/second') await second;
      return { result: { type: 'text', code: 200, text: info.path } };
    });
    const { socket, send, all } = await raw('http/1.1');
    send(['/first', '/second'].map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`).join(''));
    await new Promise((resolve) => socket.once('data', resolve));
    send('HELLO\r\n\r\n');
    setImmediate(answerSecond);
    expect((await all).toString().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test('pipelined requests are handled one after another', async () => {
    const order: string[] = [];
    const { raw } = await listening({}, async ({ info }) => {
      order.push(`begin ${info.path}`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`end ${info.path}`);
      return { result: { type: 'text', code: 200, text: info.path } };
    });
    const { send, all } = await raw('http/1.1');
    const head = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: a\r\n${more}\r\n`;
    send(head('/a') + head('/b') + head('/c', 'connection: close\r\n'));
    expect((await all).toString().match(/\/[abc]/g)).toEqual(['/a', '/b', '/c']);
    expect(order).toEqual(['/a', '/b', '/c'].flatMap((path) => [`begin ${path}`, `end ${path}`]));
  });

  test('requests that wait behind a long response end with their connection', async () => {
    let begun = 0;
    let ended = 0;
    const { raw, stop } = await listening({}, async () => {
      begun++;
      return { result: { type: 'text', code: 200, text: 'x'.repeat(20_000_000) }, onSettled: () => ended++ };
    });
    const { socket, send } = await raw('http/1.1');
    socket.pause();
    send('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(21));
    await eventually(
      async () => begun,
      (count) => count > 0,
    );
    socket.destroy();
    await stop(longerThanTests);
    expect([begun, ended]).toEqual([1, 1]);
  });

  const slowly = async ({ info }: ApiRequest) => {
    seen.push(info.path);
    if (info.path.startsWith('/slow')) await new Promise((resolve) => setTimeout(resolve, 50));
    return {
      result: { type: 'text', code: 200, text: info.path } as const,
      ...(info.path === '/slow-last' ? { headers: { Connection: 'close' } } : {}),
    };
  };
  const seen: string[] = [];
  const head = (path: string, more = 'host: a\r\n') => `GET ${path} HTTP/1.1\r\n${more}\r\n`;
  test.each([
    ['a refusal', head('/slow') + head('/bad', '') + head('/never'), ['/slow'], [200, 400]],
    ['a final response', head('/slow-last') + head('/never'), ['/slow-last'], [200]],
    [
      'too many requests',
      Array.from({ length: 150 }, (_, at) => head(at === 0 ? '/slow' : `/${at}`)).join(''),
      undefined,
      undefined,
    ],
  ])('behind %s no request is handled or waited for', async (_, sent, carriedOut, codes) => {
    seen.length = 0;
    const { raw, stop } = await listening({}, slowly);
    const { send, all } = await raw('http/1.1');
    send(sent);
    const told = [...(await all).toString().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code));
    expect(told).toEqual(codes ?? [...Array.from({ length: 100 }, () => 200), 429]);
    expect(seen.length).toBe(carriedOut?.length ?? 100);
    await stop(longerThanTests);
  });

  test('a client that leaves while a refusal waits for its turn leaves nothing behind', async () => {
    const { raw, stop } = await listening({}, slowly);
    const { socket, send } = await raw('http/1.1');
    send(head('/slow') + head('/bad', ''));
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    await stop(longerThanTests);
  });

  test.each(['gzip, chunked', 'identity'])('a body with the transfer coding %s is not read', async (coding) => {
    const { raw } = await listening();
    const { send, all } = await raw('http/1.1');
    send(`PUT / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: ${coding}\r\n\r\n2\r\nab\r\n0\r\n\r\n`);
    expect((await all).toString()).toMatch(/^HTTP\/1\.1 (?:501|400) /);
  });

  test('a body that arrives during a response is read after it, however many TLS records it has', async () => {
    const long = 8_000_000;
    const body = 40_000;
    const { raw } = await listening({}, async (request) => {
      const sent = request.method === 'PUT' ? await request.body() : undefined;
      const text = sent !== undefined && 'bytes' in sent ? `read ${sent.bytes.length}.` : 'x'.repeat(long);
      return { result: { type: 'text', code: 200, text } };
    });
    const { socket, send, all } = await raw('http/1.1');
    const put = (header = ''): string =>
      `PUT / HTTP/1.1\r\nhost: a\r\n${header}content-length: ${body}\r\n\r\n${'y'.repeat(body)}`;
    socket.pause();
    send('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await eventually(
      () => socket.readableLength,
      (length) => length > 0,
    );
    send(`${put()}${put('connection: close\r\n')}`);
    await new Promise(setImmediate);
    socket.resume();
    const text = (await all).toString();
    expect(text.match(/read \d+\./g)).toEqual([`read ${body}.`, `read ${body}.`]);
    expect(text.length).toBeGreaterThan(long);
  });

  test('an idle connection is closed', async () => {
    const { raw } = await listening({ idleMs: 10 });
    const connection = await raw('http/1.1');
    connection.send('GET /a HTTP/1.1\r\nhost: a\r\n\r\n');
    expect((await connection.all).toString()).toMatch(/^HTTP\/1\.1 200 OK.*\/a$/s);
  });

  test('a large unread body ends the connection', async () => {
    const { raw } = await listening();
    const connection = await raw('http/1.1');
    connection.send(`POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: ${1e9}\r\n\r\n${'x'.repeat(1_000)}`);
    expect((await connection.all).toString()).toMatch(/connection: close/i);
  });

  describe.each([
    [
      'a body that is not read',
      `POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: ${1e9}\r\n\r\n`,
      /^HTTP\/1\.1 200 .*\/a$/s,
    ],
    ['a long header', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(200_000)}`, /^HTTP\/1\.1 431 /],
    ['no valid request', 'HELLO\r\n\r\n', /^HTTP\/1\.1 400 /],
  ])('a client that keeps sending %s', (_, sent, told) => {
    /** Waits until the connection is reset: a client notices that only when it sends twice. */
    const untilReset = ({ socket }: Raw): Promise<boolean> =>
      eventually(
        () => socket.destroyed || !socket.write('x'),
        () => socket.destroyed,
      );

    /** Opens a connection on which the server has sent its last response. */
    async function refused() {
      const clock = new FakeClock();
      const { raw } = await listening({}, {}, clock);
      const connection = await raw('http/1.1', true);
      const { socket, send } = connection;
      let error: Error | undefined;
      socket.on('error', (why) => {
        error = why;
      });
      const isToldAll = new Promise((resolve) => socket.once('end', resolve));
      send(sent);
      await isToldAll;
      for (let more = 0; more < 20; more++)
        await new Promise((resolve) =>
          socket.write(Buffer.alloc(200_000, 'GET /b HTTP/1.1\r\nhost: a\r\n\r\n'), resolve),
        );
      expect(error).toBeUndefined();
      return { ...connection, clock };
    }

    test('can read the response, and then the connection ends', async () => {
      const { socket, all } = await refused();
      socket.end();
      expect((await all).toString()).toMatch(told);
    });

    test('is disconnected after a while', async () => {
      const connection = await refused();
      await connection.clock.advance(500);
      await untilReset(connection);
      expect((await connection.all).toString()).toMatch(told);
    });
  });

  const expecting = (expectation: string, method: string, version = '1.1'): string =>
    `${method} /a HTTP/${version}\r\nhost: a\r\nexpect: ${expectation}\r\ncontent-length: 5\r\n\r\n`;

  test('a client that expects 100-continue gets it once the body is wanted', async () => {
    const { raw } = await listening({}, async (request) => {
      const { bytes } = (await request.body()) as { readonly bytes: Buffer };
      return { result: { type: 'text', code: 200, text: `read ${bytes.length}.` } };
    });
    const { socket, send, all } = await raw('http/1.1');
    send(expecting('100-Continue', 'PUT'));
    const asked = await new Promise((resolve) => socket.once('data', resolve));
    expect(String(asked)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    send(`hello${expecting('100-continue', 'PUT')}hello${expecting('100-continue', 'PUT', '1.0')}hello`);
    expect((await all).toString().match(/ 100 |read 5\./g)).toEqual([
      ' 100 ',
      'read 5.',
      ' 100 ',
      'read 5.',
      'read 5.',
    ]);
  });

  test('a client that expects 100-continue for an unwanted body does not get it, and the connection ends', async () => {
    const { raw } = await listening();
    const { send, all } = await raw('http/1.1');
    send(expecting('100-continue', 'POST'));
    expect((await all).toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close.*\r\n\/a$/is);
  });

  test('a client that expects 100-continue without a body keeps its connection', async () => {
    const { raw } = await listening();
    const { send, all } = await raw('http/1.1');
    const head = 'HTTP/1.1\r\nhost: a\r\n';
    send(`GET /a ${head}expect: 100-continue\r\n\r\nGET /b ${head}connection: close\r\n\r\n`);
    expect((await all).toString().match(/200 OK|\n\/[ab]/g)).toEqual(['200 OK', '\n/a', '200 OK', '\n/b']);
  });

  test('a header counts however many precede it', async () => {
    const { raw } = await listening({}, async (request) => ({
      result: { type: 'text', code: 200, text: `acts for ${request.header('impersonate-user')}.` },
    }));
    const { send, all } = await raw('http/1.1');
    const many = 'a: 1\r\n'.repeat(2_000);
    send(`GET /a HTTP/1.1\r\nhost: a\r\n${many}impersonate-user: nobody\r\nconnection: close\r\n\r\n`);
    expect((await all).toString()).toContain('acts for nobody.');
  });

  test.each(['1.1', '1.0'])(
    'another expectation gets 417, and nothing is read behind it (HTTP/%s)',
    async (version) => {
      const { raw } = await listening({}, () => expect.unreachable());
      const { send, all } = await raw('http/1.1');
      send(`${expecting('wonders', 'POST', version)}hello${expecting('100-continue', 'POST')}`);
      expect((await all).toString()).toMatch(
        /^HTTP\/1\.1 417 Expectation Failed\r\ncontent-length: 0\r\nconnection: close\r\n[^\n]*\n\r\n$/,
      );
    },
  );

  test('a HEAD request for a watch gets the headers without a watch', async () => {
    const events = new Observable<WatchItem>(() => expect.unreachable());
    const { raw } = await listening({}, () => ({
      result: { type: 'watch', definition: configMaps, backpressure: new Backpressure(), events },
    }));
    const { send, all } = await raw('http/1.1');
    send('HEAD /api/v1/configmaps?watch=1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    expect((await all).toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:[^\r\n]+\r\n)+\r\n$/);
  });

  test('a stop does not cut off a watch whose last event is being written', async () => {
    let say: (item: WatchItem) => void = () => {};
    const { raw, stop } = await listening({}, ({ signal }) => ({
      result: {
        type: 'watch',
        definition: configMaps,
        backpressure: new Backpressure(),
        events: new Observable((subscriber) => {
          say = (item) => subscriber.next(item);
          signal.addEventListener('abort', () => subscriber.complete());
        }),
      },
    }));
    const { socket, send, all } = await raw('http/1.1');
    send('GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nhost: a\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    say({ type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: false });
    // By then the event was handed to the connection, which has not yet reported that it is written.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await stop(10_000);
    expect((await all).toString()).toMatch(/"BOOKMARK".*\r\n0\r\n\r\n$/s);
  });

  test('a client without TLS is counted', async () => {
    const { port, failedHandshakes } = await listening();
    const { connect: connectTcp } = await import('node:net');
    connectTcp(port, '127.0.0.1')
      .on('error', () => {})
      .end('GET / HTTP/1.1\r\n\r\n');
    await eventually(failedHandshakes, (count) => count === 1);
  });

  test('connections beyond the limit are closed at once', async () => {
    const { raw } = await listening({ connections: 2 });
    const kept = [await raw('http/1.1'), await raw('http/1.1')];
    expect((await (await raw('http/1.1')).all).length).toBe(0);
    expect(kept.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
    for (const { socket } of kept) socket.destroy();
  });
});

describe('work on a request ends', () => {
  /** Starts requests that run until their signal aborts. */
  async function working(clock?: Clock) {
    let begun = 0;
    let ended = 0;
    const work = async ({ signal }: ApiRequest) => {
      begun++;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ended++;
      return {};
    };
    const listener = await listening({}, work, clock);
    const isAtWork = (): Promise<number> =>
      eventually(
        () => begun,
        (count) => count === 1,
      );
    return { ...listener, isAtWork, ended: () => ended };
  }

  test('when the connection is closed over HTTP/1.1', async () => {
    const { raw, isAtWork, ended } = await working();
    const { socket, send } = await raw('http/1.1');
    send('GET /a HTTP/1.1\r\nhost: a\r\n\r\n');
    await isAtWork();
    socket.destroy();
    await eventually(ended, (count) => count === 1);
  });

  test('when the connection is closed over HTTP/2', async () => {
    const { http2, isAtWork, ended } = await working();
    const session = http2();
    session.request({ ':path': '/a' }).on('error', () => {});
    await isAtWork();
    session.destroy();
    await eventually(ended, (count) => count === 1);
  });

  test('when the request is cancelled over HTTP/2', async () => {
    const { http2, isAtWork, ended } = await working();
    const session = http2();
    const stream = session.request({ ':path': '/a' });
    await isAtWork();
    stream.close(constants.NGHTTP2_CANCEL);
    await eventually(ended, (count) => count === 1);
    session.close();
  });

  test.each([
    ['h2', undefined],
    ['http/1.1', undefined],
    ['http/1.1', new FakeClock()],
  ] as const)('before a stop that cuts it off does, even if the clock does not move (%s)', async (protocol, clock) => {
    const { http2, raw, stop, isAtWork, ended } = await working(clock);
    if (protocol === 'h2')
      http2()
        .request({ ':path': '/a' })
        .on('error', () => {});
    else (await raw(protocol)).send('GET /a HTTP/1.1\r\nhost: a\r\n\r\n');
    await isAtWork();
    await stop(10);
    expect(ended()).toBe(1);
  });
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['half of the first message', Buffer.from([0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3])],
])('a handshake with %s received is not waited for', async (_, bytes) => {
  const { port, failedHandshakes } = await listening({ headersMs: 40 });
  const socket = connectPlain(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve).resume());
  expect(failedHandshakes()).toBe(1);
});

describe('HTTP/2', () => {
  test('a header counts, however many there are', async () => {
    const { http2 } = await listening({}, async (request) => ({
      result: { type: 'text', code: 200, text: `acts for ${request.header('impersonate-user')}.` },
    }));
    const session = http2();
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`a${at}`, '1']));
    const stream = session.request({ ':path': '/', ...many, 'impersonate-user': 'nobody' });
    stream.setEncoding('utf8');
    expect(await stream.reduce((text: string, chunk: string) => text + chunk, '')).toBe('acts for nobody.');
    session.close();
  });

  test('a client that expects 100-continue gets it', async () => {
    const { http2 } = await listening({}, async (request) => {
      const { bytes } = await request.body();
      return { result: { type: 'text', code: 200, text: `read ${bytes.length}` } };
    });
    const session = http2();
    const stream = session.request({ ':method': 'POST', ':path': '/', expect: '100-continue' }, { endStream: false });
    await new Promise((resolve) => stream.once('continue', resolve));
    stream.end('hello');
    expect((await stream.toArray()).join('')).toBe('read 5');
    session.destroy();
  });

  test.each([
    ['the client cancels the request', ({ send }: Raw) => send(frame(3, 0, 1, cancel))],
    ['the client resets the stream without an error', ({ send }: Raw) => send(frame(3, 0, 1, Buffer.alloc(4)))],
    ['the client sends GOAWAY and disconnects', ({ socket }: Raw) => socket.end(frame(7, 0, 0, Buffer.alloc(8)))],
    ['the connection breaks', ({ socket }: Raw) => socket.destroy()],
  ])('an incomplete body is not taken for a complete one when %s', async (_, breakOff) => {
    const bodies: Promise<unknown>[] = [];
    const { raw } = await listening({}, async (request) => {
      bodies.push(request.body());
      await Promise.allSettled(bodies);
      return {};
    });
    const connection = await raw('h2');
    connection.send(Buffer.concat([preface, frame(1, 4, 1, postRoot), frame(0, 0, 1, Buffer.from('half of'))]));
    await eventually(async () => bodies.length, Boolean);
    breakOff(connection);
    await expect(bodies[0]).rejects.toThrow('closed before the body was complete');
    connection.socket.destroy();
  });

  test('a path is decoded as UTF-8, and empty if missing', async () => {
    const { http2 } = await listening({}, ({ info, uri }) => ({
      result: { type: 'text', code: 200, text: JSON.stringify([info.path, uri]) },
    }));
    const session = http2();
    const answer = async (headers: OutgoingHttpHeaders) => (await session.request(headers).toArray()).join('');
    expect(await answer({ ':path': Buffer.from('/é?x=ü').toString('latin1') })).toBe('["/é","/é?x=ü"]');
    expect(await answer({ ':path': '/a\xff' })).toBe('["/a\ufffd","/a\ufffd"]');
    expect(await answer({ ':method': 'CONNECT', ':authority': 'a' })).toBe('["",""]');
    session.destroy();
  });

  test('a final response is followed by GOAWAY', async () => {
    const { http2 } = await listening({}, { headers: { Connection: 'close' } });
    const session = http2();
    const stream = session.request({ ':path': '/' });
    const gone = new Promise((resolve) => session.once('goaway', resolve));
    expect((await stream.toArray()).join('')).toBe('/');
    expect(await gone).toBe(0);
    session.destroy();
  });

  test('headers beyond the limit are refused however well they are compressed', async () => {
    const { raw } = await listening({ headerBytes: 131_072, idleMs: 200 });
    const connection = await raw('h2');
    connection.send(preface);
    // The server's limits apply once they are acknowledged.
    connection.send(frame(4, 1, 0, Buffer.alloc(0)));
    // `x: aaa…` of 2,000 characters, sent once and then by its index.
    const told = Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xd1, 0x0e]), Buffer.alloc(2_000, 'a')]);
    for (const [at, count] of [50, 70, 50].entries()) {
      // Each request adds its `:authority` to the table before it.
      const number = 0xbe + at;
      const first = at === 0 ? told : Buffer.from([number]);
      const fields = Buffer.concat([getRoot, first, Buffer.alloc(count - 1, number)]);
      connection.send(frame(1, 5, 2 * at + 1, fields));
    }
    const answers = framesIn(await connection.all).filter(({ type }) => type === 1);
    const isOk = 0x88;
    // A refusal does not wait for other responses.
    const sorted = answers.toSorted((a, b) => a.stream - b.stream);
    expect(sorted.map(({ payload }) => payload[0] === isOk)).toEqual([true, false, true]);
  });

  test('a connection without requests is closed, even if it sends pings', async () => {
    const { raw } = await listening({ idleMs: 60 });
    const connection = await raw('h2');
    connection.send(preface);
    const pings = setInterval(() => connection.send(frame(6, 0, 0, randomBytes(8))), 10);
    expect(goawayIn(await connection.all)).toBe(0);
    clearInterval(pings);
  });

  test('connections of clients that send garbage and leave are closed', async () => {
    const { port } = await listening({ idleMs: 60 });
    const sockets = (): number => process.getActiveResourcesInfo().filter((type) => type === 'TCPSocketWrap').length;
    const before = sockets();
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
        socket.on('error', () => {});
        await once(socket, 'secureConnect');
        socket.write('GET / HT');
        setImmediate(() => socket.destroy());
        await once(socket, 'close');
      }),
    );
    await eventually(sockets, (count) => count <= before);
  });

  test('a connection on which a response is not read is closed', async () => {
    const { http2 } = await listening({ idleMs: 60 });
    const session = http2({ initialWindowSize: 0 });
    const gone = new Promise((resolve) => session.once('close', resolve));
    const stream = session.request({ ':path': '/a' });
    stream.on('error', () => {});
    await new Promise((resolve) => stream.once('response', resolve));
    await gone;
  });

  test('an unknown client gets one response and a GOAWAY', async () => {
    const { http2 } = await listening({}, { unknownCaller: true });
    const session = http2();
    const gone = new Promise((resolve) => session.once('goaway', resolve));
    const stream = session.request({ ':path': '/a' });
    const headers = await new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve));
    expect([headers[':status'], headers['connection']]).toEqual([200, undefined]);
    stream.resume();
    expect(await gone).toBe(0);
  });

  test.each([
    ['an unknown client', { unknownCaller: true }, []],
    ['a client that sends GOAWAY', {}, [frame(7, 0, 0, Buffer.alloc(8))]],
  ])('requests of %s in one record are answered, and then the connection ends', async (_, answer, goodbye) => {
    const { raw } = await listening({}, answer);
    const connection = await raw('h2');
    const requests = Array.from({ length: 20 }, (_, at) => frame(1, 5, 2 * at + 1, getRoot));
    connection.send(Buffer.concat([preface, ...requests.slice(0, 1), ...goodbye, ...requests.slice(1)]));
    const sent = framesIn(await connection.all).map(({ type }) => type);
    expect(sent.filter((type) => type === 1)).toHaveLength(20);
    expect(sent).not.toContain(3);
    expect(sent).toContain(7);
  });

  test('the rest of a body that is not read is refused', async () => {
    const { http2 } = await listening();
    const session = http2();
    const stream = session.request({ ':method': 'POST', ':path': '/a' });
    stream.write('x');
    stream.resume();
    await new Promise((resolve) => stream.once('close', resolve));
    expect(stream.rstCode).toBe(0);
    session.close();
  });

  test('slowly read responses do not block other requests of the connection', async () => {
    const { http2 } = await listening({}, { result: { type: 'text', code: 200, text: 'x'.repeat(12_000_000) } });
    const session = http2();
    const statusOf = async (): Promise<unknown> => {
      const stream = session.request({ ':path': '/a' });
      const answer = new Promise<unknown>((resolve, reject) => {
        stream.once('response', (headers) => resolve(headers[':status']));
        stream.once('error', reject);
      });
      return answer;
    };
    for (let unread = 0; unread < 5; unread++) expect(await statusOf()).toBe(200);
    session.destroy();
  });

  test('rapid cancellation of requests ends the connection', async () => {
    const { raw, warnings } = await listening();
    const connection = await raw('h2');
    const taken = Array.from({ length: 3_000 }, (_, at) =>
      Buffer.concat([frame(1, 5, 2 * at + 1, getRoot), frame(3, 0, 2 * at + 1, cancel)]),
    );
    connection.send(Buffer.concat([preface, ...taken]));
    await connection.all;
    expect(connection.socket.destroyed).toBe(true);
    expect(warnings).toEqual(['connection closed: too many cancelled requests']);
  });

  test('a few cancelled requests do not end the connection, even if the clock is set back', async () => {
    let setBack = 0;
    const { raw } = await listening({}, {}, { ...systemClock, now: () => Date.now() - setBack });
    const connection = await raw('h2');
    connection.send(preface);
    const ping = frame(6, 0, 0, randomBytes(8));
    const answered = async (): Promise<void> => {
      connection.send(ping);
      const isAnswer = (data: Buffer): boolean => data.includes(ping.subarray(9));
      await new Promise<void>((resolve) => {
        connection.socket.on('data', (data) => isAnswer(data) && resolve()).once('close', resolve);
      });
    };
    for (const stream of [1, 3]) {
      connection.send(Buffer.concat([frame(1, 5, stream, getRoot), frame(3, 0, stream, cancel)]));
      await answered();
      await answered();
      setBack = 3_600_000;
    }
    expect(connection.socket.destroyed).toBe(false);
  });

  test.each([
    ['settings', frame(4, 0, 0)],
    ['pings', frame(6, 0, 0, Buffer.alloc(8))],
  ])('a flood of %s ends the connection', async (_, one) => {
    const { raw } = await listening();
    const connection = await raw('h2');
    connection.socket.pause();
    connection.send(preface);
    const many = Buffer.concat(Array.from({ length: 1_000 }, () => one));
    const closed = new Promise((resolve) => connection.socket.once('close', resolve));
    const flood = (): void => {
      if (connection.socket.destroyed) return;
      connection.socket.write(many, () => setImmediate(flood));
    };
    flood();
    await closed;
  });
});

describe('without HTTP/2', () => {
  const named = (request: ApiRequest) => ({
    result: { type: 'text', code: 200, text: `[${request.header('impersonate-user')}]` } as const,
  });
  const plain = () => listening({}, named, systemClock, { http2: false });

  test('a client that prefers HTTP/2 gets HTTP/1.1, with every header', async () => {
    const { raw, stop } = await plain();
    const { socket, send, all } = await raw(['h2', 'http/1.1']);
    expect(socket.alpnProtocol).toBe('http/1.1');
    send('GET / HTTP/1.1\r\nhost: a\r\nimpersonate-user: eve \r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await stop(20_000);
    expect((await all).toString()).toMatch(/^HTTP\/1\.1 200 .*\[eve\]$/s);
  });

  test('a header with a control character makes the request invalid', async () => {
    const { raw } = await plain();
    const { send, all } = await raw(['h2', 'http/1.1']);
    send('GET / HTTP/1.1\r\nhost: a\r\nimpersonate-user: eve\u0001\r\n\r\n');
    expect((await all).toString()).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('a client that only speaks HTTP/2 is refused in the handshake', async () => {
    const { http2, failedHandshakes } = await plain();
    const code = new Promise((resolve) => http2().once('error', (error) => resolve('code' in error && error.code)));
    expect(await code).toMatch(/NO_APPLICATION_PROTOCOL$/);
    expect(failedHandshakes()).toBe(1);
  });
});

test("every connection has the peer's whole chain in order, even if the client tries to resume a session", async () => {
  const until = { notAfter: Date.UTC(2050, 0, 1) };
  const ca = forge({ subject: [[attributes.commonName, 'ca']], extensions: [extensions.authority()], ...until });
  const peer = forge({ subject: [[attributes.commonName, 'alice']], issuer: ca, ...until });
  // One with the same name as the CA, and so an issuer by name; and one that issued nothing.
  const [other, unneeded] = ['ca', 'other'].map((name) =>
    forge({ subject: [[attributes.commonName, name]], extensions: [extensions.authority()], ...until }),
  );
  const sent = [peer, other, unneeded, ca].flatMap((one) => one ?? []);
  const { port } = await listening({}, ({ caller }) => ({
    result: {
      type: 'text',
      code: 200,
      text: 'user' in caller ? '' : caller.credentials.certificates.map((der) => der.toString('base64')).join(),
    },
  }));
  // Keeps sessions, but no connections.
  const agent = new Agent({
    rejectUnauthorized: false,
    key: peer.key.export({ type: 'pkcs8', format: 'pem' }),
    cert: sent.map(({ pem }) => pem).join(''),
  });
  const ask = () =>
    new Promise<string>((resolve, reject) => {
      get(`https://127.0.0.1:${port}/`, { agent }, async (answer) => {
        resolve((await answer.toArray()).join(''));
      }).on('error', reject);
    });
  const all = sent.map(({ der }) => der.toString('base64')).join();
  expect([await ask(), await ask()]).toEqual([all, all]);
});

test.each(['http/1.1', 'h2'] as const)(
  'a %s client is answered although OpenSSL fails to verify its chain',
  async (protocol) => {
    const until = { notAfter: Date.UTC(2050, 0, 1) };
    const ca = { subject: [[attributes.commonName, 'ca']], extensions: [extensions.authority()], ...until } as const;
    const peer = forge({ subject: [[attributes.commonName, 'alice']], issuer: forge(ca), ...until });
    // An issuer by name, which OpenSSL takes for the issuer.
    const other = forge(ca);
    const { port } = await listening();
    const socket = connect({
      port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols: [protocol],
      key: peer.key.export({ type: 'pkcs8', format: 'pem' }),
      cert: `${peer.pem}${other.pem}`,
    });
    // The server sends this once it has completed the handshake.
    await once(socket, 'session');
    await new Promise((resolve) => setImmediate(resolve));
    if (protocol === 'h2') {
      const session = connectHttp2(`https://127.0.0.1:${port}`, { createConnection: () => socket });
      const [head] = await once(session.request({ ':path': '/a' }), 'response');
      expect(head).toMatchObject({ ':status': 200 });
      session.destroy();
    } else {
      socket.write('GET /a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1\.1 200 /);
    }
  },
);

test('as many warnings are sent as fit, each truncated', async () => {
  const warnings = Array.from({ length: 20_000 }, (_, at) => `${at} ${'x'.repeat(400)}`);
  const { raw } = await listening({}, { warnings });
  const { send, all } = await raw('http/1.1');
  send('GET /a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  const sent = (await all).toString().match(/299 - "\d+ x+"/g) ?? [];
  expect(sent).toHaveLength(16);
  expect(sent.map((text) => text.length)).toEqual(sent.map(() => '299 - ""'.length + 256));
});
