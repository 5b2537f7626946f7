import { isObject, type Json, type JsonObject, setMember } from '../api/object.js';
import { DeferredWork, type Steps } from '../api/steps.js';
import { type PathElement, readPathElement, sortPathElements } from './path-element.js';

/**
 * A set of field paths, as a tree that shares nodes with the sets it was made from. Each node represents a path, which
 * is in the set if the node is `owned`. Every node is owned or leads to one that is.
 */
export type FieldSet = ReadonlyMap<PathElement, FieldNode>;
export interface FieldNode {
  readonly owned: boolean;
  readonly below: FieldSet;
}

export type Path = readonly PathElement[];

export const emptySet: FieldSet = new Map();
/** The node of a path that is in the set and has no paths below it. */
export const leaf: FieldNode = { owned: true, below: emptySet };

/** Returns a mutable copy. `new Map(set)` would allocate a pair for each element. */
export function copyOf(set: FieldSet): Map<PathElement, FieldNode> {
  const copy = new Map<PathElement, FieldNode>();
  for (const [element, at] of set) copy.set(element, at);
  return copy;
}

const node = (owned: boolean, below: FieldSet): FieldNode => (owned && below.size === 0 ? leaf : { owned, below });

/** Builds a set from paths and whole branches. */
export class FieldSetBuilder {
  readonly #root = new Branch(this);

  /** Adds a path. The empty path is ignored: it is the object itself, which no manager owns. */
  add(path: Path): void {
    if (path.length > 0) this.#reach(path).owned = true;
  }

  /** Adds a finished branch at a path element below a path. */
  graft(path: Path, element: PathElement, branch: FieldNode): void {
    const parent = this.#reach(path);
    const known = parent.below.get(element);
    parent.below.set(element, known === undefined ? branch : joinNodes(known, branch));
  }

  set(): FieldSet {
    return this.#root.below;
  }

  #reach(path: Path): Branch {
    let at = this.#root;
    for (const element of path) {
      const known = at.below.get(element);
      const next = known instanceof Branch && known.builder === this ? known : new Branch(this, known);
      if (next !== known) at.below.set(element, next);
      at = next;
    }
    return at;
  }
}
/** A mutable node that belongs to one builder. */
class Branch implements FieldNode {
  readonly builder: FieldSetBuilder;
  owned: boolean;
  readonly below: Map<PathElement, FieldNode>;

  constructor(builder: FieldSetBuilder, from: FieldNode = { owned: false, below: emptySet }) {
    this.builder = builder;
    this.owned = from.owned;
    this.below = copyOf(from.below);
  }
}

export function setOf(...paths: readonly Path[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.add(path);
  return builder.set();
}

export const isEmpty = (set: FieldSet): boolean => set.size === 0;

export function has(set: FieldSet, path: Path): boolean {
  let at = set;
  for (const [index, element] of path.entries()) {
    const next = at.get(element);
    if (next === undefined) return false;
    if (index === path.length - 1) return next.owned;
    at = next.below;
  }
  return false;
}

export const below = (set: FieldSet, element: PathElement): FieldSet => set.get(element)?.below ?? emptySet;

export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || right.size === 0) return left;
  if (left.size === 0) return right;
  let out: Map<PathElement, FieldNode> | undefined;
  for (const [element, rightNode] of right) {
    const leftNode = left.get(element);
    const joined = leftNode === undefined ? rightNode : joinNodes(leftNode, rightNode);
    if (joined === leftNode) continue;
    out ??= copyOf(left);
    out.set(element, joined);
  }
  return out ?? left;
}
function joinNodes(left: FieldNode, right: FieldNode): FieldNode {
  const deeper = union(left.below, right.below);
  const owned = left.owned || right.owned;
  return owned === left.owned && deeper === left.below ? left : node(owned, deeper);
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  const [fewer, more] = left.size <= right.size ? [left, right] : [right, left];
  let out: Map<PathElement, FieldNode> | undefined;
  for (const [element, one] of fewer) {
    const other = more.get(element);
    if (other === undefined) continue;
    const deeper = intersection(one.below, other.below);
    const owned = one.owned && other.owned;
    if (!owned && deeper.size === 0) continue;
    out ??= new Map();
    out.set(element, node(owned, deeper));
  }
  return out ?? emptySet;
}

/** Returns the paths of `left` that are not in `right`. Paths below a path in `right` are kept. */
export const difference = (left: FieldSet, right: FieldSet): FieldSet => subtract(left, right, false);

