import type { Registry } from 'prom-client';

/** Numbers about the running program, in the text form of Prometheus. */
export interface Metrics {
  counter<L extends string = never>(given: MetricOptions<L>): { add(labels: Record<L, string>, by?: number): void };
  gauge<L extends string = never>(given: MetricOptions<L>): { set(labels: Record<L, string>, value: number): void };
  histogram<L extends string = never>(
    given: MetricOptions<L> & { readonly buckets: readonly number[] },
  ): { observe(labels: Record<L, string>, value: number): void };
  /** What a scrape answers. */
  expose(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface MetricOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
}

/** `count` buckets from `start`, each `factor` times the one before. */
export const exponentialBuckets = (start: number, factor: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, power) => start * factor ** power);

/** An own set of metrics. With `process` also those of Node itself: memory, event loop, garbage collection. */
export async function openMetrics(options: { readonly process?: boolean } = {}): Promise<Metrics> {
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client');
  const register: Registry = new Registry();
  if (options.process) collectDefaultMetrics({ register });
  const common = <L extends string>({ name, help, labels = [] }: MetricOptions<L>) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [register],
  });
  return {
    counter(given) {
      const metric = new Counter(common(given));
      return { add: (labels, by = 1) => metric.inc(labels, by) };
    },
    gauge(given) {
      const metric = new Gauge(common(given));
      return { set: (labels, value) => metric.set(labels, value) };
    },
    histogram(given) {
      const metric = new Histogram({ ...common(given), buckets: [...given.buckets] });
      return { observe: (labels, value) => metric.observe(labels, value) };
    },
    expose: async () => ({ contentType: register.contentType, text: await register.metrics() }),
  };
}
