import { expect, test } from 'vitest';
import { serviceUnavailable } from '../../src/api/errors.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import type { ReconcileContext } from '../../src/controller/controller.js';
import { defineKeyedController, type KeyedWork } from '../../src/controller/keyed-controller.js';
import { TimeoutError } from '../../src/runtime/abort.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';
import { reviewContext } from '../webhook/review.js';

/** Runs work for one key and returns what happened, in order. */
function run(given: Partial<KeyedWork<string>> = {}, signal = new AbortController().signal) {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const { log, lines } = reviewContext();
  const story: string[] = [];
  const running = defineKeyedController<string>('c', () => ({
    identity: (key) => key,
    start: (wake) => wake('a', 'start'),
    async reconcile(key) {
      story.push(`reconcile ${key}`);
    },
    async stopped() {
      story.push('stopped');
    },
    ...given,
  })).run({
    client,
    clock,
    log,
    signal,
    metrics: { reconciled() {}, timedOut: (name) => void story.push(`timeout ${name}`) },
  });
  return { clock, client, lines, story, running };
}

test('keys are reconciled only after the start has finished', async () => {
  let synced = (): void => {};
  const { story } = run({
    async start(wake) {
      wake('a', 'start');
      await new Promise<void>((resolve) => {
        synced = resolve;
      });
    },
  });
  await settled();
  expect(story).toEqual([]);
  synced();
  await settled();
  expect(story).toEqual(['reconcile a']);
});

test('a stopped controller waits for the last reconcile before it stops the rest', async () => {
  const stop = new AbortController();
  let finish = (): void => {};
  const { story, running } = run(
    {
      reconcile: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    },
    stop.signal,
  );
  await settled();
  stop.abort();
  await settled();
  expect(story).toEqual([]);
  finish();
  await running;
  expect(story).toEqual(['stopped']);
});

test('nothing is started after the signal has aborted', async () => {
  const { story, running } = run({}, AbortSignal.abort());
  await running;
  expect(story).toEqual([]);
});

test('a failing start or an invalid number fails the controller', async () => {
  await expect(run({ start: () => Promise.reject(new Error('broken')) }).running).rejects.toThrow('broken');
  await expect(run({ timeoutMs: 0 }).running).rejects.toThrow(
    'controller c: timeoutMs must be a number greater than 0, not 0',
  );
  await expect(run({ concurrency: 0 }).running).rejects.toThrow(
    'controller c: concurrency must be an integer of at least 1, not 0',
  );
});

test('an API error is logged without its stack the first time, a program error each time', async () => {
  const failures = [serviceUnavailable('gone'), serviceUnavailable('gone'), new TypeError('x is undefined')];
  const { clock, lines } = run({
    async reconcile() {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    },
  });
  await clock.advance(1_000);
  const stack = expect.any(String);
  expect(lines.slice(0, 3).map(({ fields }) => (fields as { err?: unknown }).err)).toEqual([
    expect.objectContaining({ message: 'gone', stack }),
    expect.objectContaining({ message: 'gone', stack: undefined }),
    expect.objectContaining({ message: 'x is undefined', stack }),
  ]);
});

test('a reconcile that exceeds its timeout is reported, fails and is retried', async () => {
  const { clock, client, lines, story } = run({
    timeoutMs: 1_000,
    async reconcile(key, { client, signal }) {
      story.push(`reconcile ${key}`);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await client.resource(Namespaces).list();
    },
  });
  await clock.advance(999);
  expect(story).toEqual(['reconcile a']);
  await clock.advance(2);
  expect(story).toEqual(['reconcile a', 'timeout c']);
  expect(client.calls).toEqual([]);
  expect(lines).toMatchObject([
    {
      level: 'warn',
      message: 'reconcile exceeded its timeout',
      fields: { controller: 'c', object: 'a', timeoutMs: 1_000 },
    },
    {
      level: 'warn',
      message: 'reconcile failed',
      fields: { object: 'a', result: 'retry', err: new TimeoutError('not done within 1000 ms') },
    },
  ]);
  await clock.advance(10);
  expect(story).toEqual(['reconcile a', 'timeout c', 'reconcile a']);
});

test('a reconcile that ignores its timeout still has its key to itself', async () => {
  let finish = (): void => {};
  const { clock, lines, story } = run({
    timeoutMs: 1_000,
    concurrency: 2,
    start: (wake) => {
      wake('a', 'start');
      wake('a', 'again', 2_000);
    },
    async reconcile(key) {
      story.push(`reconcile ${key}`);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    },
  });
  await clock.advance(5_000);
  expect(story).toEqual(['reconcile a', 'timeout c']);
  finish();
  await settled();
  expect(story).toEqual(['reconcile a', 'timeout c', 'reconcile a']);
  expect(lines.map(({ message }) => message)).toEqual(['reconcile exceeded its timeout', 'reconciled']);
});

test('a reconcile with a timeout leaves no timer and no client behind, and ends with the controller', async () => {
  const stop = new AbortController();
  const left: ReconcileContext[] = [];
  const { clock, client, lines, running } = run(
    {
      timeoutMs: 1_000,
      start(wake) {
        wake('a', 'start');
        wake('b', 'start', 10);
      },
      async reconcile(key, context) {
        left.push(context);
        if (key === 'b') await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        context.signal.throwIfAborted();
      },
    },
    stop.signal,
  );
  await settled();
  expect(clock.sleeping).toBe(1);
  await expect(left[0]?.client.resource(Namespaces).list()).rejects.toThrow(
    'the reconcile that this client belongs to has ended',
  );
  await clock.advance(10);
  stop.abort(new Error('enough'));
  await running;
  expect(clock.sleeping).toBe(0);
  expect(client.calls).toEqual([]);
  expect(left[1]?.signal.reason).toEqual(new Error('enough'));
  expect(lines.map(({ level }) => level)).toEqual(['info', 'debug']);
});
