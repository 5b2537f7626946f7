import type { ApiObject, JsonObject, ObjectKey, ResourceType } from '../api/object.js';
import type { DeletionPolicy } from '../api/options.js';
import type { Steps } from '../api/steps.js';
import type { UserInfo } from '../api/user.js';
import type { Findings, Violation } from '../api/violations.js';
import type { Schema } from '../schema/schema.js';
import type { Revision } from '../store/store.js';

/** Groups of rules for an update: validity of metadata and of contents, and what must not change of either. */
export type UpdateRules = 'metadata' | 'metadata change' | 'contents' | 'change';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** Defines one kind: everything specific to it. What all kinds have in common is in the registry and the API server. */
export interface ResourceDefinition<T extends ApiObject = ApiObject> extends ResourceType<T> {
  /** Built-in kinds and custom resources share one code path; only a handful of texts and encodings depend on this. */
  readonly origin: 'built-in' | 'custom';
  /** Schema of the whole object, `kind`, `apiVersion` and `metadata` included. Compiled on first use. */
  readonly schema: Schema;
  /** Default: all eight. */
  readonly verbs?: readonly Verb[];
  /** Rule for `metadata.name`, and with `prefix` for `generateName`. Default: DNS subdomain. */
  readonly nameRule?: NameRule;
  /** Replaces `nameRule` where a valid name depends on the rest of the object. Pure. */
  nameRuleOf?(object: T): NameRule;
  /**
   * The kind's own rules for an update, in the order of their causes. Kinds that list metadata rules report its
   * violations twice, because the generic rules check it for every kind; for the others metadata is checked once the
   * rest is valid. Default: `metadata change`, `metadata`, `contents`.
   */
  readonly updateRules?: readonly UpdateRules[];
  /** Finalizers need not be qualified by a domain. Always so for custom resources. */
  readonly anyFinalizer?: boolean;
  /** PUT of an absent object creates it. */
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites whatever is there. */
  readonly unconditionalUpdate?: boolean;
  /**
   * Kubernetes has no watch cache for the kind: reads always see the latest state, are paged whatever resourceVersion
   * they name, and never wait for one.
   */
  readonly uncached?: boolean;
  /** DELETE returns the object instead of a Status; with `untold`, OpenAPI documents a Status nevertheless. */
  readonly returnsDeleted?: boolean | 'untold';
  /** Whether a write increments `metadata.generation`. Present for kinds that have it. */
  readonly newGeneration?: (next: T, previous: T) => boolean;
  /** Member whose empty lists and maps are stored as absent; sending one still increments the generation. */
  readonly generationOfEmpty?: string;
  /** Names of `fieldSelector` beyond metadata.name and metadata.namespace, and how to read them ("" when absent). */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>;
  /** False for a namespaced kind whose `fieldSelector` does not support metadata.namespace. */
  readonly selectsNamespace?: false;
  /** Table columns after Name. Default: Age. */
  readonly columns?: readonly Column<T>[];
  /** False if the columns do not begin with the name (events). */
  readonly leadsWithName?: boolean;
  /** The condition of a table row, if any: that the object is completed. */
  readonly completed?: (object: T) => RowCondition | undefined;
  readonly subresources?: Readonly<Record<string, Subresource<T>>>;
  /** The store revision since which objects have this representation. Absent: always. */
  readonly since?: Revision;
  /** True while requests are served but discovery does not list the kind yet. */
  readonly undiscovered?: boolean;
  /** Warning sent with every response if this version is deprecated. */
  readonly deprecation?: string;
  /**
   * The type that objects are stored as if it differs from the served one: another version, or the kind in another
   * group. Its schema gives the order of members; absent if that is alphabetical.
   */
  readonly storedAs?: Pick<ResourceDefinition, 'group' | 'version'> & Partial<Pick<ResourceDefinition, 'schema'>>;
  /**
   * The store distinguishes empty lists from absent ones, as for custom resources; for other kinds empty values are
   * stored as null.
   */
  readonly storedAsJson?: true;
  /**
   * Conversion to the other versions of the kind, which managedFields may name; absent if there is only one version.
   */
  readonly versions?: {
    /** Converts to another version and returns its schema too; undefined if there is no such version. Pure. */
    convert(
      object: JsonObject,
      apiVersion: string,
    ): { readonly object: JsonObject; readonly schema: Schema } | undefined;
    /** Present if a webhook converts: makes the object that `convert` would. */
    readonly convertRemotely?: (object: JsonObject, apiVersion: string) => Promise<JsonObject>;
  };
  /** Definitions of all versions of the kind, served or not, including this one; absent if there is only one. */
  readonly siblings?: () => readonly ResourceDefinition[];
  /** False for kinds that the garbage collector ignores: deletion never adds its finalizers to them. */
  readonly garbageCollected?: boolean;
  /** Top-level fields that writes to the main resource never own (managedFields), e.g. `['status']`. */
  readonly resetFields?: readonly (readonly string[])[];

