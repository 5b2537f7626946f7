import type { Domains } from '../../api/domains.js';
import { messageOf } from '../../api/message-of.js';
import { FailureLog } from '../../client/failure-log.js';
import { BoundedMap } from '../../runtime/bounded-map.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import { type AuthorizationWebhookMetrics, resultOfFailure } from '../authorization-metrics.js';
import { type AccessAttributes, type Authorizer, type Decision, noRules } from '../authorizer.js';
import { reviewSpec } from './access-review.js';
import type { CallReview } from './call-review.js';
import { flagIn, textIn } from './review-members.js';

export interface WebhookAuthorizerOptions {
  readonly call: CallReview;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: 'v1' | 'v1beta1';
  /** How long decisions are cached, in milliseconds: those that allow, and all others. */
  readonly allowedMs: number;
  readonly refusedMs: number;
  /** The decision if the webhook or the evaluation of a match condition fails. */
  readonly onFailure: 'no-opinion' | 'deny';
  /**
   * Whether a request meets the match conditions. Throws if they cannot be evaluated. If absent, every request does.
   */
  readonly asks?: ((attributes: AccessAttributes) => boolean) | undefined;
  readonly metrics?: Pick<AuthorizationWebhookMetrics, 'failedOpen'> | undefined;
}

interface CachedDecision {
  readonly decision: Decision;
  readonly until: number;
}

const maxRemembered = 8_192;
/** The maximum length of a review whose decision is cached. */
const maxQuestion = 10_000;

const noOpinion: Decision = { verdict: 'no-opinion', reason: '' };

/** Authorizes by sending a SubjectAccessReview to a remote server. */
export function webhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const { call, domains, log, clock, version, allowedMs, refusedMs, onFailure, asks, metrics } = options;
  const remembered = new BoundedMap<string, CachedDecision>(maxRemembered);
  const remember = (question: string, decision: Decision): void => {
    if (question.length > maxQuestion) return;
    const keepMs = decision.verdict === 'allow' ? allowedMs : refusedMs;
    remembered.set(question, { decision, until: clock.monotonic() + keepMs });
  };
  const troubles = new FailureLog();
  const failed = (error: unknown): Decision => ({ verdict: onFailure, reason: '', error: messageOf(error) });
  return {
    async authorize(attributes) {
      try {
        if (asks?.(attributes) === false) return noOpinion;
      } catch (error) {
        return failed(error);
      }
      const spec = reviewSpec(attributes, version);
      const question = JSON.stringify(spec);
      const known = remembered.get(question);
      if (known !== undefined && clock.monotonic() < known.until) return known.decision;
      try {
        const decision = decisionIn(
          await call({
            apiVersion: `authorization.${domains.api}/${version}`,
            kind: 'SubjectAccessReview',
            metadata: { creationTimestamp: null },
            spec,
            status: { allowed: false },
          }),
        );
        remember(question, decision);
        return decision;
      } catch (error) {
        // With fail-open, an unreachable webhook would fill the log.
        const always = onFailure !== 'no-opinion';
        const message = 'the authorization webhook does not answer';
        troubles.report(log, { error, now: clock.monotonic(), message, always });
        if (onFailure === 'no-opinion') metrics?.failedOpen(resultOfFailure(error));
        return failed(error);
      }
    },

    rulesFor: async () => noRules('webhook authorizer does not support user rule resolution'),
  };
}

/** Throws an Error for members of other types. */
function decisionIn(status: Readonly<Record<string, unknown>>): Decision {
  const fields = 'SubjectAccessReviewStatus.status';
  const allowed = flagIn(status['allowed'], `${fields}.allowed`);
  const denied = flagIn(status['denied'], `${fields}.denied`);
  const reason = textIn(status['reason'], `${fields}.reason`);
  // What went wrong there does not count.
  textIn(status['evaluationError'], `${fields}.evaluationError`);
  if (denied && allowed) {
    return {
      verdict: 'deny',
      reason,
      error: 'webhook subject access review returned both allow and deny response',
    };
  }
  return { verdict: denied ? 'deny' : allowed ? 'allow' : 'no-opinion', reason };
}
