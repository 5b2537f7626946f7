import type { Observable } from 'rxjs';
import type { JsonObject } from '../api/object.js';
import type { Query } from '../api/options.js';
import type { UserInfo } from '../api/user.js';
import type { Credentials } from '../auth/authenticator.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import type { Entry } from '../store/store.js';
import type { Backpressure } from './backpressure.js';
import type { InterceptedRequest } from './intercept.js';
import type { Latencies } from './operations/latencies.js';

/** The meaning of the URL and the method of a request, as authorization sees it. The resource need not exist. */
export interface RequestInfo extends Omit<InterceptedRequest, 'user'> {
  /** Whether the path has segments after the subresource, or names namespaces within a namespace. */
  readonly hasExtraSegments: boolean;
  /** Whether the path names an empty namespace: `namespaces//secrets`. */
  readonly namespaceIsEmpty: boolean;
  /** Whether the path requests the watch, not the query. */
  readonly watchedByPath: boolean;
  /** The selectors of a request for a collection, as they were sent and not validated. */
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

/** A request, independent of sockets. */
export interface ApiRequest {
  readonly info: RequestInfo;
  /** The HTTP method in upper case. */
  readonly method: string;
  readonly query: Query;
  /** The path and the query as they were sent, for messages. */
  readonly uri: string;
  /** Returns the first value of a header (lower-case name). */
  header(name: string): string | undefined;
  /** The caller: credentials to check, or an identity that this process vouches for. */
  readonly caller: { readonly credentials: Credentials } | { readonly user: UserInfo };
  /** Returns the whole body. Throws RequestEntityTooLarge beyond the limit. */
  body(): Promise<RequestBody>;
  /**
   * Aborted when the caller is gone. The signal of a watch, which does not end by itself, is also aborted when the
   * server stops.
   */
  readonly signal: AbortSignal;
  /** The ID of the request in the audit log and in the response. */
  readonly auditId?: string;
  /** The address of the peer, if the request came over the network. */
  readonly remoteAddress?: string;
  /** Aborts the signal, because the caller no longer waits. */
  abandon?(): void;
  /** Set by the pipeline if the request is audited. */
  record?: RequestRecord | undefined;
  /** Set by the pipeline if requests are tracked. */
  latencies?: Latencies | undefined;
}

/** The audit record of the request, as the pipeline reports to it. */
export interface RequestRecord {
  /** Records that the request was for a deprecated version. */
  deprecated(): void;
  /**
   * Adds an annotation; the first value of a key is kept. With `fromLevel`, only a record of at least this level
   * contains the annotation.
   */
  annotate(key: string, value: string, fromLevel?: 'Request'): void;
  /** Records the object that was sent, decoded and defaulted. `text` returns its JSON. */
  sent(object: JsonObject, text: (object: JsonObject) => string): void;
  /** Records the patch that was sent. */
  sentPatch(body: RequestBody): Promise<void>;
}

/** Bytes of a declared type. */
export interface RequestBody {
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
  /** Whether this process has created the body, so that no limit on the number of values applies. */
  readonly isTrusted?: boolean;
}

/** The result of a verb, before it is encoded in the form that the caller accepts. */
export type Result =
  | EntryResult
  /** An object that is not stored in this form. */
  | {
      readonly type: 'object';
      readonly code: number;
      readonly definition?: ResourceDefinition;
      readonly object: object;
    }
  | ListResult
  | WatchResult
  | TextResult
  /** Bytes in a fixed format, such as an OpenAPI document. */
  | {
      readonly type: 'bytes';
      readonly code: number;
      readonly bytes: Buffer;
      /** The media type; absent if there are no bytes. */
      readonly contentType?: string;
      /** Whether the bytes may be compressed; false by default. */
      readonly compressible?: boolean;
      readonly headers?: Headers;
    };

/** Results that are encoded by content negotiation; the others are bytes already, or a stream. */
export type ObjectResult = Exclude<Result, { type: 'watch' | 'text' | 'bytes' }>;

export type Headers = Readonly<Record<string, string>>;

export interface TextResult {
  readonly type: 'text';
  readonly code: number;
  readonly text: string;
  readonly headers?: Headers;
}

/** One stored object. */
interface EntryResult {
  readonly type: 'entry';
  readonly code: number;
  readonly definition: ResourceDefinition;
  readonly entry: Entry;
}

export interface ListResult {
  readonly type: 'list';
  readonly definition: ResourceDefinition;
  readonly entries: readonly Entry[];
  readonly resourceVersion: string;
  readonly continue: string | undefined;
  readonly remainingItemCount: number | undefined;
  /** The shard selector that was applied, if one was. */
  readonly shard: string | undefined;
}

export interface WatchResult {
  readonly type: 'watch';
  readonly definition: ResourceDefinition;
  /** The events; completes when the watch ends. Errors are events too; the stream itself never fails. */
  readonly events: Observable<WatchItem>;
  /** Backpressure for a slow reader. The limit must be set before the subscription. */
  readonly backpressure: Backpressure;
  /** Called for every event that was sent, with its size. */
  readonly onSent?: (item: WatchItem, bytes: number) => void;
}

export type WatchItem =
  /**
   * A change of an object. `entry` has the revision of the event; for an object that leaves a selection, its previous
   * content. `initial`: the event is part of the initial state.
   */
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly entry: Entry; readonly initial?: true }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly error: unknown };

/** The response to a request: a result, or the failure instead of it, with what accompanies either. */
export interface ApiResponse {
  readonly result: Result;
  /** Texts of the Warning headers, in order and without duplicates. */
  readonly warnings: readonly string[];
  readonly representation: Representation;
  readonly headers?: Headers | undefined;
  /** The authenticated user, if known. */
  readonly caller?: UserInfo | undefined;
  /**
   * Whether the caller was not authenticated: an HTTP/2 connection is then closed after this response, as in
   * Kubernetes.
   */
  readonly unknownCaller?: boolean;
  /** The time at which the whole response must have been sent, in milliseconds of the `monotonic` time of the clock. */
  readonly deadline?: number | undefined;
  /** Called once, when the response was sent or can no longer be sent. Watches report their end themselves. */
  readonly onSettled?: (outcome: Outcome) => void;
}

/** How a response ended. */
export interface Outcome {
  readonly code: number;
  /** The size of the body, if there is one. */
  readonly bytes: number;
  /** Whether the response was aborted after it had begun. */
  readonly isAborted?: boolean;
}

/** The representation that the caller accepts. */
export interface Representation {
  readonly mediaType: 'json' | 'yaml' | 'protobuf';
  readonly as?: {
    readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
    readonly version: 'v1' | 'v1beta1';
  };
  readonly pretty: boolean;
  /** What the rows of a table include; only for tables. */
  readonly includeObject?: 'Metadata' | 'Object' | 'None';
}

/** The representation of results that do not depend on the Accept header. */
export const plainJson: Representation = { mediaType: 'json', pretty: false };
