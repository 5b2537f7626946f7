import { AdmissionChain } from '../../../src/admission/chain.js';
import { groupVersion, type Unstructured } from '../../../src/api/object.js';
import { readListParameters } from '../../../src/api/options.js';
import { Catalogue } from '../../../src/apiserver/catalogue.js';
import { encodeDocument } from '../../../src/apiserver/entry-codec.js';
import { defaultFeatureGates } from '../../../src/apiserver/feature-gates.js';
import type { Parts } from '../../../src/apiserver/parts.js';
import type { ListResult, WatchResult } from '../../../src/apiserver/request.js';
import { listObjects } from '../../../src/apiserver/verbs/list.js';
import { watchObjects } from '../../../src/apiserver/verbs/watch.js';
import { storageKey } from '../../../src/registry/keys.js';
import type { ResourceDefinition } from '../../../src/registry/resource-definition.js';
import { configMaps } from '../../../src/resources/configmaps/definition.js';
import type { Clock } from '../../../src/runtime/clock.js';
import { silentLogger } from '../../../src/runtime/logger.js';
import type { Entry, Store } from '../../../src/store/store.js';

/** Config maps in a store, listed and watched by the verbs alone, without the steps before them in a request. */
export const definition = configMaps as object as ResourceDefinition;

export interface Collection {
  put(namespace: string, name: string, labels?: Readonly<Record<string, string>>, data?: string): Promise<Entry>;
  /** Returns false if there is none. */
  remove(namespace: string, name: string): Promise<boolean>;
  list(query?: Query, namespace?: string): Promise<ListResult>;
  watch(query?: Query, namespace?: string): WatchResult;
}
export type Query = Readonly<Record<string, string>>;

/** Returns the parts of a server that verbs need. */
export const partsOf = (store: Store, clock: Clock, more: Partial<Parts> = {}): Parts =>
  ({
    store,
    clock,
    log: silentLogger,
    catalogue: new Catalogue([definition]),
    admission: new AdmissionChain([]),
    firstRevision: () => 0n,
    featureGates: defaultFeatureGates,
    ...more,
  }) as object as Parts;

export function collection(store: Store, clock: Clock, featureGates = defaultFeatureGates): Collection {
  const parts = partsOf(store, clock, { featureGates });
  const target = (namespace: string) => ({ definition, namespace, signal: new AbortController().signal });
  const parameters = (query: Query) =>
    readListParameters({ get: (name) => query[name], all: (name) => (query[name] === undefined ? [] : [query[name]]) });
  return {
    async put(namespace, name, labels = {}, data = '') {
      const key = storageKey(definition, { namespace, name });
      const { apiVersion, kind } = { apiVersion: groupVersion(definition), kind: definition.kind };
      const object: Unstructured = { apiVersion, kind, metadata: { name, namespace, labels }, data: { data } };
      const found = await store.get(key);
      return store.commit({
        key,
        document: await encodeDocument(definition, object),
        expect: found?.revision ?? 'absent',
      });
    },
    async remove(namespace, name) {
      const key = storageKey(definition, { namespace, name });
      const found = await store.get(key);
      if (found === undefined) return false;
      await store.commit({ key, document: undefined, expect: found.revision });
      return true;
    },
    list: (query = {}, namespace = '') => listObjects(parts, target(namespace), parameters(query)),
    watch: (query = {}, namespace = '') =>
      watchObjects(parts, target(namespace), parameters({ watch: 'true', ...query })),
  };
}
