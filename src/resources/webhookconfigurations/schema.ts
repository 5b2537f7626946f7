import { bytes, embedded, field, integer32, list, listMap, optional, string, structsOf } from '../../schema/builder.js';
import { labelSelector } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';

/** Schemas that the two webhook configurations share, some of them also with admission policies. */

export const struct = structsOf('io.k8s.api.admissionregistration.v1');

const names = list(string(), { listType: 'atomic' });

const serviceReference = struct(
  'ServiceReference',
  {
    namespace: field(1, string(), { presence: 'always', description: 'Namespace of the Service.' }),
    name: field(2, string(), { presence: 'always', description: 'Name of the Service.' }),
    path: optional(3, string(), { description: 'URL path of the requests.' }),
    port: optional(4, integer32(), { description: 'Port of the Service; 443 by default.' }),
  },
  {
    required: ['namespace', 'name'],
    description: 'Reference to the Service of a webhook.',
  },
);

const clientConfig = struct(
  'WebhookClientConfig',
  {
    url: optional(3, string(), { description: 'URL of the webhook: https://host[:port]/path.' }),
    service: optional(1, serviceReference, { description: 'Service that runs the webhook.' }),
    caBundle: field(2, bytes(), {
      description: "CA certificates in PEM that verify the webhook's certificate; by default those of the system.",
    }),
  },
  { description: 'How to connect to a webhook: either by URL or by Service.' },
);

const rule = {
  apiGroups: field(1, names, { description: 'API groups that the rule matches; * for all.' }),
  apiVersions: field(2, names, { description: 'API versions that the rule matches; * for all.' }),
  resources: field(3, names, {
    description: 'Resources that the rule matches, with subresources after a slash; */* for all.',
  }),
  scope: optional(4, string({ go: 'v1.ScopeType' }), {
    enum: ['*', 'Cluster', 'Namespaced'],
    description: 'Scope of the resources: Cluster, Namespaced, or * for both (the default).',
  }),
};

export const ruleFields: Readonly<Record<string, Schema>> = {
  operations: field(
    1,
    list(string({ go: 'v1.OperationType', enum: ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'] }), {
      listType: 'atomic',
    }),
    { description: 'Operations that the rule matches: CREATE, UPDATE, DELETE, CONNECT, or * for all.' },
  ),
  ...embedded(2, 'Rule', rule),
};

const ruleWithOperations = struct('RuleWithOperations', ruleFields, {
  description: 'Requests that a rule matches, by operation and resource.',
});

export const matchCondition = struct(
  'MatchCondition',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the condition; a qualified name.' }),
    expression: field(2, string(), { presence: 'always', description: 'CEL expression that must evaluate to true.' }),
  },
  {
    required: ['name', 'expression'],
    description: 'Condition that a request must meet.',
  },
);

/**
 * Returns the fields that both kinds of webhooks have. `numbers` holds the field numbers that differ between them, and
 * `between` the fields of one kind before `matchConditions`.
 */
export const webhookFields = (numbers: {
  readonly objectSelector: number;
  readonly matchConditions: number;
  readonly between?: Readonly<Record<string, Schema>>;
}): Readonly<Record<string, Schema>> => ({
  name: field(1, string(), {
    presence: 'always',
    description: 'Name of the webhook: a fully qualified domain name of at least three segments.',
  }),
  clientConfig: field(2, clientConfig, { description: 'How to connect to the webhook.' }),
  rules: field(3, list(ruleWithOperations, { listType: 'atomic' }), {
    description: 'Rules for the requests that the webhook is called for; a request must match at least one.',
  }),
  failurePolicy: optional(4, string({ go: 'v1.FailurePolicyType' }), {
    enum: ['Fail', 'Ignore'],
    description: 'Handling of failed calls: Fail (the default) or Ignore.',
  }),
  matchPolicy: optional(9, string({ go: 'v1.MatchPolicyType' }), {
    enum: ['Equivalent', 'Exact'],
    description:
      'Whether rules also match requests for other versions of a resource: Equivalent (the default) or Exact.',
  }),
  namespaceSelector: optional(5, labelSelector, {
    description: 'Label selector that the namespace of the object must match.',
  }),
  objectSelector: optional(numbers.objectSelector, labelSelector, {
    description: 'Label selector that the object must match.',
  }),
  sideEffects: optional(6, string({ go: 'v1.SideEffectClass' }), {
    enum: ['None', 'NoneOnDryRun', 'Some', 'Unknown'],
    description: 'Side effects of a call: None, or NoneOnDryRun.',
  }),
  timeoutSeconds: optional(7, integer32(), { description: 'Timeout of a call in seconds, 1 to 30; 10 by default.' }),
  admissionReviewVersions: field(8, names, {
    presence: 'always',
    description: 'Versions of AdmissionReview that the webhook accepts, in order of preference.',
  }),
  ...numbers.between,
  matchConditions: field(numbers.matchConditions, listMap(matchCondition, ['name']), {
    description: 'CEL conditions that must all be true for the webhook to be called.',
  }),
});

export const requiredOfWebhook: readonly string[] = ['name', 'clientConfig', 'sideEffects', 'admissionReviewVersions'];
