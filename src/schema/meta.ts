import {
  anyJson,
  boolean,
  field,
  integer64,
  list,
  listMap,
  map,
  optional,
  string,
  structsOf,
  time,
} from './builder.js';
import type { Schema } from './schema.js';

const struct = structsOf('io.k8s.apimachinery.pkg.apis.meta.v1');

/** The schemas of meta/v1, which every kind shares. */

/** `kind` and `apiVersion`. They have no number, because in protobuf they are part of the envelope. */
export const typeMeta: Readonly<Record<string, Schema>> = {
  kind: string({ description: 'Name of the type of this object, in CamelCase.' }),
  apiVersion: string({
    description: 'APIVersion defines group and version of the schema that this object is written in.',
  }),
};

const managedFieldsEntry = struct(
  'ManagedFieldsEntry',
  {
    manager: field(1, string(), { description: 'Who manages these fields.' }),
    operation: field(2, string({ go: 'v1.ManagedFieldsOperationType' }), { description: 'Apply or Update.' }),
    apiVersion: field(3, string(), { description: 'Version the fields are named in.' }),
    time: optional(4, time(), { description: 'When the entry last changed.' }),
    fieldsType: field(6, string(), { description: 'Format of fieldsV1; FieldsV1 is the only one.' }),
    fieldsV1: optional(7, anyJson({ go: 'v1.FieldsV1' }), { type: 'object', description: 'The set of fields.' }),
    subresource: field(8, string(), { description: 'Subresource the fields were written through.' }),
  },
  { description: 'Who last wrote which fields, and how.' },
);

const ownerReference = struct(
  'OwnerReference',
  {
    apiVersion: field(5, string(), { presence: 'always', description: 'API version of the owner.' }),
    kind: field(1, string(), { presence: 'always', description: 'Kind of the owner.' }),
    name: field(3, string(), { presence: 'always', description: 'Name of the owner.' }),
    uid: field(4, string({ go: 'types.UID' }), { presence: 'always', description: 'UID of the owner.' }),
    controller: optional(6, boolean(), { description: 'True if the owner is the managing controller.' }),
    blockOwnerDeletion: optional(7, boolean(), {
      description: 'True if the owner cannot go before this object in foreground deletion.',
    }),
  },
  {
    required: ['apiVersion', 'kind', 'name', 'uid'],
    mapType: 'atomic',
    description: 'Points at an object that owns this one.',
  },
);

export const objectMeta = struct(
  'ObjectMeta',
  {
    name: field(1, string(), { description: 'Unique within a namespace; cannot be changed.' }),
    generateName: field(2, string(), {
      description: 'Prefix of a name that the server completes, if no name is given.',
    }),
    namespace: field(3, string(), { description: 'Space within which the name is unique.' }),
    selfLink: field(4, string(), { description: 'No longer set.' }),
    uid: field(5, string({ go: 'types.UID' }), { description: 'Unique in time and space; set by the server.' }),
    resourceVersion: field(6, string(), {
      description: 'Opaque version of this object; set by the server, compared on writes.',
    }),
    generation: field(7, integer64(), { description: 'Number of the desired state; set by the server.' }),
    creationTimestamp: field(8, time(), {
      description: 'CreationTimestamp is a timestamp: when the object was created; set by the server.',
    }),
    deletionTimestamp: optional(9, time(), { description: 'When deletion was asked for; set by the server.' }),
    deletionGracePeriodSeconds: optional(10, integer64(), {
      description: 'Seconds of grace before the object goes; set by the server.',
    }),
    labels: field(11, map(string()), { description: 'Names and values to select objects by.' }),
    annotations: field(12, map(string()), { description: 'Unstructured values kept by tools.' }),
    ownerReferences: field(
      13,
      listMap(ownerReference, ['uid'], {
        description: 'Objects this one depends on; when all are gone, it is collected.',
      }),
    ),
    finalizers: field(14, list(string(), { listType: 'set', patchStrategy: 'merge' }), {
      description: 'Names that must be removed before the object goes.',
    }),
    managedFields: field(17, list(managedFieldsEntry, { listType: 'atomic' }), {
      keepsEmpty: true,
      description: 'Who manages which fields; kept by the server. An empty list has it forget them all.',
    }),
  },
  { description: 'What every stored object has: names, labels, versions and times.' },
);

