import { expect, test } from 'vitest';
import { controllerMetrics } from '../../src/controller/controller-metrics.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

test('controllers are counted under the usual metric names', async () => {
  const metrics = openMetrics();
  const counting = controllerMetrics(metrics);
  counting.reconciled('c', 'done', 0.01);
  counting.reconciled('c', 'retry', 0.5);
  counting.reconciled('c', 'terminal', 0.5);
  counting.queued?.('c', 8);
  counting.queued?.('c', -1);
  counting.added?.('c');
  counting.delayed?.('c');
  counting.waited?.('c', 0.2);
  counting.leading?.('l', false);
  counting.leading?.('m', true);
  counting.watchFailing?.('c', 'things', 0);
  counting.reviewing?.('/w');
  counting.reviewing?.('/w')(200, 0.1);
  const { text, contentType } = await metrics.expose();
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8; escaping=underscores');
  for (const line of [
    'controller_runtime_reconcile_total{controller="c",result="success"} 1',
    'controller_runtime_reconcile_total{controller="c",result="error"} 2',
    'controller_runtime_reconcile_errors_total{controller="c"} 2',
    'controller_runtime_terminal_reconcile_errors_total{controller="c"} 1',
    'controller_runtime_reconcile_time_seconds_count{controller="c"} 3',
    'leader_election_master_status{name="l"} 0',
    'leader_election_master_status{name="m"} 1',
    'kedge_watches_failing{controller="c",resource="things"} 0',
    'controller_runtime_webhook_requests_total{webhook="/w",code="200"} 1',
    'controller_runtime_webhook_requests_in_flight{webhook="/w"} 1',
    'controller_runtime_webhook_latency_seconds_sum{webhook="/w"} 0.1',
    'workqueue_depth{controller="c",name="c"} 7',
    'workqueue_adds_total{controller="c",name="c"} 1',
    'workqueue_retries_total{controller="c",name="c"} 1',
    'workqueue_queue_duration_seconds_sum{controller="c",name="c"} 0.2',
    'workqueue_work_duration_seconds_count{controller="c",name="c"} 3',
  ]) {
    expect(text).toContain(line);
  }
});

test('unfinished work is reported by its age', async () => {
  const clock = new FakeClock();
  const metrics = openMetrics();
  const stop = new AbortController();
  const finish = new Map<string, () => void>();
  const running = defineKeyedController<string>('c', () => ({
    identity: (key) => key,
    concurrency: 2,
    start: (wake) => {
      wake('a', 'start');
      wake('b', 'start', 3_000);
    },
    reconcile: (key) => new Promise((resolve) => finish.set(key, resolve)),
  })).run({
    client: new FakeClient(clock),
    log: silentLogger,
    clock,
    signal: stop.signal,
    metrics: controllerMetrics(metrics),
  });
  const workers = async () =>
    (await metrics.expose()).text.match(/(?<=^controller_runtime_(?:active|max)_\w+\{.*\} )\d+$/gm);
  /** Returns the age of the longest running work, and the sum of all. */
  const ages = async () =>
    (await metrics.expose()).text.match(/(?<=^workqueue_(?:unfinished|longest)\w*_seconds\{.*\} )\d+$/gm);
  await clock.advance(5_000);
  expect(await ages()).toEqual(['5', '7']);
  expect(await workers()).toEqual(['2', '2']);
  finish.get('a')?.();
  await clock.advance(1_000);
  expect(await ages()).toEqual(['3', '3']);
  finish.get('b')?.();
  await clock.advance(1);
  expect(await ages()).toEqual(['0', '0']);
  expect(await workers()).toEqual(['0', '2']);
  stop.abort();
  await running;
  expect(await workers()).toEqual(['0', '0']);
});

