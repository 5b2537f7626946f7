import { groupResource } from '../api/object.js';
import { BoundedMap } from '../runtime/bounded-map.js';
import type { Clock } from '../runtime/clock.js';
import { configurationMetrics, type ReportConfiguration } from '../runtime/configuration-metrics.js';
import { hashOf } from '../runtime/last-outcomes.js';
import {
  type Counter,
  exponentialBuckets,
  type Histogram,
  type MetricLabels,
  type Metrics,
  maxCachedSeries,
} from '../runtime/metrics.js';
import { type EncryptionMetrics, encryptedPrefix, type TransformationType } from '../store/encryption/encryption.js';
import type { KeyService } from '../store/encryption/kms/key-service.js';
import type { KmsMetrics } from '../store/encryption/kms/kms-provider.js';
import { resourceOfPrefix, resourcePrefix } from '../store/resource-prefix.js';

export interface ServerEncryptionMetrics extends EncryptionMetrics {
  /** Reports loads of the EncryptionConfiguration. */
  readonly configured: ReportConfiguration;
  /** Returns the metrics of the key service with this name. */
  readonly kms: (name: string) => KmsMetrics & {
    /** Returns the service with its calls timed. */
    timed(service: KeyService): KeyService;
  };
}

/**
 * Returns the metrics of kube-apiserver about encryption at rest. `serverId` distinguishes servers that are scraped
 * together.
 */
export function encryptionMetrics(
  metrics: Metrics,
  { clock, serverId }: { readonly clock: Clock; readonly serverId: string },
): ServerEncryptionMetrics {
  const operations = metrics.counter({
    name: 'apiserver_storage_transformation_operations_total',
    help: 'Objects encrypted and decrypted, by result.',
    labels: ['resource', 'transformation_type', 'transformer_prefix', 'status'],
  });
  const seconds = metrics.histogram({
    name: 'apiserver_storage_transformation_duration_seconds',
    help: 'Time taken to encrypt and decrypt objects, in seconds.',
    labels: ['transformation_type', 'transformer_prefix'],
    buckets: exponentialBuckets(5e-6, 2, 25),
  });
  const calls = metrics.histogram({
    name: 'apiserver_envelope_encryption_kms_operations_latency_seconds',
    help: 'Time taken by calls to key services, in seconds.',
    labels: ['provider_name', 'method_name', 'grpc_status_code'],
    buckets: exponentialBuckets(0.0001, 2, 20),
  });
  const server = { apiserver_id_hash: hashOf(serverId) };
  const statusTimes = metrics.gauge({
    name: 'apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds',
    help: 'Time when a key service last reported its current key, in seconds since 1970.',
    labels: ['provider_name', 'key_id_hash', 'apiserver_id_hash'],
  });
  const uses = metrics.counter({
    name: 'apiserver_envelope_encryption_key_id_hash_total',
    help: 'Objects encrypted and decrypted through a key service, by key.',
    labels: ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'],
  });
  const statusTimeOf = latestSeries(statusTimes);
  const useOf = latestSeries(uses);
  const atHand = new Map<string, { readonly operation: CounterSeries; readonly time: HistogramSeries | undefined }>();
  const transformations = (type: TransformationType, key: string, prefix: string | undefined, isGood: boolean) => {
    const home = resourcePrefix(key);
    const name = `${type} ${home} ${prefix} ${isGood}`;
    const known = atHand.get(name);
    if (known !== undefined) return known;
    const labels = {
      transformation_type: type,
      transformer_prefix: prefix === undefined ? 'unknown' : shownPrefix(prefix),
    };
    const status = isGood ? 'OK' : 'unknown-non-grpc';
    const series = {
      operation: operations.of({ ...labels, resource: resourceName(home), status }),
      time: isGood ? seconds.of(labels) : undefined,
    };
    if (atHand.size < maxCachedSeries) atHand.set(name, series);
    return series;
  };
  return {
    configured: configurationMetrics(metrics, {
      kind: 'EncryptionConfiguration',
      prefix: 'apiserver_encryption_config_controller',
      clock,
      serverId,
    }),
    begin(type, key) {
      const start = clock.monotonic();
      return (prefix, isGood) => {
        const { operation, time } = transformations(type, key, prefix, isGood);
        operation.add();
        time?.observe((clock.monotonic() - start) / 1_000);
      };
    },
    kms: (provider_name) => ({
      keyReported(id) {
        const labels = () => ({ provider_name, key_id_hash: hashOf(id), ...server });
        statusTimeOf(`${provider_name} ${id}`, labels).set(clock.now() / 1_000);
      },
      keyUsed(type, id) {
        const labels = () => ({ transformation_type: type, provider_name, key_id_hash: hashOf(id), ...server });
        useOf(`${type} ${provider_name} ${id}`, labels).add();
      },
      timed(service) {
        const timed = async <T>(method: string, answer: Promise<T>): Promise<T> => {
          const start = clock.monotonic();
          let code = 'OK';
          try {
            return await answer;
          } catch (error) {
            code = codeNames[(error as { readonly cause?: { readonly code?: number } }).cause?.code ?? -1] ?? 'Unknown';
            throw error;
          } finally {
            const method_name = `/v2.KeyManagementService/${method}`;
            const labels = { provider_name, method_name, grpc_status_code: code };
            calls.observe(labels, (clock.monotonic() - start) / 1_000);
          }
        };
        return {
          status: () => timed('Status', service.status()),
          encrypt: (plaintext, uid) => timed('Encrypt', service.encrypt(plaintext, uid)),
          decrypt: (key, uid) => timed('Decrypt', service.decrypt(key, uid)),
          close: () => service.close(),
        };
      },
    }),
  };
}

type CounterSeries = ReturnType<Counter<never>['of']>;
type HistogramSeries = ReturnType<Histogram<never>['of']>;

/**
 * The maximum number of keys with series of their own, as in Kubernetes: a key service may report new key IDs again and
 * again.
 */
const mostKeys = 100;

/** Returns the series of the most recent names. */
function latestSeries<L extends string, S>({
  of,
  drop,
}: {
  of(labels: MetricLabels<L>): S;
  drop(labels: MetricLabels<L>): void;
}): (name: string, labelsOf: () => MetricLabels<L>) => S {
  const latest = new BoundedMap<string, { readonly labels: MetricLabels<L>; readonly series: S }>(
    mostKeys,
    ({ labels }) => drop(labels),
  );
  const create = (labels: MetricLabels<L>) => ({ labels, series: of(labels) });
  return (name, labelsOf) => {
    const one = latest.get(name) ?? create(labelsOf());
    latest.set(name, one);
    return one.series;
  };
}

/** Returns a prefix as Kubernetes shows it: without the name of the key, except for key services. */
function shownPrefix(prefix: string): string {
  if (prefix === '') return 'identity';
  const [type = ''] = prefix.slice(encryptedPrefix.length).split(':');
  return type === 'kms' ? prefix : `${encryptedPrefix}${type}:v1:`;
}

function resourceName(home: string): string {
  const { group, resource } = resourceOfPrefix(home);
  return groupResource({ group, plural: resource });
}

/** Names of gRPC status codes, in the order of their numbers. */
const codeNames: readonly string[] = [
  ['OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists'],
  ['PermissionDenied', 'ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented'],
  ['Internal', 'Unavailable', 'DataLoss', 'Unauthenticated'],
].flat();
