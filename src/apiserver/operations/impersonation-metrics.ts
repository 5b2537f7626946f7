import type { Authorizer } from '../../auth/authorizer.js';
import type { Impersonated } from '../../auth/impersonation.js';
import type { Clock } from '../../runtime/clock.js';
import { exponentialBuckets, type Metrics } from '../../runtime/metrics.js';
import { timedCounter } from '../../runtime/timed-counter.js';

/** Metrics of impersonation, and of the authorization checks that it requires. */
export interface ImpersonationMetrics {
  /** Counts an attempt to impersonate; undefined if it was refused. */
  attempted(impersonated: Impersonated | undefined, milliseconds: number): void;
  /** Returns an authorizer that counts the checks for impersonation. */
  counting(authorizer: Authorizer): Authorizer;
}

const buckets = exponentialBuckets(0.001, 2, 15);
const labels = ['decision', 'mode'] as const;

/** Returns the metrics of kube-apiserver about impersonation (KEP-5284). */
export function impersonationMetrics(metrics: Metrics, clock: Clock): ImpersonationMetrics {
  const family = (subject: string, description: string) => {
    const tried = timedCounter(metrics, {
      labels,
      total: {
        name: `apiserver_impersonation_${subject}_total`,
        help: `Number of ${description}, by mode and decision.`,
      },
      seconds: {
        name: `apiserver_impersonation_${subject}_duration_seconds`,
        help: `Time taken by ${description}, in seconds, by mode and decision.`,
        buckets,
      },
    });
    return (mode: string, isAllowed: boolean, milliseconds: number): void =>
      tried({ decision: isAllowed ? 'allowed' : 'denied', mode }, milliseconds / 1_000);
  };
  const attempt = family('attempts', 'impersonation attempts');
  const check = family('authorization_attempts', 'authorization checks for impersonation');
  return {
    attempted: (impersonated, milliseconds) =>
      attempt(
        impersonated === undefined ? '' : modeOf(impersonated.constraint),
        impersonated !== undefined,
        milliseconds,
      ),
    counting: (authorizer) => ({
      authorize: async (attributes) => {
        const start = clock.monotonic();
        const decision = await authorizer.authorize(attributes);
        check(modeOf(attributes.verb), decision.verdict === 'allow', clock.monotonic() - start);
        return decision;
      },
    }),
  };
}

/** Returns the mode in a verb: `impersonate-on:user-info:list` and `impersonate:user-info` have the mode `user-info`. */
const modeOf = (verb = ''): string => /^impersonate(?:-on)?:([^:]+)/.exec(verb)?.[1] ?? 'legacy';
