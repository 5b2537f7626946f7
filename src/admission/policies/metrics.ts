import type { Metrics } from '../../runtime/metrics.js';
import { timedCounter } from '../../runtime/timed-counter.js';

/** The result of one expression of a policy. */
export interface PolicyEvaluation {
  readonly policy: string;
  readonly binding: string;
  /** Why it could not be evaluated or applied; undefined if it could. */
  readonly failure: string | undefined;
  readonly seconds: number;
}

/** The consequence of a failed validation. Validations that are met are not counted. */
export type Enforcement = 'allow' | 'audit' | 'deny' | 'warn';

/** Records what policies do to requests. */
export interface PolicyMetrics {
  mutated(check: PolicyEvaluation): void;
  validated(check: PolicyEvaluation, action: Enforcement): void;
}

const buckets = [0.0000005, 0.001, 0.01, 0.1, 1];
const labels = ['policy', 'policy_binding', 'error_type'] as const;

/** Returns the metrics of kube-apiserver about admission policies. */
export function policyMetrics(metrics: Metrics): PolicyMetrics {
  const mutated = timedCounter(metrics, {
    labels,
    total: {
      name: 'apiserver_mutating_admission_policy_check_total',
      help: 'Mutations by admission policies, by result.',
    },
    seconds: {
      name: 'apiserver_mutating_admission_policy_check_duration_seconds',
      help: 'Time taken by mutations of admission policies, in seconds.',
      buckets,
    },
  });
  const validated = timedCounter(metrics, {
    labels: [...labels, 'enforcement_action'],
    total: {
      name: 'apiserver_validating_admission_policy_check_total',
      help: 'Validations of admission policies that failed, by the action taken.',
    },
    seconds: {
      name: 'apiserver_validating_admission_policy_check_duration_seconds',
      help: 'Time taken by validations of admission policies that failed, in seconds.',
      buckets,
    },
  });
  return {
    mutated: (check) => mutated(labelsOf(check), check.seconds),
    validated: (check, action) => validated({ ...labelsOf(check), enforcement_action: action }, check.seconds),
  };
}

const labelsOf = ({ policy, binding, failure }: PolicyEvaluation) => ({
  policy,
  policy_binding: binding,
  error_type: errorType(failure),
});

function errorType(failure: string | undefined): string {
  if (failure === undefined) return 'no_error';
  if (failure.startsWith('compilation')) return 'compile_error';
  return failure.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error';
}
