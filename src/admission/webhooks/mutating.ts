import { ApiError, internalError, timeout } from '../../api/errors.js';
import { goJson, quote } from '../../api/go-text.js';
import { JsonSyntaxError } from '../../api/json-text.js';
import type { ApiObject } from '../../api/object.js';
import { TurnTaking } from '../../runtime/turn-taking.js';
import type { AdmissionAttributes, AdmissionStep, ReinvocationContext } from '../admission-step.js';
import { Reinvocation } from '../reinvocation.js';
import { callWebhook, isAbandoned, type WebhookAnswer, WebhookFailed, type WebhookParts } from './call-webhook.js';
import { applyFailurePolicy } from './failure-policy.js';
import { invocationOf, isExempt, type RequestMatchParts } from './matching.js';
import {
  convertAttributes,
  convertForWebhook,
  originalAttributes,
  type VersionedAttributes,
} from './versioned-attributes.js';
import type { WebhookAccessor } from './webhook-accessors.js';

const name = 'MutatingAdmissionWebhook';

/**
 * Calls mutating webhooks one after the other, each with the changes of the previous ones. After a change, earlier
 * webhooks with `reinvocationPolicy: IfNeeded` are called a second time.
 */
export const mutatingWebhooks = (parts: WebhookParts): AdmissionStep => ({
  name,
  handles: (attributes) => parts.hooks().length > 0 && !isExempt(attributes, parts.api),
  async mutate(attributes, rounds) {
    const object = await run(attributes, parts, rounds);
    if (object === undefined) throw new Error(`${attributes.operation} without an object`);
    return object;
  },
  async beforeDeletion(attributes) {
    await run(attributes, parts, { round: 0, requestReinvocation: () => {}, memory: new Map() });
  },
});

async function run(
  attributes: AdmissionAttributes,
  parts: WebhookParts,
  rounds: ReinvocationContext,
): Promise<ApiObject | undefined> {
  const { kinds } = parts;
  const isRepeat = rounds.round > 0;
  const reinvocation = Reinvocation.of(rounds, name);
  if (isRepeat && !kinds.same(reinvocation.left, attributes.object)) reinvocation.changed();
  const original = originalAttributes(attributes);
  let current = original;
  let isPatched = false;
  /**
   * Whether the first patch counts as a change, whatever it does. In Kubernetes, the times in managedFields that this
   * request wrote are finer than their text until a patch has been applied to that text.
   */
  const dropsTimes = ({ as }: VersionedAttributes): boolean =>
    !isRepeat && !isPatched && kinds.hasFineTimes(as) && writesTimes(attributes);
  const matching: RequestMatchParts = { ...parts, type: 'admit', turns: new TurnTaking() };
  for (const [index, hook] of parts.hooks().entries()) {
    const invocation = await invocationOf(hook, attributes, current, matching);
    if (invocation === undefined || (isRepeat && !reinvocation.isDue(hook.id))) continue;
    const seen = await convertForWebhook('admit', kinds, current, invocation.as);
    const notes = annotator(attributes, parts.api, { hook, round: rounds.round, index });
    let isChanged = false;
    const outcome = await applyFailurePolicy(hook, 'admit', attributes, parts, async () => {
      try {
        const answered = await callWebhook({ hook, seen, mutating: true }, attributes, parts);
        const result = await patched(hook, seen, answered, parts);
        if (result === undefined) return seen.object;
        isChanged = result.isChanged || dropsTimes(seen);
        notes.patched(answered);
        return result.object;
      } finally {
        notes.asked(isChanged);
      }
    });
    current = 'value' in outcome ? { ...seen, object: outcome.value } : seen;
    isPatched ||= current.object !== seen.object;
    if (isChanged) {
      reinvocation.changed();
      rounds.requestReinvocation();
    }
    reinvocation.asked(hook.id, hook.webhook.reinvocationPolicy);
    if ('value' in outcome) continue;
    notes.failedOpen();
    if (isAbandoned(attributes, parts.clock)) throw timeout('request did not complete within requested timeout');
  }
  // Converted back to the version of the request, whatever the patches did.
  const last = isPatched
    ? (await convertAttributes(kinds, { ...current, previous: undefined }, original.as)).object
    : original.object;
  const isRenamed = last !== undefined && last.apiVersion !== original.object?.apiVersion;
  const object = isRenamed ? await kinds.convert(last, original.as) : last;
  reinvocation.left = object;
  return object;
}

/** Whether the request itself changes owners or times in managedFields. */
function writesTimes({ object, previous }: AdmissionAttributes): boolean {
  const [now, before] = [object?.metadata.managedFields ?? [], previous?.metadata.managedFields ?? []];
  return now.length > 0 && goJson(now) !== goJson(before);
}

/** Returns the object with the changes that a webhook returned; undefined if there are none. */
async function patched(
  { webhook }: WebhookAccessor,
  { as, object }: VersionedAttributes,
  { verdict, patchType }: WebhookAnswer,
  { kinds }: WebhookParts,
): Promise<{ readonly object: ApiObject; readonly isChanged: boolean } | undefined> {
  if (verdict.patch.length === 0) return undefined;
  let patch: ReturnType<WebhookParts['kinds']['readPatch']>;
  try {
    patch = kinds.readPatch(verdict.patch);
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof JsonSyntaxError)) throw error;
    throw new WebhookFailed(
      webhook.name,
      `received undecodable patch in webhook response: ${error.message}`,
      503,
      error,
    );
  }
  if (patch.isEmpty) return undefined;
  if (object === undefined) {
    throw internalError(
      `admission webhook ${quote(webhook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  if (patchType !== 'JSONPatch')
    throw new WebhookFailed(webhook.name, `unsupported patch type ${quote(patchType)}`, 400);
  return patch.apply(object, as);
}

/** Returns a function that adds the audit annotations of one call. */
function annotator(
  { annotate }: AdmissionAttributes,
  api: string,
  { hook, round, index }: { readonly hook: WebhookAccessor; readonly round: number; readonly index: number },
) {
  const mutation = `mutation.webhook.admission.${api}/round_${round}_index_${index}`;
  const webhook = { configuration: hook.configuration, webhook: hook.webhook.name };
  return {
    asked: (mutated: boolean): void => annotate?.(mutation, goJson({ ...webhook, mutated })),
    patched: ({ verdict }: WebhookAnswer): void => {
      const key = `patch.webhook.admission.${api}/round_${round}_index_${index}`;
      const operations: unknown = JSON.parse(verdict.patch.toString('utf8'));
      const patch = Array.isArray(operations) ? operations.map(byMember) : operations;
      annotate?.(key, goJson({ ...webhook, patch, patchType: 'JSONPatch' }), 'Request');
    },
    failedOpen: (): void => annotate?.(`failed-open.${mutation}`, hook.webhook.name),
  };
}

/** Returns an operation of a patch with its members sorted by name. */
const byMember = (operation: object): object =>
  Object.fromEntries(Object.entries(operation).sort(([a], [b]) => (a < b ? -1 : 1)));