/** The members that every object has. */
export const objectMembers: Readonly<Record<string, Schema>> = {
  ...typeMeta,
  metadata: field(1, objectMeta, { description: 'Names, labels, versions and times.' }),
};

const shardInfo = struct(
  'ShardInfo',
  { selector: field(1, string(), { presence: 'always', description: 'The shard selector of the request.' }) },
  { required: ['selector'], description: 'Says that a list is one shard of a whole.' },
);

export const listMeta = struct(
  'ListMeta',
  {
    selfLink: field(1, string(), { description: 'No longer set.' }),
    resourceVersion: field(2, string(), { description: 'Version of the collection at which this list was read.' }),
    continue: field(3, string(), { description: 'Token for the next page, if there is more.' }),
    remainingItemCount: optional(4, integer64(), { description: 'How many items follow this page.' }),
    shardInfo: optional(5, shardInfo, { description: 'Present if the list is one shard of a whole.' }),
  },
  { description: 'What every list has.' },
);

const preconditions = struct(
  'Preconditions',
  {
    uid: optional(1, string({ go: 'types.UID' }), { description: 'UID the object must have.' }),
    resourceVersion: optional(2, string(), { description: 'Version the object must have.' }),
  },
  { description: 'What must hold for a deletion to go ahead.' },
);

export const deleteOptions = struct(
  'DeleteOptions',
  {
    ...typeMeta,
    gracePeriodSeconds: optional(1, integer64(), { description: 'Seconds before the object goes.' }),
    preconditions: optional(2, preconditions),
    orphanDependents: optional(3, boolean(), { description: 'Deprecated: use propagationPolicy.' }),
    propagationPolicy: optional(4, string({ go: 'v1.DeletionPropagation' }), {
      description: 'Orphan, Background or Foreground.',
    }),
    dryRun: field(5, list(string(), { listType: 'atomic' }), { description: 'All: do everything but store.' }),
    ignoreStoreReadErrorWithClusterBreakingPotential: optional(6, boolean(), {
      description: 'Delete even what cannot be read.',
    }),
  },
  { description: 'How an object is to be deleted.' },
);

export const labelSelectorRequirement = struct(
  'LabelSelectorRequirement',
  {
    key: field(1, string(), { presence: 'always', description: 'Label the requirement is about.' }),
    operator: field(2, string({ go: 'v1.LabelSelectorOperator' }), {
      presence: 'always',
      description: 'In, NotIn, Exists or DoesNotExist.',
    }),
    values: field(3, list(string(), { listType: 'atomic' }), { description: 'Values for In and NotIn.' }),
  },
  {
    required: ['key', 'operator'],
    description: 'One requirement of a selector.',
  },
);

export const labelSelector = struct(
  'LabelSelector',
  {
    matchLabels: field(1, map(string()), { description: 'Labels that must have exactly these values.' }),
    matchExpressions: field(2, list(labelSelectorRequirement, { listType: 'atomic' }), {
      description: 'Requirements that must all hold.',
    }),
  },
  { mapType: 'atomic', description: 'Selects objects by their labels.' },
);

/** metav1.Condition: an observation about an object. */
export const condition = struct(
  'Condition',
  {
    type: field(1, string(), { presence: 'always', description: 'What the condition is about.' }),
    status: field(2, string({ go: 'v1.ConditionStatus' }), {
      presence: 'always',
      description: 'True, False or Unknown.',
    }),
    observedGeneration: field(3, integer64(), { description: 'Generation that the condition was found for.' }),
    lastTransitionTime: field(4, time(), { presence: 'always', description: 'When the status last changed.' }),
    reason: field(5, string(), { presence: 'always', description: 'Why, in one word.' }),
    message: field(6, string(), { presence: 'always', description: 'Why, for people.' }),
  },
  {
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
    description: 'What was found of an object.',
  },
);
