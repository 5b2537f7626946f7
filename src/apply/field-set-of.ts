import { isList, isObject, type Json } from '../api/object.js';
import { DeferredWork, type Steps } from '../api/steps.js';
import { copyOf, emptySet, type FieldNode, type FieldSet, leaf } from './field-set.js';
import { findPathElement, itemsByElement } from './list-items.js';
import { fieldElement, fieldNameOf, type PathElement } from './path-element.js';
import { exactForm, formOf, type ListShape, type MapShape, maxShapeDepth, type Shape, shapeOfMember } from './shape.js';

/**
 * Returns the fields that a value declares: scalars and atomic values, items of lists, and members of maps. Containers
 * that the schema names are declared only if they are empty or null. List items without identity are represented by one
 * field, because such a list must remain even if nothing is left of its items after fields without an owner were
 * removed.
 */
export function* fieldSetOf(shape: Shape, value: Json): Steps<FieldSet> {
  const later = new DeferredWork();
  const { below } = declared(shape, value, { depth: 0, later });
  yield* later.rest();
  return below;
}

interface NodeContext {
  readonly depth: number;
  readonly later: DeferredWork;
}

function declared(shape: Shape, value: Json, place: NodeContext): FieldNode {
  const form = formOf(shape, value);
  if (form === 'scalar' || place.depth >= maxShapeDepth) return leaf;
  if (form === 'list') return shape.list === undefined ? leaf : declaredItems(shape.list, value, place);
  return shape.map === undefined ? leaf : declaredMembers(shape.map, value, place);
}

function declaredMembers(map: MapShape, value: Json, { depth, later }: NodeContext): FieldNode {
  if (map.atomic) return leaf;
  if (!isObject(value)) return nothing;
  const out = new Map<PathElement, FieldNode>();
  const names = Object.keys(value);
  const place = { depth: depth + 1, later };
  const declare = (at: number): void => {
    const name = names[at] ?? '';
    const item = value[name] ?? null;
    const inner = declared(shapeOfMember(map, name), item, place);
    const counts = item === null || (isObject(item) && Object.keys(item).length === 0) || !map.fields.has(name);
    addNode(out, fieldElement(name), inner, counts);
  };
  return nodeFrom(out, later.each(names.length, declare));
}

function declaredItems(list: ListShape, value: Json, { depth, later }: NodeContext): FieldNode {
  if (list.type === 'atomic') return leaf;
  if (!isList(value) || value.length === 0) return nothing;
  const out = new Map<PathElement, FieldNode>();
  const place = { depth: depth + 1, later };
  const declareAll = (found: ReadonlyMap<PathElement, readonly Json[]>): void => {
    const items = [...found];
    later.each(items.length, (at) => {
      const [element, same] = items[at] as (typeof items)[number];
      if (same.length > 1) out.set(element, leaf);
      else addNode(out, element, declared(list.items, same[0] ?? null, place), true);
    });
  };
  itemsByElement(list, value, later, declareAll, { name: (of, item) => findPathElement(of, item) ?? nameless });
  return { owned: false, below: out };
}

/** The path element of all items without identity, which no manager owns. */
const nameless: PathElement = '';

/** Returns the node of a container. If its members are postponed there are many of them, so it is not empty. */
const nodeFrom = (below: FieldSet, isPostponed: boolean): FieldNode =>
  isPostponed || below.size > 0 ? { owned: false, below } : nothing;

function addNode(out: Map<PathElement, FieldNode>, element: PathElement, inner: FieldNode, counts: boolean): void {
  const owned = inner.owned || counts;
  if (inner !== nothing && inner !== leaf) out.set(element, { owned, below: inner.below });
  else if (owned) out.set(element, leaf);
}
const nothing: FieldNode = { owned: false, below: emptySet };

/**
 * Returns the node of a value with everything in it, as it is added or removed as a whole. Unlike in `fieldSetOf`,
 * every container counts as a field. Large contents are added `later`.
 */
export function wholeNode(shape: Shape, value: Json, later: DeferredWork, depth = 0): FieldNode {
  const form = exactForm(shape, value);
  if (depth >= maxShapeDepth) return leaf;
  const out = new Map<PathElement, FieldNode>();
  if (form === 'map' && isObject(value) && shape.map !== undefined && !shape.map.atomic) {
    const names = Object.keys(value);
    if (names.length === 0) return leaf;
    const { map } = shape;
    later.each(names.length, (at) => {
      const name = names[at] ?? '';
      out.set(fieldElement(name), wholeNode(shapeOfMember(map, name), value[name] ?? null, later, depth + 1));
    });
    return { owned: true, below: out };
  }
  if (form === 'list' && isList(value) && shape.list !== undefined && shape.list.type !== 'atomic') {
    if (value.length === 0) return leaf;
    const { items } = shape.list;
    itemsByElement(shape.list, value, later, (found) => {
      const entries = [...found];
      later.each(entries.length, (at) => {
        const [element, same] = entries[at] as (typeof entries)[number];
        out.set(element, same.length > 1 ? leaf : wholeNode(items, same[0] ?? null, later, depth + 1));
      });
    });
    return { owned: true, below: out };
  }
  return leaf;
}

/** Returns the set with every member named by the schema that leads to one of its paths. */
export function withNamedMembers(set: FieldSet, shape: Shape | undefined): FieldSet {
  if (set.size === 0) return set;
  let out: Map<PathElement, FieldNode> | undefined;
  for (const [element, at] of set) {
    if (at.below.size === 0) continue;
    const name = fieldNameOf(element);
    const named = name !== undefined && shape?.map?.fields.has(name) === true;
    const deeper = withNamedMembers(at.below, shapeBelow(shape, element));
    if (deeper === at.below && at.owned === (at.owned || named)) continue;
    out ??= copyOf(set);
    out.set(element, { owned: at.owned || named, below: deeper });
  }
  return out ?? set;
}

/** Returns the shape at a path element; undefined if the schema has none there. */
export function shapeBelow(shape: Shape | undefined, element: PathElement): Shape | undefined {
  const name = fieldNameOf(element);
  if (name !== undefined) return shape?.map?.fields.get(name) ?? shape?.map?.others;
  return element.startsWith('k:') ? shape?.list?.items : undefined;
}
