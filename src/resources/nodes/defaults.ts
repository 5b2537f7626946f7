import type { Node } from '../../api/kinds/node.js';
import { withFirst } from '../singular-alias.js';

/** What a node that does not say otherwise means by what it says: pods can have all of it. */
export function withNodeDefaults(node: Node): Node {
  const { spec, status } = node;
  const ranges = withFirst(spec?.podCIDR, spec?.podCIDRs);
  const all = status?.allocatable === undefined ? status?.capacity : undefined;
  return {
    ...node,
    ...(ranges === undefined ? {} : { spec: { ...spec, podCIDR: ranges[0], podCIDRs: ranges[1] } }),
    ...(all === undefined ? {} : { status: { ...status, allocatable: all } }),
  };
}
