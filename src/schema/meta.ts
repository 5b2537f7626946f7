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
  kind: string({ description: 'Kind of the object, in CamelCase.' }),
  apiVersion: string({
    description: 'APIVersion defines the API group and version of the schema of the object.',
  }),
};

const managedFieldsEntry = struct(
  'ManagedFieldsEntry',
  {
    manager: field(1, string(), { description: 'Name of the manager of the fields.' }),
    operation: field(2, string({ go: 'v1.ManagedFieldsOperationType' }), {
      description: 'Type of the operation: Apply or Update.',
    }),
    apiVersion: field(3, string(), { description: 'API version of the field names.' }),
    time: optional(4, time(), { description: 'Time of the last change of the entry.' }),
    fieldsType: field(6, string(), { description: 'Format of fieldsV1; FieldsV1 is the only one.' }),
    fieldsV1: optional(7, anyJson({ go: 'v1.FieldsV1' }), {
      type: 'object',
      description: 'Set of the managed fields.',
    }),
    subresource: field(8, string(), {
      description: 'Subresource through which the fields were written; empty for the object itself.',
    }),
  },
  { description: 'Fields that one manager owns.' },
);

const ownerReference = struct(
  'OwnerReference',
  {
    apiVersion: field(5, string(), { presence: 'always', description: 'API version of the owner.' }),
    kind: field(1, string(), { presence: 'always', description: 'Kind of the owner.' }),
    name: field(3, string(), { presence: 'always', description: 'Name of the owner.' }),
    uid: field(4, string({ go: 'types.UID' }), { presence: 'always', description: 'UID of the owner.' }),
    controller: optional(6, boolean(), { description: 'Whether the owner is the managing controller of this object.' }),
    blockOwnerDeletion: optional(7, boolean(), {
      description: 'Whether foreground deletion of the owner waits for this object to be deleted.',
    }),
  },
  {
    required: ['apiVersion', 'kind', 'name', 'uid'],
    mapType: 'atomic',
    description: 'Reference to an object that owns this one.',
  },
);

export const objectMeta = struct(
  'ObjectMeta',
  {
    name: field(1, string(), { description: 'Name of the object, unique within its namespace. Cannot be changed.' }),
    generateName: field(2, string(), {
      description: 'Prefix of a name that the server generates if no name is given.',
    }),
    namespace: field(3, string(), {
      description: 'Namespace within which the name is unique; empty for cluster-scoped objects. Cannot be changed.',
    }),
    selfLink: field(4, string(), { description: 'Deprecated: no longer set.' }),
    uid: field(5, string({ go: 'types.UID' }), {
      description: 'ID of the object, unique in space and time. Set by the server.',
    }),
    resourceVersion: field(6, string(), {
      description: 'Opaque version of the object, for concurrency control and watches. Set by the server.',
    }),
    generation: field(7, integer64(), { description: 'Sequence number of the desired state. Set by the server.' }),
    creationTimestamp: field(8, time(), {
      description: 'CreationTimestamp is a timestamp of the creation of the object. Set by the server.',
    }),
    deletionTimestamp: optional(9, time(), {
      description: 'Time at which the object will be deleted, once deletion was requested. Set by the server.',
    }),
    deletionGracePeriodSeconds: optional(10, integer64(), {
      description: 'Seconds of grace before the object is deleted. Set by the server.',
    }),
    labels: field(11, map(string()), { description: 'Names and values by which objects can be selected.' }),
    annotations: field(12, map(string()), {
      description: 'Unstructured names and values that tools can store and read.',
    }),
    ownerReferences: field(
      13,
      listMap(ownerReference, ['uid'], {
        description: 'Objects that own this one; it is garbage-collected when all of them are gone.',
      }),
    ),
    finalizers: field(14, list(string(), { listType: 'set', patchStrategy: 'merge' }), {
      description: 'Names that must all be removed before the object is deleted.',
    }),
    managedFields: field(17, list(managedFieldsEntry, { listType: 'atomic' }), {
      keepsEmpty: true,
      description: 'Fields that each manager owns; maintained by the server. An empty list clears all ownership.',
    }),
  },
  { description: 'Metadata of every persisted object: names, labels, versions and timestamps.' },
);

