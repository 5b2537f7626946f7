import { changedCopy } from '../api/changed-copy.js';
import { isList, isObject, type Json, member, setMember } from '../api/object.js';
import { DeferredWork, type Steps } from '../api/steps.js';
import { isEmpty } from '../schema/presence.js';
import { pathElementOf } from './list-items.js';
import type { PathElement } from './path-element.js';
import { formOf, type ListShape, type MapShape, maxShapeDepth, type Shape, shapeOfMember } from './shape.js';

/**
 * Merges a configuration into the live value: scalars and atomic values are replaced, maps are merged by member, sets
 * are united, and map lists are merged by key. Applied items are in the order of the configuration; other items keep
 * their position relative to them.
 *
 * @throws UnidentifiedItem for a list item without identity
 */
export function* merge(shape: Shape, live: Json, config: Json): Steps<Json> {
  const later = new DeferredWork();
  const found = merged(shape, live, config, { depth: 0, later });
  yield* later.rest();
  return found ?? null;
}

interface NodeContext {
  readonly depth: number;
  readonly later: DeferredWork;
}
const deeperContext = ({ depth, later }: NodeContext): NodeContext => ({ depth: depth + 1, later });

function merged(shape: Shape, live: Json | undefined, config: Json | undefined, place: NodeContext): Json | undefined {
  if (config === undefined) return live;
  if (live === undefined || place.depth >= maxShapeDepth) return config;
  const form = formOf(shape, config);
  if (form === 'map' && shape.map !== undefined) return mergedMembers(shape.map, live, config, place);
  if (form === 'list' && shape.list !== undefined) return mergedItems(shape.list, live, config, place);
  return config;
}

function mergedMembers(map: MapShape, live: Json, config: Json, place: NodeContext): Json | undefined {
  const l = isObject(live) ? live : {};
  const c = isObject(config) ? config : {};
  if (map.atomic) return config;
  const names = Object.keys(c);
  if (names.length === 0 && isEmpty(l)) return config;
  const inner = deeperContext(place);
  let isKept = false;
  const mergeAt = (out: Record<string, Json>, at: number): void => {
    const name = names[at] ?? '';
    const value = merged(shapeOfMember(map, name), member(l, name), c[name] ?? null, inner);
    if (value === undefined) delete out[name];
    else {
      setMember(out, name, value);
      isKept = true;
    }
  };
  const { copy, isPostponed } = changedCopy(l, names.length, mergeAt, place.later);
  // If the merge is postponed there are many members, so the map is not empty.
  return isPostponed || isKept || !isEmpty(copy) ? copy : undefined;
}

function mergedItems(list: ListShape, live: Json, config: Json, place: NodeContext): Json | undefined {
  const l = isList(live) ? live : [];
  const c = isList(config) ? config : [];
  if (list.type === 'atomic' || (l.length === 0 && c.length === 0)) return config;
  const liveElements: PathElement[] = [];
  const liveItems = new Map<PathElement, Json>();
  const configItems = new Map<PathElement, Json>();
  const readAt = (at: number): void => {
    if (at >= l.length) {
      const item = c[at - l.length] ?? null;
      configItems.set(pathElementOf(list, item), item);
      return;
    }
    const item = l[at] ?? null;
    const element = pathElementOf(list, item);
    liveElements.push(element);
    // Of a repeated item there is no single value to merge with.
    liveItems.set(element, liveItems.has(element) ? null : item);
  };

  const out: Json[] = [];
  const { later } = place;
  const inner = deeperContext(place);
  const mergeAll = (): void => {
    const order = [...mergeOrder(liveElements, [...configItems.keys()])];
    later.each(order.length, (at) => {
      const { element, live: index } = order[at] as (typeof order)[number];
      const value =
        index === undefined
          ? merged(list.items, liveItems.get(element), configItems.get(element), inner)
          : (l[index] ?? null);
      if (value !== undefined) out.push(value);
    });
  };
  const isPostponed = later.each(l.length + c.length, readAt, undefined, mergeAll);
  return isPostponed || out.length > 0 ? out : undefined;
}

/**
 * Yields the items of a merged list in order: applied items with their `element` only, and items that only the live
 * list has with their index there. Items of the live list stay before the applied item that they preceded, as far as
 * the order of the applied items allows.
 */
function* mergeOrder(
  live: readonly PathElement[],
  applied: readonly PathElement[],
): Generator<{ readonly element: PathElement; readonly live?: number }> {
  const isLive = new Set(live);
  const isApplied = new Set(applied);
  const shared = applied.filter((element) => isLive.has(element));
  const done = new Set<PathElement>();
  let nextShared = 0;
  let l = 0;
  let a = 0;
  while (l < live.length || a < applied.length) {
    const liveElement = live[l];
    const appliedElement = applied[a];
    if (liveElement !== undefined && appliedElement !== undefined) {
      if (liveElement === appliedElement) {
        done.add(liveElement);
        yield { element: liveElement };
        l++;
        a++;
        nextShared++;
        continue;
      }
      const due = shared[nextShared];
      if (isApplied.has(liveElement) && due !== undefined && due !== liveElement) {
        l++;
        continue;
      }
    }
    if (liveElement !== undefined) {
      if (!isApplied.has(liveElement)) {
        yield { element: liveElement, live: l };
        l++;
        continue;
      }
      if (done.has(liveElement)) l++;
    }
    if (appliedElement !== undefined) {
      done.add(appliedElement);
      yield { element: appliedElement };
      a++;
      if (shared[nextShared] === appliedElement) nextShared++;
    }
  }
}