/** Like `difference`, but a path in `right` also removes everything below it. */
export const recursiveDifference = (left: FieldSet, right: FieldSet): FieldSet => subtract(left, right, true);

function subtract(left: FieldSet, right: FieldSet, recursive: boolean): FieldSet {
  if (left.size === 0 || right.size === 0) return left;
  let out: Map<PathElement, FieldNode> | undefined;
  for (const [element, rightNode] of right) {
    const leftNode = left.get(element);
    if (leftNode === undefined) continue;
    const remaining = recursive && rightNode.owned ? undefined : subtractNode(leftNode, rightNode, recursive);
    if (remaining === leftNode) continue;
    out ??= copyOf(left);
    if (remaining === undefined) out.delete(element);
    else out.set(element, remaining);
  }
  return out ?? left;
}
function subtractNode(left: FieldNode, right: FieldNode, recursive: boolean): FieldNode | undefined {
  const owned = left.owned && !right.owned;
  const deeper = subtract(left.below, right.below, recursive);
  if (!owned && deeper.size === 0) return undefined;
  return owned === left.owned && deeper === left.below ? left : node(owned, deeper);
}

/** Yields every path of the set: at each level first its own members, then deeper ones, both sorted. */
export function* paths(set: FieldSet, prefix: Path = []): Generator<Path> {
  const elements = sortPathElements(set.keys());
  for (const element of elements) if (set.get(element)?.owned) yield [...prefix, element];
  for (const element of elements) {
    const deeper = below(set, element);
    if (deeper.size > 0) yield* paths(deeper, [...prefix, element]);
  }
}

/** Returns the number of owned fields. */
export function count(set: FieldSet): number {
  let sum = 0;
  for (const { owned, below: deeper } of set.values()) sum += (owned ? 1 : 0) + (deeper.size > 0 ? count(deeper) : 0);
  return sum;
}

/** Returns the FieldsV1 form of a set (KEP-555). */
export function* writeFieldSet(set: FieldSet): Steps<JsonObject> {
  const later = new DeferredWork();
  const written = writeNode({ owned: false, below: set }, later);
  yield* later.rest();
  return written;
}

const nothing: JsonObject = {};

function writeNode({ owned, below: deeper }: FieldNode, later: DeferredWork): JsonObject {
  if (deeper.size === 0) return nothing;
  const out: Record<string, Json> = owned ? { '.': nothing } : {};
  const elements = sortPathElements(deeper.keys());
  const write = (at: number): void => {
    const element = elements[at] ?? '';
    setMember(out, element, writeNode(deeper.get(element) ?? leaf, later));
  };
  later.each(elements.length, write);
  return out;
}

const deepest = 1_000;

/**
 * Parses the FieldsV1 form; path elements of unknown kinds are skipped.
 *
 * @throws Error if it is malformed or nested more than 1,000 deep
 */
export function readFieldSet(fields: JsonObject): FieldSet {
  return readNode(fields, 0).below;
}

/** Parses the output of `writeFieldSet`, whose path elements are known to be canonical. */
export function* readWrittenFieldSet(fields: JsonObject): Steps<FieldSet> {
  const later = new DeferredWork();
  const set = readWrittenNode(fields, later).below;
  yield* later.rest();
  return set;
}

function readWrittenNode(fields: Json, later: DeferredWork): FieldNode {
  if (!isObject(fields)) return leaf;
  const keys = Object.keys(fields);
  const owned = Object.hasOwn(fields, '.');
  if (keys.length === (owned ? 1 : 0)) return leaf;
  const out = new Map<PathElement, FieldNode>();
  const read = (at: number): void => {
    const key = keys[at] ?? '';
    if (key !== '.') out.set(key, readWrittenNode(fields[key] ?? null, later));
  };
  later.each(keys.length, read);
  return { owned, below: out };
}

function readNode(fields: Json, depth: number): FieldNode {
  if (fields === null) return leaf;
  if (!isObject(fields)) throw new Error('expected an object of fields');
  if (depth > deepest) throw new Error('fields are nested too deeply');
  let owned = false;
  let out: Map<PathElement, FieldNode> | undefined;
  for (const [key, value] of Object.entries(fields)) {
    if (key === '.') {
      owned = true;
      continue;
    }
    const element = readPathElement(key);
    if (element === undefined) continue;
    out ??= new Map();
    out.set(element, readNode(value, depth + 1));
  }
  return out === undefined ? leaf : node(owned, out);
}
