import { Observable, type Subscriber } from 'rxjs';
import { alreadyExists, conflict, expired, noSuchResource, notFound, staleWrite } from '../src/api/errors.js';
import { parseFieldSelector } from '../src/api/field-selectors.js';
import { parseLabelSelector } from '../src/api/label-selectors.js';
import { generatedName } from '../src/api/names.js';
import {
  type ApiObject,
  groupResource,
  groupVersion,
  type JsonObject,
  keyOf,
  keyText,
  type ObjectKey,
  type ResourceType,
  type Unstructured,
  unstructured,
} from '../src/api/object.js';
import { timestamp } from '../src/api/time.js';
import type {
  Client,
  DeleteOptions,
  DiscoveredResource,
  DiscoverOptions,
  DiscoveryFailure,
  ListOptions,
  Patch,
  ResourceClient,
  WatchEvent,
  WatchOptions,
} from '../src/client/client.js';
import type { Clock } from '../src/runtime/clock.js';

export interface Call {
  readonly verb: string;
  readonly plural: string;
  readonly subresource?: string | undefined;
  readonly key?: string | undefined;
}

interface Logged {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ApiObject;
  readonly previous: ApiObject | undefined;
}

interface Watcher {
  readonly take: (logged: Logged) => void;
  readonly bookmark: (revision: number) => void;
  readonly subscriber: Subscriber<WatchEvent<ApiObject>>;
}

