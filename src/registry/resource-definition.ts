import type { ApiObject, JsonObject, ObjectKey, ResourceType } from '../api/object.js';
import type { DeletionPolicy } from '../api/options.js';
import type { Steps } from '../api/steps.js';
import type { UserInfo } from '../api/user.js';
import type { Findings, Violation } from '../api/violations.js';
import type { Schema } from '../schema/schema.js';
import type { Revision } from '../store/store.js';

/**
 * Groups of rules for an update: validity of the metadata and of the contents, and which changes of either are allowed.
 */
export type UpdateRules = 'metadata' | 'metadata change' | 'contents' | 'change';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/**
 * Definition of one kind: everything that is specific to it. The registry and the API server contain what all kinds
 * have in common.
 */
export interface ResourceDefinition<T extends ApiObject = ApiObject> extends ResourceType<T> {
  /**
   * Whether the kind is built in or a custom resource. Both are served by the same code; only a few texts and encodings
   * depend on this.
   */
  readonly origin: 'built-in' | 'custom';
  /** Schema of the whole object, including `kind`, `apiVersion` and `metadata`. It is compiled on first use. */
  readonly schema: Schema;
  /** Verbs that the kind supports; all eight by default. */
  readonly verbs?: readonly Verb[];
  /** Rule for `metadata.name`, and with `prefix` for `generateName`; a DNS subdomain by default. */
  readonly nameRule?: NameRule;
  /**
   * Returns the name rule, instead of `nameRule`, for a kind whose valid names depend on the rest of the object. Pure.
   */
  nameRuleOf?(object: T): NameRule;
  /**
   * The kind's own rules for an update, in the order in which their violations are reported; by default `metadata
   * change`, `metadata`, `contents`. For kinds that list metadata rules, violations of these are reported twice,
   * because the generic rules check them for every kind; for other kinds the metadata is checked once the rest is
   * valid.
   */
  readonly updateRules?: readonly UpdateRules[];
  /** Whether finalizers need not be qualified by a domain. Always true for custom resources. */
  readonly anyFinalizer?: boolean;
  /** Whether a PUT of an absent object creates it. */
  readonly createOnUpdate?: boolean;
  /** Whether a PUT without a resourceVersion overwrites the object unconditionally. */
  readonly unconditionalUpdate?: boolean;
  /**
   * Whether Kubernetes has no watch cache for the kind: reads then always return the latest state, are paged regardless
   * of the resourceVersion that they name, and never wait for one.
   */
  readonly uncached?: boolean;
  /** Whether DELETE returns the object instead of a Status; with `untold`, OpenAPI nevertheless documents a Status. */
  readonly returnsDeleted?: boolean | 'untold';
  /** Whether a write increments `metadata.generation`; absent for kinds without generations. */
  readonly newGeneration?: (next: T, previous: T) => boolean;
  /**
   * Member whose empty lists and maps are stored as absent. A write that contains one increments the generation
   * nevertheless.
   */
  readonly generationOfEmpty?: string;
  /**
   * Fields that field selectors support in addition to metadata.name and metadata.namespace, each with a function that
   * returns its value ("" if it is absent).
   */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>;
  /** False for a namespaced kind whose field selectors do not support metadata.namespace. */
  readonly selectsNamespace?: false;
  /** Table columns after the name; by default the age. */
  readonly columns?: readonly Column<T>[];
  /** False if the first column is not the name (events). */
  readonly leadsWithName?: boolean;
  /** Returns the condition of a table row if the object is completed; otherwise undefined. */
  readonly completed?: (object: T) => RowCondition | undefined;
  readonly subresources?: Readonly<Record<string, Subresource<T>>>;
  /** Store revision since which objects have this representation; absent if they have always had it. */
  readonly since?: Revision;
  /** True if requests are served although discovery does not list the kind, or does not list it yet. */
  readonly undiscovered?: boolean;
  /** Warning that is sent with every response if this version is deprecated. */
  readonly deprecation?: string;
  /**
   * The type that objects are stored as, if it differs from the served one: another version, or the kind in another
   * group. Its schema determines the order of members; without a schema they are in alphabetical order.
   */
  readonly storedAs?: Pick<ResourceDefinition, 'group' | 'version'> & Partial<Pick<ResourceDefinition, 'schema'>>;
  /**
   * Whether the stored form distinguishes empty lists from absent ones, as for custom resources. For other kinds, empty
   * values are stored as null.
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
    /** Present if a webhook converts versions: returns the object that `convert` would return. */
    readonly convertRemotely?: (object: JsonObject, apiVersion: string) => Promise<JsonObject>;
  };
  /** Definitions of all versions of the kind, served or not, including this one; absent if there is only one. */
  readonly siblings?: () => readonly ResourceDefinition[];
  /** False for kinds that the garbage collector ignores. Deletions never add its finalizers to their objects. */
  readonly garbageCollected?: boolean;
  /** Top-level fields that writes to the main resource never own (managedFields), such as `['status']`. */
  readonly resetFields?: readonly (readonly string[])[];

  /** Present if the schema alone does not determine how bodies are decoded (custom resources). */
  readonly reader?: BodyReader<T>;
  /** Present if objects are stored in another form than the one that is served. */
  readonly codec?: Codec<T>;

  /**
   * Returns the object with the defaults that the schema cannot express; called after those of the schema are set.
   * Pure; in steps if it can take long.
   */
  defaults?(object: T): T | Steps<T>;
  /**
   * Returns the object with server-owned fields filled in, and without fields that callers may not set. Pure.
   * `previous` is absent on create.
   */
  prepare?(next: T, previous: T | undefined, context: RequestContext): T;
  /**
   * Returns the violations in kind and apiVersion, for kinds whose bodies may name any type. They are reported instead
   * of violations in metadata. Pure.
   */
  typeViolations?(next: T): readonly Violation[];
  /**
   * Returns all violations of rules that neither the schema nor the metadata rules express; in steps if that can take
   * long. Pure.
   */
  validate?(next: T, previous: T | undefined, context: RequestContext, known?: ObjectFacts): Findings;
  /**
   * Returns the violations by an update that changes immutable fields, if these are reported separately from the
   * contents (`updateRules`). Pure.
   */
  validateChange?(next: T, previous: T, context: RequestContext, known?: ObjectFacts): Findings;
  /** Returns warnings for the client about an accepted object. Pure. */
  warnings?(next: T, previous: T | undefined): readonly string[];
  /** Called after every stored update. Must not throw. */
  updated?(next: T, previous: T): void;
  /**
   * Answers a create of a kind that is never stored, such as TokenReview; `verbs` is then `['create']`. `validate` runs
   * first, and may throw errors that name no field.
   */
  answer?(request: T, context: RequestContext): Promise<T>;
  /**
   * How objects are deleted, for kinds whose deletion depends on more than metadata.finalizers (Namespace,
   * CustomResourceDefinition). The first request only marks the object; once nothing holds it, the next request or
   * update removes it.
   */
  readonly deletion?: {
    /** Returns the propagation policy of the first request, instead of the requested one. Pure. */
    policy?(sent: DeletionPolicy): DeletionPolicy;
    /** Returns the object marked as terminating; deletionTimestamp is already set. Pure. */
    mark(object: T, context: RequestContext): T;
    /** Whether something other than metadata.finalizers still holds the object. */
    held(object: T): boolean;
  };
}

