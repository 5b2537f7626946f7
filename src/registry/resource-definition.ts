import type { ApiObject, JsonObject, ObjectKey, ResourceType } from '../api/object.js';
import type { DeletionPolicy } from '../api/options.js';
import type { Steps } from '../api/steps.js';
import type { UserInfo } from '../api/user.js';
import type { Findings, Violation } from '../api/violations.js';
import type { Schema } from '../schema/schema.js';
import type { Revision } from '../store/store.js';

/**
 * Rules that a kind has for an update: what holds of its metadata and of its contents in any object, and what must not
 * change of each.
 */
export type UpdateRules = 'metadata' | 'metadata change' | 'contents' | 'change';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** What is special about one kind. Everything common to all kinds is in the registry and the API server. */
export interface ResourceDefinition<T extends ApiObject = ApiObject> extends ResourceType<T> {
  /** Built-in kinds and custom resources share one path; a handful of texts and encodings differ by this. */
  readonly origin: 'built-in' | 'custom';
  /** Schema of the whole object, `kind`, `apiVersion` and `metadata` included. Compiled on first use. */
  readonly schema: Schema;
  /** Default: all eight. */
  readonly verbs?: readonly Verb[];
  /** Rule for `metadata.name`; also for `generateName`, then with `prefix`. Answers what is wrong with it. Default: DNS subdomain. */
  readonly nameRule?: NameRule;
  /** The rule in the place of `nameRule` where the name must fit the rest of the object. Pure. */
  nameRuleOf?(object: T): NameRule;
  /**
   * Rules of the kind for an update, in the order in which what is wrong is told. Where they look at metadata, which
   * the generic ones do for every kind, it stands more than once among the causes. A kind whose own rules never do has
   * its metadata looked at once the rest is found valid. Default: `metadata change`, `metadata`, `contents`.
   */
  readonly updateRules?: readonly UpdateRules[];
  /** Finalizers need not be qualified by a domain. Always so for custom resources. */
  readonly anyFinalizer?: boolean;
  /** PUT of an absent object creates it. */
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites whatever is there. */
  readonly unconditionalUpdate?: boolean;
  /** Kubernetes keeps no cache of the kind: reads are never older than the store, have pages whatever version they name, and wait for none. */
  readonly uncached?: boolean;
  /** DELETE answers with the object instead of a Status; `untold`: OpenAPI says a Status all the same. */
  readonly returnsDeleted?: boolean | 'untold';
  /** Present where `metadata.generation` counts desired states: did this write make a new one? */
  readonly newGeneration?: (next: T, previous: T) => boolean;
  /** Member in which empty lists and maps are stored as absent; sending one still makes a new generation. */
  readonly generationOfEmpty?: string;
  /** Names of `fieldSelector` beyond metadata.name and metadata.namespace, and how to read them ("" when absent). */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>;
  /** False for a kind in namespaces whose `fieldSelector` does not know metadata.namespace. */
  readonly selectsNamespace?: false;
  /** What a table shows after Name. Default: Age. */
  readonly columns?: readonly Column<T>[];
  /** False if the columns do not begin with the name (events). */
  readonly leadsWithName?: boolean;
  /** What a table says of the object as a whole, if anything: that there is nothing more to do for it. */
  readonly completed?: (object: T) => RowCondition | undefined;
  readonly subresources?: Readonly<Record<string, Subresource<T>>>;
  /** Objects have looked as they do since this version of the store. Absent: always. */
  readonly since?: Revision;
  /** True while requests are answered but discovery does not tell of the kind yet. */
  readonly undiscovered?: boolean;
  /** Sent as a warning with every answer, where this version is deprecated. */
  readonly deprecation?: string;
  /**
   * The type that objects are stored as, where it is not the one served: another version, or one of another group. The
   * schema gives the order of members, and is absent where that is alphabetical.
   */
  readonly storedAs?: Pick<ResourceDefinition, 'group' | 'version'> & Partial<Pick<ResourceDefinition, 'schema'>>;
  /** The store tells an empty list from none, as it does for custom resources; what of other kinds is empty is null there. */
  readonly storedAsJson?: true;
  /** The other versions of the kind, by which managedFields name fields; absent where there is but one. */
  readonly versions?: {
    /** The object in another version, with its schema there; undefined where there is no such version. Pure. */
    convert(
      object: JsonObject,
      apiVersion: string,
    ): { readonly object: JsonObject; readonly schema: Schema } | undefined;
    /** Present where somebody elsewhere converts: makes the object that `convert` would. */
    readonly convertRemotely?: (object: JsonObject, apiVersion: string) => Promise<JsonObject>;
  };
  /** All versions of the kind as definitions, served or not, this one included; absent where there is but one. */
  readonly siblings?: () => readonly ResourceDefinition[];
  /** False for kinds the garbage collector leaves alone: none of its finalizers holds one that is deleted. */
  readonly garbageCollected?: boolean;
  /** Top-level fields that writes to the main resource never own (managedFields), e.g. `['status']`. */
  readonly resetFields?: readonly (readonly string[])[];

