import { goJson, quote } from '../../api/go-text.js';
import { maxDepth, parseJson } from '../../api/json-text.js';
import { isList, isObject, type Json, type JsonObject, member, setMember } from '../../api/object.js';
import type { PatchOperation } from '../../api/patch-operation.js';
import { type DeferredWork, noDeferral, type Steps } from '../../api/steps.js';
import { sortTexts } from '../../api/text-order.js';
import { same } from '../../schema/same.js';
import { copyOf, writeSpelled } from './spelling.js';

/** Thrown when an operation does not fit the object. The message is that of the library Kubernetes uses. */
export class DoesNotApply extends Error {
  override readonly name = 'DoesNotApply';
  /** Whether a `test` operation failed. */
  readonly isTest: boolean;

  constructor(message: string, { isTest = false }: { readonly isTest?: boolean } = {}) {
    super(message);
    this.isTest = isTest;
  }
}

/** The maximum size of the JSON that `copy` operations may add in total, in bytes. */
const maxCopied = 3 * 1024 * 1024;
/**
 * The maximum number of items that insertions and removals may move in total. They take about a second, more than any
 * reasonable patch needs.
 */
const maxMoved = 500_000_000;

type Container = Record<string, Json> | Json[];

/** Applies one patch. Containers are copied when they first change. */
export class JsonPatcher {
  #root: Json;
  readonly #isOdd: boolean;
  readonly #own = new WeakSet<object>();
  /** The containers that operations have traversed. */
  readonly #walked = new WeakSet<object>();
  #copied = 0;
  #moved = 0;

  /** `isOdd`: values may be spelt differently from how Go writes them. */
  constructor(document: JsonObject, isOdd: boolean) {
    this.#root = document;
    this.#isOdd = isOdd;
  }

  /** Applies the operations, a step for each. Throws DoesNotApply. */
  *run(operations: readonly PatchOperation[]): Steps<Json> {
    for (const operation of operations) {
      yield;
      const action = member(actions, operation.op ?? '');
      if (action === undefined) throw new DoesNotApply(`Unexpected kind: ${operation.op ?? 'unknown'}`);
      action(this, operation);
    }
    return this.#root;
  }

  get root(): Json {
    return this.#root;
  }

  set root(value: Json) {
    this.#root = value;
    this.#walk(value);
  }

  /**
   * Compares two values and marks everything in the value as traversed. A value that equals one that was read is not
   * deeper than that one.
   */
  compare(value: Json, other: Json): boolean {
    const isSame = same(value, other);
    if (isSame) this.#walkAll(value);
    return isSame;
  }

  /** Returns the container that a path leads into and the key in it, for reading; undefined if there is none. */
  find(path: string): { readonly container: Json; readonly key: string } | undefined {
    const keys = keysOf(path);
    const key = keys.pop();
    if (key === undefined) return undefined;
    let at: Json | undefined = this.#root;
    this.#walk(at);
    for (const step of keys) {
      at = child(at, step);
      if (at === undefined) return undefined;
      this.#walk(at);
    }
    return isList(at) || isObject(at) ? { container: at, key } : undefined;
  }

  /** Returns the same container for writing. */
  reach(path: string): { readonly container: Container; readonly key: string } | undefined {
    const keys = keysOf(path);
    const key = keys.pop();
    // The target is looked up first, so that nothing is copied on the way to a missing one.
    if (key === undefined || this.find(path) === undefined) return undefined;
    this.#root = this.#owned(this.#root);
    let at = this.#root as Container;
    for (const step of keys) {
      const next = this.#owned(child(at, step) ?? null);
      if (Array.isArray(at)) at[indexIn(at, step)] = next;
      else setMember(at, step, next);
      at = next;
    }
    return { container: at, key };
  }

