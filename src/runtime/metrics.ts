import { setImmediate } from 'node:timers/promises';
import type { Metric } from 'prom-client';

/**
 * Numbers about the running program, in the text form of Prometheus. Counting is an addition in a plain object: the
 * library that knows the text form is loaded at the first scrape, and costs requests nothing. What counts often asks for
 * its series once (`of`) and keeps it.
 */
export interface Metrics {
  counter<L extends string = never>(given: MetricOptions<L>): Counter<L>;
  gauge<L extends string = never>(given: MetricOptions<L>): Gauge<L>;
  histogram<L extends string = never>(given: MetricOptions<L> & { readonly buckets: readonly number[] }): Histogram<L>;
  /** A gauge that is read when somebody scrapes. Where reading fails, it has no values that time. */
  measured<L extends string = never>(given: MetricOptions<L>, read: () => Promise<readonly Measured<L>[]>): void;
  /** What a scrape answers. */
  expose(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface MetricOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
}

export interface Counter<L extends string> {
  add(labels: Labels<L>, by?: number): void;
  of(labels: Labels<L>): { add(by?: number): void };
}
export interface Gauge<L extends string> {
  set(labels: Labels<L>, value: number): void;
  of(labels: Labels<L>): { set(value: number): void; add(by: number): void };
}
export interface Histogram<L extends string> {
  observe(labels: Labels<L>, value: number): void;
  of(labels: Labels<L>): { observe(value: number): void };
}
export interface Measured<L extends string> {
  readonly labels: Labels<L>;
  readonly value: number;
}
type Labels<L extends string> = Readonly<Record<L, string>>;

/** `count` buckets from `start`, each `factor` times the one before. */
export const exponentialBuckets = (start: number, factor: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, power) => start * factor ** power);

/** Labels may come from what callers send; a metric with more series than this leaves further ones out. */
const mostSeries = 20_000;

/** An own set of metrics. With `process` also those of Node itself: CPU, memory, event loop, garbage collection. */
export function openMetrics(options: { readonly process?: boolean } = {}): Metrics {
  const families = new Map<string, Family>();
  const add = (family: Family): void => {
    if (families.has(family.name)) throw new Error(`there is a metric ${family.name} already`);
    families.set(family.name, family);
  };
  let exposed: Promise<{ readonly contentType: string; metrics(): Promise<string> }> | undefined;
  return {
    counter(given) {
      const series = new SeriesMap(given.labels, () => new Value());
      add({ ...given, type: 'counter', values: async () => series.values() });
      return { of: (labels) => series.of(labels), add: (labels, by = 1) => series.of(labels).add(by) };
    },
    gauge(given) {
      const series = new SeriesMap(given.labels, () => new Value());
      add({ ...given, type: 'gauge', values: async () => series.values() });
      return { of: (labels) => series.of(labels), set: (labels, value) => series.of(labels).set(value) };
    },
    histogram(given) {
      const series = new SeriesMap(given.labels, () => new Distribution(given.buckets));
      add({ ...given, type: 'histogram', values: async () => series.values(given.name) });
      return { of: (labels) => series.of(labels), observe: (labels, value) => series.of(labels).observe(value) };
    },
    measured: (given, read) => add({ ...given, type: 'gauge', values: () => read().catch(() => []) }),
    async expose() {
      exposed ??= openRegister(families, options.process ?? false);
      const register = await exposed;
      return { contentType: register.contentType, text: await register.metrics() };
    },
  };
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Where it differs from the family's name. */
  readonly metricName?: string;
}
interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  values(): Promise<readonly Sample[]>;
}

async function openRegister(families: ReadonlyMap<string, Family>, ofProcess: boolean) {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const own = new Registry();
  if (ofProcess) collectDefaultMetrics({ register: own });
  const registered = new Set<Family>();
  return {
    contentType: own.contentType,
    metrics: async (): Promise<string> => {
      for (const family of families.values()) {
        if (registered.has(family)) continue;
        registered.add(family);
        const { name, help, type } = family;
        // A register asks its metrics for nothing but this.
        const asked = { name, get: async () => ({ name, help, type, values: await family.values() }) };
        own.registerMetric(asked as unknown as Metric<string>);
      }
      // One family at a time, with a turn for everybody else after each: together they are a lot of text.
      const texts: string[] = [];
      for (const { name } of own.getMetricsAsArray()) {
        texts.push(await own.getSingleMetricAsString(name));
        await setImmediate();
      }
      return `${texts.join('\n\n')}\n`;
    },
  };
}

/** The series of a metric, one for each combination of label values. */
class SeriesMap<L extends string, S extends { samples(name: string): readonly Sample[] }> {
  readonly #labels: readonly L[];
  readonly #make: () => S;
  readonly #series = new Map<string, { readonly labels: Labels<L>; readonly series: S }>();

  constructor(labels: readonly L[] | undefined, make: () => S) {
    this.#labels = labels ?? [];
    this.#make = make;
  }

  of(labels: Labels<L>): S {
    let key = '';
    for (const name of this.#labels) key += `${labels[name]}\0`;
    const known = this.#series.get(key);
    if (known !== undefined) return known.series;
    const series = this.#make();
    if (this.#series.size < mostSeries) this.#series.set(key, { labels: this.#inOrder(labels), series });
    return series;
  }

  #inOrder(labels: Labels<L>): Labels<L> {
    return Object.fromEntries(this.#labels.map((name) => [name, labels[name]])) as Labels<L>;
  }

  values(name = ''): readonly Sample[] {
    return [...this.#series.values()].flatMap(({ labels, series }) =>
      series.samples(name).map((sample) => ({ ...sample, labels: { ...labels, ...sample.labels } })),
    );
  }
}

class Value {
  #value = 0;

  add(by = 1): void {
    this.#value += by;
  }

  set(value: number): void {
    this.#value = value;
  }

  samples(): readonly Sample[] {
    return [{ labels: {}, value: this.#value }];
  }
}

class Distribution {
  readonly #limits: readonly number[];
  /** Of each bucket alone; the last is beyond all limits. */
  readonly #counts: number[];
  #sum = 0;

  constructor(limits: readonly number[]) {
    this.#limits = limits;
    this.#counts = new Array<number>(limits.length + 1).fill(0);
  }

  observe(value: number): void {
    const limits = this.#limits;
    let at = 0;
    while (at < limits.length && value > (limits[at] as number)) at++;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += value;
  }

  samples(name: string): readonly Sample[] {
    let below = 0;
    const buckets = this.#counts.map((count, at) => {
      below += count;
      return { metricName: `${name}_bucket`, labels: { le: String(this.#limits[at] ?? '+Inf') }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: {}, value: this.#sum },
      { metricName: `${name}_count`, labels: {}, value: below },
    ];
  }
}
