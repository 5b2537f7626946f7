import { boolean, extraValue, field, list, map, optional, string, structsOf } from '../../schema/builder.js';
import { labelSelectorRequirement, objectMeta, typeMeta } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';

/** Schemas of access reviews (authorization/v1). */

const struct = structsOf('io.k8s.api.authorization.v1');
const metaStruct = structsOf('io.k8s.apimachinery.pkg.apis.meta.v1');
const atomicTexts = list(string(), { listType: 'atomic' });

const fieldSelectorRequirement = metaStruct(
  'FieldSelectorRequirement',
  {
    key: field(1, string(), { presence: 'always', description: 'Field that the requirement applies to.' }),
    operator: field(2, string({ go: 'v1.FieldSelectorOperator' }), {
      presence: 'always',
      description: 'Operator: In, NotIn, Exists or DoesNotExist.',
    }),
    values: field(3, atomicTexts, { description: 'Values for In and NotIn; empty for Exists and DoesNotExist.' }),
  },
  {
    required: ['key', 'operator'],
    description: 'Requirement on the value of a field.',
  },
);

const selectorAttributes = (name: string, requirement: Schema): Schema =>
  struct(
    name,
    {
      rawSelector: field(1, string(), { description: 'Selector as a string, as in a query parameter.' }),
      requirements: field(2, list(requirement, { listType: 'atomic' }), {
        description: 'Selector as a list of requirements that must all be met.',
      }),
    },
    { description: 'Selector that limits the requested access.' },
  );

const resourceAttributes = struct(
  'ResourceAttributes',
  {
    namespace: field(1, string(), {
      description: 'Namespace of the requested access; empty for all namespaces and for cluster-scoped resources.',
    }),
    verb: field(2, string(), {
      description: 'Kubernetes verb of the request, such as get, list or create; * for all.',
    }),
    group: field(3, string(), { description: 'API group of the resource; * for all.' }),
    version: field(4, string(), { description: 'API version of the resource; * for all.' }),
    resource: field(5, string(), { description: 'Name of the resource, in plural; * for all.' }),
    subresource: field(6, string(), { description: 'Name of the subresource; empty for none.' }),
    name: field(7, string(), { description: 'Name of the object; empty for all.' }),
    fieldSelector: optional(8, selectorAttributes('FieldSelectorAttributes', fieldSelectorRequirement), {
      description: 'Limits the requested access by field.',
    }),
    labelSelector: optional(9, selectorAttributes('LabelSelectorAttributes', labelSelectorRequirement), {
      description: 'Limits the requested access by label.',
    }),
  },
  { description: 'Attributes of a request for a resource.' },
);

const nonResourceAttributes = struct(
  'NonResourceAttributes',
  {
    path: field(1, string(), { description: 'URL path of the request.' }),
    verb: field(2, string(), { description: 'HTTP method in lower case.' }),
  },
  { description: 'Attributes of a request for a path that is not a resource.' },
);

const question: Readonly<Record<string, Schema>> = {
  resourceAttributes: optional(1, resourceAttributes, {
    description: 'Requested access to a resource; either this or nonResourceAttributes is set.',
  }),
  nonResourceAttributes: optional(2, nonResourceAttributes, {
    description: 'Requested access to a non-resource path; either this or resourceAttributes is set.',
  }),
};

const subjectSpec = struct(
  'SubjectAccessReviewSpec',
  {
    ...question,
    user: field(3, string(), { description: 'Name of the user whose access is checked.' }),
    groups: field(4, atomicTexts, { description: 'Groups of the user whose access is checked; no group is implied.' }),
    extra: field(5, map(extraValue()), { description: 'Extra attributes of the user whose access is checked.' }),
    uid: field(6, string(), { description: 'UID of the user whose access is checked.' }),
  },
  { description: 'User, and the requested access.' },
);

const selfSpec = struct('SelfSubjectAccessReviewSpec', question, {
  description: 'Access that the caller requests.',
});

