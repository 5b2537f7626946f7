import { boolean, field, list, optional, string, time } from '../../schema/builder.js';
import { coreStruct } from '../core-struct.js';

/** Schema of a node's spec. */

const taint = coreStruct(
  'Taint',
  {
    key: field(1, string(), { presence: 'always', description: 'Key of the taint.' }),
    value: field(2, string(), { description: 'Value of the taint.' }),
    effect: field(3, string({ go: 'v1.TaintEffect', enum: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] }), {
      presence: 'always',
      description: 'Effect on pods that do not tolerate the taint: NoSchedule, PreferNoSchedule or NoExecute.',
    }),
    timeAdded: optional(4, time(), { description: 'Time at which the taint was added.' }),
  },
  { required: ['key', 'effect'], description: 'Repels the pods that do not tolerate it from a node.' },
);

const configMapNodeConfigSource = coreStruct(
  'ConfigMapNodeConfigSource',
  {
    namespace: field(1, string(), { presence: 'always', description: 'Namespace of the ConfigMap.' }),
    name: field(2, string(), { presence: 'always', description: 'Name of the ConfigMap.' }),
    uid: field(3, string({ go: 'types.UID' }), { description: 'UID of the ConfigMap.' }),
    resourceVersion: field(4, string(), { description: 'Resource version of the ConfigMap.' }),
    kubeletConfigKey: field(5, string(), {
      presence: 'always',
      description: "Key of the entry that holds the kubelet's configuration.",
    }),
  },
  {
    required: ['namespace', 'name', 'kubeletConfigKey'],
    description: 'ConfigMap with the configuration of a kubelet. No longer used.',
  },
);

export const nodeConfigSource = coreStruct(
  'NodeConfigSource',
  {
    configMap: optional(2, configMapNodeConfigSource, { description: 'ConfigMap with the configuration.' }),
  },
  { description: 'Source of the configuration of a kubelet. No longer used.' },
);

export const nodeSpec = coreStruct(
  'NodeSpec',
  {
    podCIDR: field(1, string(), { description: 'IP range of the pods on the node, in CIDR notation.' }),
    podCIDRs: field(7, list(string(), { listType: 'set', patchStrategy: 'merge' }), {
      description: 'IP ranges of the pods on the node, in CIDR notation; at most one for each IP family.',
    }),
    providerID: field(3, string(), { description: 'ID of the machine at the cloud provider.' }),
    unschedulable: field(4, boolean(), {
      description: 'Whether new pods are kept from being scheduled onto the node.',
    }),
    taints: field(5, list(taint, { listType: 'atomic' }), { description: 'Taints of the node.' }),
    configSource: optional(6, nodeConfigSource, {
      description: "Source of the kubelet's configuration. No longer used.",
    }),
    externalID: field(2, string(), { description: 'Deprecated: no longer used.' }),
  },
  { description: 'Desired state of a node.' },
);
