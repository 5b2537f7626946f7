import type { Decision } from '../../auth/authorizer.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { subresourceOf } from '../../registry/subresource.js';
import { type Metrics, maxCachedSeries } from '../../runtime/metrics.js';
import type { Catalogue } from '../catalogue.js';
import type { ApiRequest, RequestInfo } from '../request.js';
import type { InFlight } from './in-flight.js';
import { dryRunOf, knownPath, scopeOf, userSort, verbOf } from './request-labels.js';
import { component, type ResourceLabels, requestFamilies } from './request-metric-families.js';

/** Counts requests. */

/** The time series of one kind of request. */
export interface RequestSeries {
  /**
   * Counts a response. `bytes` is its size, which is counted only for reads; `onWebhooks` is the time in seconds that
   * webhooks took.
   */
  answered(code: number, seconds: number, bytes: number, onWebhooks?: number): void;
  /** Counts a request that the server ended to protect itself. */
  terminated(code: number): void;
  /** Counts a response that was aborted after it had begun. */
  aborted(): void;
  /** Counts a long-running request. Returns a function that counts its end. */
  running(): () => void;
}

/** The time series of watch events of one resource. */
export interface WatchSeries {
  /** Counts an event; `initial` if it belongs to the initial state. */
  event(bytes: number, initial: boolean): void;
  /** Counts that the initial state was sent. */
  initialised(seconds: number): void;
}

export class RequestMetrics {
  readonly #catalogue: Catalogue;
  readonly #families: ReturnType<typeof requestFamilies>;
  readonly #series = new Map<string, RequestSeries>();
  readonly #watches = new Map<string, WatchSeries>();
  readonly #users = new Map<string, { add(): void }>();

  constructor(metrics: Metrics, catalogue: Catalogue) {
    this.#catalogue = catalogue;
    this.#families = requestFamilies(metrics);
  }

  /** Returns the series of a request. All unknown paths and kinds share one. */
  of(request: Pick<ApiRequest, 'info' | 'method' | 'query' | 'header'>): RequestSeries {
    const { info } = request;
    const verb = verbOf(request);
    const scope = scopeOf(info);
    const dryRun = dryRunOf(request.query);
    const target = info.isResource
      ? `${info.group}/${info.version}/${info.resource}/${info.subresource}`
      : knownPath(info.path);
    const key = `${verb} ${scope} ${dryRun} ${target}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const definition = this.#servedBy(info);
    if (info.isResource && definition === undefined) return this.#nowhere(verb);
    const isDeprecated = definition?.deprecation !== undefined;
    const series = this.#make(dryRun, { ...this.#labelsOf(info, verb), scope }, isDeprecated);
    if (this.#series.size < maxCachedSeries) this.#series.set(key, series);
    return series;
  }

  watchOf(definition: ResourceDefinition, scope: string): WatchSeries {
    const { group, version, plural: resource } = definition;
    const key = `${group}/${version}/${resource}/${scope}`;
    const known = this.#watches.get(key);
    if (known !== undefined) return known;
    const { watchEvents, watchSizes, watchLists, initEvents } = this.#families;
    const events = watchEvents.of({ group, version, resource });
    const sizes = watchSizes.of({ group, version, resource });
    const lists = watchLists.of({ group, version, resource, scope });
    const initials = initEvents.of({ group, resource });
    const series: WatchSeries = {
      event: (bytes, initial) => {
        events.add();
        if (initial) initials.add();
        sizes.observe(bytes);
      },
      initialised: (seconds) => lists.observe(seconds),
    };
    if (this.#watches.size < maxCachedSeries) this.#watches.set(key, series);
    return series;
  }

  authenticated(result: 'success' | 'failure' | 'error', seconds: number, username: string): void {
    const { attempts, attemptTime } = this.#families;
    attempts[result].add();
    attemptTime[result].observe(seconds);
    if (result === 'success') this.#user(userSort(username)).add();
  }

  authorized(verdict: Decision['verdict'], seconds: number): void {
    const { decisions, decisionTime } = this.#families;
    decisions[verdict].add();
    decisionTime[verdict].observe(seconds);
  }

  #user(username: string): { add(): void } {
    const known = this.#users.get(username);
    if (known !== undefined) return known;
    const counter = this.#families.users.of({ username });
    this.#users.set(username, counter);
    return counter;
  }

  #servedBy({ isResource, group, version, resource, subresource }: RequestInfo): ResourceDefinition | undefined {
    if (!isResource) return undefined;
    const definition = this.#catalogue.current().find(group, version, resource);
    if (definition === undefined || subresource === '') return definition;
    return subresourceOf(definition, subresource) && definition;
  }

  #labelsOf(info: RequestInfo, verb: string): Omit<ResourceLabels, 'scope'> {
    if (!info.isResource) return { ...unnamed, verb, subresource: knownPath(info.path) };
    const { group, version, resource, subresource } = info;
    return { verb, group, version, resource, subresource, component };
  }

  #nowhere(verb: string): RequestSeries {
    const key = `${verb} nowhere`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const series = this.#make('', { ...unnamed, verb, scope: '' }, false);
    this.#series.set(key, series);
    return series;
  }

  /** Creates the series. They must not refer to a definition, because they outlive it. */
  #make(dryRun: string, labels: ResourceLabels, isDeprecated: boolean): RequestSeries {
    const { totals, durations, slis, sizes, terminations, aborts, longRunning, deprecated } = this.#families;
    const codes = new Map<number, { add(): void }>();
    const duration = durations.of({ ...labels, dry_run: dryRun });
    const sli = dryRun === '' ? slis.of(labels) : undefined;
    const size = labels.verb === 'GET' || labels.verb === 'LIST' ? sizes.of(labels) : undefined;
    const { group, version, resource, subresource } = labels;
    return {
      answered: (code, seconds, bytes, onWebhooks = 0) => {
        let counter = codes.get(code);
        if (counter === undefined) {
          counter = totals.of({ ...labels, dry_run: dryRun, code: String(code) });
          codes.set(code, counter);
          if (isDeprecated) deprecated.set({ group, version, resource, subresource, removed_release: '' }, 1);
        }
        counter.add();
        duration.observe(seconds);
        sli?.observe(seconds - onWebhooks);
        size?.observe(bytes);
      },
      terminated: (code) => terminations.add({ ...labels, code: String(code) }),
      aborted: () => aborts.add(labels),
      running: () => {
        const gauge = longRunning.of(labels);
        gauge.add(1);
        return () => gauge.add(-1);
      },
    };
  }
}

const unnamed = { group: '', version: '', resource: '', subresource: '', component };

/** Registers the gauge of requests in flight. */
export function measureInFlight(metrics: Metrics, inFlight: InFlight, now: () => number): void {
  metrics.measured(
    {
      name: 'apiserver_current_inflight_requests',
      help: 'Maximal number of concurrent requests in the last second, by request kind.',
      labels: ['request_kind'],
    },
    async () =>
      (['readOnly', 'mutating'] as const).map((kind) => ({
        labels: { request_kind: kind },
        value: inFlight.highest(kind, now()),
      })),
  );
}