  /** Present if bodies are not decoded by the schema alone (custom resources). */
  readonly reader?: BodyReader<T>;
  /** Present if objects are not stored in the form they are served in. */
  readonly codec?: Codec<T>;

  /** Defaults that the schema cannot express; runs after those of the schema. Pure; in steps if it can take long. */
  defaults?(object: T): T | Steps<T>;
  /** Fills in server-owned fields and drops those that callers may not set. Pure. `previous` is absent on create. */
  prepare?(next: T, previous: T | undefined, context: RequestContext): T;
  /**
   * Violations in kind and apiVersion, for kinds whose bodies may name any. Reported instead of violations in metadata.
   * Pure.
   */
  typeViolations?(next: T): readonly Violation[];
  /** Returns all violations beyond schema and metadata; in steps if that can take long. Pure. */
  validate?(next: T, previous: T | undefined, context: RequestContext, known?: Known): Findings;
  /** Immutable fields that an update changes, if they are reported apart from the contents (`updateRules`). Pure. */
  validateChange?(next: T, previous: T, context: RequestContext, known?: Known): Findings;
  /** Warnings for the client about an accepted object. Pure. */
  warnings?(next: T, previous: T | undefined): readonly string[];
  /** Called after every stored update. Must not throw. */
  updated?(next: T, previous: T): void;
  /**
   * Answers a create of a kind that is never stored, such as TokenReview; `verbs` is then `['create']`. `validate` runs
   * first, and may throw errors that name no field.
   */
  answer?(request: T, context: RequestContext): Promise<T>;
  /**
   * For kinds whose deletion involves more than metadata.finalizers (Namespace, CustomResourceDefinition). The first
   * request only marks the object; once nothing holds it, the next request or update removes it.
   */
  readonly deletion?: {
    /** Overrides the propagation policy of the first request. Pure. */
    policy?(sent: DeletionPolicy): DeletionPolicy;
    /** Marks the object as terminating; deletionTimestamp is already set. Pure. */
    mark(object: T, context: RequestContext): T;
    /** Whether something other than metadata.finalizers still holds the object. */
    held(object: T): boolean;
  };
}

/** Decodes request bodies of one version. Pure. */
export interface BodyReader<T extends ApiObject> {
  /**
   * Prunes and defaults a body whose kind has been checked. Throws ApiError (400) if it cannot be decoded. A body that
   * apply or admission `made` is pruned only when it is stored, and unreadable metadata in it is left out.
   */
  decode(
    body: JsonObject,
    options: { readonly made: boolean },
  ): Steps<{ readonly object: T; readonly unknownFields: readonly string[] }>;
  /** Prunes an object that apply or admission made, as storing it does. */
  pruned(object: T): T;
}

/** Converts objects of one version to and from their stored form. Pure. */
export interface Codec<T extends ApiObject> {
  /** Decodes a stored object, of whatever version, into this version. */
  read(stored: JsonObject): T;
  /** Decodes the metadata alone, as `read` would; absent if that needs the whole object. */
  readonly readMetadata?: (stored: JsonObject) => JsonObject;
  /** Encodes an object in the storage version. Throws ApiError (500) if it cannot be read there. */
  store(object: T): JsonObject;
  /**
   * Present if a webhook converts versions: `read` and `store` then handle objects that need no conversion, and these
   * the others. They reject with the error that the caller gets.
   */
  readonly remote?: {
    /** Whether the stored object is in another version than this one. */
    isForeign(stored: JsonObject): boolean;
    /** Whether the object can be stored without conversion. */
    isStoredAs(object: T): boolean;
    read(stored: readonly JsonObject[]): Promise<readonly T[]>;
    store(object: T): Promise<JsonObject>;
  };
}

