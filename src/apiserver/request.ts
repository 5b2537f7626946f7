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

/** What a URL and a method ask for, as authorization sees it; made before anybody knows whether it exists. */
export interface RequestInfo extends Omit<InterceptedRequest, 'user'> {
  /** The path goes beyond what can be: segments follow the subresource, or namespaces are asked for in a namespace. */
  readonly hasExtraSegments: boolean;
  /** The path names a namespace of no characters: `namespaces//secrets`. */
  readonly namespaceIsEmpty: boolean;
  /** The path says watch, instead of the query. */
  readonly watchedByPath: boolean;
  /** Selectors of a request about a collection, as sent; they have not been checked. */
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

/** A request, freed of sockets. */
export interface ApiRequest {
  readonly info: RequestInfo;
  /** Upper case. */
  readonly method: string;
  readonly query: Query;
  /** Path and query as sent; for messages. */
  readonly uri: string;
  /** First value of a header (lower-case name). */
  header(name: string): string | undefined;
  /** Who is calling: credentials to be checked, or an identity this process vouches for. */
  readonly caller: { readonly credentials: Credentials } | { readonly user: UserInfo };
  /** The whole body; RequestEntityTooLarge beyond the limit. */
  body(): Promise<RequestBody>;
  /** Aborted when the caller has gone; that of a watch, which would not end by itself, also when the server stops. */
  readonly signal: AbortSignal;
  /** Names the request in the audit log and to the caller. */
  readonly auditId?: string;
  /** Of the peer, where the request came over the network. */
  readonly remoteAddress?: string;
  /** Aborts the signal: nobody waits for the answer any more. */
  abandon?(): void;
  /** Set on the way, where the request is recorded. */
  record?: RequestRecord | undefined;
  /** Set on the way, where requests are looked after. */
  latencies?: Latencies | undefined;
}

/** What a record of the request, in the audit log, is told on the way. */
export interface RequestRecord {
  /** It was about a version that is deprecated. */
  deprecated(): void;
  /** The first value of an annotation stays. Of some only records of a level tell. */
  annotate(key: string, value: string, fromLevel?: 'Request'): void;
  /** The object that was sent, read and filled with its defaults. `text` makes its JSON. */
  sent(object: JsonObject, text: (object: JsonObject) => string): void;
  /** The patch that was sent. */
  sentPatch(body: RequestBody): Promise<void>;
}

/** Bytes of a declared type. */
export interface RequestBody {
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
  /** Made in this process, which has no need to be protected from itself: it may have any number of values. */
  readonly isTrusted?: boolean;
}

/** What a verb answers, before it is put into the form the caller accepts. */
export type Result =
  | EntryResult
  /** One object that is not stored in this form. */
  | {
      readonly type: 'object';
      readonly code: number;
      readonly definition?: ResourceDefinition;
      readonly object: object;
    }
  | ListResult
  | WatchResult
  | TextResult
  /** Bytes of a fixed form, such as an OpenAPI document. */
  | {
      readonly type: 'bytes';
      readonly code: number;
      readonly bytes: Buffer;
      /** Absent where there are none. */
      readonly contentType?: string;
      /** Whether callers who accept it get them compressed; not unless told. */
      readonly compressible?: boolean;
      readonly headers?: Headers;
    };

/** Results that are represented: the others are bytes already, or a stream. */
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
  /** Completes when the watch is over. Errors are events here, never failures of the stream. */
  readonly events: Observable<WatchItem>;
  /** For a reader that may be slower than the events come; to be limited before subscribing. */
  readonly backpressure: Backpressure;
  /** To be told of every event that was sent, and its size. */
  readonly onSent?: (item: WatchItem, bytes: number) => void;
}

export type WatchItem =
  /**
   * `entry` carries the revision of the event; for an object leaving a selection, its previous content. `initial`: it is
   * part of the present state.
   */
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly entry: Entry; readonly initial?: true }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly error: unknown };

/** The answer to a request: a result, or the failure in its place; and what goes with either. */
export interface ApiResponse {
  readonly result: Result;
  /** Texts of Warning headers, in order, each once. */
  readonly warnings: readonly string[];
  readonly representation: Representation;
  readonly headers?: Headers | undefined;
  /** Who asked, where that is known. */
  readonly caller?: UserInfo | undefined;
  /** The caller is nobody in particular: an HTTP/2 connection ends with this answer, as Kubernetes has it. */
  readonly unknownCaller?: boolean;
  /** By when (of a clock's `monotonic`) the caller has to have all of it: the time of a request counts until then. */
  readonly deadline?: number | undefined;
  /** To be told once: the answer was sent, or will not be. Watches tell of their end themselves. */
  readonly onSettled?: (outcome: Outcome) => void;
}

/** What became of an answer. */
export interface Outcome {
  readonly code: number;
  /** Size of the body, where there is one. */
  readonly bytes: number;
  /** It was broken off after it had begun. */
  readonly isAborted?: boolean;
}

/** The form the caller accepts. */
export interface Representation {
  readonly mediaType: 'json' | 'yaml' | 'protobuf';
  readonly as?: {
    readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
    readonly version: 'v1' | 'v1beta1';
  };
  readonly pretty: boolean;
  /** For tables. */
  readonly includeObject?: 'Metadata' | 'Object' | 'None';
}

/** The form of what is the same whatever the caller accepts. */
export const plainJson: Representation = { mediaType: 'json', pretty: false };
