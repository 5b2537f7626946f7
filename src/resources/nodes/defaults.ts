import type { Node, NodeStatus } from '../../api/kinds/node.js';
import { isEmpty } from '../../schema/presence.js';
import { withFirst } from '../singular-alias.js';

/** What a node that does not say otherwise means by what it says: pods can have all of it. */
export function withNodeDefaults(node: Node): Node {
  const { spec, status } = node;
  const ranges = withFirst(spec?.podCIDR, spec?.podCIDRs);
  return {
    ...node,
    ...(ranges === undefined ? {} : { spec: { ...spec, podCIDR: ranges[0], podCIDRs: ranges[1] } }),
    ...(status === undefined ? {} : { status: withAllocatable(status) }),
  };
}

/** Nothing, said as such, is nothing until the owners are recorded, and in the store as good as not said. */
const withAllocatable = ({ allocatable, ...status }: NodeStatus): NodeStatus => {
  const all = allocatable ?? status.capacity;
  return all === undefined || isEmpty(all) ? status : { ...status, allocatable: all };
};
