import type { Clock } from '../runtime/clock.js';
import { configurationMetrics, type ReportConfiguration } from '../runtime/configuration-metrics.js';
import type { Metrics } from '../runtime/metrics.js';
import { timedCounter } from '../runtime/timed-counter.js';
import type { Decision } from './authorizer.js';

/** Metrics of authorizers, and of the calls to authorization webhooks. */
export interface AuthorizationMetrics {
  /**
   * Returns a function that counts the decisions of an authorizer with this type and name. Having no opinion is not a
   * decision.
   */
  decisionsOf(type: string, name: string): (verdict: Decision['verdict']) => void;
  /** Returns the metrics of the webhook with this name. */
  webhook(name: string): AuthorizationWebhookMetrics;
  /** Reports loads of the AuthorizationConfiguration. */
  readonly configured: ReportConfiguration;
}

export interface AuthorizationWebhookMetrics {
  /** Counts an attempt to call the webhook. */
  called(result: CallResult, milliseconds: number): void;
  /** Counts a call that has failed for good, so that other authorizers decide (fail open). */
  failedOpen(result: CallResult): void;
  /** Counts the outcomes of its match conditions. */
  readonly conditions: ReviewConditionMetrics;
}

/** Counts an outcome of match conditions: all are met, one is not met, or the evaluation of one failed. */
export type ReviewConditionMetrics = (outcome: 'met' | 'excluded' | 'failed', milliseconds: number) => void;

export type CallResult = 'success' | 'timeout' | 'error';

const webhookSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Returns the metrics of kube-apiserver about authorizers. `serverId` distinguishes servers that are scraped together.
 */
export function authorizationMetrics(
  metrics: Metrics,
  { clock, serverId }: { readonly clock: Clock; readonly serverId: string },
): AuthorizationMetrics {
  const decisions = metrics.counter({
    name: 'apiserver_authorization_decisions_total',
    help: 'Authorization decisions, by authorizer.',
    labels: ['decision', 'name', 'type'],
  });
  const labels = ['name', 'result'] as const;
  const called = timedCounter(metrics, {
    labels,
    total: {
      name: 'apiserver_authorization_webhook_evaluations_total',
      help: 'Calls to the authorization webhook.',
    },
    seconds: {
      name: 'apiserver_authorization_webhook_duration_seconds',
      help: 'Time taken by calls to the authorization webhook, in seconds.',
      buckets: webhookSeconds,
    },
  });
  const open = metrics.counter({
    name: 'apiserver_authorization_webhook_evaluations_fail_open_total',
    help: 'Failed calls to the authorization webhook that were left to the next authorizer.',
    labels,
  });
  const conditionLabels = ['type', 'name'] as const;
  const conditionSeconds = metrics.histogram({
    name: 'apiserver_authorization_match_condition_evaluation_seconds',
    help: 'Time taken to evaluate the match conditions of authorization webhooks, in seconds.',
    labels: conditionLabels,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  });
  const conditionErrors = metrics.counter({
    name: 'apiserver_authorization_match_condition_evaluation_errors_total',
    help: 'Failed evaluations of match conditions of authorization webhooks.',
    labels: conditionLabels,
  });
  const exclusions = metrics.counter({
    name: 'apiserver_authorization_match_condition_exclusions_total',
    help: 'Requests excluded from an authorization webhook by its match conditions.',
    labels: conditionLabels,
  });
  return {
    decisionsOf(type, name) {
      const by = { name, type };
      return (verdict) => {
        if (verdict === 'allow') decisions.add({ ...by, decision: 'allowed' });
        if (verdict === 'deny') decisions.add({ ...by, decision: 'denied' });
      };
    },
    webhook: (name) => ({
      called: (result, milliseconds) => called({ name, result }, milliseconds / 1_000),
      failedOpen: (result) => open.add({ name, result }),
      conditions(outcome, milliseconds) {
        const by = { type: 'Webhook', name };
        conditionSeconds.observe(by, milliseconds / 1_000);
        if (outcome === 'excluded') exclusions.add(by);
        if (outcome === 'failed') conditionErrors.add(by);
      },
    }),
    configured: configurationMetrics(metrics, {
      kind: 'AuthorizationConfiguration',
      prefix: 'apiserver_authorization_config_controller',
      clock,
      serverId,
    }),
  };
}

/** Returns the result label for a failed call. */
export const resultOfFailure = (error: unknown): CallResult =>
  error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'error';
