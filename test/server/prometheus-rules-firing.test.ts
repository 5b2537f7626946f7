import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { root } from '../process/build.js';
import { temporaryDirectory } from '../process/program.js';
import { readAlertRules } from './alert-rules.js';

/** Each alert fires in its situation and in no other, as evaluated by Prometheus' own `promtool`. */

const installed = spawnSync('promtool', ['--version']).status === 0;
if (!installed) console.warn('There is no promtool on the PATH: that alerts fire is not tested.');

const day = 86_400;

/**
 * By alert: series with a value for each minute (`a+bxn`: n more, each b higher), and the labels of the alerts that
 * fire after an hour.
 */
const cases: Readonly<
  Record<string, { readonly series: Readonly<Record<string, string>>; readonly fires: readonly object[] }>
> = {
  KedgeSignerFailing: {
    series: {
      'kedge_signer_requests_total{signer="bad",result="error"}': '0+1x120',
      'kedge_signer_requests_total{signer="once",result="error"}': '0x40 1x80',
      'kedge_signer_requests_total{signer="good",result="issued"}': '0+9x120',
    },
    fires: [{ signer: 'bad' }],
  },
  KedgeRequestsWaiting: {
    series: {
      'kedge_signer_oldest_waiting_seconds{signer="stuck",instance="a"}': '0+60x120',
      'kedge_signer_oldest_waiting_seconds{signer="stuck",instance="b"}': '0+60x120',
      'kedge_signer_oldest_waiting_seconds{signer="slow"}': '300x120',
    },
    fires: [{ signer: 'stuck' }],
  },
  KedgeCertificatesNotRenewed: {
    series: {
      'kedge_certificates_overdue{signer="late"}': '1x120',
      'kedge_certificates_overdue{signer="good"}': '0x120',
    },
    fires: [{ signer: 'late' }],
  },
  KedgeCaExpiring: {
    series: {
      'kedge_ca_expiration_timestamp_seconds{signer="ends"}': `${29 * day}x120`,
      'kedge_ca_expiration_timestamp_seconds{signer="lasts"}': `${31 * day}x120`,
    },
    fires: [{ signer: 'ends' }],
  },
  KedgeCaRotationHeldUp: {
    series: {
      'kedge_ca_rotation_held_up_seconds{secret="a/ca",object="x"}': '3000+60x120',
      'kedge_ca_rotation_held_up_seconds{secret="b/ca",object="y"}': '0x120',
    },
    fires: [{ secret: 'a/ca', object: 'x' }],
  },
  KedgeCaUnusable: {
    series: {
      'kedge_ca_rotation_phase{secret="a/ca",phase="unusable"}': '1x120',
      'kedge_ca_rotation_phase{secret="b/ca",phase="unusable"}': '0x120',
      'kedge_ca_rotation_phase{secret="b/ca",phase="announced"}': '1x120',
    },
    fires: [{ secret: 'a/ca' }],
  },
  KedgeServingCertificateExpiring: {
    series: {
      'kedge_serving_certificate_expiration_timestamp_seconds{instance="a"}': `${20 * day}x120`,
      'kedge_serving_certificate_expiration_timestamp_seconds{instance="b"}': `${22 * day}x120`,
    },
    fires: [{ instance: 'a' }],
  },
  KedgeWatchFailing: {
    series: {
      'kedge_watches_failing{controller="c",resource="r"}': '1x120',
      'kedge_watches_failing{controller="d",resource="r"}': '0x55 1x4 0x60',
    },
    fires: [{ controller: 'c', resource: 'r' }],
  },
  KedgeControllerFailing: {
    series: {
      'controller_runtime_reconcile_errors_total{controller="c"}': '0+1x120',
      'controller_runtime_reconcile_total{controller="c",result="error"}': '0+1x120',
      'controller_runtime_reconcile_total{controller="c",result="success"}': '0+5x120',
      'controller_runtime_reconcile_errors_total{controller="d"}': '0+1x120',
      'controller_runtime_reconcile_total{controller="d",result="success"}': '0+20x120',
    },
    fires: [{ controller: 'c' }],
  },
  KedgeControllersIdle: {
    series: {
      'leader_election_master_status{instance="a"}': '0x120',
      'leader_election_master_status{instance="b"}': '1x40 0x80',
    },
    fires: [{}],
  },
  KedgeStoreFailing: {
    series: {
      'etcd_request_errors_total{operation="create"}': '0+1x120',
      'etcd_request_errors_total{operation="get"}': '0x120',
    },
    fires: [{ operation: 'create' }],
  },
  KedgeStoreSlow: {
    series: {
      'etcd_request_duration_seconds_bucket{operation="create",le="0.4"}': '0+90x120',
      'etcd_request_duration_seconds_bucket{operation="create",le="1"}': '0+100x120',
      'etcd_request_duration_seconds_bucket{operation="create",le="+Inf"}': '0+100x120',
    },
    fires: [{}],
  },
  KedgeObjectsUnreadable: {
    series: {
      'kedge_encryption_objects{resource="secrets",state="unreadable",instance="embedded"}': '1x120',
      'kedge_encryption_objects{resource="configmaps",state="stale",instance="embedded"}': '1x120',
      // Counted while the key was missing, which it no longer is.
      'apiserver_storage_transformation_operations_total{resource="g.h",transformation_type="from_storage",status="x",instance="embedded"}':
        '0+1x120',
      'apiserver_storage_transformation_operations_total{resource="a.b",transformation_type="from_storage",status="x",instance="etcd"}':
        '0+1x120',
      'apiserver_storage_transformation_operations_total{resource="c.d",transformation_type="from_storage",status="OK",instance="etcd"}':
        '0+1x120',
      'apiserver_storage_transformation_operations_total{resource="e.f",transformation_type="to_storage",status="x",instance="etcd"}':
        '0+1x120',
    },
    fires: [{ resource: 'secrets' }, { resource: 'a.b' }],
  },
  KedgeConfigurationNotTaken: {
    series: {
      'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds{status="success",instance="a"}':
        '100x120',
      'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds{status="failure",instance="a"}':
        '200x120',
      'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds{status="success",instance="mended"}':
        '300x120',
      'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds{status="failure",instance="mended"}':
        '200x120',
      'apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds{status="failure",instance="b"}':
        '200x120',
      'apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds{status="success",instance="c"}':
        '200x120',
    },
    fires: [{ instance: 'a' }, { instance: 'b' }],
  },
  KedgeServerErrors: {
    series: {
      'apiserver_request_total{code="200"}': '0+96x120',
      'apiserver_request_total{code="500"}': '0+2x120',
      'apiserver_request_total{code="504"}': '0+2x120',
    },
    fires: [{}],
  },
  KedgeRequestsRejected: {
    series: {
      'apiserver_request_terminations_total{code="429"}': '0+1x120',
      'apiserver_request_terminations_total{code="504"}': '0x120',
    },
    fires: [{}],
  },
  KedgeAuditEventsLost: {
    series: { 'apiserver_audit_error_total{plugin="log"}': '0x50 1x70' },
    fires: [{}],
  },
};

