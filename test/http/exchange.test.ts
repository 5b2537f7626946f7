import { connect, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Body } from '../../src/apiserver/represent.js';
import { http2Exchange } from '../../src/http/exchange.js';

const chunkBytes = 65_536;

/** A long answer that counts how much of it was made. */
function counted(count: number): Body & { readonly made: () => number } {
  let made = 0;
  function* chunks(): Generator<Buffer, void> {
    while (made < count) yield Buffer.alloc(chunkBytes, 65 + (made++ % 26));
  }
  return { length: count * chunkBytes, chunks: chunks(), made: () => made };
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function asked(body: Body) {
  const server = createServer();
  let sent: Promise<void> | undefined;
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    sent = http2Exchange(stream, headers, []).send(200, { 'Content-Length': body.length }, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  stops.push(() => {
    session.destroy();
    server.close();
  });
  const stream = session.request({ ':path': '/' });
  await new Promise((resolve) => stream.once('response', resolve));
  return { stream, session, sent: () => sent ?? Promise.reject(new Error('nothing was sent')) };
}

describe('a long answer', () => {
  test('is made as it is read, and comes whole', async () => {
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

  test('is given up when its reader goes', async () => {
    const body = counted(400);
    const { session, sent } = await asked(body);
    session.destroy();
    await sent();
    expect(body.made()).toBeLessThan(50);
  });
});
