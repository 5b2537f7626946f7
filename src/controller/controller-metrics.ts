import { exponentialBuckets, type Metrics } from '../runtime/metrics.js';

/**
 * The outcome of a reconcile. `requeue`: it succeeded and asked to be called again; `retry`: it failed and is retried;
 * `terminal`: it failed and is not retried.
 */
export type ReconcileOutcome = 'done' | 'requeue' | 'retry' | 'terminal';

/** Receives the measurements of controllers, by the controller's name. */
export interface ControllerMetrics {
  /** Called when a reconcile has ended; `error` is its failure. */
  reconciled(controller: string, outcome: ReconcileOutcome, seconds: number, error?: unknown): void;
  /** Called when a reconcile takes longer than its time limit. */
  timedOut?(controller: string): void;
  /** Called when a controller starts, with its number of workers. Returns the callback to invoke when it has ended. */
  started?(controller: string, workers: number): () => void;
  /**
   * Called when the number of keys that wait for a worker changes by `change`. Several controllers may share a name.
   */
  queued?(controller: string, change: number): void;
  /** Called when a key begins to wait for a worker. */
  added?(controller: string): void;
  /** Called when a key is to be queued later: after a failure, or at a given time. */
  delayed?(controller: string): void;
  /** Called with the time that a key has waited for a worker. */
  waited?(controller: string, seconds: number): void;
  /**
   * Called when a worker takes a key; `age` returns the seconds since. Returns the callback to invoke when the work is
   * done.
   */
  took?(controller: string, age: () => number): () => void;
  /** Called when the number of failing watches of a resource changes by `change`; 0 when a watch begins. */
  watchFailing?(controller: string, resource: string, change: number): void;
  /** Called when this process gets or loses the lease of that name, for which it is a candidate. */
  leading?(lease: string, isLeading: boolean): void;
  /**
   * Called when a webhook receives a review. Returns the callback to invoke once it is answered with an HTTP status.
   */
  reviewing?(webhook: string): (code: number, seconds: number) => void;
}

const results: Readonly<Record<ReconcileOutcome, string>> = {
  done: 'success',
  requeue: 'requeue_after',
  retry: 'error',
  terminal: 'error',
};

/** Returns controller metrics under the names that dashboards for controllers use. */
export function controllerMetrics(metrics: Metrics): ControllerMetrics {
  const reconciles = reconcileMetrics(metrics);
  const { worked, ...queue } = queueMetrics(metrics);
  const workers = workerMetrics(metrics);
  const master = metrics.gauge({
    name: 'leader_election_master_status',
    help: '1 if this process holds the lease, 0 otherwise.',
    labels: ['name'],
  });
  const failing = metrics.gauge({
    name: 'kedge_watches_failing',
    help: '1 if a list or watch of a controller is failing, 0 otherwise.',
    labels: ['controller', 'resource'],
  });
  return {
    ...queue,
    reconciled(controller, outcome, seconds) {
      reconciles.ended(controller, outcome, seconds);
      worked(controller, seconds);
    },
    timedOut: reconciles.timedOut,
    started(controller, count) {
      reconciles.begin(controller);
      return workers.started(controller, count);
    },
    took: workers.took,
    watchFailing: (controller, resource, change) => failing.of({ controller, resource }).add(change),
    leading: (name, isLeading) => master.set({ name }, isLeading ? 1 : 0),
    reviewing: reviewMetrics(metrics),
  };
}

function reconcileMetrics(metrics: Metrics) {
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles, by controller and result.',
    labels: ['controller', 'result'],
  });
  const errors = metrics.counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that failed.',
    labels: ['controller'],
  });
  const terminal = metrics.counter({
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Reconciles that failed and are not retried.',
    labels: ['controller'],
  });
  const timeouts = metrics.counter({
    name: 'controller_runtime_reconcile_timeouts_total',
    help: 'Reconciles that exceeded their timeout.',
    labels: ['controller'],
  });
  const time = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Time taken by reconciles, in seconds.',
    labels: ['controller'],
    buckets: exponentialBuckets(0.001, 4, 9),
  });
  return {
    /** Creates the series with 0, so that scrapes see the first increase, too. */
    begin(controller: string): void {
      for (const result of Object.values(results)) total.add({ controller, result }, 0);
      for (const counter of [errors, terminal, timeouts]) counter.add({ controller }, 0);
    },
    ended(controller: string, outcome: ReconcileOutcome, seconds: number): void {
      total.add({ controller, result: results[outcome] });
      if (outcome === 'retry' || outcome === 'terminal') errors.add({ controller });
      if (outcome === 'terminal') terminal.add({ controller });
      time.observe({ controller }, seconds);
    },
    timedOut: (controller: string): void => timeouts.add({ controller }),
  };
}

