import type { ConversionFailure } from '../resources/customresources/conversion-review.js';
import type { Metrics } from '../runtime/metrics.js';
import { timedCounter } from '../runtime/timed-counter.js';

/** Counts calls of the webhooks that convert custom resources. */
export interface ConversionMetrics {
  /** Counts a call; `failure` if it failed. */
  called(seconds: number, failure: ConversionFailure | undefined): void;
}

/** Returns the metrics of kube-apiserver about conversion webhooks. */
export function conversionMetrics(metrics: Metrics): ConversionMetrics {
  const called = timedCounter(metrics, {
    labels: ['result', 'failure_type'],
    total: { name: 'apiserver_conversion_webhook_request_total', help: 'Calls to conversion webhooks.' },
    seconds: {
      name: 'apiserver_conversion_webhook_duration_seconds',
      help: 'Time taken by calls to conversion webhooks, in seconds.',
      buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60],
    },
  });
  return {
    called: (seconds, failure) =>
      called({ result: failure === undefined ? 'success' : 'failure', failure_type: failure ?? '' }, seconds),
  };
}
