import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { Cancellation } from '../../src/http/cancellation.js';

test.each([
  ['the client leaves before anybody reads it', (cancellation: Cancellation) => cancellation.abort(), () => {}],
  ['the client leaves after that', () => {}, (cancellation: Cancellation) => cancellation.abort()],
])('the signal is aborted when %s', (_, before, after) => {
  const cancellation = new Cancellation();
  before(cancellation);
  const { signal } = cancellation;
  after(cancellation);
  expect(signal.aborted).toBe(true);
});

/** Returns the cancellation of a request that ends with the server. */
function endingWith(stopping: AbortSignal): Cancellation {
  const cancellation = new Cancellation();
  cancellation.endWith(stopping);
  return cancellation;
}

test.each([true, false])('the signal is aborted when the server stops (before anybody reads it: %s)', (early) => {
  const stopping = new AbortController();
  const cancellation = endingWith(stopping.signal);
  if (early) stopping.abort();
  const { signal } = cancellation;
  if (!early) stopping.abort();
  expect(signal.aborted).toBe(true);
});

test("finished requests leave no listener on the server's signal", () => {
  const { signal: stopping } = new AbortController();
  const [looked, ignored] = [endingWith(stopping), endingWith(stopping)];
  expect(looked.signal.aborted).toBe(false);
  expect(getEventListeners(stopping, 'abort')).toHaveLength(1);
  looked.release();
  ignored.release();
  expect(getEventListeners(stopping, 'abort')).toHaveLength(0);
});

test('a request that is given up before anybody reads its signal leaves no listener', () => {
  const { signal: stopping } = new AbortController();
  const cancellation = endingWith(stopping);
  cancellation.abort();
  cancellation.release();
  expect(cancellation.signal.aborted).toBe(true);
  expect(getEventListeners(stopping, 'abort')).toHaveLength(0);
});
