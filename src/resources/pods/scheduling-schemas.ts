import { field, integer32, integer64, list, optional, string } from '../../schema/builder.js';
import { labelSelector } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';
import { coreStruct } from '../core-struct.js';

/** Schemas of the rules that determine to which nodes a pod can be scheduled. */

const nodeSelectorRequirement = coreStruct(
  'NodeSelectorRequirement',
  {
    key: field(1, string(), { presence: 'always', description: 'Name of the label or field.' }),
    operator: field(
      2,
      string({ go: 'v1.NodeSelectorOperator', enum: ['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'] }),
      { presence: 'always', description: 'Operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.' },
    ),
    values: field(3, list(string(), { listType: 'atomic' }), {
      description: 'Values that the operator applies to; empty for Exists and DoesNotExist, one integer for Gt and Lt.',
    }),
  },
  { required: ['key', 'operator'], description: 'Requirement on a label or field of a node.' },
);

const nodeSelectorTerm = coreStruct(
  'NodeSelectorTerm',
  {
    matchExpressions: field(1, list(nodeSelectorRequirement, { listType: 'atomic' }), {
      description: 'Requirements on the labels of a node.',
    }),
    matchFields: field(2, list(nodeSelectorRequirement, { listType: 'atomic' }), {
      description: 'Requirements on the fields of a node.',
    }),
  },
  { mapType: 'atomic', description: 'Selects the nodes that meet all requirements.' },
);

const nodeSelector = coreStruct(
  'NodeSelector',
  {
    nodeSelectorTerms: field(1, list(nodeSelectorTerm, { listType: 'atomic' }), {
      presence: 'always',
      description: 'Terms of the selector; a node must match at least one.',
    }),
  },
  {
    required: ['nodeSelectorTerms'],
    mapType: 'atomic',
    description: 'Selects the nodes that match at least one term.',
  },
);

const preferredSchedulingTerm = coreStruct(
  'PreferredSchedulingTerm',
  {
    weight: field(1, integer32(), { presence: 'always', description: 'Weight of the term, from 1 to 100.' }),
    preference: field(2, nodeSelectorTerm, { description: 'Nodes that are preferred.' }),
  },
  { required: ['weight', 'preference'], description: 'Weighted preference for some nodes.' },
);

const nodeAffinity = coreStruct(
  'NodeAffinity',
  {
    requiredDuringSchedulingIgnoredDuringExecution: optional(1, nodeSelector, {
      description: 'Nodes on which the pod must be scheduled. Ignored once it runs.',
    }),
    preferredDuringSchedulingIgnoredDuringExecution: field(2, list(preferredSchedulingTerm, { listType: 'atomic' }), {
      description: 'Nodes on which the pod is preferably scheduled, by weight.',
    }),
  },
  { description: 'Rules for the nodes on which a pod is scheduled.' },
);

const podAffinityTerm = coreStruct(
  'PodAffinityTerm',
  {
    labelSelector: optional(1, labelSelector, { description: 'Label selector of the pods; none match if absent.' }),
    namespaces: field(2, list(string(), { listType: 'atomic' }), {
      description: 'Namespaces of the pods, in addition to those of namespaceSelector; by default that of this pod.',
    }),
    topologyKey: field(3, string(), {
      presence: 'always',
      description: 'Node label that defines the topology: nodes with the same value count as one place.',
    }),
    namespaceSelector: optional(4, labelSelector, {
      description: 'Label selector of further namespaces of the pods; an empty one matches all namespaces.',
    }),
    matchLabelKeys: field(5, list(string(), { listType: 'atomic' }), {
      description: 'Keys of labels whose values must be the same as on this pod.',
    }),
    mismatchLabelKeys: field(6, list(string(), { listType: 'atomic' }), {
      description: 'Keys of labels whose values must differ from those of this pod.',
    }),
  },
  { required: ['topologyKey'], description: 'Selects pods, and the topology in which they count as co-located.' },
);

const weightedPodAffinityTerm = coreStruct(
  'WeightedPodAffinityTerm',
  {
    weight: field(1, integer32(), { presence: 'always', description: 'Weight of the term, from 1 to 100.' }),
    podAffinityTerm: field(2, podAffinityTerm, { description: 'Pods that are preferred or avoided.' }),
  },
  {
    required: ['weight', 'podAffinityTerm'],
    description: 'Weighted preference for, or against, the location of some pods.',
  },
);

