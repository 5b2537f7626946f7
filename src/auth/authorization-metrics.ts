import type { Metrics } from '../runtime/metrics.js';
import { timedCounter } from '../runtime/timed-counter.js';
import type { Decision } from './authorizer.js';

/** Counts who decides, and what asking somebody elsewhere comes to. */
export interface AuthorizationMetrics {
  /** Counts what an authorizer of this mode decides; to have no opinion is to decide nothing. */
  decisionsOf(mode: string): (verdict: Decision['verdict']) => void;
  readonly webhook: AuthorizationWebhookMetrics;
}

export interface AuthorizationWebhookMetrics {
  /** It was called once. */
  called(result: CallResult, milliseconds: number): void;
  /** It has not answered in the end, so that others decide. */
  failedOpen(result: CallResult): void;
}

export type CallResult = 'success' | 'timeout' | 'error';

const webhookSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** kube-apiserver calls the one webhook so that its options name. */
const webhookName = 'default';

/** The metrics of kube-apiserver about authorizers. */
export function authorizationMetrics(metrics: Metrics): AuthorizationMetrics {
  const decisions = metrics.counter({
    name: 'apiserver_authorization_decisions_total',
    help: 'Access questions that an authorizer has settled, by authorizer.',
    labels: ['decision', 'name', 'type'],
  });
  const labels = ['name', 'result'] as const;
  const called = timedCounter(metrics, {
    labels,
    total: {
      name: 'apiserver_authorization_webhook_evaluations_total',
      help: 'Calls of the webhook that decides about access.',
    },
    seconds: {
      name: 'apiserver_authorization_webhook_duration_seconds',
      help: 'How long calls took of the webhook that decides about access.',
      buckets: webhookSeconds,
    },
  });
  const open = metrics.counter({
    name: 'apiserver_authorization_webhook_evaluations_fail_open_total',
    help: 'Access questions that the webhook has not answered, so that others decide.',
    labels,
  });
  return {
    decisionsOf(mode) {
      const by = { name: mode === 'Webhook' ? webhookName : mode.toLowerCase(), type: mode };
      return (verdict) => {
        if (verdict === 'allow') decisions.add({ ...by, decision: 'allowed' });
        if (verdict === 'deny') decisions.add({ ...by, decision: 'denied' });
      };
    },
    webhook: {
      called: (result, milliseconds) => called({ name: webhookName, result }, milliseconds / 1_000),
      failedOpen: (result) => open.add({ name: webhookName, result }),
    },
  };
}

/** What a call has come to that failed. */
export const resultOfFailure = (error: unknown): CallResult =>
  error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'error';
