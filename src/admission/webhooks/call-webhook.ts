import { type ApiError, badRequest } from '../../api/errors.js';
import { goJson, quote } from '../../api/go-text.js';
import { qualifiedName } from '../../api/names.js';
import { reviewVersion } from '../../api/review-versions.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import type { AdmissionAttributes } from '../admission-step.js';
import { denial, InvalidResponse, patchTypeOf, readVerdict, type Verdict } from './answer.js';
import type { WebhookCredentials } from './credentials.js';
import type { MatchParts } from './matching.js';
import { readReply } from './reply.js';
import { admissionReview } from './review.js';
import { type ServiceAddresses, UnusableTarget, webhookTarget } from './target.js';
import type { VersionedAttributes } from './versioned-attributes.js';
import type { WebhookAccessor } from './webhook-accessors.js';
import { CallFailed, type WebhookClient } from './webhook-client.js';

/** The dependencies of the webhook steps. */
export interface WebhookParts extends MatchParts {
  /** Returns the current webhooks in the order in which they are called. */
  hooks(): readonly WebhookAccessor[];
  readonly client: WebhookClient;
  readonly services: ServiceAddresses;
  readonly credentials?: WebhookCredentials | undefined;
  readonly log: Logger;
  /** The domain of API groups, such as `k8s.io`. */
  readonly api: string;
  uuid(): string;
}

/** Thrown when the call of a webhook has failed. Its failurePolicy decides what happens to the request. */
export class WebhookFailed extends Error {
  override readonly name = 'WebhookFailed';
  /** The HTTP code of the failure, for the metrics. */
  readonly code: number;
  constructor(webhook: string, reason: string, code: number, cause?: unknown) {
    super(`failed calling webhook ${quote(webhook)}: ${reason}`, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Thrown when a webhook has denied the request. */
export class WebhookDenied extends Error {
  override readonly name = 'WebhookDenied';
  readonly refusal: ApiError;
  constructor(refusal: ApiError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export interface WebhookAnswer {
  readonly verdict: Verdict;
  readonly patchType: string;
}

/** The maximum size of a response in bytes: enough for a patch of the largest object, in base64. */
const maxAnswerBytes = 8 * 1_048_576;
const maxAnswerValues = 50_000;
const usualSeconds = 10;

/**
 * Calls one webhook with the request in the version that the webhook matches, and adds the warnings and audit
 * annotations of the response.
 *
 * @throws WebhookFailed, WebhookDenied, ApiError for errors that no failurePolicy covers, or the reason of the signal
 * of the caller
 */
export async function callWebhook(
  {
    hook: { webhook },
    seen,
    mutating,
  }: { readonly hook: WebhookAccessor; readonly seen: VersionedAttributes; readonly mutating: boolean },
  attributes: AdmissionAttributes,
  parts: WebhookParts,
): Promise<WebhookAnswer> {
  if (attributes.dryRun) checkDryRun(webhook);
  const version = reviewVersion(webhook.admissionReviewVersions);
  const failed = (reason: string, code: number, cause?: unknown): WebhookFailed =>
    new WebhookFailed(webhook.name, reason, code, cause);
  if (version === undefined) {
    const problem = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw failed(`could not create admission objects: ${problem}`, 400);
  }
  const group = `admission.${parts.api}`;
  const uid = parts.uuid();
  const review = admissionReview({ attributes, seen, uid, apiVersion: `${group}/${version}`, kinds: parts.kinds });
  try {
    const target = webhookTarget(webhook.clientConfig, parts.services);
    const reply = await parts.client.post({
      target,
      credentials: parts.credentials?.(target.authority),
      body: goJson(review),
      milliseconds: timeFor(webhook.timeoutSeconds, attributes, parts.clock),
      signal: attributes.caller?.signal,
      maxBytes: maxAnswerBytes,
    });
    const expected = { group, version, kind: 'AdmissionReview', maxValues: maxAnswerValues, exact: true };
    const answer = await readReply(reply, expected);
    const verdict = readVerdict(answer, { uid, group, version, mutating });
    passToCaller(webhook.name, verdict, attributes);
    if (!verdict.allowed) throw new WebhookDenied(denial(webhook.name, verdict.status));
    return { verdict, patchType: patchTypeOf(answer, version) };
  } catch (error) {
    if (error instanceof UnusableTarget) throw failed(`could not get REST client: ${error.message}`, 500, error);
    if (error instanceof CallFailed) throw failed(`failed to call webhook: ${error.message}`, error.code ?? 503, error);
    if (error instanceof InvalidResponse)
      throw failed(`received invalid webhook response: ${error.message}`, 503, error);
    throw error;
  }
}

function checkDryRun({ name, sideEffects }: WebhookAccessor['webhook']): void {
  if (sideEffects === undefined || sideEffects === null)
    throw new WebhookFailed(name, 'Webhook SideEffects is nil', 400);
  if (sideEffects === 'None' || sideEffects === 'NoneOnDryRun') return;
  throw badRequest(`admission webhook ${quote(name)} does not support dry run`);
}

/** Returns the timeout of the webhook, or the time until the deadline of the request if that is shorter. */
function timeFor(seconds: number | undefined, { caller }: AdmissionAttributes, clock: Clock): number {
  const own = (seconds ?? usualSeconds) * 1_000;
  return caller?.deadline === undefined ? own : Math.max(1, Math.min(own, caller.deadline - clock.monotonic()));
}

function passToCaller(webhook: string, { warnings, auditAnnotations }: Verdict, attributes: AdmissionAttributes): void {
  for (const [name, value] of auditAnnotations) {
    const key = `${webhook}/${name}`;
    // Invalid annotation keys are left out.
    if (qualifiedName(key).length === 0) attributes.annotate?.(key, value);
  }
  for (const text of warnings) if (text !== '') attributes.warn(text);
}

/** Whether the deadline of the request has passed or its caller has gone. */
export const isAbandoned = ({ caller }: AdmissionAttributes, clock: Clock): boolean =>
  caller !== undefined &&
  (caller.signal.aborted || (caller.deadline !== undefined && clock.monotonic() >= caller.deadline));
