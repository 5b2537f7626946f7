import { defaultDomains } from '../domains.js';
import type { LabelSelectorSpec } from '../label-selectors.js';
import { type ApiObject, resourceType } from '../object.js';

/** Webhooks that may change written objects. */
export interface MutatingWebhookConfiguration extends ApiObject {
  readonly webhooks?: readonly MutatingWebhook[];
}

/** Webhooks that may refuse requests. */
export interface ValidatingWebhookConfiguration extends ApiObject {
  readonly webhooks?: readonly ValidatingWebhook[];
}

/** The common members of both kinds of webhooks. Members with a default are present in stored objects. */
export interface ValidatingWebhook {
  /** A domain name of at least three segments. */
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly RuleWithOperations[];
  readonly failurePolicy?: 'Fail' | 'Ignore' | (string & {});
  readonly matchPolicy?: 'Equivalent' | 'Exact' | (string & {});
  readonly namespaceSelector?: LabelSelectorSpec;
  readonly objectSelector?: LabelSelectorSpec;
  readonly sideEffects?: 'None' | 'NoneOnDryRun' | (string & {}) | null;
  /** The timeout in seconds, 1 to 30. */
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[] | null;
  readonly matchConditions?: readonly MatchCondition[];
}

/** A webhook that may change objects; `IfNeeded` means that it is called again if a later one changed its object. */
export interface MutatingWebhook extends ValidatingWebhook {
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded' | (string & {});
}

/** How to reach a webhook: by URL or by Service, never both. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: ServiceReference;
  /** The CA certificates as PEM in base64; those of the system if absent. */
  readonly caBundle?: string;
}

/** Refers to a Service by name; the default port is 443. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}

/** Selects the requests for which a webhook is called. */
export interface RuleWithOperations {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: '*' | 'Cluster' | 'Namespaced' | (string & {});
}

/** A CEL condition that must hold for the webhook to be called. */
export interface MatchCondition {
  readonly name: string;
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
