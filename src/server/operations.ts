import type { Catalogue } from '../apiserver/catalogue.js';
import { type FeatureGates, featureStages } from '../apiserver/feature-gates.js';
import { Deadlines } from '../apiserver/operations/deadlines.js';
import { type ImpersonationMetrics, impersonationMetrics } from '../apiserver/operations/impersonation-metrics.js';
import { InFlight } from '../apiserver/operations/in-flight.js';
import type { Operations } from '../apiserver/operations/operations.js';
import { measureInFlight, RequestMetrics } from '../apiserver/operations/request-metrics.js';
import { serverVersion } from '../apiserver/version.js';
import { type ControllerMetrics, controllerMetrics } from '../controller/controller-metrics.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Metrics } from '../runtime/metrics.js';
import { meteredStore } from '../store/metered-store.js';
import type { Store } from '../store/store.js';
import { type AuditOptions, openAudit } from './open-audit.js';
import { optionDefaults } from './option-defaults.js';
import { measureStore } from './store-metrics.js';
import { withSyncMetrics } from './sync-metrics.js';

/** Metrics, audit log, and limits on requests. */
export interface OperationsOptions {
  /** Whether metrics are collected and served at `/metrics`; true by default. */
  readonly metrics?: boolean;
  /** Options of the audit log; nothing is recorded by default. */
  readonly audit?: AuditOptions;
  /** Maximum number of concurrent requests that read, except watches, 400 by default; 0 for no limit. */
  readonly readOnlyRequests?: number;
  /** Maximum number of concurrent requests that write, 200 by default; 0 for no limit. */
  readonly mutatingRequests?: number;
  /**
   * Maximum number of concurrent watches of one user, or of the service accounts of one namespace together, 10,000 by
   * default; 0 for no limit.
   */
  readonly watches?: number;
  /** Maximum duration of a request, except watches, in milliseconds, from 100 to a day; 60,000 by default. */
  readonly requestTimeoutMs?: number;
}

export interface OpenedOperations {
  /** The store; its operations are timed if metrics are collected. */
  readonly store: Store;
  /** The metrics; undefined if they are not collected. */
  readonly metrics: Metrics | undefined;
  readonly controllers: ControllerMetrics | undefined;
  readonly impersonations: ImpersonationMetrics | undefined;
  /** Returns the operations for requests to the resources of a catalogue. */
  over(catalogue: Catalogue, closing: () => boolean): Operations;
  onHandshakeFailed(): void;
  /** Records the remaining lifetime, in seconds, of a request's client certificate. */
  onClientCertificate(seconds: number): void;
  /** Flushes and closes the audit log. */
  close(): Promise<void>;
}

/** Opens metrics, audit log and request limits. Rejects if the audit log cannot be written or its policy is invalid. */
export async function openOperations(
  options: OperationsOptions,
  context: {
    readonly store: Store;
    /** Whether encryption of the store is configured. */
    readonly isEncrypted: boolean;
    readonly featureGates: FeatureGates;
    readonly metrics: Metrics;
    readonly clock: Clock;
    readonly log: Logger;
    readonly signal: AbortSignal;
  },
): Promise<OpenedOperations> {
  const { clock, metrics } = context;
  const counted = options.metrics ?? true;
  const ended = new AbortController();
  const inFlight = new InFlight({
    readOnly: options.readOnlyRequests ?? optionDefaults.inFlight.readOnly,
    mutating: options.mutatingRequests ?? optionDefaults.inFlight.mutating,
    watches: options.watches ?? optionDefaults.inFlight.watches,
  });
  const deadlines = new Deadlines(clock, options.requestTimeoutMs ?? optionDefaults.requestTimeoutMs, ended.signal);
  const audit = options.audit === undefined ? undefined : await openAudit(options.audit, context);
  const handshakes = metrics
    .counter({ name: 'apiserver_tls_handshake_errors_total', help: 'Failed TLS handshakes.' })
    .of({});
  const lifetimes = metrics
    .histogram({
      name: 'apiserver_client_certificate_expiration_seconds',
      help: 'Remaining lifetime of client certificates at each request, in seconds.',
      buckets: lifetimeSeconds,
    })
    .of({});
  tellBuild(metrics);
  tellFeatures(metrics, context.featureGates);
  measureInFlight(metrics, inFlight, () => clock.monotonic());
  const impersonations = counted ? impersonationMetrics(metrics, clock) : undefined;
  return {
    store: counted ? meteredStore(context.store, { metrics, clock }) : context.store,
    metrics: counted ? metrics : undefined,
    controllers: counted ? withSyncMetrics(metrics, controllerMetrics(metrics)) : undefined,
    impersonations,
    over(catalogue, closing) {
      if (counted) measureStore(metrics, context.store, { catalogue, isEncrypted: context.isEncrypted });
      return {
        clock,
        metrics: counted ? new RequestMetrics(metrics, catalogue) : undefined,
        impersonations,
        audit,
        inFlight,
        deadlines,
        closing,
      };
    },
    onHandshakeFailed: () => handshakes.add(),
    onClientCertificate: (seconds) => lifetimes.observe(seconds),
    async close() {
      ended.abort();
      await audit?.close();
    },
  };
}

const hour = 3_600;
const day = 24 * hour;
const lifetimeSeconds = [
  ...[0, hour / 2, hour, 2 * hour, 6 * hour, 12 * hour],
  ...[1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * day),
];

const versionInfo = {
  binary: serverVersion.gitVersion.slice(1),
  component: 'kube',
  emulation: `${serverVersion.emulationMajor}.${serverVersion.emulationMinor}`,
  min_compat: `${serverVersion.minCompatibilityMajor}.${serverVersion.minCompatibilityMinor}`,
};

/** Reports the response of /version as labels of a metric. */
function tellBuild(metrics: Metrics): void {
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } = serverVersion;
  const labels = {
    major,
    minor,
    git_version: gitVersion,
    git_commit: gitCommit,
    git_tree_state: gitTreeState,
    build_date: buildDate,
    go_version: goVersion,
    compiler,
    platform,
  };
  metrics
    .gauge({
      name: 'kubernetes_build_info',
      help: 'Always 1; the labels are the version of this server.',
      labels: Object.keys(labels) as (keyof typeof labels)[],
    })
    .set(labels, 1);
  metrics
    .gauge({
      name: 'version_info',
      help: 'Always 1; the labels are the version of Kubernetes that the server implements.',
      labels: ['binary', 'component', 'emulation', 'min_compat'],
    })
    .set(versionInfo, 1);
}

function tellFeatures(metrics: Metrics, gates: FeatureGates): void {
  const enabled = metrics.gauge({
    name: 'kubernetes_feature_enabled',
    help: '1 if a feature gate is enabled, 0 otherwise.',
    labels: ['name', 'stage'],
  });
  for (const name of Object.keys(featureStages) as (keyof FeatureGates)[]) {
    enabled.set({ name, stage: featureStages[name] }, gates[name] ? 1 : 0);
  }
}
