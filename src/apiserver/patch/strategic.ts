import { changedCopy } from '../../api/changed-copy.js';
import { type ApiError, badRequest, unprocessable, untyped } from '../../api/errors.js';
import { goTypeName, goValue } from '../../api/go-print.js';
import { quote } from '../../api/go-text.js';
import { cannotUnmarshal } from '../../api/json-exact.js';
import { isList, isObject, type Json, type JsonObject, member, setMember } from '../../api/object.js';
import { type DeferredWork, noDeferral } from '../../api/steps.js';
import { withoutMember } from '../../apply/json-value.js';
import { structName, wireShape } from '../../schema/go-types.js';
import { isPointer } from '../../schema/presence.js';
import type { Schema } from '../../schema/schema.js';
import { goKindOf, wrongType } from './go-kinds.js';
import { withoutNulls } from './merge.js';
import { dedupe, identity, ordered, sortMergedList } from './merged-lists.js';
import { type PatchText, type PatchType, parsePatch } from './patch-type.js';

/**
 * Strategic merge patch, a format of Kubernetes: maps are merged, null removes a member, lists are replaced unless the
 * schema says that they are merged, by a key or as a set. Members beginning with `$` are directives.
 */
export const strategicPatch: PatchType = {
  for: 'built-in',
  read(text, { fieldValidation }) {
    const { patch, strict } = readPatch(text, fieldValidation !== 'Ignore');
    let unapplied = (): JsonObject => patch;
    return {
      strict,
      apply: (current, schema, later) => {
        unapplied = () => leftOf(patch, current, schema);
        return mergeMaps(current, patch, schema, later);
      },
      shown: () => goValue(unapplied()),
    };
  },
};

function readPatch(
  read: PatchText,
  isStrict: boolean,
): { readonly patch: JsonObject; readonly strict: readonly string[] } {
  const { value, duplicates, numberError } = parsePatch(read, badRequest);
  if (value === null) return { patch: {}, strict: [] };
  if (!isObject(value)) {
    throw badRequest(cannotUnmarshal(value, 'map[string]interface {}'));
  }
  if (numberError !== undefined) throw badRequest(numberError);
  return { patch: value, strict: isStrict ? duplicates : [] };
}

const directive = '$patch';
const retainKeys = '$retainKeys';
const deleteFrom = '$deleteFromPrimitiveList';
const setOrder = '$setElementOrder';

const badOrder = (): ApiError => badRequest('invalid patch format of setElementOrder list');

/** The merge strategy of a member in the schema. */
interface Strategy {
  readonly schema: Schema;
  readonly strategy: 'merge' | 'replace' | '';
  readonly key: string;
}

function strategyOf(schema: Schema, name: string): Strategy {
  const field = fieldOf(schema, name);
  const words = (field.patchStrategy ?? '').split(',').filter((word) => word !== 'retainKeys');
  const [strategy] = words;
  return {
    schema: field,
    strategy: strategy === 'merge' || strategy === 'replace' ? strategy : '',
    key: field.patchMergeKey ?? '',
  };
}

/** The schema of members that a kind preserves although they are unknown: maps are merged, lists are replaced. */
const open: Schema = { preserveUnknownFields: true };

/** Returns the schema of a member. Like Go, accepts a name in another letter case. */
function fieldOf(schema: Schema, name: string): Schema {
  const fields = schema.properties;
  const isOpen = schema.preserveUnknownFields === true;
  if (fields === undefined && !isOpen && wireShape(schema) === 'map') {
    throw untyped('merging an object in json but data type is not struct, instead is: map');
  }
  const exact = fields?.get(name);
  if (exact !== undefined) return exact;
  const folded = name.toLowerCase();
  for (const [known, field] of fields ?? []) if (known.toLowerCase() === folded) return field;
  if (isOpen) return open;
  throw untyped(`unable to find api field in struct ${structName(schema)} for the json field ${quote(name)}`);
}

function mergeMaps(original: JsonObject, patch: JsonObject, schema: Schema, later: DeferredWork): JsonObject {
  if (Object.hasOwn(patch, directive)) return directed(patch);
  const names = Object.keys(patch).filter((name) => name !== retainKeys);
  const orders = names.filter((name) => name.startsWith(setOrder));
  const changes = orders.length === 0 ? names : [...orders, ...names.filter((name) => !name.startsWith(setOrder))];
  const dealtWith = new Set<string>();
  const changeAt = (copy: Record<string, Json>, at: number): void => {
    const name = changes[at] ?? '';
    if (at < orders.length) {
      const target = orderList(copy, patch, name, schema);
      if (target !== undefined) dealtWith.add(target);
    } else if (!dealtWith.has(name)) mergeMember(copy, name, patch[name] ?? null, schema, later);
  };
  return changedCopy(retained(original, patch), changes.length, changeAt, later).copy;
}

