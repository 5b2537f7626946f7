import type { Node } from '../../api/kinds/node.js';
import type { JsonObject } from '../../api/object.js';
import { withFirst } from '../singular-alias.js';

/** What a node that does not say otherwise means by what it says: pods can have all of it. */
export function withNodeDefaults(node: Node): Node {
  const spec = node.spec as { readonly podCIDR?: string; readonly podCIDRs?: readonly string[] } | undefined;
  const status = node.status as JsonObject | undefined;
  const ranges = withFirst(spec?.podCIDR, spec?.podCIDRs);
  const all = status?.['allocatable'] === undefined ? status?.['capacity'] : undefined;
  return {
    ...node,
    ...(ranges === undefined ? {} : { spec: { ...node.spec, podCIDR: ranges[0], podCIDRs: ranges[1] } }),
    ...(all === undefined ? {} : { status: { ...status, allocatable: all } }),
  };
}
