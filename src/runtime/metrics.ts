import { setImmediate } from 'node:timers/promises';
import type { Counter as PromCounter } from 'prom-client';

/**
 * Metrics of the running program, in the text format of Prometheus. Counting is an addition in a plain object; code that
 * counts often looks its series up once (`of`) and keeps it. docs/decisions/0018-own-counting.md says why no library is
 * used.
 */
export interface Metrics {
  counter<L extends string = never>(options: MetricOptions<L>): Counter<L>;
  gauge<L extends string = never>(options: MetricOptions<L>): Gauge<L>;
  histogram<L extends string = never>(
    options: MetricOptions<L> & { readonly buckets: readonly number[] },
  ): Histogram<L>;
  /** A gauge that is read at each scrape. If reading fails, it has no values in that scrape. */
  measured<L extends string = never>(options: MetricOptions<L>, read: () => Promise<readonly Measured<L>[]>): void;
  /** Returns the response to a scrape: metrics of the process first, if enabled, then the others by name. */
  expose(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** The name, help text and labels of a metric in Prometheus. */
export interface MetricOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
}

/** A number that only grows. `of` looks the series up once. */
export interface Counter<L extends string> {
  add(labels: MetricLabels<L>, by?: number): void;
  of(labels: MetricLabels<L>): { add(by?: number): void };
  /** Removes the series. If it is used again, it starts from 0. */
  drop(labels: MetricLabels<L>): void;
}
/** A number that can be set. */
export interface Gauge<L extends string> {
  set(labels: MetricLabels<L>, value: number): void;
  of(labels: MetricLabels<L>): { set(value: number): void; add(by: number): void };
  /** Removes the series. If it is used again, it starts from 0. */
  drop(labels: MetricLabels<L>): void;
}
/** The distribution of values over buckets. */
export interface Histogram<L extends string> {
  observe(labels: MetricLabels<L>, value: number): void;
  of(labels: MetricLabels<L>): { observe(value: number): void };
}
/** One value of a metric, with its labels. */
export interface Measured<L extends string> {
  readonly labels: MetricLabels<L>;
  readonly value: number;
}
/** Values of a metric's labels by their names. */
export type MetricLabels<L extends string> = Readonly<Record<L, string>>;

/** Returns the limits of `count` buckets from `start`, each `factor` times the one before. */
export const exponentialBuckets = (start: number, factor: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, power) => start * factor ** power);

/** The maximum number of lines of a metric, because labels may come from requests; further series are left out. */
const mostLines = 50_000;

/**
 * Returns a new set of metrics. With `process`, it includes those of the Node.js process: CPU, memory, event loop,
 * garbage collection.
 */
export function openMetrics(options: { readonly process?: boolean } = {}): Metrics {
  const families = new Map<string, Family>();
  const add = (family: Family): void => {
    if (families.has(family.name)) throw new Error(`metric already registered: ${family.name}`);
    families.set(family.name, family);
  };
  return {
    counter(family) {
      const series = new SeriesMap(family, 1, () => new Value());
      add({ ...family, type: 'counter', series: async () => series.texts() });
      return {
        of: (labels) => series.of(labels),
        add: (labels, by = 1) => series.of(labels).add(by),
        drop: (labels) => series.drop(labels),
      };
    },
    gauge(family) {
      const series = new SeriesMap(family, 1, () => new Value());
      add({ ...family, type: 'gauge', series: async () => series.texts() });
      return {
        of: (labels) => series.of(labels),
        set: (labels, value) => series.of(labels).set(value),
        drop: (labels) => series.drop(labels),
      };
    },
    histogram(family) {
      const series = new SeriesMap(family, family.buckets.length + 3, () => new Distribution(family.buckets));
      add({ ...family, type: 'histogram', series: async () => series.texts() });
      return { of: (labels) => series.of(labels), observe: (labels, value) => series.of(labels).observe(value) };
    },
    measured(family, read) {
      const texts = async (): Promise<readonly string[]> =>
        (await read()).map(({ labels, value }) => line(family.name, labelText(family.labels, labels), value));
      add({ ...family, type: 'gauge', series: () => texts().catch(() => []) });
    },
    async expose() {
      const parts: string[] = [];
      if (options.process === true) {
        processMetrics ??= openProcessMetrics();
        parts.push(await (await processMetrics)());
      }
      let batch: string[] = [];
      const byName = [...families.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const { name, help, type, series } of byName) {
        batch.push(`# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`);
        for (const text of await series()) {
          batch.push(text);
          if (batch.length < seriesPerTurn) continue;
          // Joined batch by batch, because joining everything at the end would block for long.
          parts.push(batch.join(''));
          batch = [];
          await setImmediate();
        }
      }
      parts.push(batch.join(''));
      return { contentType: 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores', text: parts.join('') };
    },
  };
}

/** The number of series that are formatted before other work gets a turn. */
const seriesPerTurn = 200;

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Returns the lines of each series. */
  series(): Promise<Iterable<string>>;
}