  /** Present where bodies are not read by the schema alone (custom resources). */
  readonly reader?: BodyReader<T>;
  /** Present where objects are not stored as they are served. */
  readonly codec?: Codec<T>;

  /** Defaults that the schema cannot say; runs after the schema's own. Pure; in steps where it takes long. */
  defaults?(object: T): T | Steps<T>;
  /** Fills in server-owned fields and drops those that callers may not set. Pure. `previous` is absent on create. */
  prepare?(next: T, previous: T | undefined, context: RequestContext): T;
  /** What is wrong with kind and apiVersion, where any are taken. Stands in the place of what its metadata breaks. Pure. */
  typeViolations?(next: T): readonly Violation[];
  /** Every rule the object breaks, beyond schema and metadata; in steps where that can take long. Pure. */
  validate?(next: T, previous: T | undefined, context: RequestContext, known?: Known): Findings;
  /** What an update changes that cannot be changed, where that is told apart from the contents (`updateRules`). Pure. */
  validateChange?(next: T, previous: T, context: RequestContext, known?: Known): Findings;
  /** Warnings for the client about an accepted object. Pure. */
  warnings?(next: T, previous: T | undefined): readonly string[];
  /** Told of every update that was stored. Must not throw. */
  updated?(next: T, previous: T): void;
  /**
   * For kinds that are answered at once and never stored, such as TokenReview. `verbs` is then `['create']`;
   * `validate` comes first, and may throw what is not told by field.
   */
  answer?(request: T, context: RequestContext): Promise<T>;
  /**
   * For kinds whose deletion is more than finalizers of metadata (Namespace, CustomResourceDefinition). The first
   * request marks the object, whatever holds it; what has nothing to hold it goes with the next request or update.
   */
  readonly deletion?: {
    /** What the first request asks of the garbage collector, where that is not what was sent. Pure. */
    policy?(sent: DeletionPolicy): DeletionPolicy;
    /** The object once deletion has been asked for; deletionTimestamp is already set. Pure. */
    mark(object: T, context: RequestContext): T;
    /** Does something beyond metadata.finalizers still hold the object? */
    held(object: T): boolean;
  };
}

/** How objects of a version come in from callers. Pure. */
export interface BodyReader<T extends ApiObject> {
  /**
   * A body as sent, its type already checked: pruned, defaulted. Throws ApiError (400) for what cannot be read. One
   * that apply or admission `made` is pruned when it is stored, and not before; what of its metadata cannot be read is
   * left out.
   */
  decode(
    body: JsonObject,
    options: { readonly made: boolean },
  ): Steps<{ readonly object: T; readonly unknownFields: readonly string[] }>;
  /** What was made as it is once it was stored: pruned. */
  pruned(object: T): T;
}

/** How objects of a version come in and out of the store. Pure. */
export interface Codec<T extends ApiObject> {
  /** The object in this version of what is stored, in whatever version that is. */
  read(stored: JsonObject): T;
  /** The metadata of the object that `read` makes, from that of what is stored; absent where more decides about it. */
  readonly readMetadata?: (stored: JsonObject) => JsonObject;
  /** The object in the version it is stored in. Throws ApiError (500) for what cannot be read there. */
  store(object: T): JsonObject;
  /**
   * Present where somebody elsewhere converts versions: `read` and `store` do then for objects that need no conversion,
   * and these for the others. Throw what the caller of a request is told.
   */
  readonly remote?: {
    /** Is what is stored in another version than this one? */
    isForeign(stored: JsonObject): boolean;
    /** Can the object be stored as it is? */
    isStoredAs(object: T): boolean;
    read(stored: readonly JsonObject[]): Promise<readonly T[]>;
    store(object: T): Promise<JsonObject>;
  };
}

/** Answers what is wrong with a name, one text each; nothing wrong: empty. */
export type NameRule = (name: string, options: { readonly prefix: boolean }) => readonly string[];