/** Decodes the request bodies of one version. Pure. */
export interface BodyReader<T extends ApiObject> {
  /**
   * Prunes and defaults a body whose kind has been checked. Throws ApiError (400) if it cannot be decoded. A body
   * that apply or admission made (`isGenerated`) is pruned when it is stored, and its unreadable metadata is dropped.
   */
  decode(
    body: JsonObject,
    options: { readonly isGenerated: boolean },
  ): Steps<{ readonly object: T; readonly unknownFields: readonly string[] }>;
  /** Returns an object that apply or admission made, pruned as it is when it is stored. */
  pruned(object: T): T;
}

/** Converts objects of one version to and from their stored form. Pure. */
export interface Codec<T extends ApiObject> {
  /** Decodes a stored object of any version into this version. */
  read(stored: JsonObject): T;
  /** Decodes only the metadata, with the same result as `read`; absent if that requires the whole object. */
  readonly readMetadata?: (stored: JsonObject) => JsonObject;
  /** Encodes an object in the storage version. Throws ApiError (500) if it cannot be read there. */
  store(object: T): JsonObject;
  /**
   * Present if a webhook converts versions: `read` and `store` of the codec then handle only objects that need no
   * conversion, and these functions handle all others. They reject with the error that is returned to the caller.
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

/** Returns the problems of a name, one text for each; empty if the name is valid. */
export type NameRule = (name: string, options: { readonly prefix: boolean }) => readonly string[];

/** A condition of a row of a table. */
export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** A column of the tables that `kubectl get` prints. */
export interface Column<T extends ApiObject = ApiObject> {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description: string;
  /** Priority of the column: 0 is always shown, higher values only in wide output. */
  readonly priority?: number;
  /** Returns the value of the cell. `now` is in milliseconds, for ages. */
  cell(object: T, now: number): unknown;
}

export type Subresource<T extends ApiObject> = SubresourceView<T> | SubresourceAction | SubresourceProjection<T>;

/** A subresource that represents the same object at another endpoint, such as status or approval. */
export interface SubresourceView<T extends ApiObject> {
  readonly type: 'view';
  /** Verbs that the subresource supports; get, patch and update by default. */
  readonly verbs?: readonly Verb[];
  readonly resetFields?: readonly (readonly string[])[];
  /** False if this subresource has no table form. */
  readonly tables?: boolean;
  /** Rules of this subresource for an update, in order; by default those of the kind. */
  readonly updateRules?: readonly UpdateRules[];
  /**
   * Returns the object with everything restored from `previous` that writes to this subresource may not change. Pure.
   */
  prepare(next: T, previous: T, context: RequestContext): T;
  validate?(next: T, previous: T, context: RequestContext, known?: ObjectFacts): Findings;
}

/** A subresource that answers requests about an object and stores nothing, such as token. */
export interface SubresourceAction {
  readonly type: 'action';
  /** The kind of the request and of the response. */
  readonly request: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly schema: Schema;
  };
  /** Returns the request, validated and completed, as admission sees it. */
  prepare(key: ObjectKey, request: ApiObject, context: RequestContext): Promise<ApiObject>;
  /** Returns the response to the request that `prepare` returned. */
  answer(key: ObjectKey, request: ApiObject, context: RequestContext): Promise<ApiObject>;
}