const queueLabels = ['controller', 'name'] as const;

function queueMetrics(metrics: Metrics) {
  const labels = queueLabels;
  const buckets = exponentialBuckets(1e-8, 10, 10);
  const depth = metrics.gauge({ name: 'workqueue_depth', help: 'Keys waiting for a worker.', labels });
  const adds = metrics.counter({ name: 'workqueue_adds_total', help: 'Keys added to the queue.', labels });
  const retries = metrics.counter({
    name: 'workqueue_retries_total',
    help: 'Keys added again after a failure or a delay.',
    labels,
  });
  const waits = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'Time keys waited for a worker, in seconds.',
    labels,
    buckets,
  });
  const works = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'Time workers took to process a key, in seconds.',
    labels,
    buckets,
  });
  return {
    queued: (controller: string, change: number): void => depth.of({ controller, name: controller }).add(change),
    added: (controller: string): void => adds.add({ controller, name: controller }),
    delayed: (controller: string): void => retries.add({ controller, name: controller }),
    waited: (controller: string, seconds: number): void => waits.observe({ controller, name: controller }, seconds),
    worked: (controller: string, seconds: number): void => works.observe({ controller, name: controller }, seconds),
  };
}

function workerMetrics(metrics: Metrics) {
  const most = metrics.gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Number of workers.',
    labels: ['controller'],
  });
  /** The functions that return how long workers have had their keys. */
  const ages = new Map<string, Set<() => number>>();
  const agesOf = (controller: string): Set<() => number> => {
    const running = ages.get(controller) ?? new Set();
    ages.set(controller, running);
    return running;
  };
  const measured = (of: (seconds: readonly number[]) => number) => async () =>
    [...ages].map(([controller, running]) => ({
      labels: { controller, name: controller },
      value: of([...running].map((age) => age())),
    }));
  metrics.measured(
    { name: 'controller_runtime_active_workers', help: 'Number of workers processing a key.', labels: ['controller'] },
    async () => [...ages].map(([controller, { size }]) => ({ labels: { controller }, value: size })),
  );
  metrics.measured(
    {
      name: 'workqueue_unfinished_work_seconds',
      help: 'Total time of the keys that are being processed, in seconds.',
      labels: queueLabels,
    },
    measured((seconds) => seconds.reduce((sum, one) => sum + one, 0)),
  );
  metrics.measured(
    {
      name: 'workqueue_longest_running_processor_seconds',
      help: 'Time of the key that has been processed the longest, in seconds.',
      labels: queueLabels,
    },
    measured((seconds) => Math.max(0, ...seconds)),
  );
  return {
    started(controller: string, workers: number): () => void {
      agesOf(controller);
      most.of({ controller }).add(workers);
      return () => most.of({ controller }).add(-workers);
    },
    took(controller: string, age: () => number): () => void {
      const running = agesOf(controller).add(age);
      return () => void running.delete(age);
    },
  };
}

function reviewMetrics(metrics: Metrics): NonNullable<ControllerMetrics['reviewing']> {
  const labels = ['webhook'] as const;
  const total = metrics.counter({
    name: 'controller_runtime_webhook_requests_total',
    help: 'Reviews, by webhook and HTTP status.',
    labels: ['webhook', 'code'],
  });
  const inFlight = metrics.gauge({
    name: 'controller_runtime_webhook_requests_in_flight',
    help: 'Reviews in progress.',
    labels,
  });
  const time = metrics.histogram({
    name: 'controller_runtime_webhook_latency_seconds',
    help: 'Time taken by reviews, in seconds.',
    labels,
    buckets: exponentialBuckets(0.001, 4, 9),
  });
  return (webhook) => {
    inFlight.of({ webhook }).add(1);
    return (code, seconds) => {
      inFlight.of({ webhook }).add(-1);
      total.add({ webhook, code: String(code) });
      time.observe({ webhook }, seconds);
    };
  };
}
