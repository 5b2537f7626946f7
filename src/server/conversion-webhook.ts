import { randomUUID } from 'node:crypto';
import { readReply } from '../admission/webhooks/reply.js';
import { type ServiceAddresses, UnusableTarget, webhookTarget } from '../admission/webhooks/target.js';
import { CallFailed, type WebhookClient } from '../admission/webhooks/webhook-client.js';
import { untyped } from '../api/errors.js';
import { goJson } from '../api/go-text.js';
import type { CustomResourceConversion, CustomResourceDefinition } from '../api/kinds/custom-resource-definition.js';
import type { JsonObject } from '../api/object.js';
import { reviewVersion } from '../api/review-versions.js';
import { FailureLog } from '../client/failure-log.js';
import {
  type ConversionFailure,
  callFailed,
  conversionReview,
  convertedObjects,
  InvalidConversion,
  type RemoteConverter,
} from '../resources/customresources/conversion-review.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { ConversionMetrics } from './conversion-metrics.js';

/**
 * The time that a conversion may take, in milliseconds. It is shared by requests, so it does not end when one of their
 * callers leaves.
 */
const patienceMs = 30_000;
/** The maximum size of a response in bytes: that for the largest batch. */
const maxBytes = 16 * 1_048_576;
const maxValues = 150_000;

const unsupported = (): InvalidConversion =>
  new InvalidConversion('failed: no supported conversion review versions', 'conversion_webhook_call_failure');

/** The dependencies of conversion webhooks. */
interface ConversionParts {
  readonly client: WebhookClient;
  readonly services: ServiceAddresses;
  readonly api: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: ConversionMetrics | undefined;
}

/** Returns a function that converts custom resources by the webhook of their definition; undefined if it has none. */
export function conversionWebhook(
  { metadata, spec }: CustomResourceDefinition,
  parts: ConversionParts,
): RemoteConverter | undefined {
  const { conversion } = spec;
  const webhook = conversion?.strategy === 'Webhook' ? conversion.webhook : undefined;
  if (webhook === undefined) return undefined;
  const isVersion = (apiVersion: unknown): boolean =>
    spec.versions.some(({ name }) => apiVersion === `${spec.group}/${name}`);
  const troubles = new FailureLog();
  /**
   * Logs a failure. This is rate-limited, because every watch and list that needs the webhook fails in the same way.
   */
  const tell = (error: InvalidConversion, to: string): void =>
    troubles.report(parts.log, {
      error,
      now: parts.clock.monotonic(),
      fields: { definition: metadata.name, to },
      message: 'a conversion webhook failed',
    });
  return async (objects, to) => {
    // Objects that are already in this version are not sent, nor those with nothing to convert.
    const isSent = (object: JsonObject): boolean => object['apiVersion'] !== to && !isBare(object);
    const sent = objects.filter(isSent);
    const [first] = sent;
    if (first === undefined) return objects.map((object) => inVersion(object, to));
    const unknown = sent.find((object) => !isVersion(object['apiVersion']));
    if (unknown !== undefined) {
      throw untyped(`request to convert CR from an invalid group/version: ${String(unknown['apiVersion'])}`);
    }
    try {
      const converted = (await callWebhook(webhook, parts, sent, to)).values();
      return objects.map((object) => (isSent(object) ? (converted.next().value ?? object) : inVersion(object, to)));
    } catch (error) {
      if (!(error instanceof InvalidConversion)) throw error;
      tell(error, to);
      throw untyped(`conversion for ${first['apiVersion']}, Kind=${first['kind']} ${error.message}`);
    }
  };
}

/**
 * Calls the webhook to convert objects, and counts the outcome. Fails with InvalidConversion for any failure of the
 * webhook.
 */
async function callWebhook(
  webhook: NonNullable<CustomResourceConversion['webhook']>,
  { client, services, api, clock, metrics }: ConversionParts,
  objects: readonly JsonObject[],
  to: string,
): Promise<readonly JsonObject[]> {
  const version = reviewVersion(webhook.conversionReviewVersions);
  if (version === undefined) throw unsupported();
  const group = `apiextensions.${api}`;
  const uid = randomUUID();
  const start = clock.monotonic();
  const count = (failure?: ConversionFailure): void => metrics?.called((clock.monotonic() - start) / 1_000, failure);
  try {
    const reply = await client.post({
      target: webhookTarget(webhook.clientConfig ?? {}, services, { blankMeansNone: true }),
      body: goJson(conversionReview({ apiVersion: `${group}/${version}`, uid, to, objects })),
      milliseconds: patienceMs,
      maxBytes,
    });
    const review = await readReply(reply, { group, version, kind: 'ConversionReview', maxValues });
    const converted = convertedObjects(review, { uid, group, version, to, objects });
    count();
    return converted;
  } catch (error) {
    const isCall = error instanceof CallFailed || error instanceof UnusableTarget;
    const failure = isCall ? callFailed(error.message) : error;
    if (failure instanceof InvalidConversion) count(failure.failure);
    throw failure;
  }
}

/**
 * Whether an object has only a type, such as an intermediate result of an apply that removes everything that was
 * applied before.
 */
const isBare = (object: JsonObject): boolean =>
  Object.keys(object).every((name) => name === 'apiVersion' || name === 'kind');

const inVersion = (object: JsonObject, apiVersion: string): JsonObject =>
  object['apiVersion'] === apiVersion ? object : { ...object, apiVersion };
