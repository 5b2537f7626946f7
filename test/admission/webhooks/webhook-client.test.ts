import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { readServiceAddresses, webhookTarget } from '../../../src/admission/webhooks/target.js';
import { CallFailed, type WebhookCall, webhookClient } from '../../../src/admission/webhooks/webhook-client.js';
import { systemClock } from '../../../src/runtime/clock.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { type HttpsHook, httpsHook } from './https-hook.js';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function world(answer: Parameters<typeof httpsHook>[0], clock = systemClock) {
  const hook = await httpsHook(answer);
  const client = webhookClient({ clock });
  open.push(() => hook.close(), client.close);
  return { hook, client };
}

const call = (hook: HttpsHook, path: string, given: Partial<WebhookCall> = {}): WebhookCall => ({
  target: webhookTarget({ url: `https://127.0.0.1:${hook.port}${path}`, caBundle: hook.caBundle }, new Map()),
  body: '{"a":"ä"}',
  milliseconds: 9_500,
  signal: new AbortController().signal,
  maxBytes: 1_000,
  ...given,
});

test('reviews are posted over a connection that is kept alive', async () => {
  const { hook, client } = await world(
    (asked, response) => void response.writeHead(201, { 'content-type': 'text/x' }).end(asked.path),
  );
  for (let i = 0; i < 3; i++) {
    const reply = await client.post(call(hook, '/p'));
    expect({ ...reply, body: reply.body.toString() }).toEqual({
      status: 201,
      contentType: 'text/x',
      body: '/p?timeout=10s',
    });
  }
  expect(hook.asked[0]).toEqual({
    path: '/p?timeout=10s',
    host: `127.0.0.1:${hook.port}`,
    serverName: false,
    body: '{"a":"ä"}',
  });
  expect(hook.connections()).toBe(1);
});

test('a service is called under its cluster name, whatever its address', async () => {
  const { hook, client } = await world((_, response) => void response.end('{}'));
  const services = readServiceAddresses({ 'ns/svc': `127.0.0.1:${hook.port}` });
  const target = webhookTarget(
    { service: { namespace: 'ns', name: 'svc', path: '/p' }, caBundle: hook.caBundle },
    services,
  );
  await client.post(call(hook, '', { target }));
  expect(hook.asked).toMatchObject([{ host: 'svc.ns.svc:443', serverName: 'svc.ns.svc', path: '/p?timeout=10s' }]);
});

describe('a call fails', () => {
  const other = { namespace: 'ns', name: 'other' };
  test.each<[string, (hook: HttpsHook) => WebhookCall['target'], RegExp]>([
    [
      'if nothing listens',
      () => webhookTarget({ url: 'https://127.0.0.1:1/x' }, new Map()),
      /^Post "https:\/\/127\.0\.0\.1:1\/x\?timeout=10s": dial tcp 127\.0\.0\.1:1: connect: connection refused$/,
    ],
    [
      'if the certificate is not trusted',
      ({ port }) => webhookTarget({ url: `https://127.0.0.1:${port}` }, new Map()),
      /: tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
    ],
    [
      'if the certificate is for another name',
      ({ port, caBundle }) =>
        webhookTarget({ service: other, caBundle }, readServiceAddresses({ 'ns/other': `127.0.0.1:${port}` })),
      /^Post "https:\/\/other\.ns\.svc:443\/\?timeout=10s": tls: failed to verify certificate: x509: certificate is valid for localhost, svc\.ns\.svc, not other\.ns\.svc$/,
    ],
    [
      'if the service has no address',
      () => webhookTarget({ service: other }, new Map()),
      /^Post "https:\/\/other\.ns\.svc:443\/\?timeout=10s": service "other" not found$/,
    ],
    [
      'if the connection is closed without an answer',
      ({ port, caBundle }) => webhookTarget({ url: `https://127.0.0.1:${port}/hang-up`, caBundle }, new Map()),
      /: EOF$/,
    ],
    [
      'if the answer is incomplete',
      ({ port, caBundle }) => webhookTarget({ url: `https://127.0.0.1:${port}/half`, caBundle }, new Map()),
      /^unexpected error when reading response body\. Please retry\. Original error: unexpected EOF$/,
    ],
    [
      'if the answer is too large',
      ({ port, caBundle }) => webhookTarget({ url: `https://127.0.0.1:${port}/much`, caBundle }, new Map()),
      /^the response is larger than 1000 bytes$/,
    ],
    [
      'on a redirect to another server',
      ({ port, caBundle }) => webhookTarget({ url: `https://127.0.0.1:${port}/elsewhere`, caBundle }, new Map()),
      /the webhook redirects to another server$/,
    ],
    [
      'on a redirect loop',
      ({ port, caBundle }) => webhookTarget({ url: `https://127.0.0.1:${port}/circle`, caBundle }, new Map()),
      /stopped after 10 redirects$/,
    ],
  ])('%s', async (_, target, text) => {
    const { hook, client } = await world(({ path }, response, request) => {
      if (path.startsWith('/hang-up')) request.socket.destroy();
      else if (path.startsWith('/half')) {
        response.writeHead(200, { 'content-length': '100' }).write('x');
        setImmediate(() => request.socket.destroy());
      } else if (path.startsWith('/much')) response.end('x'.repeat(1_001));
      else if (path.startsWith('/elsewhere')) response.writeHead(307, { location: 'https://example.com/' }).end();
      else if (path.startsWith('/circle')) response.writeHead(307, { location: '/circle' }).end();
      else response.end('{}');
    });
    const failure = client.post(call(hook, '', { target: target(hook) }));
    await expect(failure).rejects.toThrow(CallFailed);
    await expect(failure).rejects.toThrow(text);
  });
});