/** By alert: series for which it must not fire. */
const quiet: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  KedgeControllersIdle: {
    'leader_election_master_status{instance="a"}': '0x120',
    'leader_election_master_status{instance="b"}': '1x120',
  },
  KedgeStoreSlow: {
    'etcd_request_duration_seconds_bucket{operation="create",le="0.4"}': '0+100x120',
    'etcd_request_duration_seconds_bucket{operation="create",le="+Inf"}': '0+100x120',
    'etcd_request_duration_seconds_bucket{operation="list",le="0.4"}': '0x120',
    'etcd_request_duration_seconds_bucket{operation="list",le="+Inf"}': '0+100x120',
  },
  KedgeServerErrors: {
    'apiserver_request_total{code="200"}': '0+98x120',
    'apiserver_request_total{code="500"}': '0+2x120',
  },
  KedgeRequestsRejected: { 'apiserver_request_terminations_total{code="504"}': '0+1x120' },
  KedgeAuditEventsLost: { 'apiserver_audit_error_total{plugin="log"}': '0x10 1x110' },
};

const rules = readAlertRules();
const severityOf = (alert: string) => rules.find((rule) => rule.alert === alert)?.labels.severity;

/** Returns promtool's complaints about a table; empty if there are none. */
function judged(alert: string, series: Readonly<Record<string, string>>, fires: readonly object[]): string {
  const file = join(temporaryDirectory(), 'rules.yaml');
  const samples = fires.map((labels) => {
    const all = { alertname: alert, alertstate: 'firing', severity: severityOf(alert), ...labels };
    const texts = Object.entries(all).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    return { labels: `ALERTS{${texts.join(', ')}}`, value: 1 };
  });
  const about = `ALERTS{alertname="${alert}", alertstate="firing"}`;
  const table = {
    rule_files: [join(root, 'config/prometheus-rules.yaml')],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [{ expr: about, eval_time: '61m', exp_samples: samples }],
      },
    ],
  };
  writeFileSync(file, stringify(table));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

test('there is a case for each alert', () => {
  expect(Object.keys(cases)).toEqual(rules.map(({ alert }) => alert));
});

test.skipIf(!installed).each(Object.entries(cases))('%s fires', (alert, { series, fires }) => {
  expect(judged(alert, series, fires)).toBe('');
});

test.skipIf(!installed).each(Object.entries(quiet))('%s does not fire without a reason', (alert, series) => {
  expect(judged(alert, series, [])).toBe('');
});
