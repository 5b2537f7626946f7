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
    path: optional(3, string(), { description: 'Path of the URL.' }),
    port: optional(4, integer32(), { description: 'Port of the Service; 443 unless given.' }),
  },
  {
    required: ['namespace', 'name'],
    description: 'A Service that answers webhooks.',
  },
);

const clientConfig = struct(
  'WebhookClientConfig',
  {
    url: optional(3, string(), { description: 'Where the webhook is: https://host[:port]/path.' }),
    service: optional(1, serviceReference, { description: 'The Service behind which the webhook is.' }),
    caBundle: field(2, bytes(), { description: 'PEM anchors for its certificate; those of the system if absent.' }),
  },
  { description: 'How to reach a webhook: by URL or by Service.' },
);

const rule = {
  apiGroups: field(1, names, { description: 'Groups; * for all.' }),
  apiVersions: field(2, names, { description: 'Versions; * for all.' }),
  resources: field(3, names, { description: 'Resources, with subresources after a slash.' }),
  scope: optional(4, string({ go: 'v1.ScopeType' }), {
    enum: ['*', 'Cluster', 'Namespaced'],
    description: 'Cluster, Namespaced, or * for both.',
  }),
};

export const ruleFields: Readonly<Record<string, Schema>> = {
  operations: field(
    1,
    list(string({ go: 'v1.OperationType', enum: ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'] }), {
      listType: 'atomic',
    }),
    { description: 'Operations; * for all.' },
  ),
  ...embedded(2, 'Rule', rule),
};

const ruleWithOperations = struct('RuleWithOperations', ruleFields, {
  description: 'Which requests go to a webhook.',
});

export const matchCondition = struct(
  'MatchCondition',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the condition; a qualified name.' }),
    expression: field(2, string(), { presence: 'always', description: 'CEL expression that must be true.' }),
  },
  {
    required: ['name', 'expression'],
    description: 'A condition that a request must fulfil.',
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
  name: field(1, string(), { presence: 'always', description: 'Name of the webhook: a domain of three segments.' }),
  clientConfig: field(2, clientConfig, { description: 'How to reach the webhook.' }),
  rules: field(3, list(ruleWithOperations, { listType: 'atomic' }), {
    description: 'Which requests go to the webhook.',
  }),
  failurePolicy: optional(4, string({ go: 'v1.FailurePolicyType' }), {
    enum: ['Fail', 'Ignore'],
    description: 'What a failed call means: Fail (the default) or Ignore.',
  }),
  matchPolicy: optional(9, string({ go: 'v1.MatchPolicyType' }), {
    enum: ['Equivalent', 'Exact'],
    description: 'Do rules also match other versions of a resource? Equivalent (the default) or Exact.',
  }),
  namespaceSelector: optional(5, labelSelector, { description: 'Labels that the namespace of an object must have.' }),
  objectSelector: optional(numbers.objectSelector, labelSelector, {
    description: 'Labels that the object must have.',
  }),
  sideEffects: optional(6, string({ go: 'v1.SideEffectClass' }), {
    enum: ['None', 'NoneOnDryRun', 'Some', 'Unknown'],
    description: 'What else a call does: None or NoneOnDryRun.',
  }),
  timeoutSeconds: optional(7, integer32(), { description: 'How long a call may take: 1 to 30, by default 10.' }),
  admissionReviewVersions: field(8, names, {
    presence: 'always',
    description: 'Versions of AdmissionReview that the webhook takes, the most wanted first.',
  }),
  ...numbers.between,
  matchConditions: field(numbers.matchConditions, listMap(matchCondition, ['name']), {
    description: 'Conditions that must all hold for a call.',
  }),
});

export const requiredOfWebhook: readonly string[] = ['name', 'clientConfig', 'sideEffects', 'admissionReviewVersions'];