/** A row's `conditions[]` in a table. */
export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** A column of `kubectl get`. */
export interface Column<T extends ApiObject = ApiObject> {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description: string;
  /** 0 is always shown; more only with -o wide. */
  readonly priority?: number;
  /** `now` in milliseconds, for ages. */
  cell(object: T, now: number): unknown;
}

export type Subresource<T extends ApiObject> = SubresourceView<T> | SubresourceAction | SubresourceProjection<T>;

/** The same object at a second endpoint, such as status or approval. */
export interface SubresourceView<T extends ApiObject> {
  readonly type: 'view';
  /** Default: get, patch, update. */
  readonly verbs?: readonly Verb[];
  readonly resetFields?: readonly (readonly string[])[];
  /** False where the server has no table for this subresource. */
  readonly tables?: boolean;
  /** Rules of this subresource for an update, in their order. Default: as the kind's. */
  readonly updateRules?: readonly UpdateRules[];
  /** Keeps everything of `previous` that this subresource may not change. Pure. */
  prepare(next: T, previous: T, context: RequestContext): T;
  validate?(next: T, previous: T, context: RequestContext, known?: Known): Findings;
}

/** A request put to an object and answered at once, such as token. */
export interface SubresourceAction {
  readonly type: 'action';
  /** Kind of the request and of the answer. */
  readonly request: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly schema: Schema;
  };
  /** The request checked and completed, as those see it who judge it. */
  prepare(key: ObjectKey, request: ApiObject, context: RequestContext): Promise<ApiObject>;
  /** Gets what `prepare` made. */
  answer(key: ObjectKey, request: ApiObject, context: RequestContext): Promise<ApiObject>;
}

/** Another kind computed from the object and written back into it, such as scale. */
export interface SubresourceProjection<T extends ApiObject> {
  readonly type: 'projection';
  readonly of: Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'schema' | 'columns'>;
  /** Default: get, patch, update. */
  readonly verbs?: readonly Verb[];
  /**
   * Where each version of the kind (`group/version`) keeps what is `spec.replicas` in the projection; undefined where
   * it has none.
   */
  readonly replicas: ReadonlyMap<string, readonly string[] | undefined>;
  read(object: T): ApiObject;
  /** What a write starts from, where it differs from what a reader gets. */
  readForWrite?(object: T): ApiObject;
  /** What a write is judged by and answers, where it differs from what a reader gets. */
  readWritten?(object: T): ApiObject;
  /** The object with what it is to be; its version is that of the projection, if that has one. */
  write(object: T, projected: ApiObject): T;
  validate?(projected: ApiObject): readonly Violation[];
}

/** What is called for a request while its caller waits. */
export type WebhookStage = 'mutating-webhook' | 'validating-webhook';

/** Who waits for an answer, and for how long. */
export interface Caller {
  /** Aborted when they are gone. */
  readonly signal: AbortSignal;
  /** When (of the server's `monotonic` clock) the time of the request is over. */
  readonly deadline?: number | undefined;
  /** They waited so long (milliseconds). */
  onWebhookLatency?(what: WebhookStage, milliseconds: number): void;
}

/** What else is known of an object when its own rules are asked. */
interface Known {
  /** What its metadata breaks. */
  readonly inMetadata?: readonly Violation[] | undefined;
  /** Of an update as it was sent: see EmptyMembers. */
  readonly emptied?: ReadonlySet<string> | undefined;
}

/** What a definition may know of the request it serves. */
export interface RequestContext {
  readonly user: UserInfo;
  /** Name and namespace of the URL; the name is absent on POST. */
  readonly key: { readonly namespace?: string | undefined; readonly name?: string | undefined };
  readonly subresource: string | undefined;
  /** Milliseconds; the same throughout one request. */
  readonly now: number;
  /** Sends a Warning header with the answer. */
  warn(text: string): void;
  /**
   * Adds a fact to the request's record in the audit log; absent where none is kept. The first value of a key stays.
   * `fromLevel`: only records of that level have it.
   */
  readonly annotate?: ((key: string, value: string, fromLevel?: 'Request') => void) | undefined;
  /** Who waits for the answer. Absent: nobody in particular. */
  readonly caller?: Caller | undefined;
}

/** Checks a definition against its type; the identity otherwise. */
export const defineResource = <T extends ApiObject>(definition: ResourceDefinition<T>): ResourceDefinition<T> =>
  definition;

/** A definition as one of objects of any kind: whoever holds it gives it only objects of its own kind. */
export const genericDefinition = (definition: object): ResourceDefinition => definition as ResourceDefinition;