/**
 * Shared by all servers of a process, because the library never releases its observers of the event loop and garbage
 * collection.
 */
let processMetrics: ReturnType<typeof openProcessMetrics> | undefined;

/** Opens the metrics of the process. The library is loaded at the first scrape. */
async function openProcessMetrics(): Promise<() => Promise<string>> {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const register = new Registry();
  // The library counts from this point on.
  const { user, system } = process.cpuUsage();
  collectDefaultMetrics({ register });
  const before = {
    process_cpu_user_seconds_total: user,
    process_cpu_system_seconds_total: system,
    process_cpu_seconds_total: user + system,
  };
  for (const [name, microseconds] of Object.entries(before))
    (register.getSingleMetric(name) as PromCounter | undefined)?.inc(microseconds / 1e6);
  return () => register.metrics();
}

const escaped = (text: string): string => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');

/** Returns `a="1",b="2"`, in the order of the names. */
const labelText = <L extends string>(names: readonly L[] = [], labels: MetricLabels<L>): string =>
  names.map((name) => `${name}="${escaped(labels[name]).replace(/"/g, '\\"')}"`).join(',');

const line = (name: string, labels: string, value: number): string =>
  `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`;

/** The values of one combination of label values. */
interface Series {
  text(name: string, labels: string): string;
}

/** The maximum number of series that a caller may cache, because custom kinds come and go. */
export const maxCachedSeries = 10_000;

/** The series of a metric, one for each combination of label values. */
class SeriesMap<L extends string, S extends Series> {
  readonly #name: string;
  readonly #labels: readonly L[];
  readonly #most: number;
  readonly #make: () => S;
  readonly #series = new Map<string, { readonly labels: string; readonly series: S }>();

  constructor({ name, labels = [] }: MetricOptions<L>, linesPerSeries: number, make: () => S) {
    this.#name = name;
    this.#labels = labels;
    this.#most = Math.floor(mostLines / linesPerSeries);
    this.#make = make;
  }

  of(labels: MetricLabels<L>): S {
    const key = this.#keyOf(labels);
    const known = this.#series.get(key);
    if (known !== undefined) return known.series;
    const series = this.#make();
    if (this.#series.size < this.#most) this.#series.set(key, { labels: labelText(this.#labels, labels), series });
    return series;
  }

  drop(labels: MetricLabels<L>): void {
    this.#series.delete(this.#keyOf(labels));
  }

  #keyOf(labels: MetricLabels<L>): string {
    let key = '';
    for (const name of this.#labels) key += `${labels[name]}\0`;
    return key;
  }

  *texts(): Generator<string> {
    for (const { labels, series } of this.#series.values()) yield series.text(this.#name, labels);
  }
}

class Value implements Series {
  #value = 0;

  add(by = 1): void {
    this.#value += by;
  }

  set(value: number): void {
    this.#value = value;
  }

  text(name: string, labels: string): string {
    return line(name, labels, this.#value);
  }
}

class Distribution implements Series {
  readonly #limits: readonly number[];
  /** The count of each bucket alone; the last one is for values beyond all limits. */
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

  /** Returns '' before the first observation, because most combinations of labels never occur. */
  text(name: string, labels: string): string {
    if (this.#counts.every((count) => count === 0)) return '';
    const others = labels === '' ? '' : `${labels},`;
    let below = 0;
    let text = '';
    for (const [at, count] of this.#counts.entries()) {
      below += count;
      text += line(`${name}_bucket`, `${others}le="${this.#limits[at] ?? '+Inf'}"`, below);
    }
    return `${text}${line(`${name}_sum`, labels, this.#sum)}${line(`${name}_count`, labels, below)}`;
  }
}
