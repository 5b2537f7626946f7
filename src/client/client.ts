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
   * error that it throws fails the call. By default warnings are dropped, or logged by a manager.
   */
  readonly onWarning?: ((text: string) => void) | undefined;
  /** Field validation of writes that set none; by default that of the server, in Kubernetes `Warn`. */
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
  /** Namespace of the objects; all namespaces by default. */
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
  /** Resource version that the list must not be older than, or with `Exact` must have; the latest by default. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /**
   * Whether only apiVersion, kind and metadata of objects are returned (as PartialObjectMetadata, with their own kind).
   */
  readonly metadataOnly?: boolean;
}

/** Selects objects to watch, and where the watch starts. */
export interface WatchOptions {
  /** Namespace of the objects; all namespaces by default. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Resource version after which events are sent. By default the current objects are sent first, as ADDED. */
  readonly resourceVersion?: string;
  /**
   * Whether the current objects are sent first, followed by a bookmark that is annotated as their end, which requires
   * `allowBookmarks`; with false, only changes from now on are sent.
   */
  readonly sendInitialEvents?: boolean;
  /** Whether bookmarks are sent that report the progress of the watch. */
  readonly allowBookmarks?: boolean;
  /** Seconds after which the server ends the watch; 30 to 60 minutes by default. */
  readonly timeoutSeconds?: number;
  /** Whether only apiVersion, kind and metadata of objects are sent (as PartialObjectMetadata, with their own kind). */
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
  /** Whether everything is done except storing the object. */
  readonly dryRun?: boolean;
  /** Owner of the written fields (`metadata.managedFields`); by default the user agent up to its `/`. */
  readonly fieldManager?: string;
  /** Field validation of the write; by default that of the client's options. */
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
  /** Whether everything is done except deleting the object. */
  readonly dryRun?: boolean;
  /**
   * Whether dependents are deleted after the object, before it, or not at all. The default depends on the type and is
   * mostly `Background`.
   */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  /** Seconds before the object is deleted; 0 deletes it immediately. */
  readonly gracePeriodSeconds?: number;
  /** UID and resource version that the object must have; otherwise the deletion fails with Conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}