/** Returns the problems of a name, one text each; empty if it is valid. */
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

/** A subresource that shows the same object at a second endpoint, such as status or approval. */
export interface SubresourceView<T extends ApiObject> {
  readonly type: 'view';
  /** Default: get, patch, update. */
  readonly verbs?: readonly Verb[];
  readonly resetFields?: readonly (readonly string[])[];
  /** False if this subresource cannot be shown as a table. */
  readonly tables?: boolean;
  /** Rules of this subresource for an update, in order. Default: those of the kind. */
  readonly updateRules?: readonly UpdateRules[];
  /** Restores everything that this subresource may not change from `previous`. Pure. */
  prepare(next: T, previous: T, context: RequestContext): T;
  validate?(next: T, previous: T, context: RequestContext, known?: Known): Findings;
}

/** A subresource that answers a request about an object without storing it, such as token. */
export interface SubresourceAction {
  readonly type: 'action';
  /** Kind of the request and of the answer. */
  readonly request: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly schema: Schema;
  };
  /** Validates and completes the request; admission sees the result. */
  prepare(key: ObjectKey, request: ApiObject, context: RequestContext): Promise<ApiObject>;
  /** Answers the request that `prepare` returned. */
  answer(key: ObjectKey, request: ApiObject, context: RequestContext): Promise<ApiObject>;
}

/** A subresource of another kind, computed from the object and written back into it, such as scale. */
export interface SubresourceProjection<T extends ApiObject> {
  readonly type: 'projection';
  readonly of: Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'schema' | 'columns'>;
  /** Default: get, patch, update. */
  readonly verbs?: readonly Verb[];
  /**
   * The path of the field that is `spec.replicas` in the projection, by version of the kind (`group/version`); undefined if
   * it has none.
   */
  readonly replicas: ReadonlyMap<string, readonly string[] | undefined>;
  read(object: T): ApiObject;
  /** The projection that a write starts from, if it differs from the one that a read returns. */
  readForWrite?(object: T): ApiObject;
  /** The projection that a write is validated by and returns, if it differs from the one that a read returns. */
  readWritten?(object: T): ApiObject;
  /** Writes the projection back into the object, with the projection's resourceVersion if it has one. */
  write(object: T, projected: ApiObject): T;
  validate?(projected: ApiObject): readonly Violation[];
}

/** A stage of the request in which webhooks are called while the caller waits. */
export type WebhookStage = 'mutating-webhook' | 'validating-webhook';

/** The caller that waits for a response, and for how long. */
export interface Caller {
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
  /** Deadline of the request, in milliseconds of the server's `monotonic` clock. */
  readonly deadline?: number | undefined;
  /** Reports that the caller waited for webhooks, in milliseconds. */
  onWebhookLatency?(what: WebhookStage, milliseconds: number): void;
}

/** Facts about an object that are known before its own rules run. */
interface Known {
  /** Violations found in its metadata. */
  readonly inMetadata?: readonly Violation[] | undefined;
  /** The empty members of an update as it was sent; see EmptyMembers. */
  readonly emptied?: ReadonlySet<string> | undefined;
}

/** The request that a definition serves, as far as it may know it. */
export interface RequestContext {
  readonly user: UserInfo;
  /** Name and namespace from the URL; the name is absent on POST. */
  readonly key: { readonly namespace?: string | undefined; readonly name?: string | undefined };
  readonly subresource: string | undefined;
  /** Time in milliseconds since the epoch; constant throughout one request. */
  readonly now: number;
  /** Sends a Warning header with the answer. */
  warn(text: string): void;
  /**
   * Adds an annotation to the request's audit event; absent if it is not audited. The first value of a key stays. With
   * `fromLevel`, only events of that level or above get it.
   */
  readonly annotate?: ((key: string, value: string, fromLevel?: 'Request') => void) | undefined;
  /** The caller that waits for the response. Absent: no caller that could go away. */
  readonly caller?: Caller | undefined;
}

/** Type-checks a definition; returns it unchanged. */
export const defineResource = <T extends ApiObject>(definition: ResourceDefinition<T>): ResourceDefinition<T> =>
  definition;

/** Erases the kind from the type of a definition; callers must pass it only objects of its own kind. */
export const genericDefinition = (definition: object): ResourceDefinition => definition as ResourceDefinition;