/** Applies the directive `$patch` of a map. */
function directed(patch: JsonObject): JsonObject {
  const word = patch[directive] ?? null;
  if (word === 'replace') return withoutMember(patch, directive);
  if (word === 'delete') return {};
  throw badDirective(word, patch);
}

/** Formats a value as Go's `%s` does, which expects a string. */
function asText(value: Json): string {
  if (value === null) return '%!s(<nil>)';
  if (typeof value === 'string' || typeof value === 'object') return goValue(value);
  return `%!s(${goTypeName(value)}=${goValue(value)})`;
}

const badDirective = (word: Json, item: JsonObject): ApiError =>
  untyped(`unknown patch type: ${asText(word)} in map: ${goValue(item)}`);

/** Returns the members of the live map that `$retainKeys` keeps. */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  if (!Object.hasOwn(patch, retainKeys)) return original;
  const keys = patch[retainKeys] ?? null;
  const bad = (): ApiError => badRequest('invalid patch format of retainKeys');
  if (!isList(keys)) throw bad();
  const retainedKeys = new Set(keys);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || name === retainKeys || name.startsWith(deleteFrom) || name.startsWith(setOrder)) continue;
    if (!retainedKeys.has(name)) throw bad();
  }
  return Object.fromEntries(Object.entries(original).filter(([name]) => retainedKeys.has(name)));
}

/** Applies `$setElementOrder/<list>`: merges or replaces the list and sorts it. Returns the name of the list, if there is one. */
function orderList(out: Record<string, Json>, patch: JsonObject, name: string, schema: Schema): string | undefined {
  const order = patch[name] ?? null;
  if (!isList(order)) throw wrongType('[]interface {}', order);
  const target = targetOf(name, badOrder);
  const live = member(out, target);
  const patched = member(patch, target);
  if (live !== undefined && !isList(live)) throw wrongType('[]interface {}', live);
  if (patched !== undefined && !isList(patched)) throw wrongType('[]interface {}', patched);
  const patchStrategy = strategyOf(schema, target);
  if (!mayBeOrdered(patchStrategy.schema)) throw untyped('expected slice or array type, but got: struct');
  checkOrder(patched ?? [], order, patchStrategy.key);
  if (live === undefined && patched === undefined) return undefined;
  const merged =
    patched === undefined
      ? (live ?? [])
      : live === undefined
        ? withoutDirectives(patched, 'kept')
        : changedList(live, patched, patchStrategy, false);
  checkAlike([live ?? [], patched ?? []]);
  const isMap = isObject((live ?? [])[0] ?? (patched ?? [])[0] ?? null);
  // Maps without a key cannot be sorted, and `sortMergedList` reports it.
  const key = isMap ? patchStrategy.key : undefined;
  if (key) checkPlaces(merged, order, key);
  const isMerged = key && patchStrategy.strategy === 'merge' && live !== undefined && patched !== undefined;
  const places = isMerged ? placesAfter(live, patched, key) : (live ?? []);
  setMember(out, target, sortMergedList(merged, { order, live: places, key }));
  return target;
}

/** Whether a field may have an order, which only lists have. Go does not look behind pointers. */
function mayBeOrdered(field: Schema): boolean {
  const shape = wireShape(field);
  return shape === 'list' || shape === 'bytes' || field.preserveUnknownFields === true || isPointer(field);
}

/** Returns the live list as Go leaves it: Go deletes in place, and new items take the freed positions. */
function placesAfter(live: readonly Json[], patch: readonly Json[], key: string): readonly Json[] {
  if (!patch.some((item) => isObject(item) && item[directive] === 'delete')) return live;
  const { live: remaining, given: plain } = withSpecialItems(live, patch, key);
  if (plain.length === 0 || remaining.length === live.length) return live;
  const known = ordered(remaining, key);
  const added = plain.filter((item) => !known.has(keyValue(item, key)));
  return [...remaining, ...added.slice(0, live.length - remaining.length)];
}

/** Throws if an item is not found before the first element of the order that is not a map. */
function checkPlaces(items: readonly Json[], order: readonly Json[], key: string): void {
  const stray = order.findIndex((place) => !isObject(place));
  if (stray < 0) return;
  const before = new Set(order.slice(0, stray).map((place) => identity(place, key)));
  if (items.some((item) => !before.has(identity(item, key)))) throw untyped(`value for key ${stray} is not a map`);
}

/**
 * Throws unless the items of a patch are in the requested order. A directive other than `delete` may not follow the
 * last of them.
 */