/**
 * A subresource with an object of another kind, which is computed from the object and written back into it, such as
 * scale.
 */
export interface SubresourceProjection<T extends ApiObject> {
  readonly type: 'projection';
  readonly of: Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'schema' | 'columns'>;
  /** Verbs that the subresource supports; get, patch and update by default. */
  readonly verbs?: readonly Verb[];
  /**
   * The path of the field that becomes `spec.replicas` of the projection, by version of the kind (`group/version`);
   * undefined for a version without such a field.
   */
  readonly replicas: ReadonlyMap<string, readonly string[] | undefined>;
  read(object: T): ApiObject;
  /** Returns the projection that a write is based on, if it differs from the one that a read returns. */
  readForWrite?(object: T): ApiObject;
  /**
   * Returns the projection that a write is validated by and returns, if it differs from the one that a read returns.
   */
  readWritten?(object: T): ApiObject;
  /**
   * Returns the object with the projection written back into it, and with the resourceVersion of the projection if it
   * has one.
   */
  write(object: T, projected: ApiObject): T;
  validate?(projected: ApiObject): readonly Violation[];
}

/** A stage of a request in which webhooks are called. */
export type WebhookStage = 'mutating-webhook' | 'validating-webhook';

/** The caller that waits for a response. */
export interface Caller {
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** Deadline of the request, in milliseconds of the `monotonic` time of the clock of the server. */
  readonly deadline?: number | undefined;
  /** Called after webhooks were called, with the time that it took, in milliseconds. */
  onWebhookLatency?(stage: WebhookStage, milliseconds: number): void;
}

/** Properties of an object that are known before the rules of its kind run. */
interface ObjectFacts {
  /** The violations in its metadata. */
  readonly inMetadata?: readonly Violation[] | undefined;
  /** The members of an update that were sent empty; see EmptyMembers. */
  readonly emptied?: ReadonlySet<string> | undefined;
}

/** The request that is being served, as far as definitions may know it. */
export interface RequestContext {
  readonly user: UserInfo;
  /** Name and namespace in the URL; the name is absent on POST. */
  readonly key: { readonly namespace?: string | undefined; readonly name?: string | undefined };
  readonly subresource: string | undefined;
  /** Time in milliseconds since the epoch; constant throughout one request. */
  readonly now: number;
  /** Adds a Warning header to the response. */
  warn(text: string): void;
  /**
   * Adds an annotation to the audit event of the request; absent if the request is not audited. The first value of a
   * key is kept. With `fromLevel`, only events of at least that level contain the annotation.
   */
  readonly annotate?: ((key: string, value: string, fromLevel?: 'Request') => void) | undefined;
  /** The caller that waits for the response; absent if there is none that could go away. */
  readonly caller?: Caller | undefined;
}

/** Returns the definition unchanged. Calls let the compiler check its type. */
export const defineResource = <T extends ApiObject>(definition: ResourceDefinition<T>): ResourceDefinition<T> =>
  definition;

/** Returns a definition without the static type of its objects. Callers must pass it only objects of its own kind. */
export const genericDefinition = (definition: object): ResourceDefinition => definition as ResourceDefinition;
