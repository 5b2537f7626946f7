import { randomUUID } from 'node:crypto';
import type { AdmissionStep } from '../admission/admission-step.js';
import type { ConditionMetrics } from '../admission/condition-metrics.js';
import type { WebhookParts } from '../admission/webhooks/call-webhook.js';
import { credentialsByName, type WebhookCredentials } from '../admission/webhooks/credentials.js';
import { conditionEvaluator } from '../admission/webhooks/match-conditions.js';
import { webhookMetrics } from '../admission/webhooks/metrics.js';
import { mutatingWebhooks } from '../admission/webhooks/mutating.js';
import { readServiceAddresses, type ServiceAddresses } from '../admission/webhooks/target.js';
import { validatingWebhooks } from '../admission/webhooks/validating.js';
import { webhookAccessors } from '../admission/webhooks/webhook-accessors.js';
import { type WebhookClient, webhookClient } from '../admission/webhooks/webhook-client.js';
import type { Domains } from '../api/domains.js';
import { MutatingWebhookConfigurations, ValidatingWebhookConfigurations } from '../api/kinds/webhook-configuration.js';
import type { Catalogue } from '../apiserver/catalogue.js';
import { objectInterfaces } from '../apiserver/object-interfaces.js';
import type { StoredObjects } from '../apiserver/stored-objects.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Metrics } from '../runtime/metrics.js';
import { prefixErrors } from '../runtime/text-source.js';

/** The parts that call webhooks. */
export interface Webhooks {
  readonly client: WebhookClient;
  readonly services: ServiceAddresses;
  /** The admission steps of mutating and of validating webhooks. */
  readonly mutating: readonly AdmissionStep[];
  readonly validating: readonly AdmissionStep[];
}

/**
 * Opens the admission steps of webhooks, which follow their configurations. While there is none, a write costs only one
 * lookup of an empty list. Before `isOpen`, no webhook is called, so that a server can start whatever its webhooks do.
 */
export async function openWebhooks(context: {
  readonly objects: StoredObjects;
  readonly catalogue: Catalogue;
  readonly services: Readonly<Record<string, string>> | undefined;
  /** The kubeconfig file with the credentials that are presented to webhooks. */
  readonly kubeconfig: string | undefined;
  readonly authorizer: Authorizer;
  readonly isOpen: () => boolean;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics | undefined;
  readonly conditions: ConditionMetrics | undefined;
}): Promise<Webhooks> {
  const { objects, clock, log, domains, metrics, conditions, isOpen } = context;
  const client = webhookClient({ clock });
  const services = readServiceAddresses(context.services ?? {});
  let [mutating, validating] = [webhookAccessors([]), webhookAccessors([])];
  await objects.follow(MutatingWebhookConfigurations, (list) => {
    mutating = webhookAccessors(list);
  });
  await objects.follow(ValidatingWebhookConfigurations, (list) => {
    validating = webhookAccessors(list);
  });
  const credentials = context.kubeconfig === undefined ? undefined : await openCredentials(context.kubeconfig, clock);
  const kinds = objectInterfaces(context.catalogue);
  const parts: Omit<WebhookParts, 'hooks'> = {
    kinds,
    objects,
    evaluate: conditionEvaluator({ authorizer: context.authorizer, kinds }),
    client,
    services,
    credentials,
    clock,
    log,
    metrics: metrics && conditions && webhookMetrics(metrics, conditions),
    api: domains.api,
    uuid: randomUUID,
  };
  const none = webhookAccessors([]);
  return {
    client,
    services,
    mutating: [mutatingWebhooks({ ...parts, hooks: () => (isOpen() ? mutating : none) })],
    validating: [validatingWebhooks({ ...parts, hooks: () => (isOpen() ? validating : none) })],
  };
}

async function openCredentials(kubeconfig: string, clock: Clock): Promise<WebhookCredentials> {
  const { usersInFile } = await import('../client/kubeconfig.js');
  const users = await prefixErrors('webhookKubeconfig', () => usersInFile(kubeconfig, { clock, env: process.env }));
  return credentialsByName(users);
}
