import type { Domains } from '../../api/domains.js';
import { type FieldRequirement, parseFieldSelector } from '../../api/field-selectors.js';
import { type LabelRequirement, parseLabelSelector } from '../../api/label-selectors.js';
import { messageOf } from '../../api/message-of.js';
import { BoundedMap } from '../../runtime/bounded-map.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import { type AuthorizationWebhookMetrics, resultOfFailure } from '../authorization-metrics.js';
import { type AccessAttributes, type Authorizer, type Decision, noRules } from '../authorizer.js';
import type { CallReview } from './call-review.js';

export interface WebhookAuthorizerOptions {
  readonly call: CallReview;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long an answer counts: one that allows, and any other. */
  readonly allowedMs: number;
  readonly refusedMs: number;
  readonly metrics?: Pick<AuthorizationWebhookMetrics, 'failedOpen'> | undefined;
}

interface Remembered {
  readonly decision: Decision;
  readonly until: number;
}

const maxRemembered = 8_192;
/** Longer questions are not remembered. */
const maxQuestion = 10_000;

/** Asks a server elsewhere, by a SubjectAccessReview. One that does not answer has no opinion. */
export function webhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const { call, domains, log, clock, allowedMs, refusedMs, metrics } = options;
  const remembered = new BoundedMap<string, Remembered>(maxRemembered);
  const remember = (question: string, decision: Decision): void => {
    if (question.length > maxQuestion) return;
    const keepMs = decision.verdict === 'allow' ? allowedMs : refusedMs;
    remembered.set(question, { decision, until: clock.monotonic() + keepMs });
  };
  return {
    async authorize(attributes) {
      const spec = specOf(attributes);
      const question = JSON.stringify(spec);
      const known = remembered.get(question);
      if (known !== undefined && clock.monotonic() < known.until) return known.decision;
      try {
        const decision = decisionIn(
          await call({
            apiVersion: `authorization.${domains.api}/v1`,
            kind: 'SubjectAccessReview',
            metadata: { creationTimestamp: null },
            spec,
            status: { allowed: false },
          }),
        );
        remember(question, decision);
        return decision;
      } catch (error) {
        log.warn({ err: error }, 'the webhook for access does not answer');
        metrics?.failedOpen(resultOfFailure(error));
        return { verdict: 'no-opinion', reason: '', error: messageOf(error) };
      }
    },

    rulesFor: async () => noRules('webhook authorizer does not support user rule resolution'),
  };
}

function decisionIn({ allowed, denied, reason: given }: Readonly<Record<string, unknown>>): Decision {
  const reason = typeof given === 'string' ? given : '';
  if (denied === true) {
    return allowed === true
      ? { verdict: 'deny', reason, error: 'webhook subject access review returned both allow and deny response' }
      : { verdict: 'deny', reason };
  }
  return { verdict: allowed === true ? 'allow' : 'no-opinion', reason };
}

function specOf({ user, ...attributes }: AccessAttributes): object {
  const { username, uid, groups, extra } = user;
  const who = {
    user: username,
    groups,
    ...(extra === undefined ? {} : { extra }),
    ...(uid === undefined ? {} : { uid }),
  };
  const { path, verb, namespace, group, version, resource, subresource, name } = attributes;
  if (path !== undefined) return { nonResourceAttributes: { path, verb }, ...who };
  const named = { namespace, verb, group, version, resource, subresource, name };
  const fields = fieldRequirements(attributes.fieldSelector);
  const labels = labelRequirements(attributes.labelSelector);
  return {
    resourceAttributes: {
      ...Object.fromEntries(Object.entries(named).filter(([, value]) => value)),
      ...(fields.length === 0 ? {} : { fieldSelector: { requirements: fields } }),
      ...(labels.length === 0 ? {} : { labelSelector: { requirements: labels } }),
    },
    ...who,
  };
}

/** A selector that cannot be read narrows nothing: the question is then about more than was asked for. */
function requirementsOf<R>(text: string | undefined, parse: (text: string) => readonly R[]): readonly R[] {
  if (text === undefined) return [];
  try {
    return parse(text);
  } catch {
    return [];
  }
}

const fieldRequirements = (text: string | undefined): readonly object[] =>
  requirementsOf<FieldRequirement>(text, (selector) => parseFieldSelector(selector).requirements).map(
    ({ field, operator, value }) => ({ key: field, operator: operator === '=' ? 'In' : 'NotIn', values: [value] }),
  );

const labelOperators: Readonly<Record<LabelRequirement['operator'], string | undefined>> = {
  in: 'In',
  '=': 'In',
  '==': 'In',
  notin: 'NotIn',
  '!=': 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  '>': undefined,
  '<': undefined,
};

const labelRequirements = (text: string | undefined): readonly object[] =>
  requirementsOf<LabelRequirement>(text, (selector) => parseLabelSelector(selector).requirements).flatMap(
    ({ key, operator, values }) => {
      const known = labelOperators[operator];
      return known === undefined ? [] : [{ key, operator: known, ...(values.length > 0 ? { values } : {}) }];
    },
  );
