import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { Cancellation } from '../../src/http/cancellation.js';

test.each([
  ['the caller goes before anybody looks', (cancellation: Cancellation) => cancellation.abort(), () => {}],
  ['the caller goes after that', () => {}, (cancellation: Cancellation) => cancellation.abort()],
])('it is aborted when %s', (_, before, after) => {
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

test.each([true, false])('it is aborted when the server stops (before anybody looks: %s)', (early) => {
  const stopping = new AbortController();
  const cancellation = endingWith(stopping.signal);
  if (early) stopping.abort();
  const { signal } = cancellation;
  if (!early) stopping.abort();
  expect(signal.aborted).toBe(true);
});

test('nothing is left with the server of requests that are over', () => {
  const { signal: stopping } = new AbortController();
  const [looked, ignored] = [endingWith(stopping), endingWith(stopping)];
  expect(looked.signal.aborted).toBe(false);
  expect(getEventListeners(stopping, 'abort')).toHaveLength(1);
  looked.release();
  ignored.release();
  expect(getEventListeners(stopping, 'abort')).toHaveLength(0);
});

test('nothing is left with the server of a request that was given up before anybody looked', () => {
  const { signal: stopping } = new AbortController();
  const cancellation = endingWith(stopping);
  cancellation.abort();
  cancellation.release();
  expect(cancellation.signal.aborted).toBe(true);
  expect(getEventListeners(stopping, 'abort')).toHaveLength(0);
});