/** The members that every object has. */
export const objectMembers: Readonly<Record<string, Schema>> = {
  ...typeMeta,
  metadata: field(1, objectMeta, {
    description: 'Standard object metadata: name, namespace, labels, versions and timestamps.',
  }),
};

const shardInfo = struct(
  'ShardInfo',
  { selector: field(1, string(), { presence: 'always', description: 'Shard selector of the request.' }) },
  { required: ['selector'], description: 'Marks a list as one shard of a collection.' },
);

export const listMeta = struct(
  'ListMeta',
  {
    selfLink: field(1, string(), { description: 'Deprecated: no longer set.' }),
    resourceVersion: field(2, string(), {
      description: 'Resource version of the collection at which the list was read.',
    }),
    continue: field(3, string(), { description: 'Token of the next page; empty if there is none.' }),
    remainingItemCount: optional(4, integer64(), { description: 'Number of items that follow this page, if known.' }),
    shardInfo: optional(5, shardInfo, { description: 'Set if the list is one shard of a collection.' }),
  },
  { description: 'Metadata of every list.' },
);

const preconditions = struct(
  'Preconditions',
  {
    uid: optional(1, string({ go: 'types.UID' }), { description: 'UID that the object must have.' }),
    resourceVersion: optional(2, string(), { description: 'Resource version that the object must have.' }),
  },
  { description: 'Conditions that must hold for the object to be deleted.' },
);

export const deleteOptions = struct(
  'DeleteOptions',
  {
    ...typeMeta,
    gracePeriodSeconds: optional(1, integer64(), {
      description: 'Seconds before the object is deleted; 0 deletes it immediately.',
    }),
    preconditions: optional(2, preconditions),
    orphanDependents: optional(3, boolean(), { description: 'Deprecated: use propagationPolicy.' }),
    propagationPolicy: optional(4, string({ go: 'v1.DeletionPropagation' }), {
      description: 'How dependents are deleted: Orphan, Background or Foreground.',
    }),
    dryRun: field(5, list(string(), { listType: 'atomic' }), {
      description: 'All: process the request in full, but do not persist the result.',
    }),
    ignoreStoreReadErrorWithClusterBreakingPotential: optional(6, boolean(), {
      description: 'Delete the object even if it cannot be read from storage.',
    }),
  },
  { description: 'Options for the deletion of an object.' },
);

export const labelSelectorRequirement = struct(
  'LabelSelectorRequirement',
  {
    key: field(1, string(), { presence: 'always', description: 'Label key that the requirement applies to.' }),
    operator: field(2, string({ go: 'v1.LabelSelectorOperator' }), {
      presence: 'always',
      description: 'Operator: In, NotIn, Exists or DoesNotExist.',
    }),
    values: field(3, list(string(), { listType: 'atomic' }), {
      description: 'Values for In and NotIn; empty for Exists and DoesNotExist.',
    }),
  },
  {
    required: ['key', 'operator'],
    description: 'Requirement on the value of a label.',
  },
);

export const labelSelector = struct(
  'LabelSelector',
  {
    matchLabels: field(1, map(string()), { description: 'Labels that must have exactly these values.' }),
    matchExpressions: field(2, list(labelSelectorRequirement, { listType: 'atomic' }), {
      description: 'Requirements that must all be met.',
    }),
  },
  { mapType: 'atomic', description: 'Selects objects by their labels; all of its requirements must be met.' },
);

/** metav1.Condition: an observation about an object. */
export const condition = struct(
  'Condition',
  {
    type: field(1, string(), { presence: 'always', description: 'Type of the condition.' }),
    status: field(2, string({ go: 'v1.ConditionStatus' }), {
      presence: 'always',
      description: 'Status of the condition: True, False or Unknown.',
    }),
    observedGeneration: field(3, integer64(), {
      description: 'Generation of the object that the condition is based on.',
    }),
    lastTransitionTime: field(4, time(), { presence: 'always', description: 'Time of the last change of the status.' }),
    reason: field(5, string(), { presence: 'always', description: 'Reason for the status, as one word in CamelCase.' }),
    message: field(6, string(), { presence: 'always', description: 'Human-readable details.' }),
  },
  {
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
    description: 'Aspect of the state of an object.',
  },
);
