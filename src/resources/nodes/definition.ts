import { type Node, Nodes } from '../../api/kinds/node.js';
import { nameRules } from '../../api/names.js';
import { defineResource } from '../../registry/resource-definition.js';
import { field } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { coreStruct } from '../core-struct.js';
import { nodeColumns } from './columns.js';
import { withNodeDefaults } from './defaults.js';
import { nodeSpec } from './spec-schema.js';
import { nodeStatus } from './status-schema.js';

/** The schema of nodes, which are only names here: they are stored as they are sent. */
const nodeSchema = coreStruct(
  'Node',
  {
    ...objectMembers,
    spec: field(2, nodeSpec, { description: 'Desired state of the node.' }),
    status: field(3, nodeStatus, { description: 'Observed state of the node.' }),
  },
  { description: 'Machine that runs pods.' },
);

/**
 * Returns the node without the dynamic configuration of node agents, which no longer exists and cannot be set any more.
 */
function withoutConfiguration({ spec, status, ...node }: Node): Node {
  const { configSource: _source, ...otherSpec } = spec ?? {};
  const { config: _config, ...otherStatus } = status ?? {};
  return {
    ...node,
    ...(spec === undefined ? {} : { spec: otherSpec }),
    ...(status === undefined ? {} : { status: otherStatus }),
  };
}

export const nodes = defineResource<Node>({
  ...Nodes,
  origin: 'built-in',
  schema: nodeSchema,
  nameRule: nameRules.dnsSubdomain,
  updateRules: ['metadata', 'contents', 'metadata change'],
  unconditionalUpdate: true,
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable === true) },
  columns: nodeColumns,
  resetFields: [['status']],

  defaults: withNodeDefaults,

  // A new node may contain its status: this is how node agents register.
  prepare: (next, previous) => {
    const node = withoutConfiguration(next);
    return previous === undefined ? withNodeDefaults(node) : { ...node, status: previous.status ?? {} };
  },

  subresources: {
    status: {
      type: 'view',
      updateRules: ['metadata change', 'contents'],
      resetFields: [['spec']],
      prepare: (next, { spec = {} }) => withNodeDefaults({ ...withoutConfiguration(next), spec }),
    },
  },
});
