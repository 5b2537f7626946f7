import { field, integer32, integer64, list, optional, string } from '../../schema/builder.js';
import { labelSelector } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';
import { coreStruct } from '../core-struct.js';

/** Schemas of which nodes a pod can be scheduled to. */

const nodeSelectorRequirement = coreStruct(
  'NodeSelectorRequirement',
  {
    key: field(1, string(), { presence: 'always', description: 'Name of the label or field.' }),
    operator: field(
      2,
      string({ go: 'v1.NodeSelectorOperator', enum: ['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'] }),
      { presence: 'always', description: 'How it is compared.' },
    ),
    values: field(3, list(string(), { listType: 'atomic' }), { description: 'What it is compared with.' }),
  },
  { required: ['key', 'operator'], description: 'What a label or field must be.' },
);

const nodeSelectorTerm = coreStruct(
  'NodeSelectorTerm',
  {
    matchExpressions: field(1, list(nodeSelectorRequirement, { listType: 'atomic' }), {
      description: 'What their labels must be.',
    }),
    matchFields: field(2, list(nodeSelectorRequirement, { listType: 'atomic' }), {
      description: 'What their fields must be.',
    }),
  },
  { mapType: 'atomic', description: 'Nodes for which everything said holds.' },
);

const nodeSelector = coreStruct(
  'NodeSelector',
  {
    nodeSelectorTerms: field(1, list(nodeSelectorTerm, { listType: 'atomic' }), {
      presence: 'always',
      description: 'The terms.',
    }),
  },
  { required: ['nodeSelectorTerms'], mapType: 'atomic', description: 'Nodes for which one of the terms holds.' },
);

const preferredSchedulingTerm = coreStruct(
  'PreferredSchedulingTerm',
  {
    weight: field(1, integer32(), { presence: 'always', description: 'How much: 1 to 100.' }),
    preference: field(2, nodeSelectorTerm, { description: 'Which.' }),
  },
  { required: ['weight', 'preference'], description: 'Nodes that are preferred.' },
);

const nodeAffinity = coreStruct(
  'NodeAffinity',
  {
    requiredDuringSchedulingIgnoredDuringExecution: optional(1, nodeSelector, { description: 'Nodes it must be on.' }),
    preferredDuringSchedulingIgnoredDuringExecution: field(2, list(preferredSchedulingTerm, { listType: 'atomic' }), {
      description: 'Nodes it would rather be on.',
    }),
  },
  { description: 'Which nodes a pod wants.' },
);

const podAffinityTerm = coreStruct(
  'PodAffinityTerm',
  {
    labelSelector: optional(1, labelSelector, { description: 'Labels of the pods.' }),
    namespaces: field(2, list(string(), { listType: 'atomic' }), {
      description: 'Their namespaces; that of the pod unless anything is said.',
    }),
    topologyKey: field(3, string(), {
      presence: 'always',
      description: 'Label of nodes: those with the same value are near.',
    }),
    namespaceSelector: optional(4, labelSelector, { description: 'Labels of their namespaces.' }),
    matchLabelKeys: field(5, list(string(), { listType: 'atomic' }), {
      description: 'Labels that must be those of the pod.',
    }),
    mismatchLabelKeys: field(6, list(string(), { listType: 'atomic' }), {
      description: 'Labels that must not be those of the pod.',
    }),
  },
  { required: ['topologyKey'], description: 'Pods, and what counts as near.' },
);

const weightedPodAffinityTerm = coreStruct(
  'WeightedPodAffinityTerm',
  {
    weight: field(1, integer32(), { presence: 'always', description: 'How much: 1 to 100.' }),
    podAffinityTerm: field(2, podAffinityTerm, { description: 'Which.' }),
  },
  { required: ['weight', 'podAffinityTerm'], description: 'Pods that count more or less.' },
);

/** Returns the schema of pod affinity or anti-affinity: required and preferred terms. `way` is near or far from. */
const affinityTo = (name: string, way: string, description: string): Schema =>
  coreStruct(
    name,
    {
      requiredDuringSchedulingIgnoredDuringExecution: field(1, list(podAffinityTerm, { listType: 'atomic' }), {
        description: `Pods it must be ${way}.`,
      }),
      preferredDuringSchedulingIgnoredDuringExecution: field(2, list(weightedPodAffinityTerm, { listType: 'atomic' }), {
        description: `Pods it would rather be ${way}.`,
      }),
    },
    { description },
  );
const podAffinity = affinityTo('PodAffinity', 'near', 'Pods that a pod wants to be near.');
const podAntiAffinity = affinityTo('PodAntiAffinity', 'far from', 'Pods that a pod wants to be far from.');

export const affinity = coreStruct(
  'Affinity',
  {
    nodeAffinity: optional(1, nodeAffinity, { description: 'Nodes.' }),
    podAffinity: optional(2, podAffinity, { description: 'Pods it wants to be near.' }),
    podAntiAffinity: optional(3, podAntiAffinity, { description: 'Pods it wants to be far from.' }),
  },
  { description: 'Which nodes and neighbours a pod wants.' },
);

export const toleration = coreStruct(
  'Toleration',
  {
    key: field(1, string(), { description: 'Key of the taint; all unless given.' }),
    operator: field(2, string({ go: 'v1.TolerationOperator', enum: ['Equal', 'Exists', 'Gt', 'Lt'] }), {
      description: 'How the value is compared.',
    }),
    value: field(3, string(), { description: 'Value of the taint.' }),
    effect: field(4, string({ go: 'v1.TaintEffect', enum: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] }), {
      description: 'Effect of the taint; all unless given.',
    }),
    tolerationSeconds: optional(5, integer64(), { description: 'Seconds that it is borne; for ever unless given.' }),
  },
  { description: 'Taints that a pod bears.' },
);

export const topologySpreadConstraint = coreStruct(
  'TopologySpreadConstraint',
  {
    maxSkew: field(1, integer32(), {
      presence: 'always',
      description: 'How much more pods there may be in one domain than in another.',
    }),
    topologyKey: field(2, string(), { presence: 'always', description: 'Label of nodes that makes domains.' }),
    whenUnsatisfiable: field(
      3,
      string({ go: 'v1.UnsatisfiableConstraintAction', enum: ['DoNotSchedule', 'ScheduleAnyway'] }),
      { presence: 'always', description: 'What is done if it cannot be.' },
    ),
    labelSelector: optional(4, labelSelector, { description: 'Labels of pods that count.' }),
    minDomains: optional(5, integer32(), { description: 'How many domains there must be.' }),
    nodeAffinityPolicy: optional(6, string({ go: 'v1.NodeInclusionPolicy', enum: ['Honor', 'Ignore'] }), {
      description: 'Do only nodes count that the pod wants?',
    }),
    nodeTaintsPolicy: optional(7, string({ go: 'v1.NodeInclusionPolicy', enum: ['Honor', 'Ignore'] }), {
      description: 'Do only nodes count whose taints it bears?',
    }),
    matchLabelKeys: field(8, list(string(), { listType: 'atomic' }), {
      description: 'Labels that must be those of the pod.',
    }),
  },
  { required: ['maxSkew', 'topologyKey', 'whenUnsatisfiable'], description: 'How pods are spread.' },
);

export const podSchedulingGate = coreStruct(
  'PodSchedulingGate',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the gate.' }),
  },
  { required: ['name'], description: 'Something that must be removed before a pod is scheduled.' },
);

export const podSchedulingGroup = coreStruct(
  'PodSchedulingGroup',
  {
    podGroupName: optional(1, string(), { description: 'Name of the group.' }),
  },
  { description: 'A group of pods that is scheduled together.' },
);
