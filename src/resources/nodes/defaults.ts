import type { Node, NodeStatus } from '../../api/kinds/node.js';
import { isEmpty } from '../../schema/presence.js';
import { withFirst } from '../singular-alias.js';

/** Returns the node with its defaults set: pods can have all of its capacity unless it says otherwise. */
export function withNodeDefaults(node: Node): Node {
  const { spec, status } = node;
  const ranges = withFirst(spec?.podCIDR, spec?.podCIDRs);
  return {
    ...node,
    ...(ranges === undefined ? {} : { spec: { ...spec, podCIDR: ranges[0], podCIDRs: ranges[1] } }),
    ...(status === undefined ? {} : { status: withAllocatable(status) }),
  };
}

/**
 * Sets allocatable to the capacity by default. An explicitly empty one counts as empty until managedFields are
 * recorded, and in the store it is the same as absent.
 */
const withAllocatable = ({ allocatable, ...status }: NodeStatus): NodeStatus => {
  const all = allocatable ?? status.capacity;
  return all === undefined || isEmpty(all) ? status : { ...status, allocatable: all };
};
