import { expect, test } from 'vitest';
import { defineKeyedController, type KeyedWork } from '../../src/controller/keyed-controller.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

/** Runs work of one key and tells what happened, in order. */
function run(given: Partial<KeyedWork<string>> = {}, signal = new AbortController().signal) {
  const clock = new FakeClock();
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
  })).run({ client: new FakeClient(clock), clock, log: silentLogger, signal });
  return { clock, story, running };
}

test('no key is worked on before the start is over', async () => {
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

test('what else is to end is waited for when the last key is done with', async () => {
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

test('nothing is begun once it is to stop', async () => {
  const { story, running } = run({}, AbortSignal.abort());
  await running;
  expect(story).toEqual([]);
});

test('fails when the start does, or for a number that is none', async () => {
  await expect(run({ start: () => Promise.reject(new Error('broken')) }).running).rejects.toThrow('broken');
  await expect(run({ concurrency: 0 }).running).rejects.toThrow(
    'controller c: concurrency must be a whole number from 1 on, not 0',
  );
});
