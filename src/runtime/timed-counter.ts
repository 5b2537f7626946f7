import type { MetricLabels, MetricOptions, Metrics } from './metrics.js';

type NamedMetric = Pick<MetricOptions<never>, 'name' | 'help'>;

/** A counter and a histogram with the same labels. Returns the function that records one event and its duration in seconds. */
export function timedCounter<L extends string>(
  metrics: Metrics,
  options: {
    readonly labels: readonly L[];
    readonly total: NamedMetric;
    readonly seconds: NamedMetric & { readonly buckets: readonly number[] };
  },
): (labels: MetricLabels<L>, seconds: number) => void {
  const { labels } = options;
  const total = metrics.counter({ ...options.total, labels });
  const times = metrics.histogram({ ...options.seconds, labels });
  return (series, seconds) => {
    total.add(series);
    times.observe(series, seconds);
  };
}