test('a redirect within the server is followed with the review', async () => {
  const { hook, client } = await world(({ path }, response) => {
    if (path.startsWith('/from')) response.writeHead(307, { location: '/to' }).end();
    else response.end('{}');
  });
  await client.post(call(hook, '/from'));
  expect(hook.asked.map(({ path, body }) => `${path} ${body}`)).toEqual([
    '/from?timeout=10s {"a":"ä"}',
    '/to {"a":"ä"}',
  ]);
});

test('a redirect without a location is returned as the answer', async () => {
  const { hook, client } = await world((_, response) => void response.writeHead(307, { location: '' }).end('x'));
  expect(await client.post(call(hook, '/'))).toMatchObject({ status: 307 });
  expect(hook.asked).toHaveLength(1);
});

test.each([429, 503])('a webhook that answers %d with Retry-After is called again up to ten times', async (code) => {
  const clock = new FakeClock();
  const { hook, client } = await world(
    (_, response) => void response.writeHead(code, { 'retry-after': '1' }).end('x'),
    clock,
  );
  const reply = client.post(call(hook, '/busy', { milliseconds: 30_000 }));
  reply.catch(() => {});
  for (let tries = 1; tries <= 10; tries++) {
    await expect.poll(() => hook.asked.length === tries && clock.sleeping === 2, { interval: 5 }).toBe(true);
    await clock.advance(1_000);
  }
  expect((await reply).status).toBe(code);
  expect(hook.asked).toHaveLength(11);
});

test('a webhook that is too slow times out', async () => {
  const clock = new FakeClock();
  const { hook, client } = await world(() => {}, clock);
  const reply = client.post(call(hook, '/slow'));
  reply.catch(() => {});
  await expect.poll(() => hook.asked.length === 1, { interval: 5 }).toBe(true);
  await clock.advance(9_500);
  await expect(reply).rejects.toThrow(
    `Post "https://127.0.0.1:${hook.port}/slow?timeout=10s": context deadline exceeded`,
  );
});

test('an incomplete answer at the timeout is reported as unreadable', async () => {
  const { hook, client } = await world(({ path }, response) => {
    if (path.startsWith('/whole')) response.end('{}');
    else response.write('{');
  });
  await client.post(call(hook, '/whole'));
  await expect(client.post(call(hook, '/half', { milliseconds: 300 }))).rejects.toThrow(
    /^unexpected error when reading response body\. Please retry\. Original error: context deadline exceeded$/,
  );
});

test('a call and its connection end when the caller disconnects', async () => {
  let closed = false;
  const { hook, client } = await world((_asked, _response, request) => {
    request.socket.on('close', () => {
      closed = true;
    });
  });
  const gone = new AbortController();
  const reply = client.post(call(hook, '/slow', { signal: gone.signal }));
  reply.catch(() => {});
  await expect.poll(() => hook.asked.length === 1, { interval: 5 }).toBe(true);
  const reason = new Error('gone');
  gone.abort(reason);
  await expect(reply).rejects.toBe(reason);
  await expect.poll(() => closed, { interval: 5 }).toBe(true);
});

