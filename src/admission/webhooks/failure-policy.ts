import { internalError } from '../../api/errors.js';
import { FailureLog } from '../../client/failure-log.js';
import type { AdmissionAttributes } from '../admission-step.js';
import { WebhookDenied, WebhookFailed, type WebhookParts } from './call-webhook.js';
import type { Rejection } from './metrics.js';
import type { WebhookType } from './versioned-attributes.js';
import type { WebhookAccessor } from './webhook-accessors.js';

/** The result of a call: a value, or a failure that the failurePolicy ignores. */
export type Outcome<T> = { readonly value: T } | { readonly ignored: WebhookFailed };

/**
 * Makes a call, records its metrics, and applies the failurePolicy to its failures.
 *
 * @throws the error that is returned to the caller of the request
 */
export async function applyFailurePolicy<T>(
  hook: WebhookAccessor,
  type: WebhookType,
  { operation, caller }: AdmissionAttributes,
  { clock, log, metrics }: Pick<WebhookParts, 'clock' | 'log' | 'metrics'>,
  call: () => Promise<T>,
): Promise<Outcome<T>> {
  const { name: webhook, failurePolicy } = hook.webhook;
  const start = clock.monotonic();
  const count = (code: number, rejection: Rejection | undefined) => {
    const milliseconds = clock.monotonic() - start;
    caller?.onWebhookLatency?.(type === 'admit' ? 'mutating-webhook' : 'validating-webhook', milliseconds);
    metrics?.called({ webhook, type, operation, seconds: milliseconds / 1_000, code, rejection });
  };
  try {
    const value = await call();
    count(200, undefined);
    return { value };
  } catch (error) {
    if (caller?.signal.aborted) throw error;
    if (error instanceof WebhookDenied) {
      count(error.refusal.code, 'no_error');
      throw error.refusal;
    }
    if (!(error instanceof WebhookFailed)) {
      count(0, 'apiserver_internal_error');
      throw error;
    }
    const ignores = failurePolicy === 'Ignore';
    count(error.code, ignores ? undefined : 'calling_webhook_error');
    troublesWith(hook).report(log, {
      error,
      now: clock.monotonic(),
      fields: { webhook, configuration: hook.configuration, ignores },
      message: 'an admission webhook failed',
      // Ignored failures are rate-limited, because a dead webhook would fill the log.
      always: !ignores,
    });
    if (!ignores) throw internalError(error.message, error);
    metrics?.failedOpen(webhook, type);
    return { ignored: error };
  }
}

const troubles = new WeakMap<WebhookAccessor, FailureLog>();

function troublesWith(hook: WebhookAccessor): FailureLog {
  const known = troubles.get(hook) ?? new FailureLog();
  troubles.set(hook, known);
  return known;
}
