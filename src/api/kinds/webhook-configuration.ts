import { defaultDomains } from '../domains.js';
import type { LabelSelectorSpec } from '../label-selectors.js';
import { type ApiObject, resourceType } from '../object.js';

/** Webhooks that may change what is written. */
export interface MutatingWebhookConfiguration extends ApiObject {
  readonly webhooks?: readonly MutatingWebhook[];
}

/** Webhooks that may refuse what is written. */
export interface ValidatingWebhookConfiguration extends ApiObject {
  readonly webhooks?: readonly ValidatingWebhook[];
}

/** What both sorts of webhooks say. Members with a default are present in stored objects. */
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
  /** 1 to 30. */
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[] | null;
  readonly matchConditions?: readonly MatchCondition[];
}

/** A webhook that may change objects; `IfNeeded`: it is asked again where a later one changed what it saw. */
export interface MutatingWebhook extends ValidatingWebhook {
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded' | (string & {});
}

/** Where a webhook is reached: by URL or by Service, never both. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: ServiceReference;
  /** Base64 of PEM anchors; absent: those of the system. */
  readonly caBundle?: string;
}

/** A Service by its name; the port is 443 unless another is named. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}

/** Which requests go to a webhook. */
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
