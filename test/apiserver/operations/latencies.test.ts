import { expect, test } from 'vitest';
import { Latencies } from '../../../src/apiserver/operations/latencies.js';

const spent = (): Latencies => {
  const latencies = new Latencies();
  latencies.took('authentication', 0);
  latencies.took('authorization', 0.25);
  latencies.took('mutating-webhook', 200);
  latencies.took('mutating-webhook', 100);
  latencies.took('validating-webhook', 150);
  latencies.took('validating-webhook', 120);
  return latencies;
};

test('durations of mutating webhooks add up, of validating ones the longest counts', () => {
  expect(spent().webhooks).toBe(450);
  expect(spent().annotations(500.5)).toEqual([
    ['apiserver.latency.k8s.io/authorization', '250µs'],
    ['apiserver.latency.k8s.io/mutating-webhook', '300ms'],
    ['apiserver.latency.k8s.io/validating-webhook', '150ms'],
    ['apiserver.latency.k8s.io/total', '500.5ms'],
  ]);
});

test('a request of half a second has no latency annotations', () => {
  expect(spent().annotations(500)).toEqual([]);
});
