import { badRequest, entityTooLarge, unprocessable } from '../../api/errors.js';
import { goJson } from '../../api/go-text.js';
import { JsonSyntaxError, maxDepth, parseJson, setMember } from '../../api/json-text.js';
import type { Json, JsonObject } from '../../api/object.js';
import { isList, isObject, sortTexts } from '../../apply/json-value.js';
import { same } from '../../schema/same.js';
import { typeName } from './go-decoding.js';
import type { PatchType, ReadPatchText } from './patch-type.js';

/**
 * JSON Patch (RFC 6902), with the leniencies of the library Kubernetes uses: `replace` adds a missing member, `test`
 * of null passes on one, `copy` of one adds null, negative indexes count from the end, whatever precedes the first
 * slash of a path is ignored.
 */
export const jsonPatch: PatchType = {
  for: 'all',
  read(text, { fieldValidation }) {
    const { operations, strict } = readOperations(text, fieldValidation !== 'Ignore');
    const canNest = operations.some(nests);
    let patching: Patching | undefined;
    return {
      strict,
      apply(current) {
        patching = new Patching(current);
        const result = patching.run(operations);
        if (!isObject(result) || (canNest && isDeeperThan(maxDepth, result))) throw unprocessable();
        return result;
      },
      shown: (result) => goJson(patching?.ordered(result) ?? result),
    };
  },
};

export const maxOperations = 10_000;
/** Bytes of JSON that `copy` operations may add together. */
const maxCopied = 3 * 1024 * 1024;
/** Items that insertions and removals may move together: a second's work, more than any honest patch. */
const maxMoved = 500_000_000;

interface Operation {
  readonly op: string;
  readonly path: string | undefined;
  readonly from: string | undefined;
  /** undefined where the operation has none. */
  readonly value: Json | undefined;
}

const members: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);

function readOperations(
  read: ReadPatchText,
  isStrict: boolean,
): { readonly operations: readonly Operation[]; readonly strict: readonly string[] } {
  const refuse = (why: string): Error => badRequest(isStrict ? `error decoding patch: ${why}` : why);
  const { value, duplicates } = parsed(read, refuse);
  if (value === null) return { operations: [], strict: [] };
  const [listType, itemType] = isStrict
    ? ['[]handlers.jsonPatchOp', 'handlers.jsonPatchOp']
    : ['jsonpatch.Patch', 'jsonpatch.Operation'];
  if (!isList(value)) throw refuse(`json: cannot unmarshal ${typeName(value)} into Go value of type ${listType}`);
  const strict = isStrict ? duplicates.map((text) => `json patch ${text}`) : [];
  const operations: Operation[] = [];
  for (const [index, item] of value.entries()) {
    if (item !== null && !isObject(item)) {
      throw refuse(`json: cannot unmarshal ${typeName(item)} into Go value of type ${itemType}`);
    }
    if (isStrict && item !== null) {
      checkTypes(item, refuse);
      for (const name of Object.keys(item)) {
        if (!members.has(name) && strict.length < 100) strict.push(`json patch unknown field "[${index}].${name}"`);
      }
    }
    operations.push(operationOf(item ?? {}));
  }
  if (operations.length > maxOperations) {
    throw entityTooLarge(
      `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`,
    );
  }
  return { operations, strict };
}

function parsed(read: ReadPatchText, refuse: (why: string) => Error): ReturnType<ReadPatchText> {
  try {
    return read();
  } catch (error) {
    throw error instanceof JsonSyntaxError ? refuse(error.message) : error;
  }
}

function checkTypes(item: JsonObject, refuse: (why: string) => Error): void {
  for (const name of ['op', 'path', 'from']) {
    const value = item[name];
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw refuse(`json: cannot unmarshal ${typeName(value)} into Go struct field jsonPatchOp.${name} of type string`);
  }
}

