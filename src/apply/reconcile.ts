import { copyOf, type FieldNode, type FieldSet, leaf } from './field-set.js';
import { shapeBelow } from './field-set-of.js';
import type { PathElement } from './path-element.js';
import type { Shape } from './shape.js';

/**
 * Adapts a field set to the current schema: owned fields below a value that has become atomic are replaced by the whole
 * value. Fields below a value that has become granular stay as they were.
 */
export function reconcileFieldSet(shape: Shape, set: FieldSet): FieldSet {
  let out: Map<PathElement, FieldNode> | undefined;
  for (const [element, node] of set) {
    if (node.below.size === 0) continue;
    const inner = shapeBelow(shape, element);
    const fitting = inner === undefined ? node : reconcileNode(inner, node);
    if (fitting === node) continue;
    out ??= copyOf(set);
    out.set(element, fitting);
  }
  return out ?? set;
}

function reconcileNode(shape: Shape, node: FieldNode): FieldNode {
  // If several forms are allowed, the map form decides. Shapes that are deduced from values have no types that could
  // change.
  if (shape.map?.deduced) return node;
  if (shape.map === undefined && shape.scalar !== undefined) return node;
  if (shape.map?.atomic || (shape.map === undefined && shape.list?.type === 'atomic')) return leaf;
  const below = reconcileFieldSet(shape, node.below);
  return below === node.below ? node : { owned: node.owned, below };
}
