import { expect, test } from 'vitest';
import { untyped } from '../../src/api/errors.js';
import { controllerMetrics } from '../../src/controller/controller-metrics.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { withSyncMetrics } from '../../src/server/sync-metrics.js';

test('publishers are counted by the status code of their requests', async () => {
  const metrics = openMetrics();
  const counting = withSyncMetrics(metrics, controllerMetrics(metrics));
  counting.reconciled('root-ca-publisher', 'requeue', 0.003);
  counting.reconciled('root-ca-publisher', 'retry', 0.003, untyped('changed', 409));
  counting.reconciled('trust-bundle-publisher', 'retry', 0.003, new Error('away'));
  counting.reconciled('namespace', 'done', 0.003);
  const { text } = await metrics.expose();
  expect(text.match(/^\w+_sync_(?:total|duration_seconds_count|duration_seconds_bucket\{.*le="0.004").*/gm)).toEqual([
    'clustertrustbundle_publisher_sync_duration_seconds_bucket{code="500",le="0.004"} 1',
    'clustertrustbundle_publisher_sync_duration_seconds_count{code="500"} 1',
    'clustertrustbundle_publisher_sync_total{code="500"} 1',
    'root_ca_cert_publisher_sync_duration_seconds_bucket{code="200",le="0.004"} 1',
    'root_ca_cert_publisher_sync_duration_seconds_count{code="200"} 1',
    'root_ca_cert_publisher_sync_duration_seconds_bucket{code="409",le="0.004"} 1',
    'root_ca_cert_publisher_sync_duration_seconds_count{code="409"} 1',
    'root_ca_cert_publisher_sync_total{code="200"} 1',
    'root_ca_cert_publisher_sync_total{code="409"} 1',
  ]);
  expect(text).toContain('controller_runtime_reconcile_total{controller="root-ca-publisher",result="error"} 1');
});
