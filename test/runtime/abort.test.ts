import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { onAbort, raceAbort, raceTimeout, TimeoutError, withTimeout } from '../../src/runtime/abort.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { collectGarbage } from '../collect-garbage.js';

const never = (): Promise<never> => new Promise(() => {});

test('work that exceeds its timeout is aborted with a timeout error', async () => {
  const clock = new FakeClock();
  let told: AbortSignal | undefined;
  const outcome = withTimeout({ clock, milliseconds: 1_000, signals: [] }, (signal) => {
    told = signal;
    return never();
  });
  const refused = expect(outcome).rejects.toThrow(new TimeoutError('not done within 1000 ms'));
  await clock.advance(1_000);
  await refused;
  expect(told?.reason).toBeInstanceOf(TimeoutError);
});

test('the first signal to abort ends the work with its reason, and no work starts after that', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const limits = { clock: new FakeClock(), milliseconds: 1_000, signals: [first.signal, second.signal] };
  const outcome = withTimeout(limits, never);
  second.abort(new Error('enough'));
  await expect(outcome).rejects.toThrow('enough');
  let begun = false;
  const late = withTimeout(limits, async () => (begun = true));
  await expect(late).rejects.toThrow('enough');
  expect(begun).toBe(false);
});

test('many timeouts on one signal cause no process warning and leave no listeners', async () => {
  const warnings: string[] = [];
  const heard = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', heard);
  onTestFinished(() => void process.off('warning', heard));
  const { signal } = new AbortController();
  const limits = { clock: new FakeClock(), milliseconds: 1_000, signals: [signal] };
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => (finish = resolve));
  const all = Promise.all(Array.from({ length: 20 }, () => withTimeout(limits, () => gate)));
  expect(getEventListeners(signal, 'abort')).toHaveLength(20);
  // The process emits a warning in a later tick.
  await new Promise((resolve) => setImmediate(resolve));
  finish();
  await all;
  expect([warnings, getEventListeners(signal, 'abort')]).toEqual([[], []]);
});

test('a listener is called once when its signal aborts, unless it was removed before', () => {
  const stopping = new AbortController();
  const called: string[] = [];
  onAbort(stopping.signal, () => called.push('kept'));
  onAbort(stopping.signal, () => called.push('removed'))();
  stopping.abort();
  stopping.abort();
  expect(called).toEqual(['kept']);
});

test('work that has ended leaves no listeners at its signal, even if garbage was collected meanwhile', async () => {
  const { signal } = new AbortController();
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => (finish = resolve));
  const all = Promise.all(Array.from({ length: 5 }, () => raceAbort(signal, gate)));
  // Weak references are cleared in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  finish();
  await all;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('finished work returns its result and leaves no timer; unfinished work returns undefined', async () => {
  const clock = new FakeClock();
  expect(await raceTimeout(clock, 1_000, Promise.resolve('done'))).toBe('done');
  await expect(raceTimeout(clock, 1_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(clock.sleeping).toBe(0);
  const outcome = raceTimeout(clock, 1_000, never());
  await clock.advance(1_000);
  expect(await outcome).toBeUndefined();
});
