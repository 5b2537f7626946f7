import perfHooks from 'node:perf_hooks';
import { expect, test, vi } from 'vitest';
import { exponentialBuckets, openMetrics } from '../../src/runtime/metrics.js';

const linesOf = async (metrics: ReturnType<typeof openMetrics>): Promise<readonly string[]> =>
  (await metrics.expose()).text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

test('a histogram counts a value in every bucket it fits', async () => {
  const metrics = openMetrics();
  const sizes = metrics.histogram({ name: 'sizes', help: 'Sizes.', labels: ['of'], buckets: [1, 10] });
  for (const value of [0.5, 1, 3, 100]) sizes.observe({ of: 'a"b' }, value);
  expect(await linesOf(metrics)).toEqual([
    String.raw`sizes_bucket{of="a\"b",le="1"} 2`,
    String.raw`sizes_bucket{of="a\"b",le="10"} 3`,
    String.raw`sizes_bucket{of="a\"b",le="+Inf"} 4`,
    String.raw`sizes_sum{of="a\"b"} 104.5`,
    String.raw`sizes_count{of="a\"b"} 4`,
  ]);
});

test('a histogram without observations is not exposed', async () => {
  const sizes = openMetrics();
  const histogram = sizes.histogram({ name: 'sizes', help: 'Sizes.', labels: ['of'], buckets: [1] });
  const seldom = histogram.of({ of: 'a' });
  expect(await linesOf(sizes)).toEqual([]);
  seldom.observe(0);
  expect(await linesOf(sizes)).toHaveLength(4);
});

test('a removed series is no longer exposed, and starts over', async () => {
  const metrics = openMetrics();
  const counter = metrics.counter({ name: 'c_total', help: 'c', labels: ['x'] });
  const gauge = metrics.gauge({ name: 'g', help: 'g', labels: ['x'] });
  for (const x of ['1', '2']) {
    counter.add({ x }, 2);
    gauge.set({ x }, 3);
  }
  counter.drop({ x: '1' });
  gauge.drop({ x: '1' });
  expect(await linesOf(metrics)).toEqual(['c_total{x="2"} 2', 'g{x="2"} 3']);
  counter.add({ x: '1' });
  expect(await linesOf(metrics)).toEqual(['c_total{x="2"} 2', 'c_total{x="1"} 1', 'g{x="2"} 3']);
});

test('a prepared series counts like one with labels in each call', async () => {
  const metrics = openMetrics();
  const counter = metrics.counter({ name: 'c_total', help: 'c', labels: ['x', 'y'] });
  const series = counter.of({ x: '1', y: '2' });
  series.add();
  counter.add({ y: '2', x: '1' }, 2);
  const gauge = metrics.gauge({ name: 'g', help: 'g' });
  gauge.set({}, 5);
  gauge.of({}).add(-2);
  expect(await linesOf(metrics)).toEqual(['c_total{x="1",y="2"} 3', 'g 3']);
});

test('metrics are sorted by name', async () => {
  const metrics = openMetrics();
  for (const name of ['requested_total', 'b', 'honored_total']) metrics.counter({ name, help: name }).add({});
  expect(await linesOf(metrics)).toEqual(['b 1', 'honored_total 1', 'requested_total 1']);
});

test('measured metrics are computed at each scrape, and left out if that fails', async () => {
  const metrics = openMetrics();
  let value = 0;
  metrics.measured({ name: 'm', help: 'm', labels: ['k'] }, async () => [{ labels: { k: 'a' }, value: ++value }]);
  metrics.measured({ name: 'n', help: 'n' }, () => Promise.reject(new Error('down')));
  expect(await linesOf(metrics)).toEqual(['m{k="a"} 1']);
  expect(await linesOf(metrics)).toEqual(['m{k="a"} 2']);
});

test('a metric registered after the first scrape is in the next', async () => {
  const metrics = openMetrics();
  expect(await linesOf(metrics)).toEqual([]);
  metrics.counter({ name: 'late_total', help: 'late' }).add({});
  expect(await linesOf(metrics)).toEqual(['late_total 1']);
});

test('names must be unique', () => {
  const metrics = openMetrics();
  metrics.counter({ name: 'c_total', help: 'c' });
  expect(() => metrics.gauge({ name: 'c_total', help: 'c' })).toThrow('metric already registered: c_total');
});

test('the number of lines is limited, and writing them yields', async () => {
  const metrics = openMetrics();
  const counter = metrics.counter({ name: 'c_total', help: 'c', labels: ['x'] });
  for (let x = 0; x < 50_100; x++) counter.add({ x: String(x) });
  const histogram = metrics.histogram({ name: 'h', help: 'h', labels: ['x'], buckets: [1, 2] });
  for (let x = 0; x < 10_100; x++) histogram.observe({ x: String(x) }, x);
  let turns = 0;
  const turn = (): void => {
    turns++;
    immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  const lines = await linesOf(metrics);
  clearImmediate(immediate);
  expect(lines).toHaveLength(100_000);
  expect(turns).toBeGreaterThan(200);
});

test('exponential buckets', () => {
  expect(exponentialBuckets(1_000, 10, 3)).toEqual([1_000, 10_000, 100_000]);
});

test('the event loop is monitored once for any number of servers', async () => {
  const watching = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
  for (let server = 0; server < 3; server++) {
    const lines = await linesOf(openMetrics({ process: true }));
    expect(lines.some((line) => line.startsWith('nodejs_eventloop_lag_p99_seconds'))).toBe(true);
  }
  expect(watching).toHaveBeenCalledTimes(1);
});

test('processor time is counted from the start of the process', async () => {
  const spent = (): number => Object.values(process.cpuUsage()).reduce((sum, one) => sum + one) / 1e6;
  const before = spent();
  const lines = await linesOf(openMetrics({ process: true }));
  const seconds = (name: string): number => Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
  const total = seconds('process_cpu_seconds_total');
  expect(total).toBeGreaterThan(before - 0.05);
  expect(total).toBeLessThanOrEqual(spent());
  expect(seconds('process_cpu_user_seconds_total') + seconds('process_cpu_system_seconds_total')).toBeCloseTo(total, 3);
});