/** Returns the schema of pod affinity or anti-affinity: required and preferred terms. `way` is near or far from. */
const affinityTo = (name: string, way: string, description: string): Schema =>
  coreStruct(
    name,
    {
      requiredDuringSchedulingIgnoredDuringExecution: field(1, list(podAffinityTerm, { listType: 'atomic' }), {
        description: `The pod must be scheduled ${way} pods that match these terms. Ignored once it runs.`,
      }),
      preferredDuringSchedulingIgnoredDuringExecution: field(2, list(weightedPodAffinityTerm, { listType: 'atomic' }), {
        description: `The pod is preferably scheduled ${way} pods that match these terms, by weight.`,
      }),
    },
    { description },
  );
const podAffinity = affinityTo('PodAffinity', 'near', 'Rules for the pods that a pod is scheduled near.');
const podAntiAffinity = affinityTo(
  'PodAntiAffinity',
  'far from',
  'Rules for the pods that a pod is scheduled far from.',
);

export const affinity = coreStruct(
  'Affinity',
  {
    nodeAffinity: optional(1, nodeAffinity, { description: 'Rules for the nodes on which the pod is scheduled.' }),
    podAffinity: optional(2, podAffinity, { description: 'Rules for the pods that the pod is scheduled near.' }),
    podAntiAffinity: optional(3, podAntiAffinity, {
      description: 'Rules for the pods that the pod is scheduled far from.',
    }),
  },
  { description: 'Scheduling constraints of a pod by nodes and other pods.' },
);

export const toleration = coreStruct(
  'Toleration',
  {
    key: field(1, string(), { description: 'Key of the taint; empty matches all keys, with operator Exists.' }),
    operator: field(2, string({ go: 'v1.TolerationOperator', enum: ['Equal', 'Exists', 'Gt', 'Lt'] }), {
      description: 'How the value is compared: Exists, Equal (the default), Lt or Gt.',
    }),
    value: field(3, string(), { description: 'Value of the taint; empty for Exists.' }),
    effect: field(4, string({ go: 'v1.TaintEffect', enum: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] }), {
      description: 'Effect of the taint: NoSchedule, PreferNoSchedule or NoExecute; empty matches all.',
    }),
    tolerationSeconds: optional(5, integer64(), {
      description: 'Seconds that a NoExecute taint is tolerated; without limit by default.',
    }),
  },
  { description: 'Allows a pod to run on nodes with matching taints.' },
);

export const topologySpreadConstraint = coreStruct(
  'TopologySpreadConstraint',
  {
    maxSkew: field(1, integer32(), {
      presence: 'always',
      description: 'Maximum difference in the number of matching pods between any two domains; at least 1.',
    }),
    topologyKey: field(2, string(), {
      presence: 'always',
      description: 'Node label that defines the domains: nodes with the same value form one.',
    }),
    whenUnsatisfiable: field(
      3,
      string({ go: 'v1.UnsatisfiableConstraintAction', enum: ['DoNotSchedule', 'ScheduleAnyway'] }),
      {
        presence: 'always',
        description: 'What to do if the constraint cannot be met: DoNotSchedule or ScheduleAnyway.',
      },
    ),
    labelSelector: optional(4, labelSelector, { description: 'Label selector of the pods that are counted.' }),
    minDomains: optional(5, integer32(), {
      description: 'Minimum number of eligible domains; with fewer, the global minimum of matching pods counts as 0.',
    }),
    nodeAffinityPolicy: optional(6, string({ go: 'v1.NodeInclusionPolicy', enum: ['Honor', 'Ignore'] }), {
      description:
        "Whether only nodes that match the pod's affinity and nodeSelector are counted: Honor (the default) or Ignore.",
    }),
    nodeTaintsPolicy: optional(7, string({ go: 'v1.NodeInclusionPolicy', enum: ['Honor', 'Ignore'] }), {
      description:
        'Whether nodes with taints that the pod does not tolerate are left out: Honor or Ignore (the default).',
    }),
    matchLabelKeys: field(8, list(string(), { listType: 'atomic' }), {
      description: 'Keys of labels whose values counted pods must share with this pod.',
    }),
  },
  {
    required: ['maxSkew', 'topologyKey', 'whenUnsatisfiable'],
    description: 'Constraint on how pods are spread across topology domains.',
  },
);

export const podSchedulingGate = coreStruct(
  'PodSchedulingGate',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the gate; unique in the pod.' }),
  },
  { required: ['name'], description: 'Condition that must be removed before a pod can be scheduled.' },
);

export const podSchedulingGroup = coreStruct(
  'PodSchedulingGroup',
  {
    podGroupName: optional(1, string(), { description: 'Name of the PodGroup.' }),
  },
  { description: 'Group of pods that are scheduled together.' },
);