function checkOrder(patch: readonly Json[], order: readonly Json[], key: string): void {
  if (order.length === 0 || patch.length === 0) return;
  const stray = key === '' ? undefined : patch.find((item) => !isObject(item));
  if (stray !== undefined) throw wrongType('map[string]interface {}', stray);
  const items = patch.filter((item) => !(isObject(item) && item[directive] === 'delete'));
  const directs = (item: Json): boolean => isObject(item) && Object.hasOwn(item, directive);
  let at = 0;
  for (const place of order) {
    while (at < items.length && directs(items[at] ?? null)) at++;
    if (at < items.length && identity(items[at] ?? null, key) === identity(place, key)) at++;
  }
  if (at < items.length) {
    throw untyped(`The order in patch list:\n${goValue(patch)}\n doesn't match ${setOrder} list:\n${goValue(order)}\n`);
  }
}

function mergeMember(
  out: Record<string, Json>,
  patchKey: string,
  value: Json,
  schema: Schema,
  later: DeferredWork,
): void {
  const isDeletion = patchKey.startsWith(deleteFrom);
  const name = isDeletion ? targetOf(patchKey, () => badRequest('invalid patch format of primitive list')) : patchKey;
  if (value === null) {
    delete out[name];
    return;
  }
  const live = member(out, name);
  if (live === undefined || goKindOf(live) !== goKindOf(value)) {
    if (!isDeletion) setOrDelete(out, name, withoutDirectivesIn(value, later));
  } else if (isObject(live) && isObject(value)) {
    const patchStrategy = strategyOf(schema, name);
    setMember(
      out,
      name,
      patchStrategy.strategy === 'replace' ? value : mergeMaps(live, value, patchStrategy.schema, later),
    );
  } else if (isList(live) && isList(value)) {
    const patchStrategy = strategyOf(schema, name);
    setMember(out, name, changedList(live, value, patchStrategy, isDeletion));
  } else setOrDelete(out, name, value);
}

function setOrDelete(out: Record<string, Json>, name: string, value: Json | undefined): void {
  if (value === undefined) delete out[name];
  else setMember(out, name, value);
}

/** Returns the list in `<prefix>/<list>`. */
function targetOf(name: string, bad: () => ApiError): string {
  const slash = name.indexOf('/');
  const prefix = name.startsWith(deleteFrom) ? deleteFrom : setOrder;
  if (slash !== prefix.length) throw bad();
  return name.slice(slash + 1);
}

type Nulls = 'dropped' | 'kept';

/**
 * Returns a value for a member that did not exist; undefined if the value is a map with a directive. Nulls in maps are
 * dropped unless `nulls` keeps them.
 */
function withoutDirectivesIn(value: Json, later: DeferredWork, nulls: Nulls = 'dropped'): Json | undefined {
  const directs = isObject(value) && Object.hasOwn(value, directive) && (nulls === 'kept' || value[directive] !== null);
  return directs ? undefined : cleaned(value, later, nulls);
}
function cleaned(value: Json, later: DeferredWork, nulls: Nulls): Json {
  if (isList(value)) return withoutDirectives(value, nulls);
  if (!isObject(value)) return value;
  const out: Record<string, Json> = {};
  const names = Object.keys(value);
  later.each(names.length, (at) => {
    const name = names[at] ?? '';
    const item = value[name] ?? null;
    const result = item === null && nulls === 'dropped' ? undefined : withoutDirectivesIn(item, later, nulls);
    if (result !== undefined) setMember(out, name, result);
  });
  return out;
}
const withoutDirectives = (items: readonly Json[], nulls: Nulls): readonly Json[] =>
  items.map((item) => withoutDirectivesIn(item, noDeferral, nulls)).filter((item): item is Json => item !== undefined);

/** Returns the new list: it is merged if the schema says so or if items are to be deleted, and replaced otherwise. */
const changedList = (
  live: readonly Json[],
  patch: readonly Json[],
  patchStrategy: Strategy,
  isDeletion: boolean,
): readonly Json[] =>
  patchStrategy.strategy === 'merge' || isDeletion ? mergeLists(live, patch, patchStrategy, isDeletion) : patch;

function mergeLists(
  live: readonly Json[],
  patch: readonly Json[],
  { schema, key }: Strategy,
  isDeletion: boolean,
): readonly Json[] {
  if (live.length === 0 && patch.length === 0) return live;
  checkAlike([live, patch]);
  const items = schema.items ?? {};
  if (!isObject(live[0] ?? patch[0] ?? null)) {
    if (isDeletion) {
      const gone = new Set(patch);
      return live.filter((item) => !gone.has(item));
    }
    return sortMergedList(dedupe([...live, ...patch]), { order: patch, live, key: undefined });
  }
  if (key === '') throw untyped('cannot merge lists without merge key for struct');
  const special = withSpecialItems(live, patch, key);
  const merged = withItems(special.live, special.given, key, items);
  return sortMergedList(merged, { order: special.given, live: special.live, key });
}

