import { expect, test } from 'vitest';
import { controllerMetrics } from '../../src/controller/controller-metrics.js';
import { openMetrics } from '../../src/runtime/metrics.js';

test('controllers count under the usual names', async () => {
  const metrics = openMetrics();
  const counting = controllerMetrics(metrics);
  counting.reconciled('c', 'done', 0.01);
  counting.reconciled('c', 'retry', 0.5);
  counting.reconciled('c', 'terminal', 0.5);
  counting.queueDepth('c', 7);
  counting.added?.('c');
  counting.waited?.('c', 0.2);
  const { text, contentType } = await metrics.expose();
  expect(contentType).toMatch(/^text\/plain/);
  for (const line of [
    'controller_runtime_reconcile_total{controller="c",result="success"} 1',
    'controller_runtime_reconcile_total{controller="c",result="error"} 2',
    'controller_runtime_reconcile_errors_total{controller="c"} 2',
    'controller_runtime_terminal_reconcile_errors_total{controller="c"} 1',
    'controller_runtime_reconcile_time_seconds_count{controller="c"} 3',
    'workqueue_depth{controller="c",name="c"} 7',
    'workqueue_adds_total{controller="c",name="c"} 1',
    'workqueue_retries_total{controller="c",name="c"} 1',
    'workqueue_queue_duration_seconds_sum{controller="c",name="c"} 0.2',
    'workqueue_work_duration_seconds_count{controller="c",name="c"} 3',
  ]) {
    expect(text).toContain(line);
  }
});

test('every set of metrics is its own', async () => {
  const [one, two] = [openMetrics(), openMetrics({ process: true })];
  one.counter({ name: 'x_total', help: 'x' }).add({});
  two.counter({ name: 'x_total', help: 'x' }).add({}, 2);
  expect((await one.expose()).text).toContain('x_total 1');
  expect((await one.expose()).text).not.toContain('process_');
  expect((await two.expose()).text).toContain('process_');
});
