import { ApiError } from '../api/errors.js';
import type { ControllerMetrics } from '../controller/controller-metrics.js';
import { exponentialBuckets, type Metrics } from '../runtime/metrics.js';

/** The controllers that kube-controller-manager counts under names of their own, with these names. */
const names: Readonly<Record<string, string>> = {
  'root-ca-publisher': 'root_ca_cert_publisher',
  'trust-bundle-publisher': 'clustertrustbundle_publisher',
};

/**
 * Adds the sync counters of kube-controller-manager for some controllers, by the HTTP code of the last API response:
 * 200, or that of the failure.
 */
export function withSyncMetrics(metrics: Metrics, counting: ControllerMetrics): ControllerMetrics {
  const syncs = new Map(
    Object.entries(names).map(([controller, name]) => {
      const total = metrics.counter({
        name: `${name}_sync_total`,
        help: 'Syncs, by HTTP status code.',
        labels: ['code'],
      });
      const time = metrics.histogram({
        name: `${name}_sync_duration_seconds`,
        help: 'Time taken by syncs in seconds, by HTTP status code.',
        labels: ['code'],
        buckets: exponentialBuckets(0.001, 2, 15),
      });
      return [controller, { total, time }];
    }),
  );
  return {
    ...counting,
    reconciled(controller, outcome, seconds, error) {
      counting.reconciled(controller, outcome, seconds, error);
      const sync = syncs.get(controller);
      if (sync === undefined) return;
      const code = error === undefined ? '200' : String(error instanceof ApiError ? error.code : 500);
      sync.total.add({ code });
      sync.time.observe({ code }, seconds);
    },
  };
}