/** Applies the items that are directives. */
function withSpecialItems(
  live: readonly Json[],
  patch: readonly Json[],
  key: string,
): { readonly live: readonly Json[]; readonly given: readonly Json[] } {
  const plain: Json[] = [];
  const gone = new Set<Json | undefined>();
  let replaces = false;
  for (const item of patch) {
    if (!isObject(item) || !Object.hasOwn(item, directive)) {
      plain.push(item);
      continue;
    }
    const word = item[directive] ?? null;
    if (word === 'replace') replaces = true;
    else if (word === 'delete') gone.add(identity(item, key));
    else if (word === 'merge') throw untyped('merging lists cannot yet be specified in the patch');
    else throw badDirective(word, item);
  }
  if (replaces) return { live: plain, given: [] };
  if (gone.size === 0) return { live, given: plain };
  return { live: live.filter((item) => !gone.has(keyValue(item, key))), given: plain };
}

function withItems(live: readonly Json[], patch: readonly Json[], key: string, items: Schema): readonly Json[] {
  const merged = [...live];
  const places = ordered(live, key);
  for (const item of patch) {
    const value = identity(item, key);
    const at = places.get(value);
    const current = at === undefined ? undefined : merged[at];
    if (at === undefined) places.set(value, merged.push(item) - 1);
    else if (isObject(current) && isObject(item)) merged[at] = mergeMaps(current, item, items, noDeferral);
  }
  return merged;
}

const keyValue = (item: Json, key: string): Json | undefined => (isObject(item) ? member(item, key) : undefined);

/** Returns what Kubernetes leaves of a patch after applying it, which refusals quote. */
function leftOf(patch: JsonObject, original: JsonObject, schema: Schema): JsonObject {
  if (Object.hasOwn(patch, directive)) return patch[directive] === 'replace' ? withoutMember(patch, directive) : patch;
  const live = retained(original, patch);
  const dealtWith = new Set([retainKeys]);
  for (const name of Object.keys(patch)) {
    if (name.startsWith(setOrder)) dealtWith.add(name).add(targetOf(name, badOrder));
  }
  const out: Record<string, Json> = {};
  for (const [name, value] of Object.entries(patch)) {
    if (dealtWith.has(name)) continue;
    const current = member(live, name);
    if (current === undefined || goKindOf(current) !== goKindOf(value))
      setMember(out, name, leftWhereNothingWas(withoutNulls(value, noDeferral)));
    else if (isObject(current) && isObject(value)) {
      const patchStrategy = strategyOf(schema, name);
      setMember(out, name, patchStrategy.strategy === 'replace' ? value : leftOf(value, current, patchStrategy.schema));
    } else if (isList(current) && isList(value))
      setMember(out, name, leftOfItems(value, current, strategyOf(schema, name)));
    else setMember(out, name, value);
  }
  return out;
}

/** Removes directives from the maps and lists inside a new value; a map that is itself a directive is kept. */
function leftWhereNothingWas(value: Json): Json {
  if (isList(value)) return value.map(leftWhereNothingWas);
  return isObject(value) && Object.hasOwn(value, directive) ? value : cleaned(value, noDeferral, 'kept');
}

/** Like `leftOf`, for the items of a list that is merged by a key. */
function leftOfItems(patch: readonly Json[], live: readonly Json[], { schema, strategy, key }: Strategy): Json {
  if (strategy !== 'merge' || key === '') return patch;
  // Deleted and replaced items are not merged.
  const special = withSpecialItems(live, patch, key);
  if (special.given.length === 0) return patch;
  const places = ordered(special.live, key);
  return patch.map((item) => {
    const current = isObject(item) ? special.live[places.get(member(item, key)) ?? -1] : undefined;
    if (!isObject(item) || !isObject(current) || Object.hasOwn(item, directive)) return item;
    return leftOf(item, current, schema.items ?? {});
  });
}

/** Throws unless all items of merged lists have the same type, which may not be a list. */
function checkAlike(lists: readonly (readonly Json[])[]): void {
  const items = lists.flat();
  const [first] = items;
  if (first === undefined) throw untyped('no elements in any of the given slices');
  if (isList(first)) throw unprocessable();
  if (first === null || items.some((item) => goKindOf(item) !== goKindOf(first))) {
    throw untyped(`list element types are not identical: ${goValue(lists)}`);
  }
}