function operationOf(item: JsonObject): Operation {
  const text = (name: string): string | undefined => {
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return { op: text('op') ?? '', path: text('path'), from: text('from'), value: item['value'] };
}

type Container = Record<string, Json> | Json[];

/** One patch at work: containers are copied the first time they change. */
class Patching {
  #root: Json;
  readonly #own = new WeakSet<object>();
  /** Every container that an operation went through. */
  readonly #walked = new WeakSet<object>();
  #copied = 0;
  #moved = 0;

  constructor(document: JsonObject) {
    this.#root = document;
  }

  /** @throws ApiError 422 when an operation does not apply. */
  run(operations: readonly Operation[]): Json {
    for (const operation of operations) {
      const act = Object.hasOwn(actions, operation.op) ? actions[operation.op] : undefined;
      if (act === undefined) throw unprocessable();
      act(this, operation);
    }
    return this.#root;
  }

  get root(): Json {
    return this.#root;
  }

  set root(value: Json) {
    this.#root = value;
  }

  /** The container a path leads into, for reading; and the key there. */
  find(path: string | undefined): { readonly container: Json; readonly key: string } {
    const keys = keysOf(path);
    const key = keys.pop() ?? '';
    let at = this.#root;
    this.#walk(at);
    for (const step of keys) {
      at = child(at, step);
      this.#walk(at);
    }
    if (!isList(at) && !isObject(at)) throw unprocessable();
    return { container: at, key };
  }

  /** The same container, for writing. */
  reach(path: string | undefined): { readonly container: Container; readonly key: string } {
    const keys = keysOf(path);
    const key = keys.pop() ?? '';
    this.#root = this.#owned(this.#root);
    let at = this.#root as Container;
    for (const step of keys) {
      const next = this.#owned(child(at, step));
      if (Array.isArray(at)) at[indexIn(at, step)] = next;
      else setMember(at, step, next);
      at = next;
    }
    return { container: at, key };
  }

  /** A copy that shares nothing with the value. */
  copy(value: Json): Json {
    const text = jsonText(value);
    this.#copied += Buffer.byteLength(text);
    if (this.#copied > maxCopied) throw unprocessable();
    return parseJson(text);
  }

  moving(items: number): void {
    this.#moved += items;
    if (this.#moved > maxMoved) throw unprocessable();
  }

  /** The value as refusals show it: what was walked through has its members in order. */
  ordered(value: Json): Json {
    if (typeof value !== 'object' || value === null || !this.#walked.has(value)) return value;
    if (isList(value)) return value.map((item) => this.ordered(item));
    const out: Record<string, Json> = {};
    for (const name of sortTexts(Object.keys(value))) setMember(out, name, this.ordered(value[name] ?? null));
    return out;
  }

  #walk(value: Json): void {
    if (typeof value === 'object' && value !== null) this.#walked.add(value);
  }

  #owned(value: Json): Container {
    if (!isList(value) && !isObject(value)) throw unprocessable();
    if (this.#own.has(value)) return value as Container;
    const copy: Container = isList(value) ? [...value] : { ...value };
    if (isList(value)) this.moving(value.length);
    this.#own.add(copy);
    this.#walk(copy);
    return copy;
  }
}

const actions: Readonly<Record<string, (patching: Patching, operation: Operation) => void>> = {
  add(patching, { path, value }) {
    addAt(patching, path, value ?? null);
  },

  remove(patching, { path }) {
    removeAt(patching, path);
  },

  replace(patching, { path, value }) {
    if (path === '') {
      if (!isObject(value) && !isList(value)) throw unprocessable();
      patching.root = value;
      return;
    }
    const { container, key } = patching.reach(path);
    if (Array.isArray(container)) container[indexIn(container, key)] = value ?? null;
    else setMember(container, key, value ?? null);
  },

  move(patching, { from, path }) {
    const { container, key } = patching.find(from);
    const value = valueAt(container, key);
    removeAt(patching, from);
    addAt(patching, path, value ?? null);
  },

  copy(patching, { from, path }) {
    const { container, key } = patching.find(from);
    const value = valueAt(container, key) ?? null;
    patching.find(path);
    addAt(patching, path, patching.copy(value));
  },

  test(patching, { path, value }) {
    if (path === '') {
      if (!same(patching.root, value ?? null)) throw unprocessable();
      return;
    }
    const { container, key } = patching.find(path);
    if (!same(valueAt(container, key) ?? null, value ?? null)) throw unprocessable();
  },
};

function addAt(patching: Patching, path: string | undefined, value: Json): void {
  const { container, key } = patching.reach(path);
  if (!Array.isArray(container)) {
    setMember(container, key, value);
    return;
  }
  if (key === '-') {
    container.push(value);
    return;
  }
  const places = container.length + 1;
  const given = integer(key);
  const index = given < 0 ? given + places : given;
  if (index < 0 || index >= places) throw unprocessable();
  patching.moving(container.length - index);
  container.splice(index, 0, value);
}

function removeAt(patching: Patching, path: string | undefined): void {
  const { container, key } = patching.reach(path);
  if (Array.isArray(container)) {
    const index = indexIn(container, key);
    patching.moving(container.length - index);
    container.splice(index, 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw unprocessable();
  delete container[key];
}

/** The value there; undefined for a missing member. */
function valueAt(container: Json, key: string): Json | undefined {
  if (isList(container)) return container[indexIn(container, key)];
  return isObject(container) && Object.hasOwn(container, key) ? container[key] : undefined;
}

function child(container: Json, key: string): Json {
  const value = valueAt(container, key);
  if (value === undefined || value === null) throw unprocessable();
  return value;
}

function indexIn(list: readonly Json[], key: string): number {
  const given = integer(key);
  const index = given < 0 ? given + list.length : given;
  if (index < 0 || index >= list.length) throw unprocessable();
  return index;
}

/** A number as Go's Atoi reads it: a sign and leading zeros are fine. */
function integer(text: string): number {
  if (!/^[+-]?\d{1,32}$/.test(text)) throw unprocessable();
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw unprocessable();
  return value;
}

/** The keys of a path (RFC 6901); the empty path has none. */
function keysOf(path: string | undefined): string[] {
  if (path === undefined) throw unprocessable();
  const segments = path.split('/').slice(1);
  if (segments.length === 0) throw unprocessable();
  return path.includes('~') ? segments.map((segment) => segment.replace(/~[01]/g, unescaped)) : segments;
}
const unescaped = (code: string): string => (code === '~1' ? '/' : '~');

function jsonText(value: Json): string {
  try {
    return goJson(value);
  } catch {
    // Nested so deeply that it cannot be written.
    throw unprocessable();
  }
}

/** May what an operation puts somewhere have others inside? */
const nests = ({ op, value }: Operation): boolean =>
  op === 'copy' || op === 'move' || (typeof value === 'object' && value !== null);

/** Operations can nest what was read one below the other. */
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