test('closing the client ends pending and waiting calls, and refuses later ones', async () => {
  const clock = new FakeClock();
  const { hook, client } = await world(({ path }, response) => {
    if (path.startsWith('/busy')) response.writeHead(429, { 'retry-after': '1' }).end('x');
  }, clock);
  const replies = ['/slow', '/busy'].map((path) => client.post(call(hook, path)));
  const ends = Promise.allSettled(replies);
  // Each call has a timer, and one call also waits.
  await expect.poll(() => hook.asked.length === 2 && clock.sleeping === 3, { interval: 5 }).toBe(true);
  client.close();
  for (const end of await ends)
    expect(end).toMatchObject({ reason: { message: expect.stringContaining('is closed') } });
  await expect(client.post(call(hook, '/late'))).rejects.toThrow('the client is closed');
  expect(clock.sleeping).toBe(0);
  expect(hook.asked).toHaveLength(2);
});

test('a review is not sent again if the webhook closes a kept connection over it', async () => {
  const { hook, client } = await world(({ path }, response, request) => {
    if (path.startsWith('/dies')) request.socket.destroy();
    else response.end('{}');
  });
  await client.post(call(hook, '/p'));
  await expect(client.post(call(hook, '/dies'))).rejects.toThrow(/: EOF$/);
  expect(hook.asked.map(({ path }) => path)).toEqual(['/p?timeout=10s', '/dies?timeout=10s']);
  expect(hook.connections()).toBe(1);
});

test('several kept connections that were closed while idle fail no request', async () => {
  let sockets: Duplex[] = [];
  const { hook, client } = await world(async (_, response, request) => {
    sockets.push(request.socket);
    await expect.poll(() => sockets.length >= 3, { interval: 5 }).toBe(true);
    response.end('{}');
  });
  const three = () => Promise.all(['/a', '/b', '/c'].map((path) => client.post(call(hook, path))));
  await three();
  const before = sockets;
  sockets = [];
  for (const socket of before) socket.destroy();
  // This is the same turn of the event loop: the ends of the connections have arrived, but have not been read.
  for (const { status } of await three()) expect(status).toBe(200);
  expect(hook.asked).toHaveLength(6);
  expect(hook.connections()).toBe(6);
});

test('data that a kept connection receives before a request is not taken as an answer', async () => {
  const sockets: Duplex[] = [];
  const { hook, client } = await world((_, response, request) => {
    sockets.push(request.socket);
    response.end('{}');
  });
  await client.post(call(hook, '/a'));
  sockets[0]?.write('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  expect((await client.post(call(hook, '/b'))).status).toBe(200);
  expect(hook.asked.map(({ path }) => path)).toEqual(['/a?timeout=10s', '/b?timeout=10s']);
});

test('headers of an answer are read even behind two thousand others', async () => {
  const { hook, client } = await world((_, response) => {
    for (let i = 0; i < 2_000; i++) response.setHeader(`x-${i}`, '1');
    response.setHeader('content-type', 'a/b');
    response.end('{}');
  });
  expect(await client.post(call(hook, '/p'))).toMatchObject({ contentType: 'a/b' });
});

test('an answer may have headers up to the size limit of Kubernetes', async () => {
  const { hook, client } = await world(({ path }, response) => {
    const count = path.startsWith('/many') ? 4 : 1_000;
    for (let i = 0; i < count; i++) response.setHeader(`x-${i}`, 'x'.repeat(15_000));
    response.end('{}');
  });
  expect((await client.post(call(hook, '/many'))).status).toBe(200);
  await expect(client.post(call(hook, '/too-many'))).rejects.toThrow(
    /: net\/http: HTTP\/1\.x transport connection broken: net\/http: server response headers exceeded 10485760 bytes; aborted$/,
  );
});

test('a connection that was closed while idle is replaced', async () => {
  let closed = 0;
  const { hook, client } = await world((_, response, request) => {
    response.end('{}', () =>
      setImmediate(() => {
        request.socket.destroy();
        closed++;
      }),
    );
  });
  for (let i = 1; i <= 5; i++) {
    expect((await client.post(call(hook, '/p'))).status).toBe(200);
    await expect.poll(() => closed === i, { interval: 5 }).toBe(true);
  }
  expect(hook.asked).toHaveLength(5);
});
