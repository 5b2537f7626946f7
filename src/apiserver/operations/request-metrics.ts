import type { Query } from '../../api/options.js';
import type { Decision } from '../../auth/authorizer.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { subresourceOf } from '../../registry/subresource.js';
import { exponentialBuckets, type Metrics, mostSeriesAtHand } from '../../runtime/metrics.js';
import type { Catalogue } from '../catalogue.js';
import type { ApiRequest, RequestInfo } from '../request.js';
import type { InFlight } from './in-flight.js';

/** What is counted of requests, under the names and labels that dashboards for Kubernetes know. */

const requestSeconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const sliSeconds = requestSeconds.filter((limit) => limit >= 0.05);
const watchListSeconds = [...sliSeconds, 90, 120, 180, 300];
const attemptSeconds = exponentialBuckets(0.001, 2, 15);

const about = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
const component = 'apiserver';

type About = Readonly<Record<(typeof about)[number], string>>;

/** How often a kind of request was made, and how it went. */
export interface RequestSeries {
  /** `bytes`: size of the answer; only that of reads is counted. `onWebhooks`: seconds of it that were theirs. */
  answered(code: number, seconds: number, bytes: number, onWebhooks?: number): void;
  /** The server gave it up to protect itself. */
  terminated(code: number): void;
  /** The answer was broken off after it had begun. */
  aborted(): void;
  /** A long-running request began; answers how to count its end. */
  running(): () => void;
}

/** Events of the watches of a resource. */
export interface WatchSeries {
  /** `initial`: it told of the present state. */
  event(bytes: number, initial: boolean): void;
  /** The present state was sent. */
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

