import { boolean, extraValue, field, list, map, optional, string, structsOf } from '../../schema/builder.js';
import { labelSelectorRequirement, objectMeta, typeMeta } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';

/** Schemas of the reviews of access (authorization/v1). */

const struct = structsOf('io.k8s.api.authorization.v1');
const metaStruct = structsOf('io.k8s.apimachinery.pkg.apis.meta.v1');
const atomicTexts = list(string(), { listType: 'atomic' });

const fieldSelectorRequirement = metaStruct(
  'FieldSelectorRequirement',
  {
    key: field(1, string(), { presence: 'always', description: 'Field the requirement is about.' }),
    operator: field(2, string({ go: 'v1.FieldSelectorOperator' }), {
      presence: 'always',
      description: 'In, NotIn, Exists or DoesNotExist.',
    }),
    values: field(3, atomicTexts, { description: 'Values for In and NotIn.' }),
  },
  {
    required: ['key', 'operator'],
    description: 'One requirement of a field selector.',
  },
);

const selectorAttributes = (name: string, requirement: Schema): Schema =>
  struct(
    name,
    {
      rawSelector: field(1, string(), { description: 'The selector as text.' }),
      requirements: field(2, list(requirement, { listType: 'atomic' }), {
        description: 'The selector as requirements that must all hold.',
      }),
    },
    { description: 'A selector that narrows the access asked about.' },
  );

const resourceAttributes = struct(
  'ResourceAttributes',
  {
    namespace: field(1, string(), { description: 'Namespace of the access; empty for all, and for cluster scope.' }),
    verb: field(2, string(), { description: 'What would be done: get, list, create, ...' }),
    group: field(3, string(), { description: 'API group of the resource.' }),
    version: field(4, string(), { description: 'API version of the resource.' }),
    resource: field(5, string(), { description: 'The resource.' }),
    subresource: field(6, string(), { description: 'The subresource; empty for none.' }),
    name: field(7, string(), { description: 'Name of one object; empty for all.' }),
    fieldSelector: optional(8, selectorAttributes('FieldSelectorAttributes', fieldSelectorRequirement), {
      description: 'Narrows the access by fields.',
    }),
    labelSelector: optional(9, selectorAttributes('LabelSelectorAttributes', labelSelectorRequirement), {
      description: 'Narrows the access by labels.',
    }),
  },
  { description: 'Access to a resource.' },
);

const nonResourceAttributes = struct(
  'NonResourceAttributes',
  {
    path: field(1, string(), { description: 'The path.' }),
    verb: field(2, string(), { description: 'The HTTP method, in lower case.' }),
  },
  { description: 'Access to a path that names no resource.' },
);

const question: Readonly<Record<string, Schema>> = {
  resourceAttributes: optional(1, resourceAttributes, { description: 'The access, if it is to a resource.' }),
  nonResourceAttributes: optional(2, nonResourceAttributes, { description: 'The access, if it is to a path.' }),
};

const subjectSpec = struct(
  'SubjectAccessReviewSpec',
  {
    ...question,
    user: field(3, string(), { description: 'The user asked about.' }),
    groups: field(4, atomicTexts, { description: 'Groups the user is taken to be in; none is implied.' }),
    extra: field(5, map(extraValue()), { description: 'Extra attributes of the user.' }),
    uid: field(6, string(), { description: 'UID of the user.' }),
  },
  { description: 'Who wants to do what.' },
);

const selfSpec = struct('SelfSubjectAccessReviewSpec', question, {
  description: 'What the caller wants to do.',
});

const accessStatus = struct(
  'SubjectAccessReviewStatus',
  {
    allowed: field(1, boolean(), { presence: 'always', description: 'True if it would be allowed.' }),
    denied: field(4, boolean(), { description: 'True if it is forbidden outright.' }),
    reason: field(2, string(), { description: 'Why.' }),
    evaluationError: field(3, string(), { description: 'Trouble on the way to the answer.' }),
  },
  { required: ['allowed'], description: 'The answer.' },
);

const review = (kind: string, spec: Schema, status: Schema, description: string): Schema =>
  struct(
    kind,
    {
      ...typeMeta,
      metadata: field(1, objectMeta, { description: 'Must be left empty.' }),
      spec: field(2, spec, { description: 'The question.' }),
      status: field(3, status, { description: 'Filled by the server.' }),
    },
    { required: ['spec'], description },
  );

export const subjectAccessReviewSchema = review(
  'SubjectAccessReview',
  subjectSpec,
  accessStatus,
  'Asks whether a user may do something.',
);
export const localSubjectAccessReviewSchema = review(
  'LocalSubjectAccessReview',
  subjectSpec,
  accessStatus,
  'Asks whether a user may do something in one namespace.',
);
export const selfSubjectAccessReviewSchema = review(
  'SelfSubjectAccessReview',
  selfSpec,
  accessStatus,
  'Asks whether the caller may do something.',
);

const resourceRule = struct(
  'ResourceRule',
  {
    verbs: field(1, atomicTexts, { presence: 'always', description: 'What may be done; `*` is everything.' }),
    apiGroups: field(2, atomicTexts, { description: 'In which API groups.' }),
    resources: field(3, atomicTexts, { description: 'With which resources.' }),
    resourceNames: field(4, atomicTexts, { description: 'With which objects; none: all.' }),
  },
  { required: ['verbs'], description: 'Access to resources that is granted.' },
);

const nonResourceRule = struct(
  'NonResourceRule',
  {
    verbs: field(1, atomicTexts, { presence: 'always', description: 'Which HTTP methods.' }),
    nonResourceURLs: field(2, atomicTexts, { description: 'On which paths.' }),
  },
  { required: ['verbs'], description: 'Access to paths that is granted.' },
);

const rulesSpec = struct(
  'SelfSubjectRulesReviewSpec',
  { namespace: field(1, string(), { description: 'The namespace asked about.' }) },
  { description: 'Where the caller wants to do things.' },
);

const rulesStatus = struct(
  'SubjectRulesReviewStatus',
  {
    resourceRules: field(1, list(resourceRule, { listType: 'atomic' }), {
      presence: 'always',
      description: 'Access to resources, in the order of the bindings; may repeat itself.',
    }),
    nonResourceRules: field(2, list(nonResourceRule, { listType: 'atomic' }), {
      presence: 'always',
      description: 'Access to paths, in the order of the bindings; may repeat itself.',
    }),
    incomplete: field(3, boolean(), { presence: 'always', description: 'True if more may be allowed than this.' }),
    evaluationError: field(4, string(), { description: 'Trouble on the way to the answer.' }),
  },
  {
    required: ['resourceRules', 'nonResourceRules', 'incomplete'],
    description: 'What the caller may do.',
  },
);

export const selfSubjectRulesReviewSchema = review(
  'SelfSubjectRulesReview',
  rulesSpec,
  rulesStatus,
  'Asks what the caller may do in a namespace.',
);
