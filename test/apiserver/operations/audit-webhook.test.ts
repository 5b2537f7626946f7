import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { AuditWebhook } from '../../../src/apiserver/operations/audit-webhook.js';
import type { HttpRequest } from '../../../src/client/http-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

const second = 1_000;

/** A server that reports the number of events it received, and responds with these codes, then with 200. */
function reporting(...codes: readonly (number | Error)[]) {
  const clock = new FakeClock();
  const sent: { readonly at: number; readonly request: HttpRequest }[] = [];
  const lost: string[] = [];
  let isClosed = false;
  const answers = [...codes];
  const start = clock.now();
  const transport = {
    async send(request: HttpRequest) {
      sent.push({ at: (clock.now() - start) / second, request });
      const code = answers.shift() ?? 200;
      if (code instanceof Error) throw code;
      const answer = new IncomingMessage(new Socket());
      answer.statusCode = code;
      answer.push(null);
      return { answer, presented: {} };
    },
    close: () => {
      isClosed = true;
    },
  };
  const onFailure = (error: unknown, count: number): void => void lost.push(`${count} ${error}`);
  const webhook = new AuditWebhook({ transport, clock, waitMs: 30 * second, onFailure });
  return {
    clock,
    webhook,
    lost,
    sent: () => sent.map(({ at, request }) => `${at}s ${JSON.parse(request.body ?? '').items.length}`),
    requests: () => sent.map(({ request }) => request),
    isClosed: () => isClosed,
  };
}
const event = (number: number): string => `{"level":"Metadata","auditID":"${number}"}`;
const large = `{"a":"${'x'.repeat(1_048_576)}"}`;

test('events are sent as a list, half a minute after the first', async () => {
  const { webhook, clock, sent, requests } = reporting();
  webhook.write(event(1));
  await clock.advance(10 * second);
  webhook.write(event(2));
  await clock.advance(19 * second);
  expect(sent()).toEqual([]);
  await clock.advance(second);
  webhook.write(event(3));
  await clock.advance(30 * second);
  expect(sent()).toEqual(['30s 2', '60s 1']);
  expect(requests()[0]).toMatchObject({
    method: 'POST',
    path: '?timeout=30s',
    headers: { 'content-type': 'application/json' },
    body: `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${event(1)},${event(2)}]}\n`,
  });
});

test('a batch of 400 events is sent at once', async () => {
  const { webhook, clock, sent } = reporting();
  for (let number = 0; number < 900; number++) expect(webhook.write(event(number))).toBe(true);
  await clock.advance(0);
  await clock.advance(29 * second);
  expect(sent()).toEqual(['0s 400', '0s 400']);
  await clock.advance(second);
  expect(sent()).toEqual(['0s 400', '0s 400', '30s 100']);
});

test('a failed request is retried five times with growing pauses, then its events are lost', async () => {
  const { webhook, clock, sent, lost } = reporting(new Error('refused'), 500, 404, 503, 502, 200);
  webhook.write(event(1));
  await clock.advance(30 * second);
  webhook.write(event(2));
  for (let passed = 0; passed < 150; passed++) await clock.advance(second);
  expect(sent()).toEqual(['30s 1', '40s 1', '55s 1', '77.5s 1', '111.25s 1', '141.25s 1']);
  expect(lost).toEqual(['1 Error: the server answered 502']);
});

test('at most 10,000 events or 64 MiB wait', async () => {
  const { webhook } = reporting();
  for (let number = 0; number < 10_000; number++) expect(webhook.write(event(number))).toBe(true);
  expect(webhook.write(event(0))).toBe(false);

  const { webhook: other } = reporting();
  let taken = 0;
  while (other.write(large)) taken++;
  expect(taken).toBe(63);
});

test('a batch that fills a request is sent at once, and holds no more than that', async () => {
  const { webhook, clock, sent } = reporting();
  for (let number = 0; number < 7; number++) webhook.write(large);
  await clock.advance(29 * second);
  expect(sent()).toEqual([]);
  for (let number = 0; number < 2; number++) webhook.write(large);
  await clock.advance(0);
  expect(sent()).toEqual(['29s 7']);
});

test('closing does not wait for a server that keeps failing', async () => {
  const { webhook, clock, sent, lost } = reporting(200, new Error('took too long'));
  for (let number = 0; number < 2_000; number++) webhook.write(event(number));
  const closed = webhook.close();
  await clock.advance(0);
  await closed;
  expect(sent()).toEqual(['0s 400', '0s 400']);
  expect(lost).toEqual(['1600 Error: took too long']);
});

test('closing sends waiting events and retries nothing', async () => {
  const { webhook, clock, sent, lost, isClosed } = reporting(200, 500);
  for (let number = 0; number < 401; number++) webhook.write(event(number));
  await clock.advance(0);
  expect(sent()).toEqual(['0s 400']);
  await webhook.close();
  expect(sent()).toEqual(['0s 400', '0s 1']);
  expect(lost).toEqual(['1 Error: the server answered 500']);
  expect(webhook.write(event(1))).toBe(false);
  expect(isClosed()).toBe(true);
});