const accessStatus = struct(
  'SubjectAccessReviewStatus',
  {
    allowed: field(1, boolean(), { presence: 'always', description: 'Whether the access is allowed.' }),
    denied: field(4, boolean(), {
      description:
        'Whether the access is explicitly denied; if neither allowed nor denied, no authorizer has an opinion.',
    }),
    reason: field(2, string(), { description: 'Why the access is allowed or denied.' }),
    evaluationError: field(3, string(), { description: 'Error during the check; a result may still be given.' }),
  },
  { required: ['allowed'], description: 'Result of an access check.' },
);

const review = (kind: string, spec: Schema, status: Schema, description: string): Schema =>
  struct(
    kind,
    {
      ...typeMeta,
      metadata: field(1, objectMeta, { description: 'Object metadata; must be empty.' }),
      spec: field(2, spec, { description: 'Access to check.' }),
      status: field(3, status, { description: 'Result; set by the server.' }),
    },
    { required: ['spec'], description },
  );

export const subjectAccessReviewSchema = review(
  'SubjectAccessReview',
  subjectSpec,
  accessStatus,
  'Checks whether a user may perform an action.',
);
export const localSubjectAccessReviewSchema = review(
  'LocalSubjectAccessReview',
  subjectSpec,
  accessStatus,
  'Checks whether a user may perform an action in one namespace.',
);
export const selfSubjectAccessReviewSchema = review(
  'SelfSubjectAccessReview',
  selfSpec,
  accessStatus,
  'Checks whether the caller may perform an action.',
);

const resourceRule = struct(
  'ResourceRule',
  {
    verbs: field(1, atomicTexts, { presence: 'always', description: 'Verbs that are allowed; `*` for all.' }),
    apiGroups: field(2, atomicTexts, { description: 'API groups that are allowed; `*` for all.' }),
    resources: field(3, atomicTexts, { description: 'Resources that are allowed; `*` for all.' }),
    resourceNames: field(4, atomicTexts, { description: 'Names of the objects that are allowed; empty for all.' }),
  },
  { required: ['verbs'], description: 'Actions that the caller may perform on resources.' },
);

const nonResourceRule = struct(
  'NonResourceRule',
  {
    verbs: field(1, atomicTexts, {
      presence: 'always',
      description: 'HTTP methods that are allowed, in lower case; `*` for all.',
    }),
    nonResourceURLs: field(2, atomicTexts, {
      description: 'URL paths that are allowed; a trailing `*` matches any suffix.',
    }),
  },
  { required: ['verbs'], description: 'Actions that the caller may perform on non-resource paths.' },
);

const rulesSpec = struct(
  'SelfSubjectRulesReviewSpec',
  { namespace: field(1, string(), { description: 'Namespace for which the rules are evaluated.' }) },
  { description: "Namespace for which the caller's permissions are listed." },
);

const rulesStatus = struct(
  'SubjectRulesReviewStatus',
  {
    resourceRules: field(1, list(resourceRule, { listType: 'atomic' }), {
      presence: 'always',
      description: 'Permissions on resources, in the order of the bindings; may contain duplicates.',
    }),
    nonResourceRules: field(2, list(nonResourceRule, { listType: 'atomic' }), {
      presence: 'always',
      description: 'Permissions on non-resource paths, in the order of the bindings; may contain duplicates.',
    }),
    incomplete: field(3, boolean(), {
      presence: 'always',
      description: 'Whether the lists may be incomplete, so that more is allowed than is listed.',
    }),
    evaluationError: field(4, string(), {
      description: 'Error during the evaluation of the rules; the lists may then be incomplete.',
    }),
  },
  {
    required: ['resourceRules', 'nonResourceRules', 'incomplete'],
    description: 'Permissions of the caller.',
  },
);

export const selfSubjectRulesReviewSchema = review(
  'SelfSubjectRulesReview',
  rulesSpec,
  rulesStatus,
  'Lists the actions that the caller may perform in a namespace.',
);
