import type { Observable } from 'rxjs';
import type { ApiObject, Json, List, ObjectKey, ResourceType } from '../api/object.js';

/** The API as everybody else sees it: in process or over HTTP. Failures are ApiErrors in both. */
export interface Client {
  resource<T extends ApiObject>(type: ResourceType<T>): ResourceClient<T>;
  /** Every resource served now, preferred versions first within a group. */
  discover(options?: DiscoverOptions): Promise<readonly DiscoveredResource[]>;
}

export interface DiscoverOptions {
  /** Called for each version of a group that is served and whose resources could not be found out; they are left out. */
  readonly onFailure?: (failure: DiscoveryFailure) => void;
}

export interface DiscoveryFailure {
  readonly group: string;
  readonly version: string;
  readonly message: string;
}

export interface DiscoveredResource extends ResourceType {
  readonly verbs: readonly string[];
  readonly preferred: boolean;
}

export interface ResourceClient<T extends ApiObject> {
  /** undefined if there is none; NotFound if the server does not serve the type. */
  get(key: ObjectKey): Promise<T | undefined>;
  list(options?: ListOptions): Promise<List<T>>;
  /** Completes when the server ends the watch; fails with an ApiError (Expired: list again) or a transport error. */
  watch(options?: WatchOptions): Observable<WatchEvent<T>>;
  create(object: T, options?: WriteOptions): Promise<T>;
  update(object: T, options?: WriteOptions): Promise<T>;
  patch(key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Resolves when the deletion is accepted; NotFound if there is none. */
  delete(key: ObjectKey, options?: DeleteOptions): Promise<void>;
  deleteCollection(options?: ListOptions & DeleteOptions): Promise<void>;
  subresource<S extends ApiObject = T>(name: string): SubresourceClient<S>;
}

export interface SubresourceClient<S extends ApiObject> {
  get(key: ObjectKey): Promise<S | undefined>;
  create(key: ObjectKey, object: S, options?: WriteOptions): Promise<S>;
  update(object: S, options?: WriteOptions): Promise<S>;
  patch(key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<S>;
}

export interface ListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Objects come with nothing but apiVersion, kind and metadata (as PartialObjectMetadata, under their own kind). */
  readonly metadataOnly?: boolean;
}

export interface WatchOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Events after this version. Absent: the present state first, as ADDED. */
  readonly resourceVersion?: string;
  /** Present state first, then a bookmark annotated as its end. Needs `allowBookmarks`. */
  readonly sendInitialEvents?: boolean;
  readonly allowBookmarks?: boolean;
  readonly timeoutSeconds?: number;
  /** As of a list. */
  readonly metadataOnly?: boolean;
}

export type WatchEvent<T extends ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Everything up to `resourceVersion` has been sent; `initialEventsEnd` marks the end of the present state. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

export interface WriteOptions {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
}

export type Patch =
  | { readonly type: 'json'; readonly body: readonly Json[] }
  | { readonly type: 'merge' | 'strategic'; readonly body: Json }
  | {
      readonly type: 'apply';
      readonly body: Json | ApiObject;
      readonly fieldManager: string;
      readonly force?: boolean;
    };

export interface DeleteOptions {
  readonly dryRun?: boolean;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}