  /** The series a request belongs to. Paths and kinds nobody serves share one. */
  of(request: Pick<ApiRequest, 'info' | 'method' | 'query' | 'header'>): RequestSeries {
    const { info } = request;
    const verb = verbOf(request);
    const scope = scopeOf(info);
    const dryRun = dryRunOf(request.query);
    const what = info.isResource
      ? `${info.group}/${info.version}/${info.resource}/${info.subresource}`
      : knownPath(info.path);
    const key = `${verb} ${scope} ${dryRun} ${what}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const definition = this.#servedBy(info);
    if (info.isResource && definition === undefined) return this.#nowhere(verb);
    const isDeprecated = definition?.deprecation !== undefined;
    const made = this.#make(dryRun, { ...this.#labelsOf(info, verb), scope }, isDeprecated);
    if (this.#series.size < mostSeriesAtHand) this.#series.set(key, made);
    return made;
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
    const made: WatchSeries = {
      event: (bytes, initial) => {
        events.add();
        if (initial) initials.add();
        sizes.observe(bytes);
      },
      initialised: (seconds) => lists.observe(seconds),
    };
    if (this.#watches.size < mostSeriesAtHand) this.#watches.set(key, made);
    return made;
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

  #user(sort: string): { add(): void } {
    const known = this.#users.get(sort);
    if (known !== undefined) return known;
    const made = this.#families.users.of({ username: sort });
    this.#users.set(sort, made);
    return made;
  }

  #servedBy({ isResource, group, version, resource, subresource }: RequestInfo): ResourceDefinition | undefined {
    if (!isResource) return undefined;
    const definition = this.#catalogue.current().find(group, version, resource);
    if (definition === undefined || subresource === '') return definition;
    return subresourceOf(definition, subresource) && definition;
  }

  #labelsOf(info: RequestInfo, verb: string): Omit<About, 'scope'> {
    if (!info.isResource) return { ...unnamed, verb, subresource: knownPath(info.path) };
    const { group, version, resource, subresource } = info;
    return { verb, group, version, resource, subresource, component };
  }

  #nowhere(verb: string): RequestSeries {
    const key = `${verb} nowhere`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const made = this.#make('', { ...unnamed, verb, scope: '' }, false);
    this.#series.set(key, made);
    return made;
  }

  /** Holds no definition: series stay when the kind is gone. */
  #make(dryRun: string, labels: About, isDeprecated: boolean): RequestSeries {
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

/** Tells how many requests are under way. */
export function measureInFlight(metrics: Metrics, inFlight: InFlight, now: () => number): void {
  metrics.measured(
    {
      name: 'apiserver_current_inflight_requests',
      help: 'The most requests at a time in the last second, by request kind.',
      labels: ['request_kind'],
    },
    async () =>
      (['readOnly', 'mutating'] as const).map((kind) => ({
        labels: { request_kind: kind },
        value: inFlight.highest(kind, now()),
      })),
  );
}

const of = <K extends string, V>(names: readonly K[], make: (name: K) => V): Readonly<Record<K, V>> =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, V>;

function requestFamilies(metrics: Metrics) {
  const attempts = metrics.counter({
    name: 'authentication_attempts',
    help: 'Attempts to authenticate, by result.',
    labels: ['result'],
  });
  const attemptTime = metrics.histogram({
    name: 'authentication_duration_seconds',
    help: 'How long it took to authenticate, by result.',
    labels: ['result'],
    buckets: attemptSeconds,
  });
  const decisions = metrics.counter({
    name: 'authorization_attempts_total',
    help: 'Access questions, by result.',
    labels: ['result'],
  });
  const decisionTime = metrics.histogram({
    name: 'authorization_duration_seconds',
    help: 'How long access questions took, by result.',
    labels: ['result'],
    buckets: attemptSeconds,
  });
  const results = ['success', 'failure', 'error'] as const;
  const verdicts = ['allow', 'deny', 'no-opinion'] as const;
  const verdictNames = { allow: 'allowed', deny: 'denied', 'no-opinion': 'no-opinion' } as const;
  return {
    attempts: of(results, (result) => attempts.of({ result })),
    attemptTime: of(results, (result) => attemptTime.of({ result })),
    decisions: of(verdicts, (verdict) => decisions.of({ result: verdictNames[verdict] })),
    decisionTime: of(verdicts, (verdict) => decisionTime.of({ result: verdictNames[verdict] })),
    users: metrics.counter({
      name: 'authenticated_user_requests',
      help: 'Authenticated requests, by sort of user.',
      labels: ['username'],
    }),
    totals: metrics.counter({
      name: 'apiserver_request_total',
      help: 'Requests, by what they were about and the code of the answer.',
      labels: [...about, 'dry_run', 'code'],
    }),
    durations: metrics.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'How long requests took.',
      labels: [...about, 'dry_run'],
      buckets: requestSeconds,
    }),
    slis: metrics.histogram({
      name: 'apiserver_request_sli_duration_seconds',
      help: 'How long requests took that were not dry runs, without what webhooks took of it.',
      labels: about,
      buckets: sliSeconds,
    }),
    sizes: metrics.histogram({
      name: 'apiserver_response_sizes',
      help: 'Bytes of answers to reads.',
      labels: about,
      buckets: exponentialBuckets(1_000, 10, 7),
    }),
    terminations: metrics.counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests given up to protect the server.',
      labels: [...about, 'code'],
    }),
    aborts: metrics.counter({
      name: 'apiserver_request_aborts_total',
      help: 'Requests whose answers were broken off.',
      labels: about.filter((name) => name !== 'component'),
    }),
    longRunning: metrics.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Long-running requests under way.',
      labels: about,
    }),
    deprecated: metrics.gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: '1 for deprecated versions that were asked for.',
      labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    }),
    watchEvents: metrics.counter({
      name: 'apiserver_watch_events_total',
      help: 'Events sent to watchers.',
      labels: ['group', 'version', 'resource'],
    }),
    watchSizes: metrics.histogram({
      name: 'apiserver_watch_events_sizes',
      help: 'Bytes of events sent to watchers.',
      labels: ['group', 'version', 'resource'],
      buckets: exponentialBuckets(1_024, 2, 8),
    }),
    initEvents: metrics.counter({
      name: 'apiserver_init_events_total',
      help: 'Events that told watchers the present state.',
      labels: ['group', 'resource'],
    }),
    watchLists: metrics.histogram({
      name: 'apiserver_watch_list_duration_seconds',
      help: 'How long watches took to send the present state.',
      labels: ['group', 'version', 'resource', 'scope'],
      buckets: watchListSeconds,
    }),
  };
}

const resourceVerbs = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
]);
const pathVerbs = new Map([
  ['GET', 'GET'],
  ['HEAD', 'GET'],
  ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method): [string, string] => [method, method]),
]);

function verbOf(request: Pick<ApiRequest, 'info' | 'method' | 'header'>): string {
  const { isResource, verb } = request.info;
  if (!isResource) return pathVerbs.get(request.method) ?? 'other';
  if (verb === 'patch' && request.header('content-type') === 'application/apply-patch+yaml') return 'APPLY';
  return resourceVerbs.get(verb) ?? 'other';
}

const collectionVerbs = new Set(['list', 'watch', 'deletecollection']);

/** How much a request is about: one object, those of a namespace, or all. */
export function scopeOf({ isResource, verb, namespace, name }: RequestInfo): string {
  if (!isResource) return '';
  if (!collectionVerbs.has(verb) && (name !== '' || verb === 'create')) return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}

function dryRunOf(query: Query): string {
  const values = query.all('dryRun');
  if (values.length === 0) return '';
  return values.every((value) => value === 'All') ? 'All' : 'invalid';
}

const paths = new Set([
  '/api',
  '/apis',
  '/healthz',
  '/livez',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/readyz',
  '/version',
]);

/** The part of a path that is the same for everybody; "" for paths unknown. */
function knownPath(path: string): string {
  const whole = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (paths.has(whole)) return whole;
  const root = /^\/(?:openapi\/v3|apis?|healthz|livez|readyz)(?=\/)/.exec(whole)?.[0];
  return root !== undefined && paths.has(root) ? root : '';
}

const namedUsers = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);
/** User names are nobody's business, and too many. */
function userSort(username: string): string {
  if (namedUsers.has(username)) return username;
  return username.includes('@') ? 'email_id' : 'other';
}
