import { defaultDomains } from '../domains.js';
import type { LabelSelectorSpec } from '../label-selectors.js';
import { type ApiObject, resourceType } from '../object.js';

/** Configuration of webhooks that can change or reject objects on admission. */
export interface MutatingWebhookConfiguration extends ApiObject {
  /** Webhooks, in the order in which they are called. */
  readonly webhooks?: readonly MutatingWebhook[];
}

/** Configuration of webhooks that can reject requests on admission. */
export interface ValidatingWebhookConfiguration extends ApiObject {
  readonly webhooks?: readonly ValidatingWebhook[];
}

/**
 * Webhook that can reject requests on admission; its members are also those of mutating webhooks. Members with a
 * default are present in stored objects.
 */
export interface ValidatingWebhook {
  /** Name of the webhook: a fully qualified domain name of at least three segments. */
  readonly name: string;
  /** How to connect to the webhook. */
  readonly clientConfig: WebhookClientConfig;
  /** Rules for the requests that the webhook is called for; a request must match at least one. */
  readonly rules?: readonly RuleWithOperations[];
  /** Handling of failed calls: `Fail` (the default) or `Ignore`. */
  readonly failurePolicy?: 'Fail' | 'Ignore' | (string & {});
  /** Whether rules also match requests for other versions of a resource: `Equivalent` (the default) or `Exact`. */
  readonly matchPolicy?: 'Equivalent' | 'Exact' | (string & {});
  /** Label selector that the namespace of the object must match. */
  readonly namespaceSelector?: LabelSelectorSpec;
  /** Label selector that the object must match. */
  readonly objectSelector?: LabelSelectorSpec;
  /** Side effects of a call: `None`, or `NoneOnDryRun`. */
  readonly sideEffects?: 'None' | 'NoneOnDryRun' | (string & {}) | null;
  /** Timeout of a call in seconds, 1 to 30; 10 by default. */
  readonly timeoutSeconds?: number;
  /** Versions of AdmissionReview that the webhook accepts, in order of preference. */
  readonly admissionReviewVersions?: readonly string[] | null;
  /** CEL conditions that must all be true for the webhook to be called. */
  readonly matchConditions?: readonly MatchCondition[];
}

/** Webhook that can change or reject objects on admission. */
export interface MutatingWebhook extends ValidatingWebhook {
  /** Whether to call the webhook again if later plugins changed the object: `Never` (the default) or `IfNeeded`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded' | (string & {});
}

/** How to connect to a webhook: either by URL or by Service. */
export interface WebhookClientConfig {
  /** URL of the webhook: `https://host[:port]/path`. */
  readonly url?: string;
  /** Service that runs the webhook. */
  readonly service?: ServiceReference;
  /** CA certificates that verify the webhook's certificate: PEM in base64; by default those of the system. */
  readonly caBundle?: string;
}

/** Reference to the Service of a webhook. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  /** URL path of the requests. */
  readonly path?: string;
  /** Port of the Service; 443 by default. */
  readonly port?: number;
}

/** Requests that a rule matches, by operation and resource. */
export interface RuleWithOperations {
  /** Operations that the rule matches: `CREATE`, `UPDATE`, `DELETE`, `CONNECT`, or `*` for all. */
  readonly operations?: readonly string[];
  /** API groups that the rule matches; `*` for all. */
  readonly apiGroups?: readonly string[];
  /** API versions that the rule matches; `*` for all. */
  readonly apiVersions?: readonly string[];
  /**
   * Resources that the rule matches, with subresources after a slash; `*` for all resources, and `*` + `/*` for all
   * with their subresources.
   */
  readonly resources?: readonly string[];
  /** Scope of the resources: `Cluster`, `Namespaced`, or `*` for both (the default). */
  readonly scope?: '*' | 'Cluster' | 'Namespaced' | (string & {});
}

/** Condition that a request must meet. */
export interface MatchCondition {
  /** Name of the condition; a qualified name. */
  readonly name: string;
  /** CEL expression that must evaluate to true. */
  readonly expression: string;
}

const group = `admissionregistration.${defaultDomains.api}`;

/** The resource `mutatingwebhookconfigurations` of `admissionregistration.k8s.io/v1`, cluster-scoped. */
export const MutatingWebhookConfigurations = resourceType<MutatingWebhookConfiguration>({
  group,
  version: 'v1',
  plural: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
  namespaced: false,
  categories: ['api-extensions'],
});

/** The resource `validatingwebhookconfigurations` of `admissionregistration.k8s.io/v1`, cluster-scoped. */
export const ValidatingWebhookConfigurations = resourceType<ValidatingWebhookConfiguration>({
  group,
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
  categories: ['api-extensions'],
});
