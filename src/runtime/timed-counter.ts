import type { MetricLabels, MetricOptions, Metrics } from './metrics.js';

type Named = Pick<MetricOptions<never>, 'name' | 'help'>;

/** A counter and a histogram with the same labels. Returns the function that records one event and its duration in seconds. */
export function timedCounter<L extends string>(
  metrics: Metrics,
  given: {
    readonly labels: readonly L[];
    readonly total: Named;
    readonly seconds: Named & { readonly buckets: readonly number[] };
  },
): (labels: MetricLabels<L>, seconds: number) => void {
  const { labels } = given;
  const total = metrics.counter({ ...given.total, labels });
  const times = metrics.histogram({ ...given.seconds, labels });
  return (series, seconds) => {
    total.add(series);
    times.observe(series, seconds);
  };
}
