import { setMaxListeners } from 'node:events';
import { timeout } from '../../api/errors.js';
import { TurnTaking } from '../../runtime/turn-taking.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { callWebhook, isAbandoned, type WebhookParts } from './call-webhook.js';
import { applyFailurePolicy } from './failure-policy.js';
import { type Invocation, invocationOf, isExempt, type RequestMatchParts } from './matching.js';
import {
  convertForWebhook,
  originalAttributes,
  type ResourceKind,
  type VersionedAttributes,
} from './versioned-attributes.js';

/** Calls all matching validating webhooks concurrently. The first denial is reported. */
export const validatingWebhooks = (parts: WebhookParts): AdmissionStep => ({
  name: 'ValidatingAdmissionWebhook',
  handles: (attributes) => parts.hooks().length > 0 && !isExempt(attributes, parts.api),
  validate: (attributes) => validate(attributes, parts),
});

async function validate(attributes: AdmissionAttributes, parts: WebhookParts): Promise<void> {
  const current = originalAttributes(attributes);
  const versions = new Map<string, VersionedAttributes>();
  const calls: { readonly invocation: Invocation; readonly seen: VersionedAttributes }[] = [];
  const turns = new TurnTaking();
  const matching: RequestMatchParts = { ...parts, type: 'validating', turns };
  // Each call listens to the signal of the caller.
  if (attributes.caller !== undefined) setMaxListeners(0, attributes.caller.signal);
  for (const hook of parts.hooks()) {
    if (turns.isDue) await turns.next();
    const invocation = await invocationOf(hook, attributes, current, matching);
    if (invocation === undefined) continue;
    const key = keyOf(invocation.as);
    const seen = versions.get(key) ?? (await convertForWebhook('validating', parts.kinds, current, invocation.as));
    versions.set(key, seen);
    calls.push({ invocation, seen });
  }
  if (calls.length === 0) return;
  if (isAbandoned(attributes, parts.clock)) throw timeout('request did not complete within requested timeout');
  let refusal: { readonly error: unknown } | undefined;
  const judge = async ({ invocation: { hook }, seen }: (typeof calls)[number], index: number): Promise<void> => {
    try {
      const outcome = await applyFailurePolicy(hook, 'validating', attributes, parts, () =>
        callWebhook({ hook, seen, mutating: false }, attributes, parts),
      );
      if ('value' in outcome) return;
      const key = `failed-open.validating.webhook.admission.${parts.api}/round_0_index_${index}`;
      attributes.annotate?.(key, hook.webhook.name);
    } catch (error) {
      refusal ??= { error };
    }
  };
  const judgements: Promise<void>[] = [];
  for (const [index, call] of calls.entries()) {
    if (turns.isDue) await turns.next();
    judgements.push(judge(call, index));
  }
  await Promise.all(judgements);
  if (refusal !== undefined) throw refusal.error;
}

const keyOf = ({ resource, kind }: ResourceKind): string =>
  JSON.stringify([resource.group, resource.version, resource.plural, kind.group, kind.version, kind.kind]);
