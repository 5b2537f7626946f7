import type { Observable } from 'rxjs';
import type { ApiObject, Json, List, ObjectKey, ResourceType } from '../api/object.js';

/** A client of the API, in process or over HTTP. Errors of the server are ApiErrors in both. */
export interface Client {
  /** Returns the client of a type. Sends nothing. */
  resource<T extends ApiObject>(type: ResourceType<T>): ResourceClient<T>;
  /** Returns every resource that is served, preferred versions first within a group. */
  discover(options?: DiscoverOptions): Promise<readonly DiscoveredResource[]>;
}

/** Options that apply to all calls of a client. */
export interface ClientOptions {
  /**
   * Called for each warning of a response, for example about unknown fields, deprecated versions, or from webhooks. An
   * error it throws fails the call. Default: warnings are dropped, or logged by a manager.
   */
  readonly onWarning?: ((text: string) => void) | undefined;
  /** For writes without this option. Default: that of the server, in Kubernetes `Warn`. */
  readonly fieldValidation?: FieldValidation | undefined;
}

/** How unknown fields are handled: dropped silently, dropped with a warning, or rejected. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Options of discovery. */
export interface DiscoverOptions {
  /** Called for each version of a group that is served but whose resources cannot be listed; they are left out. */
  readonly onFailure?: (failure: DiscoveryFailure) => void;
}

/** A version of a group that is served, and the error of listing its resources. */
export interface DiscoveryFailure {
  readonly group: string;
  readonly version: string;
  readonly message: string;
}

/** A resource that is served, its verbs, and whether its version is the one preferred by its group. */
export interface DiscoveredResource extends ResourceType {
  readonly verbs: readonly string[];
  readonly preferred: boolean;
}

/**
 * Operations on the objects of a type. Unless stated otherwise, they return the resulting object. They fail with
 * BadRequest, without sending anything, if a name is invalid or the namespace of a namespaced type is missing.
 */
export interface ResourceClient<T extends ApiObject> {
  /** Returns undefined if the object does not exist. Fails with NotFound if the server does not serve the type. */
  get(key: ObjectKey): Promise<T | undefined>;
  /** Lists the selected objects; with `limit` one page of them, and `metadata.continue` for the next. */
  list(options: ListOptions & MetadataOnly): Promise<List<ApiObject>>;
  list(options?: ListOptions): Promise<List<T>>;
  /** Completes when the server ends the watch. Fails with an ApiError (if Expired, list again) or a transport error. */
  watch(options?: WatchOptions): Observable<WatchEvent<T>>;
  /**
   * Fails with AlreadyExists if the name is taken. Without a name, the server generates one from
   * `metadata.generateName`.
   */
  create(object: T, options?: WriteOptions): Promise<T>;
  /**
   * Replaces the whole object except its status, if that is a subresource. Fails with Conflict if the object was
   * written since the given `metadata.resourceVersion`; without one it replaces the current object, which custom
   * resources reject.
   */
  update(object: T, options?: WriteOptions): Promise<T>;
  /** Fails with NotFound if the object does not exist, except that `apply` creates it. */
  patch(key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Resolves when the deletion is accepted. Fails with NotFound if the object does not exist. */
  delete(key: ObjectKey, options?: DeleteOptions): Promise<void>;
  /** Deletes the selected objects, for namespaced types in one namespace. Without a selector, deletes all of them. */
  deleteCollection(options?: ListOptions & DeleteOptions): Promise<void>;
  /** Returns the client of a subresource, such as `status` of many types, or `token` of service accounts. */
  subresource<S extends ApiObject = T>(name: string): SubresourceClient<S>;
}

/** Operations on a subresource, as for a resource. `S` is the type of its objects. */
export interface SubresourceClient<S extends ApiObject> {
  get(key: ObjectKey): Promise<S | undefined>;
  create(key: ObjectKey, object: S, options?: WriteOptions): Promise<S>;
  update(object: S, options?: WriteOptions): Promise<S>;
  patch(key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<S>;
}

/** Requests only the metadata of objects. */
export interface MetadataOnly {
  readonly metadataOnly: true;
}

/** Selects objects to list, and their version; selectors are written as for `kubectl get -l` and `--field-selector`. */
export interface ListOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** The maximum number of objects in the response. */
  readonly limit?: number;
  /**
   * The `metadata.continue` of the previous page. Fails with Expired once the state of that page is no longer
   * available.
   */
  readonly continue?: string | undefined;
  /** A version no older than this one, or with `Exact` exactly this one. Default: the latest. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Return only apiVersion, kind and metadata of objects (as PartialObjectMetadata, under their own kind). */
  readonly metadataOnly?: boolean;
}

/** Selects objects to watch, and where the watch starts. */
export interface WatchOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Send the events after this version. Default: first the current objects as ADDED. */
  readonly resourceVersion?: string;
  /**
   * Send the current objects first, then a bookmark annotated as their end; requires `allowBookmarks`. `false`: send
   * only changes from now on.
   */
  readonly sendInitialEvents?: boolean;
  /** Send bookmarks that report the progress of the watch. */
  readonly allowBookmarks?: boolean;
  /** The time after which the server ends the watch. Default: 30 to 60 minutes. */
  readonly timeoutSeconds?: number;
  /** As for a list. */
  readonly metadataOnly?: boolean;
  /** Called once the server has accepted the watch; the first event may come much later. */
  readonly onOpen?: () => void;
}

/** An event of a watch: a change with the object's state after it (for a deletion, the last state), or a bookmark. */
export type WatchEvent<T extends ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** All changes up to `resourceVersion` have been sent; `initialEventsEnd` marks the end of the current objects. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/** Options of writes. */
export interface WriteOptions {
  /** Do everything except store the object. */
  readonly dryRun?: boolean;
  /** The owner of the written fields (`metadata.managedFields`). Default: the user agent up to its `/`. */
  readonly fieldManager?: string;
  /** Default: that of the client's options. */
  readonly fieldValidation?: FieldValidation;
}

/**
 * A change to an object: `json` is a list of operations (RFC 6902), `merge` is RFC 7396, `strategic` merges lists by
 * key, `apply` is server-side apply. `body` is sent as JSON.
 */
export type Patch =
  | { readonly type: 'json'; readonly body: readonly object[] }
  | { readonly type: 'merge' | 'strategic'; readonly body: Json | object }
  | {
      readonly type: 'apply';
      readonly body: object;
      readonly fieldManager: string;
      readonly force?: boolean;
    };

/** Options of deletions, as DeleteOptions of `meta/v1`. */
export interface DeleteOptions {
  /** Do everything except delete the object. */
  readonly dryRun?: boolean;
  /**
   * Whether dependents are deleted after the object, before it, or are kept. Default: depends on the type, mostly
   * `Background`.
   */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  /** Fail with Conflict if the object has another uid or resource version. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}