  /** Returns a copy that shares nothing with the value. Members of traversed containers are sorted. */
  copy(source: Json): Json {
    if (isDeeperThan(maxDepth, source)) throw new DoesNotApply('what is to be copied is nested too deeply');
    const value = this.ordered(source, noDeferral);
    const text = this.#isOdd ? writeSpelled(value) : jsonText(value);
    this.#copied += Buffer.byteLength(text);
    if (this.#copied > maxCopied) {
      throw new DoesNotApply(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copied}, exceeding the limit ${maxCopied}`,
      );
    }
    return this.#isOdd ? copyOf(value) : parseJson(text);
  }

  moving(items: number): void {
    this.#moved += items;
    if (this.#moved > maxMoved) throw new DoesNotApply('the operations move too many items');
  }

  /** Returns the value as it is read and shown, with the members of traversed containers sorted. */
  ordered(value: Json, later: DeferredWork): Json {
    if (typeof value !== 'object' || value === null || !this.#walked.has(value)) return value;
    if (isList(value)) return value.map((item) => this.ordered(item, later));
    const out: Record<string, Json> = {};
    const names = sortTexts(Object.keys(value));
    later.each(names.length, (at) => {
      const name = names[at] ?? '';
      const member = value[name];
      if (member !== undefined) setMember(out, name, this.ordered(member, later));
    });
    return out;
  }

  #walk(value: Json): void {
    if (typeof value === 'object' && value !== null) this.#walked.add(value);
  }

  #walkAll(value: Json): void {
    if (typeof value !== 'object' || value === null) return;
    this.#walked.add(value);
    for (const part of isList(value) ? value : Object.values(value)) this.#walkAll(part);
  }

  #owned(value: Json): Container {
    if (!isList(value) && !isObject(value)) throw new DoesNotApply('no container to change');
    if (this.#own.has(value)) return value as Container;
    const copy: Container = isList(value) ? [...value] : { ...value };
    if (isList(value)) this.moving(value.length);
    this.#own.add(copy);
    this.#walk(copy);
    return copy;
  }
}

const missing = 'missing value';

/** Returns the path or source of an operation. Throws DoesNotApply if it is absent. */
function requireText(text: string | undefined, complaint: string): string {
  if (text === undefined) throw new DoesNotApply(`${complaint}: ${missing}`);
  return text;
}

/** Returns the value. Throws DoesNotApply if it is undefined. */
function requireFound<T>(found: T | undefined, complaint: string): T {
  if (found === undefined) throw new DoesNotApply(`${complaint}: ${missing}`);
  return found;
}

/** Runs an action inside a list or map. Its error message is prefixed with the place. */
function prefixError<T>(place: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof DoesNotApply ? new DoesNotApply(`${place}: ${error.message}`) : error;
  }
}

const actions: Readonly<Record<string, (patching: JsonPatcher, operation: PatchOperation) => void>> = {
  add(patching, { path: to, value }) {
    const path = requireText(to, 'add operation failed to decode path');
    const place = requireFound(patching.reach(path), `add operation does not apply: doc is missing path: "${path}"`);
    prefixError(`error in add for path: '${path}'`, () => addAt(patching, place, value ?? null));
  },

  remove(patching, { path: to }) {
    const path = requireText(to, 'remove operation failed to decode path');
    const place = requireFound(patching.reach(path), `remove operation does not apply: doc is missing path: "${path}"`);
    prefixError(`error in remove for path: '${path}'`, () => removeAt(patching, place));
  },

  replace(patching, { path: to, value }) {
    const path = requireText(to, 'replace operation failed to decode path: operation missing path field');
    if (path === '') {
      if (!isObject(value) && !isList(value)) {
        throw new DoesNotApply('replace operation value must be object or array: %!w(<nil>)');
      }
      patching.root = value;
      return;
    }
    const { container, key } = requireFound(
      patching.reach(path),
      `replace operation does not apply: doc is missing path: ${path}`,
    );
    if (!Array.isArray(container)) {
      setMember(container, key, value ?? null);
      return;
    }
    const index = findIndex(container, key);
    const wrong = `replace operation does not apply: doc is missing key: ${path}`;
    container[requireFound(typeof index === 'number' ? index : undefined, wrong)] = value ?? null;
  },

  move(patching, { from: source, path: to }) {
    const from = requireText(source, 'move operation failed to decode from: operation, missing from field');
    const located = requireFound(
      patching.find(from),
      `move operation does not apply: doc is missing from path: ${from}`,
    );
    const place = `error in move for path: '${located.key}'`;
    const value = prefixError(place, () => valueAt(located.container, located.key));
    const origin = requireFound(
      patching.reach(from),
      `move operation does not apply: doc is missing from path: ${from}`,
    );
    prefixError(place, () => removeAt(patching, origin));
    const path = requireText(to, 'move operation failed to decode path: operation missing path field');
    const put = requireFound(
      patching.reach(path),
      `move operation does not apply: doc is missing destination path: ${path}`,
    );
    prefixError(`error in move for path: '${path}'`, () => addAt(patching, put, value ?? null));
  },

  copy(patching, { from: source, path: to }) {
    const from = requireText(source, 'copy operation failed to decode from: operation, missing from field');
    const located = requireFound(
      patching.find(from),
      `copy operation does not apply: doc is missing from path: ${from}`,
    );
    const value =
      prefixError(`error in copy for from: '${from}'`, () => valueAt(located.container, located.key)) ?? null;
    const path = requireText(to, 'copy operation failed to decode path');
    requireFound(patching.find(path), `copy operation does not apply: doc is missing destination path: ${path}`);
    const copy = patching.copy(value);
    const put = requireFound(
      patching.reach(path),
      `copy operation does not apply: doc is missing destination path: ${path}`,
    );
    prefixError('error while adding value during copy', () => addAt(patching, put, copy));
  },

  test(patching, { path: to, value }) {
    const path = requireText(to, 'test operation failed to decode path: operation missing path field');
    let actual: Json = patching.root;
    if (path !== '') {
      const place = requireFound(patching.find(path), `test operation does not apply: is missing path: ${path}`);
      actual = prefixError(`error in test for path: '${path}'`, () => valueAt(place.container, place.key)) ?? null;
    }
    if (!patching.compare(actual, value ?? null))
      throw new DoesNotApply(`testing value ${path} failed: test failed`, { isTest: true });
  },
};

interface Location {
  readonly container: Container;
  readonly key: string;
}

function addAt(patching: JsonPatcher, { container, key }: Location, value: Json): void {
  if (!Array.isArray(container)) {
    setMember(container, key, value);
    return;
  }
  if (key === '-') {
    container.push(value);
    return;
  }
  const places = container.length + 1;
  const index = prefixError(`value was not a proper array index: '${key}'`, () => integer(key));
  const at = index < 0 ? index + places : index;
  if (at < 0 || at >= places) throw new DoesNotApply(invalidIndex(index));
  patching.moving(container.length - at);
  container.splice(at, 0, value);
}

function removeAt(patching: JsonPatcher, { container, key }: Location): void {
  if (Array.isArray(container)) {
    const index = indexIn(container, key);
    patching.moving(container.length - index);
    container.splice(index, 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw new DoesNotApply(`Unable to remove nonexistent key: ${key}: ${missing}`);
  delete container[key];
}

/** Returns the value at a key; undefined for a missing member. Throws DoesNotApply for an invalid index. */
function valueAt(container: Json, key: string): Json | undefined {
  if (isList(container)) return container[indexIn(container, key)];
  return isObject(container) ? member(container, key) : undefined;
}

/** Returns the container or value at a key; undefined if there is none. */
function child(container: Json, key: string): Json | undefined {
  if (!isList(container)) return valueAt(container, key) ?? undefined;
  const index = findIndex(container, key);
  return typeof index === 'number' ? (container[index] ?? undefined) : undefined;
}

function indexIn(list: readonly Json[], key: string): number {
  const index = findIndex(list, key);
  if (typeof index === 'number') return index;
  throw new DoesNotApply(index.wrong);
}

function findIndex(list: readonly Json[], key: string): number | { readonly wrong: string } {
  const index = parsedInteger(key);
  if (index === undefined) return { wrong: notInteger(key) };
  const at = index < 0 ? index + list.length : index;
  return at < 0 || at >= list.length ? { wrong: invalidIndex(index) } : at;
}

const invalidIndex = (index: number): string => `Unable to access invalid index: ${index}: invalid index referenced`;
const notInteger = (text: string): string => `strconv.Atoi: parsing ${quote(text)}: invalid syntax`;

/** Parses a number as Go's Atoi does: a sign and leading zeros are allowed. */
function parsedInteger(text: string): number | undefined {
  if (!/^[+-]?\d{1,32}$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

function integer(text: string): number {
  const value = parsedInteger(text);
  if (value === undefined) throw new DoesNotApply(notInteger(text));
  return value;
}

/** Returns the keys of a path (RFC 6901); a path without a slash has none. */
function keysOf(path: string): string[] {
  const segments = path.split('/').slice(1);
  return path.includes('~') ? segments.map((segment) => segment.replace(/~[01]/g, unescaped)) : segments;
}
const unescaped = (code: string): string => (code === '~1' ? '/' : '~');

function jsonText(value: Json): string {
  try {
    return goJson(value);
  } catch {
    throw new DoesNotApply('the value to copy is nested too deeply');
  }
}

/** Whether an operation can insert a value that contains others. */
export const canNest = ({ op, value }: PatchOperation): boolean =>
  op === 'copy' || op === 'move' || (typeof value === 'object' && value !== null);

/** Returns the result. Throws DoesNotApply if it is nested too deeply, which is checked only if the operations can nest. */
export function checkDepth(result: Json, canNest: boolean): Json {
  if (canNest && isDeeperThan(maxDepth, result)) throw new DoesNotApply('the result is nested too deeply');
  return result;
}

/** Whether a value is nested more deeply than the limit. Operations can nest values that were shallow when read. */
function isDeeperThan(limit: number, value: Json): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    const next: Json[] = [];
    for (const item of level) {
      if (!isList(item) && !isObject(item)) continue;
      for (const inner of isList(item) ? item : Object.values(item)) {
        if (typeof inner === 'object' && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return false;
}
