import { boolean, field, list, optional, string, time } from '../../schema/builder.js';
import { coreStruct } from '../core-struct.js';

/** Schema of a node's spec. */

const taint = coreStruct(
  'Taint',
  {
    key: field(1, string(), { presence: 'always', description: 'Key of the taint.' }),
    value: field(2, string(), { description: 'Its value.' }),
    effect: field(3, string({ go: 'v1.TaintEffect', enum: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] }), {
      presence: 'always',
      description: 'What happens to pods that do not bear it.',
    }),
    timeAdded: optional(4, time(), { description: 'Since when.' }),
  },
  { required: ['key', 'effect'], description: 'Keeps pods away from a node.' },
);

const configMapNodeConfigSource = coreStruct(
  'ConfigMapNodeConfigSource',
  {
    namespace: field(1, string(), { presence: 'always', description: 'Namespace of the ConfigMap.' }),
    name: field(2, string(), { presence: 'always', description: 'Name of the ConfigMap.' }),
    uid: field(3, string({ go: 'types.UID' }), { description: 'UID of the ConfigMap.' }),
    resourceVersion: field(4, string(), { description: 'Version of the ConfigMap.' }),
    kubeletConfigKey: field(5, string(), { presence: 'always', description: 'Entry with the configuration.' }),
  },
  {
    required: ['namespace', 'name', 'kubeletConfigKey'],
    description: 'A ConfigMap with configuration of an agent; no longer used.',
  },
);

export const nodeConfigSource = coreStruct(
  'NodeConfigSource',
  {
    configMap: optional(2, configMapNodeConfigSource, { description: 'A ConfigMap.' }),
  },
  { description: 'Where configuration of an agent is from; no longer used.' },
);

export const nodeSpec = coreStruct(
  'NodeSpec',
  {
    podCIDR: field(1, string(), { description: 'Addresses of its pods.' }),
    podCIDRs: field(7, list(string(), { listType: 'set', patchStrategy: 'merge' }), {
      description: 'Addresses of its pods, of each family.',
    }),
    providerID: field(3, string(), { description: 'Identity of the machine at its provider.' }),
    unschedulable: field(4, boolean(), { description: 'Do no further pods go there?' }),
    taints: field(5, list(taint, { listType: 'atomic' }), { description: 'What keeps pods away.' }),
    configSource: optional(6, nodeConfigSource, { description: 'Configuration of its agent; no longer used.' }),
    externalID: field(2, string(), { description: 'No longer used.' }),
  },
  { description: 'What a node should be.' },
);