test("a controller's metrics are there before anything happens", async () => {
  const clock = new FakeClock();
  const metrics = openMetrics();
  const signal = new AbortController().signal;
  void defineKeyedController<string>('c', () => ({
    identity: (key) => key,
    start: () => {},
    reconcile: async () => {},
  })).run({ client: new FakeClient(clock), log: silentLogger, clock, signal, metrics: controllerMetrics(metrics) });
  expect((await metrics.expose()).text.match(/^controller_runtime_.*/gm)).toEqual([
    'controller_runtime_active_workers{controller="c"} 0',
    'controller_runtime_max_concurrent_reconciles{controller="c"} 1',
    'controller_runtime_reconcile_errors_total{controller="c"} 0',
    'controller_runtime_reconcile_timeouts_total{controller="c"} 0',
    'controller_runtime_reconcile_total{controller="c",result="success"} 0',
    'controller_runtime_reconcile_total{controller="c",result="requeue_after"} 0',
    'controller_runtime_reconcile_total{controller="c",result="error"} 0',
    'controller_runtime_terminal_reconcile_errors_total{controller="c"} 0',
  ]);
});

test('each wait of a key for a worker is counted once', async () => {
  const clock = new FakeClock();
  const metrics = openMetrics();
  const stop = new AbortController();
  let finish = (): void => {};
  let wake: (key: string) => void = () => {};
  const running = defineKeyedController<string>('c', () => ({
    identity: (key) => key,
    start: (given) => {
      wake = (key) => given(key, 'test');
    },
    reconcile: () =>
      new Promise((resolve) => {
        finish = () => resolve({ requeueAfterMs: 1_000 });
      }),
  })).run({
    client: new FakeClient(clock),
    log: silentLogger,
    clock,
    signal: stop.signal,
    metrics: controllerMetrics(metrics),
  });
  const told = async () =>
    Object.fromEntries(
      [
        ...(await metrics.expose()).text.matchAll(
          /^workqueue_(depth|\w+_total|queue_duration_seconds_(?:sum|count)){.*} (.*)$/gm,
        ),
      ].map(([, name, value]) => [name, Number(value)]),
    );
  for (const key of ['a', 'b', 'b']) wake(key);
  await settled();
  expect(await told()).toEqual({
    depth: 1,
    adds_total: 2,
    queue_duration_seconds_count: 1,
    queue_duration_seconds_sum: 0,
  });
  await clock.advance(500);
  finish();
  await settled();
  expect(await told()).toMatchObject({ depth: 0, retries_total: 1, queue_duration_seconds_sum: 0.5 });
  // The delayed key becomes due while the only worker is busy.
  await clock.advance(1_500);
  expect(await told()).toMatchObject({ depth: 1, adds_total: 3, queue_duration_seconds_count: 2 });
  stop.abort();
  finish();
  await running;
});

test('waiting keys are counted over all controllers of a name, and no longer once one has ended', async () => {
  const clock = new FakeClock();
  const metrics = openMetrics();
  const counting = controllerMetrics(metrics);
  const depth = async () => (await metrics.expose()).text.match(/(?<=^workqueue_depth{.*} ).*$/m)?.[0];
  const run = (keys: number, reconcile: () => Promise<void>) => {
    const stop = new AbortController();
    const running = defineKeyedController<number>('c', () => ({
      identity: String,
      start: (wake) => {
        for (let key = 0; key < keys; key++) wake(key, 'start');
      },
      reconcile,
    })).run({ client: new FakeClient(clock), log: silentLogger, clock, signal: stop.signal, metrics: counting });
    return async (): Promise<void> => {
      stop.abort();
      await running;
    };
  };
  let finish = (): void => {};
  const stuck = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const stopBusy = run(50, () => stuck);
  const stopIdle = run(3, async () => {});
  await settled();
  expect(await depth()).toBe('49');
  finish();
  await stopBusy();
  expect(await depth()).toBe('0');
  await stopIdle();
});

test('metric sets are independent of each other', async () => {
  const [one, two] = [openMetrics(), openMetrics({ process: true })];
  one.counter({ name: 'x_total', help: 'x' }).add({});
  two.counter({ name: 'x_total', help: 'x' }).add({}, 2);
  expect((await one.expose()).text).toContain('x_total 1');
  expect((await one.expose()).text).not.toContain('process_');
  expect((await two.expose()).text).toContain('process_');
});
