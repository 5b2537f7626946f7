import type { Observable } from 'rxjs';
import type { ApiObject, Json, List, ObjectKey, ResourceType } from '../api/object.js';

/** The API as everybody else sees it: in process or over HTTP. Failures are ApiErrors in both. */
export interface Client {
  /** All objects of a type, in whatever namespace. Nothing is sent for it. */
  resource<T extends ApiObject>(type: ResourceType<T>): ResourceClient<T>;
  /** Every resource served now, preferred versions first within a group. */
  discover(options?: DiscoverOptions): Promise<readonly DiscoveredResource[]>;
}

/** What holds for every call of a client. */
export interface ClientOptions {
  /**
   * Called for each warning of a response, for example about unknown fields, from webhooks, or about deprecated
   * versions; what it throws fails the call. Default: warnings are dropped, or logged by a manager.
   */
  readonly onWarning?: ((text: string) => void) | undefined;
  /** For writes that do not say. Default: as the server does, in Kubernetes `Warn`. */
  readonly fieldValidation?: FieldValidation | undefined;
}

/** What is done about fields that the type does not have: dropped without a word, dropped with a warning, or refused. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** What is done about groups whose resources cannot be found out. */
export interface DiscoverOptions {
  /** Called for each version of a group that is served and whose resources could not be found out; they are left out. */
  readonly onFailure?: (failure: DiscoveryFailure) => void;
}

/** A version of a group that is served, and why its resources could not be found out. */
export interface DiscoveryFailure {
  readonly group: string;
  readonly version: string;
  readonly message: string;
}

/** A resource that is served, what can be done with it, and whether its version is the one its group prefers. */
export interface DiscoveredResource extends ResourceType {
  readonly verbs: readonly string[];
  readonly preferred: boolean;
}

/**
 * What can be done with objects of a type. Unless something else is said, the answer is the object as it is now. Fails
 * with BadRequest, and sends nothing, where a name can be none or the namespace is missing that the type has.
 */
export interface ResourceClient<T extends ApiObject> {
  /** undefined if there is none; NotFound if the server does not serve the type. */
  get(key: ObjectKey): Promise<T | undefined>;
  /** Everything that is selected; with `limit` a page of it, and `metadata.continue` for the next. */
  list(options: ListOptions & MetadataOnly): Promise<List<ApiObject>>;
  list(options?: ListOptions): Promise<List<T>>;
  /** Completes when the server ends the watch; fails with an ApiError (Expired: list again) or a transport error. */
  watch(options?: WatchOptions): Observable<WatchEvent<T>>;
  /** Fails with AlreadyExists if the name is taken. Without a name one is made of `metadata.generateName`. */
  create(object: T, options?: WriteOptions): Promise<T>;
  /**
   * Replaces the whole object but for its status, where that is a subresource. Fails with Conflict if somebody wrote it
   * since the `metadata.resourceVersion` given; without one it replaces what is there, which custom resources refuse.
   */
  update(object: T, options?: WriteOptions): Promise<T>;
  /** Fails with NotFound if there is none; `apply` creates it. */
  patch(key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Resolves when the deletion is accepted; NotFound if there is none. */
  delete(key: ObjectKey, options?: DeleteOptions): Promise<void>;
  /** Deletes all that is selected, in one namespace where the type has them. Without a selector that is everything there. */
  deleteCollection(options?: ListOptions & DeleteOptions): Promise<void>;
  /** A subresource: another view of the same objects, such as `status`, or to what they can do, such as `token` of service accounts. */
  subresource<S extends ApiObject = T>(name: string): SubresourceClient<S>;
}

/** As of a resource; `S` is what the subresource shows and takes. */
export interface SubresourceClient<S extends ApiObject> {
  get(key: ObjectKey): Promise<S | undefined>;
  create(key: ObjectKey, object: S, options?: WriteOptions): Promise<S>;
  update(object: S, options?: WriteOptions): Promise<S>;
  patch(key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<S>;
}

/** Asks for nothing of objects but what all have. */
export interface MetadataOnly {
  readonly metadataOnly: true;
}

/** Which objects are listed, and as of when; selectors are written as in `kubectl get -l` and `--field-selector`. */
export interface ListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Most objects in the response. */
  readonly limit?: number;
  /** What the page before answered. Fails with Expired once its state is no longer kept. */
  readonly continue?: string | undefined;
  /** A state no older than this, or with `Exact` this one. Default: the latest. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Objects come with nothing but apiVersion, kind and metadata (as PartialObjectMetadata, under their own kind). */
  readonly metadataOnly?: boolean;
}

/** What is watched, and from when on. */
export interface WatchOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Events after this version. Absent: the present state first, as ADDED. */
  readonly resourceVersion?: string;
  /** Present state first, then a bookmark annotated as its end; needs `allowBookmarks`. `false`: only what happens from now on. */
  readonly sendInitialEvents?: boolean;
  /** Send bookmarks that report the progress of the watch. */
  readonly allowBookmarks?: boolean;
  /** When the server ends it. Default: half an hour to an hour. */
  readonly timeoutSeconds?: number;
  /** As of a list. */
  readonly metadataOnly?: boolean;
  /** Called once the server has answered and watches; what happens may be long in coming. */
  readonly onOpen?: () => void;
}

/** An event of a watch: a change with the object's state after it (for a deletion, the last state), or a bookmark. */
export type WatchEvent<T extends ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Everything up to `resourceVersion` has been sent; `initialEventsEnd` marks the end of the present state. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/** How an object is written. */
export interface WriteOptions {
  /** Do everything but store it. */
  readonly dryRun?: boolean;
  /** Owner of the written fields (`metadata.managedFields`). Default: the user agent up to its `/`. */
  readonly fieldManager?: string;
  /** Default: that of the client. */
  readonly fieldValidation?: FieldValidation;
}

/**
 * `json` is a list of operations (RFC 6902), `merge` is RFC 7396, `strategic` knows lists by key, `apply` is
 * server-side apply. The JSON of a body is sent.
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

/** How an object is deleted, as DeleteOptions of `meta/v1`. */
export interface DeleteOptions {
  /** Do everything but delete it. */
  readonly dryRun?: boolean;
  /** What it owns goes after it, before it, or stays. Default: as the type has it, mostly `Background`. */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  /** Fails with Conflict if the object is another or was written since. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}
