import type { Clock } from '../runtime/clock.js';
import { type Metrics, maxCachedSeries } from '../runtime/metrics.js';
import { resourceOfPrefix, resourcePrefix } from './resource-prefix.js';
import { HistoryCompacted, RevisionInFuture, type Store, type Write, WriteConflict } from './store.js';

const seconds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
type Operation = 'get' | 'list' | 'create' | 'update' | 'delete';

/** Returns a store that measures reads and writes, with the metrics that Kubernetes has for those of etcd. */
export function meteredStore(
  store: Store,
  { metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock },
): Store {
  const labels = ['operation', 'group', 'resource'] as const;
  const times = metrics.histogram({
    name: 'etcd_request_duration_seconds',
    help: 'Time taken by reads and writes of the store, in seconds.',
    labels,
    buckets: seconds,
  });
  const totals = metrics.counter({ name: 'etcd_requests_total', help: 'Reads and writes of the store.', labels });
  const errors = metrics.counter({
    name: 'etcd_request_errors_total',
    help: 'Failed reads and writes of the store, without write conflicts.',
    labels,
  });
  const series = new Map<string, OperationSeries>();
  const seriesOf = (operation: Operation, key: string): OperationSeries => {
    const home = resourcePrefix(key);
    const name = `${operation} ${home}`;
    const known = series.get(name);
    if (known !== undefined) return known;
    const labels = { operation, ...resourceOfPrefix(home) };
    const created = { time: times.of(labels), total: totals.of(labels), errors: errors.of(labels) };
    if (series.size < maxCachedSeries) series.set(name, created);
    return created;
  };
  const timed = <T>(operation: Operation, key: string, work: Promise<T>): Promise<T> => {
    const { time, total, errors: failures } = seriesOf(operation, key);
    const start = clock.monotonic();
    total.add();
    work.then(
      () => time.observe((clock.monotonic() - start) / 1_000),
      (error: unknown) => {
        time.observe((clock.monotonic() - start) / 1_000);
        if (!isAnswer(error)) failures.add();
      },
    );
    return work;
  };
  return {
    get: (key) => timed('get', key, store.get(key)),
    scan: (prefix, options) => timed('list', prefix, store.scan(prefix, options)),
    commit: (write) => timed(operationOf(write), write.key, store.commit(write)),
    changes: (prefix, after) => store.changes(prefix, after),
    revision: () => store.revision(),
    ...(store.isStale && { isStale: store.isStale.bind(store) }),
    ...(store.size && { size: store.size.bind(store) }),
    close: () => store.close(),
  };
}

interface OperationSeries {
  readonly time: { observe(value: number): void };
  readonly total: { add(): void };
  readonly errors: { add(): void };
}

/** Whether an error is a regular answer of the store: a conflict, or a revision that is not available. */
const isAnswer = (error: unknown): boolean =>
  error instanceof WriteConflict || error instanceof HistoryCompacted || error instanceof RevisionInFuture;

const operationOf = ({ document, expect }: Write): Operation => {
  if (document === undefined) return 'delete';
  return expect === 'absent' ? 'create' : 'update';
};
