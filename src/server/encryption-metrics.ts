import type { Clock } from '../runtime/clock.js';
import { configurationMetrics, hashOf, type TellConfiguration } from '../runtime/configuration-metrics.js';
import { exponentialBuckets, type Metrics } from '../runtime/metrics.js';
import { type EncryptionMetrics, encryptedPrefix } from '../store/encryption/encryption.js';
import type { KeyService } from '../store/encryption/kms/key-service.js';
import type { KmsMetrics } from '../store/encryption/kms/kms-provider.js';

export interface ServerEncryptionMetrics extends EncryptionMetrics {
  /** The EncryptionConfiguration. */
  readonly configured: TellConfiguration;
  /** Of the key service of this name. */
  readonly kms: (name: string) => KmsMetrics & {
    /** The service, whose calls are timed. */
    timed(service: KeyService): KeyService;
  };
}

/** The metrics of kube-apiserver about encryption at rest. `serverId` tells servers apart that are scraped together. */
export function encryptionMetrics(
  metrics: Metrics,
  { clock, serverId }: { readonly clock: Clock; readonly serverId: string },
): ServerEncryptionMetrics {
  const operations = metrics.counter({
    name: 'apiserver_storage_transformation_operations_total',
    help: 'Objects encrypted and decrypted, or not.',
    labels: ['resource', 'transformation_type', 'transformer_prefix', 'status'],
  });
  const seconds = metrics.histogram({
    name: 'apiserver_storage_transformation_duration_seconds',
    help: 'How long encrypting and decrypting objects took.',
    labels: ['transformation_type', 'transformer_prefix'],
    buckets: exponentialBuckets(5e-6, 2, 25),
  });
  const calls = metrics.histogram({
    name: 'apiserver_envelope_encryption_kms_operations_latency_seconds',
    help: 'How long key services took to answer.',
    labels: ['provider_name', 'method_name', 'grpc_status_code'],
    buckets: exponentialBuckets(0.0001, 2, 20),
  });
  const server = { apiserver_id_hash: hashOf(serverId) };
  const statusTimes = metrics.gauge({
    name: 'apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds',
    help: 'When a key service last named a key as the one it uses.',
    labels: ['provider_name', 'key_id_hash', 'apiserver_id_hash'],
  });
  const uses = metrics.counter({
    name: 'apiserver_envelope_encryption_key_id_hash_total',
    help: 'Objects encrypted and decrypted with the help of a key service, by its key.',
    labels: ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'],
  });
  return {
    configured: configurationMetrics(metrics, {
      kind: 'EncryptionConfiguration',
      prefix: 'apiserver_encryption_config_controller',
      clock,
      serverId,
    }),
    begin(transformation_type, key) {
      const begun = clock.monotonic();
      return (prefix, isGood) => {
        const about = { transformation_type, transformer_prefix: prefix === undefined ? 'unknown' : shown(prefix) };
        operations.add({ ...about, resource: resourceOf(key), status: isGood ? 'OK' : 'unknown-non-grpc' });
        if (isGood) seconds.observe(about, (clock.monotonic() - begun) / 1_000);
      };
    },
    kms: (provider_name) => ({
      keyTold: (id) => statusTimes.set({ provider_name, key_id_hash: hashOf(id), ...server }, clock.now() / 1_000),
      keyUsed: (type, id) => uses.add({ transformation_type: type, provider_name, key_id_hash: hashOf(id), ...server }),
      timed(service) {
        const timed = async <T>(method: string, answer: Promise<T>): Promise<T> => {
          const begun = clock.monotonic();
          let code = 'OK';
          try {
            return await answer;
          } catch (error) {
            code = codeNames[(error as { readonly cause?: { readonly code?: number } }).cause?.code ?? -1] ?? 'Unknown';
            throw error;
          } finally {
            const method_name = `/v2.KeyManagementService/${method}`;
            const labels = { provider_name, method_name, grpc_status_code: code };
            calls.observe(labels, (clock.monotonic() - begun) / 1_000);
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

/** As Kubernetes shows it: without the name of a key that is no key service's. */
function shown(prefix: string): string {
  if (prefix === '') return 'identity';
  const [type = ''] = prefix.slice(encryptedPrefix.length).split(':');
  return type === 'kms' ? prefix : `${encryptedPrefix}${type}:v1:`;
}

/** `<plural>.<group>` from the store's key. */
function resourceOf(key: string): string {
  const [group = '', plural = ''] = key.split('/', 2);
  return group === 'core' ? plural : `${plural}.${group}`;
}

/** Of gRPC, in the order of their numbers. */
const codeNames: readonly string[] = [
  ['OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists'],
  ['PermissionDenied', 'ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented'],
  ['Internal', 'Unavailable', 'DataLoss', 'Unauthenticated'],
].flat();
