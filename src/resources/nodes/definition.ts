import { type Node, Nodes } from '../../api/kinds/node.js';
import { nameRules } from '../../api/names.js';
import { defineResource } from '../../registry/resource-definition.js';
import { field, struct } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';
import { age } from '../columns.js';
import { keyedParts } from '../keyed-parts.js';

const component = (name: string): { readonly component: string } => ({ component: `io.k8s.api.core.v1.${name}` });

/** Nodes are only names here: most of spec and status is kept as it is. */
export const nodeSchema = struct(
  'v1.Node',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Names, labels, versions and times.' }),
    spec: field(
      2,
      struct(
        'v1.NodeSpec',
        {},
        { preserveUnknownFields: true, description: 'What a node should be.', ...component('NodeSpec') },
      ),
      { description: 'What the node should be.' },
    ),
    status: field(
      3,
      struct(
        'v1.NodeStatus',
        {
          conditions: field(4, keyedParts('NodeCondition', 'type', 'One aspect of the state.'), {
            description: 'State of the node, aspect by aspect.',
          }),
          addresses: field(5, keyedParts('NodeAddress', 'type', 'Where the node is.'), {
            description: 'Where the node is reached.',
          }),
        },
        { preserveUnknownFields: true, description: 'State of a node.', ...component('NodeStatus') },
      ),
      { description: 'State of the node.' },
    ),
  },
  { description: 'A machine.', ...component('Node') },
);

export const nodes = defineResource<Node>({
  ...Nodes,
  origin: 'built-in',
  schema: nodeSchema,
  nameRule: nameRules.dnsSubdomain,
  unconditionalUpdate: true,
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.['unschedulable'] === true) },
  columns: [age],
  resetFields: [['status']],

  // A new node may tell its state along with its name: that is how agents register.
  prepare: (next, previous) => (previous === undefined ? next : { ...next, status: previous.status ?? {} }),

  subresources: {
    status: {
      type: 'view',
      checksMetadata: 'on change',
      resetFields: [['spec']],
      prepare: (next, { spec = {} }) => ({ ...next, spec }),
    },
  },
});
