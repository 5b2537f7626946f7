import type { Metrics } from '../../runtime/metrics.js';
import type { AdmissionAttributes } from '../admission-step.js';

/** How a webhook came into a request. */
export type HookSort = 'admit' | 'validating';

export type Rejection = 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error';

/** Counts what webhooks do to requests. */
export interface HookMetrics {
  /** One call. `code`: of the failure or refusal, 200 for neither, 0 for trouble of the server's own. */
  called(call: {
    readonly webhook: string;
    readonly sort: HookSort;
    readonly operation: AdmissionAttributes['operation'];
    readonly seconds: number;
    readonly code: number;
    /** Why the request was refused because of it; undefined if it was not. */
    readonly rejection: Rejection | undefined;
  }): void;
  /** The conditions of one were evaluated. `failures`: how many could not be; `excluded`: it is not called. */
  judged(judgement: {
    readonly webhook: string;
    readonly sort: HookSort;
    readonly operation: AdmissionAttributes['operation'];
    readonly seconds: number;
    readonly failures: number;
    readonly excluded: boolean;
  }): void;
  /** A failure that the webhook's policy ignores. */
  failedOpen(webhook: string, sort: HookSort): void;
}

/** The metrics of kube-apiserver about admission webhooks. */
export function hookMetrics(metrics: Metrics): HookMetrics {
  const duration = metrics.histogram({
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    help: 'How long calls of admission webhooks took.',
    labels: ['name', 'type', 'operation', 'rejected'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
  });
  const requests = metrics.counter({
    name: 'apiserver_admission_webhook_request_total',
    help: 'Calls of admission webhooks.',
    labels: ['name', 'type', 'operation', 'code', 'rejected'],
  });
  const rejections = metrics.counter({
    name: 'apiserver_admission_webhook_rejection_count',
    help: 'Requests refused because of an admission webhook.',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  });
  const open = metrics.counter({
    name: 'apiserver_admission_webhook_fail_open_count',
    help: 'Failures of admission webhooks that their policy ignores.',
    labels: ['name', 'type'],
  });
  const conditionLabels = ['name', 'kind', 'type', 'operation'];
  const judging = metrics.histogram({
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    help: 'How long evaluating match conditions took that did not all hold.',
    labels: conditionLabels,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  });
  const failed = metrics.counter({
    name: 'apiserver_admission_match_condition_evaluation_errors_total',
    help: 'Match conditions that could not be evaluated.',
    labels: conditionLabels,
  });
  const excluded = metrics.counter({
    name: 'apiserver_admission_match_condition_exclusions_total',
    help: 'Webhooks that were not called because of their match conditions.',
    labels: conditionLabels,
  });
  return {
    judged(judgement) {
      const { webhook: name, sort: type, operation, failures } = judgement;
      const labels = { name, kind: 'webhook', type, operation };
      // As in Kubernetes: what lets the webhook be called is not timed, and exclusions call the sort by another name.
      if (failures > 0 || judgement.excluded) judging.observe(labels, judgement.seconds);
      if (failures > 0) failed.add(labels, failures);
      if (judgement.excluded) excluded.add({ ...labels, type: type === 'validating' ? 'validate' : type });
    },
    called({ webhook: name, sort: type, operation, seconds, code, rejection }) {
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
