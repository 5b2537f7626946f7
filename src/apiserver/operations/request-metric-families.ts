import { exponentialBuckets, type Metrics } from '../../runtime/metrics.js';

/** The metrics about requests, under the names and labels that Kubernetes dashboards use. */

const requestSeconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const sliSeconds = requestSeconds.filter((limit) => limit >= 0.05);
const watchListSeconds = [...sliSeconds, 90, 120, 180, 300];
const attemptSeconds = exponentialBuckets(0.001, 2, 15);

const requestLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
export const component = 'apiserver';

/** The labels that describe the resource of a request. */
export type ResourceLabels = Readonly<Record<(typeof requestLabels)[number], string>>;

const recordOf = <K extends string, V>(names: readonly K[], make: (name: K) => V): Readonly<Record<K, V>> =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, V>;

export function requestFamilies(metrics: Metrics) {
  const attempts = metrics.counter({
    name: 'authentication_attempts',
    help: 'Authentication attempts, by result.',
    labels: ['result'],
  });
  const attemptTime = metrics.histogram({
    name: 'authentication_duration_seconds',
    help: 'Time taken to authenticate in seconds, by result.',
    labels: ['result'],
    buckets: attemptSeconds,
  });
  const decisions = metrics.counter({
    name: 'authorization_attempts_total',
    help: 'Authorization checks, by result.',
    labels: ['result'],
  });
  const decisionTime = metrics.histogram({
    name: 'authorization_duration_seconds',
    help: 'Time taken by authorization checks in seconds, by result.',
    labels: ['result'],
    buckets: attemptSeconds,
  });
  const results = ['success', 'failure', 'error'] as const;
  const verdicts = ['allow', 'deny', 'no-opinion'] as const;
  const verdictNames = { allow: 'allowed', deny: 'denied', 'no-opinion': 'no-opinion' } as const;
  return {
    attempts: recordOf(results, (result) => attempts.of({ result })),
    attemptTime: recordOf(results, (result) => attemptTime.of({ result })),
    decisions: recordOf(verdicts, (verdict) => decisions.of({ result: verdictNames[verdict] })),
    decisionTime: recordOf(verdicts, (verdict) => decisionTime.of({ result: verdictNames[verdict] })),
    users: metrics.counter({
      name: 'authenticated_user_requests',
      help: 'Authenticated requests, by type of user.',
      labels: ['username'],
    }),
    totals: metrics.counter({
      name: 'apiserver_request_total',
      help: 'Requests, by verb, resource, scope and status code.',
      labels: [...requestLabels, 'dry_run', 'code'],
    }),
    durations: metrics.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time taken by requests, in seconds.',
      labels: [...requestLabels, 'dry_run'],
      buckets: requestSeconds,
    }),
    slis: metrics.histogram({
      name: 'apiserver_request_sli_duration_seconds',
      help: 'Time taken by requests that are not dry runs, without the time taken by webhooks, in seconds.',
      labels: requestLabels,
      buckets: sliSeconds,
    }),
    sizes: metrics.histogram({
      name: 'apiserver_response_sizes',
      help: 'Size of responses to reads, in bytes.',
      labels: requestLabels,
      buckets: exponentialBuckets(1_000, 10, 7),
    }),
    terminations: metrics.counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests terminated to protect the server.',
      labels: [...requestLabels, 'code'],
    }),
    aborts: metrics.counter({
      name: 'apiserver_request_aborts_total',
      help: 'Requests whose responses were aborted.',
      labels: requestLabels.filter((name) => name !== 'component'),
    }),
    longRunning: metrics.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Long-running requests in progress.',
      labels: requestLabels,
    }),
    deprecated: metrics.gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: '1 for each deprecated API version that was requested.',
      labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    }),
    watchEvents: metrics.counter({
      name: 'apiserver_watch_events_total',
      help: 'Events sent to watchers.',
      labels: ['group', 'version', 'resource'],
    }),
    watchSizes: metrics.histogram({
      name: 'apiserver_watch_events_sizes',
      help: 'Size of events sent to watchers, in bytes.',
      labels: ['group', 'version', 'resource'],
      buckets: exponentialBuckets(1_024, 2, 8),
    }),
    initEvents: metrics.counter({
      name: 'apiserver_init_events_total',
      help: 'Events of the initial state sent to watchers.',
      labels: ['group', 'resource'],
    }),
    watchLists: metrics.histogram({
      name: 'apiserver_watch_list_duration_seconds',
      help: 'Time taken by watches to send the initial state, in seconds.',
      labels: ['group', 'version', 'resource', 'scope'],
      buckets: watchListSeconds,
    }),
  };
}
