import type { Metrics } from '../../runtime/metrics.js';
import type { AdmissionAttributes } from '../admission-step.js';
import { type ConditionMetrics, conditionLabels } from '../condition-metrics.js';
import type { ConditionsVerdict } from '../expression-list.js';
import type { WebhookType } from './versioned-attributes.js';

export type Rejection = 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error';

/** Records calls of webhooks and their results. */
export interface WebhookMetrics {
  /** Records a call. `code` is that of the failure or denial, 200 if there is neither, and 0 for an internal error. */
  called(call: {
    readonly webhook: string;
    readonly type: WebhookType;
    readonly operation: AdmissionAttributes['operation'];
    readonly seconds: number;
    readonly code: number;
    /** Why the request was rejected because of the webhook; undefined if it was not. */
    readonly rejection: Rejection | undefined;
  }): void;
  /** Records that match conditions were evaluated. `excluded`: the webhook is not called because of them. */
  conditionsEvaluated(judgement: {
    readonly webhook: string;
    readonly type: WebhookType;
    readonly operation: AdmissionAttributes['operation'];
    readonly seconds: number;
    readonly verdict: ConditionsVerdict;
    readonly excluded: boolean;
  }): void;
  /** Records a failure that the failurePolicy ignores. */
  failedOpen(webhook: string, type: WebhookType): void;
}

/** Returns the metrics of kube-apiserver about admission webhooks. */
export function webhookMetrics(metrics: Metrics, conditions: ConditionMetrics): WebhookMetrics {
  const duration = metrics.histogram({
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    help: 'Time taken by calls to admission webhooks, in seconds.',
    labels: ['name', 'type', 'operation', 'rejected'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
  });
  const requests = metrics.counter({
    name: 'apiserver_admission_webhook_request_total',
    help: 'Calls to admission webhooks.',
    labels: ['name', 'type', 'operation', 'code', 'rejected'],
  });
  const rejections = metrics.counter({
    name: 'apiserver_admission_webhook_rejection_count',
    help: 'Requests rejected by an admission webhook.',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  });
  const open = metrics.counter({
    name: 'apiserver_admission_webhook_fail_open_count',
    help: 'Failed calls to admission webhooks that were ignored by their failure policy.',
    labels: ['name', 'type'],
  });
  const excluded = metrics.counter({
    name: 'apiserver_admission_match_condition_exclusions_total',
    help: 'Calls to webhooks skipped because of their match conditions.',
    labels: conditionLabels,
  });
  return {
    conditionsEvaluated({ webhook: name, type, excluded: isExcluded, ...judgement }) {
      conditions({ ...judgement, name, kind: 'webhook', type });
      if (!isExcluded) return;
      // As in Kubernetes, exclusions have another name for the type.
      const named = type === 'validating' ? 'validate' : type;
      excluded.add({ name, kind: 'webhook', type: named, operation: judgement.operation });
    },
    called({ webhook: name, type, operation, seconds, code, rejection }) {
      const rejected = String(rejection !== undefined);
      // Kubernetes counts codes beyond these as the next below.
      const shown = String(code >= 600 ? 600 : code);
      duration.observe({ name, type, operation, rejected }, seconds);
      requests.add({ name, type, operation, code: shown, rejected });
      if (rejection === undefined) return;
      rejections.add({ name, type, operation, error_type: rejection, rejection_code: shown });
    },
    failedOpen: (name, type) => open.add({ name, type }),
  };
}