/** An API in memory that is accurate enough for controllers; calls can be counted and made to fail. */
export class FakeClient implements Client {
  readonly calls: Call[] = [];
  /** Returns an error with which a call is to fail. */
  fail: (call: Call) => Error | undefined = () => undefined;
  /** The reviews, by plural, with the functions that answer them. */
  readonly reviews = new Map<string, (request: Unstructured) => Unstructured>();
  discovered: DiscoveredResource[] = [];
  undiscovered: DiscoveryFailure[] = [];
  revision = 100;
  compactedBefore = 0;
  readonly #clock: Clock;
  readonly #objects = new Map<string, Map<string, ApiObject>>();
  readonly #history = new Map<string, Logged[]>();
  readonly #watchers = new Map<string, Set<Watcher>>();
  #uid = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async discover({ onFailure }: DiscoverOptions = {}): Promise<readonly DiscoveredResource[]> {
    this.#note({ verb: 'discover', plural: '' });
    for (const failure of this.undiscovered) onFailure?.(failure);
    return this.discovered;
  }

  /** The writes so far, as `verb plural[/subresource] key`. */
  get writes(): readonly string[] {
    return this.calls
      .filter(({ verb }) => !['get', 'list', 'watch', 'discover'].includes(verb))
      .map(({ verb, plural, subresource, key }) => `${verb} ${plural}${subresource ? `/${subresource}` : ''} ${key}`);
  }

  /** Ends every watch, with an error if one is given. */
  dropWatches(error?: Error): void {
    for (const watchers of this.#watchers.values()) {
      for (const { subscriber } of [...watchers]) {
        if (error === undefined) subscriber.complete();
        else subscriber.error(error);
      }
    }
  }

  /** Compacts the history, so that older watches must list again. */
  compact(): void {
    this.compactedBefore = this.revision;
  }

  bookmark(): void {
    this.revision++;
    for (const watchers of this.#watchers.values()) for (const one of watchers) one.bookmark(this.revision);
  }

  get watching(): number {
    return [...this.#watchers.values()].reduce((count, watchers) => count + watchers.size, 0);
  }

  #note(call: Call): void {
    this.calls.push(call);
    const error = this.fail(call);
    if (error !== undefined) throw error;
  }

  resource<T extends ApiObject>(type: ResourceType<T>): ResourceClient<T> {
    const id = groupResource(type);
    const objects = getOr(this.#objects, id, () => new Map<string, ApiObject>());
    const subject = (name: string) => ({ group: type.group, plural: type.plural, name });
    const note = (verb: string, key?: ObjectKey, subresource?: string): void =>
      this.#note({ verb, plural: type.plural, key: key === undefined ? undefined : keyText(key), subresource });
    const shown = (object: ApiObject, { metadataOnly }: ListOptions | WatchOptions = {}): T => {
      const { apiVersion, kind, metadata } = object;
      return structuredClone(metadataOnly ? { apiVersion, kind, metadata } : object) as T;
    };

    const selected = (options: ListOptions | WatchOptions) => {
      const labels = parseLabelSelector(options.labelSelector ?? '');
      const fields = parseFieldSelector(options.fieldSelector ?? '');
      return (object: ApiObject): boolean =>
        (options.namespace === undefined || object.metadata.namespace === options.namespace) &&
        labels.matches(object.metadata.labels) &&
        fields.matches((field) => read(object, field));
    };

    const publish = (type: Logged['type'], object: ApiObject, previous?: ApiObject): void => {
      const logged: Logged = { revision: Number(object.metadata.resourceVersion), type, object, previous };
      getOr(this.#history, id, () => []).push(logged);
      for (const watcher of [...getOr(this.#watchers, id, () => new Set<Watcher>())]) watcher.take(logged);
    };

    const versioned = (object: ApiObject): ApiObject => ({
      ...object,
      apiVersion: groupVersion(type),
      kind: type.kind,
      metadata: { ...object.metadata, resourceVersion: String(++this.revision) },
    });

    const current = (key: ObjectKey): ApiObject => {
      const found = objects.get(keyText(key));
      if (found === undefined) throw notFound(subject(key.name));
      return found;
    };

    const isReleased = (object: ApiObject): boolean =>
      object.metadata.deletionTimestamp !== undefined &&
      (object.metadata.finalizers ?? []).length === 0 &&
      (read(object, 'spec.finalizers') ?? '') === '';

    const write = (next: ApiObject, previous: ApiObject): T => {
      const given = next.metadata.resourceVersion;
      if (given !== undefined && given !== previous.metadata.resourceVersion) {
        throw staleWrite(subject(previous.metadata.name ?? ''));
      }
      if (next.metadata.uid !== undefined && next.metadata.uid !== previous.metadata.uid) {
        throw conflict(subject(previous.metadata.name ?? ''), 'uid mismatch');
      }
      const key = keyText(keyOf(previous));
      const { resourceVersion: _, ...metadata } = {
        ...next.metadata,
        uid: previous.metadata.uid,
        creationTimestamp: previous.metadata.creationTimestamp,
        deletionTimestamp: previous.metadata.deletionTimestamp,
      };
      const { resourceVersion: __, ...before } = previous.metadata;
      if (text({ ...next, metadata }) === text({ ...previous, metadata: before })) return shown(previous);
      const stored = versioned({ ...next, metadata } as ApiObject);
      if (isReleased(stored)) {
        objects.delete(key);
        publish('DELETED', { ...previous, metadata: { ...previous.metadata, resourceVersion: String(this.revision) } });
      } else {
        objects.set(key, stored);
        publish('MODIFIED', stored, previous);
      }
      return shown(stored);
    };

    const patched = (patch: Patch, previous: ApiObject): Unstructured => {
      if (patch.type === 'json') throw new Error('the fake client knows no JSON patches');
      return mergePatch(previous, patch.body) as unknown as Unstructured;
    };

    const remove = (key: ObjectKey, options: DeleteOptions): void => {
      const object = current(key);
      const { uid, resourceVersion } = options.preconditions ?? {};
      if (uid !== undefined && uid !== object.metadata.uid) throw conflict(subject(key.name), 'uid precondition');
      if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
        throw conflict(subject(key.name), 'resourceVersion precondition');
      }
      const extra =
        options.propagationPolicy === 'Foreground'
          ? ['foregroundDeletion']
          : options.propagationPolicy === 'Orphan'
            ? ['orphan']
            : [];
      const finalizers = [...new Set([...(object.metadata.finalizers ?? []), ...extra])];
      if (finalizers.length === 0 && (read(object, 'spec.finalizers') ?? '') === '') {
        objects.delete(keyText(key));
        publish('DELETED', versioned(object));
        return;
      }
      const deletionTimestamp = object.metadata.deletionTimestamp ?? timestamp(this.#clock.now());
      const marked = versioned({
        ...object,
        metadata: { ...object.metadata, deletionTimestamp, ...(finalizers.length > 0 ? { finalizers } : {}) },
      });
      objects.set(keyText(key), marked);
      publish('MODIFIED', marked, object);
    };

    const create = async (object: ApiObject): Promise<T> => {
      const name = object.metadata.name ?? generatedName(object.metadata.generateName ?? '');
      const key = { namespace: object.metadata.namespace, name };
      note('create', key);
      const answer = this.reviews.get(type.plural);
      if (answer !== undefined) return shown(answer(unstructured(object)));
      if (objects.has(keyText(key))) throw alreadyExists(subject(name));
      const stored = versioned({
        ...structuredClone(object),
        metadata: {
          ...structuredClone(object.metadata),
          name,
          uid: object.metadata.uid ?? `uid-${++this.#uid}`,
          creationTimestamp: object.metadata.creationTimestamp ?? timestamp(this.#clock.now()),
        },
      });
      objects.set(keyText(key), stored);
      publish('ADDED', stored);
      return shown(stored);
    };

    return {
      get: async (key) => {
        note('get', key);
        const found = objects.get(keyText(key));
        return found === undefined ? undefined : shown(found);
      },
      list: async (options = {}) => {
        note('list');
        if (options.continue !== undefined && this.compactedBefore > Number(options.continue.split(' ')[0])) {
          throw expired('The provided continue parameter is too old');
        }
        const [, after = ''] = options.continue?.split(' ') ?? [];
        const sorted = [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).filter(([key]) => after === '' || key > after);
        const all = sorted.filter(([, object]) => selected(options)(object));
        const page = options.limit === undefined ? all : all.slice(0, options.limit);
        const more = page.length < all.length ? { continue: `${this.revision} ${page.at(-1)?.[0]}` } : {};
        return {
          metadata: { resourceVersion: String(this.revision), ...more },
          items: page.map(([, object]) => shown(object, options)),
        };
      },
      watch: (options = {}) =>
        new Observable<WatchEvent<T>>((subscriber) => {
          try {
            note('watch');
          } catch (error) {
            subscriber.error(error);
            return;
          }
          const from = options.resourceVersion;
          if (from !== undefined && Number(from) < this.compactedBefore) {
            subscriber.error(expired(`too old resource version: ${from} (${this.compactedBefore})`));
            return;
          }
          options.onOpen?.();
          const wants = selected(options);
          const take = ({ type, object, previous }: Logged): void => {
            const is = wants(object);
            const was = previous === undefined ? type === 'DELETED' && is : wants(previous);
            if (type === 'DELETED') {
              if (is) subscriber.next({ type, object: shown(object, options) });
            } else if (is) subscriber.next({ type: was ? 'MODIFIED' : 'ADDED', object: shown(object, options) });
            else if (was) subscriber.next({ type: 'DELETED', object: shown(previous ?? object, options) });
          };
          const bookmark = (revision: number, initialEventsEnd = false): void => {
            if (!options.allowBookmarks) return;
            subscriber.next({ type: 'BOOKMARK', resourceVersion: String(revision), initialEventsEnd });
          };
          if (from === undefined) {
            for (const object of objects.values()) {
              if (wants(object)) subscriber.next({ type: 'ADDED', object: shown(object, options) });
            }
            bookmark(this.revision, true);
          } else {
            for (const logged of this.#history.get(id) ?? []) if (logged.revision > Number(from)) take(logged);
          }
          const watchers = getOr(this.#watchers, id, () => new Set<Watcher>());
          const watcher: Watcher = { take, bookmark, subscriber: subscriber as Subscriber<WatchEvent<ApiObject>> };
          watchers.add(watcher);
          return () => watchers.delete(watcher);
        }),
      create,
      update: async (object) => {
        note('update', keyOf(object));
        const previous = current(keyOf(object));
        const { status: _, ...rest } = unstructured(object);
        const { status } = unstructured(previous);
        return write(unstructured({ ...rest, ...(status === undefined ? {} : { status }) }), previous);
      },
      patch: async (key, patch) => {
        note(patch.type === 'apply' ? 'apply' : 'patch', key);
        const previous = objects.get(keyText(key));
        if (previous === undefined && patch.type === 'apply') return create(patch.body as unknown as ApiObject);
        return write(patched(patch, current(key)), current(key));
      },
      delete: async (key, options = {}) => {
        note('delete', key);
        remove(key, options);
      },
      deleteCollection: async (options = {}) => {
        this.#note({ verb: 'deletecollection', plural: type.plural, key: options.namespace });
        for (const object of [...objects.values()]) if (selected(options)(object)) remove(keyOf(object), options);
      },
      subresource: (name) => {
        const prepared = (next: Unstructured, previous: ApiObject): Unstructured =>
          name === 'finalize'
            ? { ...previous, metadata: next.metadata, spec: next['spec'] }
            : ({
                ...previous,
                metadata: {
                  ...previous.metadata,
                  resourceVersion: next.metadata.resourceVersion,
                  uid: next.metadata.uid,
                  ...(finalizersByStatus.has(type.plural) ? { finalizers: next.metadata.finalizers } : {}),
                },
                status: next['status'],
              } as Unstructured);
        return {
          get: async (key) => {
            note('get', key, name);
            return objects.get(keyText(key)) as never;
          },
          create: async () => {
            throw noSuchResource();
          },
          update: async (object) => {
            note('update', keyOf(object), name);
            const previous = current(keyOf(object));
            return write(prepared(unstructured(object), previous), previous) as never;
          },
          patch: async (key, patch) => {
            note('patch', key, name);
            const previous = current(key);
            return write(prepared(patched(patch, previous), previous), previous) as never;
          },
        };
      },
    };
  }
}

/** The kinds whose finalizers can also be written through the subresource `status`. */
const finalizersByStatus: ReadonlySet<string> = new Set(['customresourcedefinitions']);

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function read(object: ApiObject, path: string): string | undefined {
  let value: unknown = object;
  for (const member of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[member];
  if (Array.isArray(value)) return value.join();
  return value === undefined ? undefined : String(value);
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'bigint') return `${inner}n`;
    return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  });
}

function mergePatch(target: unknown, patch: unknown): JsonObject {
  const out: Record<string, unknown> = { ...(target as object) };
  for (const [key, value] of Object.entries(patch as object)) {
    if (value === null) delete out[key];
    else if (typeof value === 'object' && !Array.isArray(value)) out[key] = mergePatch(out[key] ?? {}, value);
    else out[key] = value;
  }
  return out as JsonObject;
}
