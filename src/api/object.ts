/** Any JSON value. A whole number that fits in 64 bits but not exactly in a double is a bigint; other numbers never are. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [member: string]: Json;
}

/** Whether a JSON value is an object. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Whether a JSON value is a list. The type of `Array.isArray` does not narrow to read-only arrays. */
export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

/** Returns the own member with this name, never one inherited from Object.prototype. */
export const member = <T>(object: { readonly [member: string]: T }, name: string): T | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/**
 * Reference to an object that owns another, which is deleted once all its owners are gone. An owner is cluster-scoped
 * or in the same namespace; at most one owner is the managing controller.
 */
export interface OwnerReference {
  /** API version of the owner. */
  readonly apiVersion: string;
  /** Kind of the owner. */
  readonly kind: string;
  /** Name of the owner. */
  readonly name: string;
  /** UID of the owner. */
  readonly uid: string;
  /** Whether the owner is the managing controller of the object. */
  readonly controller?: boolean;
  /** Whether foreground deletion of the owner waits for the object to be deleted. */
  readonly blockOwnerDeletion?: boolean;
}

/** Fields of an object that one manager owns (`metadata.managedFields[]`, KEP-555). */
export interface ManagedFieldsEntry {
  /** Name of the manager of the fields. */
  readonly manager?: string;
  /** Type of the operation: `Apply` or `Update`. */
  readonly operation?: 'Apply' | 'Update';
  /** API version of the field names. */
  readonly apiVersion?: string;
  /** Time of the last change of the entry: RFC 3339 in UTC with whole seconds. */
  readonly time?: string;
  /** Format of `fieldsV1`; `FieldsV1` is the only one. */
  readonly fieldsType?: string;
  /** Set of the managed fields. */
  readonly fieldsV1?: JsonObject;
  /** Subresource through which the fields were written; empty for the object itself. */
  readonly subresource?: string;
}

/**
 * Metadata of every object: names, labels, versions and timestamps. Timestamps are RFC 3339 strings in UTC with whole
 * seconds.
 */
export interface ObjectMeta {
  /** Name of the object, unique within its namespace. Cannot be changed. */
  readonly name?: string | undefined;
  /** Prefix of a name that the server generates if no name is given. */
  readonly generateName?: string | undefined;
  /** Namespace within which the name is unique; empty for cluster-scoped objects. Cannot be changed. */
  readonly namespace?: string | undefined;
  /** Deprecated: no longer set. */
  readonly selfLink?: string | undefined;
  /** ID of the object, unique in space and time. Set by the server. */
  readonly uid?: string | undefined;
  /**
   * Opaque version of the object, for concurrency control and watches. Set by the server, here to the decimal revision
   * of the store.
   */
  readonly resourceVersion?: string | undefined;
  /** Sequence number of the desired state. Set by the server. */
  readonly generation?: number | undefined;
  /** Time at which the object was created. Set by the server. */
  readonly creationTimestamp?: string | undefined;
  /** Time at which the object will be deleted, once deletion was requested. Set by the server. */
  readonly deletionTimestamp?: string | undefined;
  /** Seconds of grace before the object is deleted. Set by the server. */
  readonly deletionGracePeriodSeconds?: number | undefined;
  /** Names and values by which objects can be selected. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Unstructured names and values that tools can store and read. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Objects that own this one; it is garbage-collected when all of them are gone. */
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  /** Names that must all be removed before the object is deleted. */
  readonly finalizers?: readonly string[] | undefined;
  /** Fields that each manager owns; maintained by the server. An empty list clears all ownership. */
  readonly managedFields?: readonly ManagedFieldsEntry[] | undefined;
}

/** Members that all objects have; types of kinds add their own, such as `spec`, `status` and `data`. */
export interface ApiObject {
  /**
   * API group and version of the schema of the object, such as `certificates.k8s.io/v1`, or the bare version for the
   * core group.
   */
  readonly apiVersion: string;
  /** Kind of the object, in CamelCase. */
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object whose members other than the common ones have no static types. */
export interface Unstructured extends ApiObject {
  readonly [member: string]: unknown;
}

/** Casts an object so that any member can be read by name. */
export const unstructured = (object: ApiObject): Unstructured => object as Unstructured;

/** Namespace and name of an object of a known type; `namespace` is absent for cluster-scoped objects. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** An object of a kind with these types of `spec` and `status`, such as types generated from its schema. */
export interface Resource<Spec, Status = undefined> extends ApiObject {
  readonly spec: Spec;
  readonly status?: Status | undefined;
}

/**
 * A resource: its group, version and plural, and the other names by which clients know it. Carries the static type of
 * its objects.
 */
export interface ResourceType<T extends ApiObject = ApiObject> {
  /** API group; empty for the core group. */
  readonly group: string;
  /**
   * The group under the default domains, set if the resource is served under other domains; identifies the kind inside
   * the server.
   */
  readonly homeGroup?: string;
  readonly version: string;
  /** Plural name of the resource in URLs, in lower case. */
  readonly plural: string;
  /** Singular name of the resource, in lower case. */
  readonly singular: string;
  /** Kind of the objects, in CamelCase. */
  readonly kind: string;
  /** Kind of lists of the objects. */
  readonly listKind: string;
  /** Whether the objects belong to namespaces; otherwise they are cluster-scoped. */
  readonly namespaced: boolean;
  /** Short names of the resource, in lower case. */
  readonly shortNames?: readonly string[];
  /** Groups of resources that the resource is listed with, such as `all`. */
  readonly categories?: readonly string[];
  /** Never set. Lets the compiler infer `T` from a value of this type. */
  readonly objectType?: T;
}

/** A page of a list of objects, all as of the same resource version. */
export interface List<T extends ApiObject = ApiObject> {
  readonly metadata: {
    /** Resource version of the collection at which the list was read. */
    readonly resourceVersion: string;
    /** Token of the next page; absent if there is none. */
    readonly continue?: string;
    /** Number of items that follow this page, if known. */
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** Returns `group/version`, or the bare version for the core group. */
export const groupVersion = (type: { readonly group: string; readonly version: string }): string =>
  type.group === '' ? type.version : `${type.group}/${type.version}`;

/** Returns Go's error for an apiVersion with more than one slash; undefined for others. */
export const groupVersionComplaint = (apiVersion: string): string | undefined =>
  apiVersion.split('/', 3).length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined;

/** Returns the group in an apiVersion; empty for the core group. */
export const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));

/** Returns the version in an apiVersion, without its group. */
export const shortVersion = (apiVersion: string): string => apiVersion.split('/').at(-1) ?? '';

/** Returns `plural.group`, or the bare plural for the core group, as errors name a resource. */
export const groupResource = (type: { readonly group: string; readonly plural: string }): string =>
  type.group === '' ? type.plural : `${type.plural}.${type.group}`;

/** Returns `Kind.group`, or the bare kind for the core group, as validation errors name a kind. */
export const groupKind = (type: { readonly group: string; readonly kind: string }): string =>
  type.group === '' ? type.kind : `${type.kind}.${type.group}`;

/** Whether an untyped value has the shape of an API object. */
export const hasMetadata = (value: unknown): value is ApiObject => isObject(value) && isObject(value['metadata']);

/** Returns `namespace/name`, or the bare name, for logs and queue keys. */
export const keyText = (key: ObjectKey): string =>
  key.namespace === undefined || key.namespace === '' ? key.name : `${key.namespace}/${key.name}`;

/** Returns the namespace and name of an object; the name is empty if it has none yet. */
export const keyOf = (object: { readonly metadata: ObjectMeta }): ObjectKey => ({
  namespace: object.metadata.namespace,
  name: object.metadata.name ?? '',
});

/**
 * Returns a resource type. By default the singular is the kind in lower case, and the kind of lists is the kind
 * followed by `List`.
 */
export function resourceType<T extends ApiObject = Unstructured>(definition: {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}): ResourceType<T> {
  return { singular: definition.kind.toLowerCase(), listKind: `${definition.kind}List`, ...definition };
}

/** Whether a resource is the one that `of` names under the default domains. */
export const isType = (
  type: { readonly group: string; readonly homeGroup?: string; readonly plural: string },
  of: { readonly group: string; readonly plural: string },
): boolean => type.plural === of.plural && (type.homeGroup ?? type.group) === of.group;

/** Sets a member whose name comes from a user, so that `__proto__` is a name like any other. */
export function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else object[name] = value;
}

/** Casts an API object to JsonObject. Objects are JSON, but TypeScript cannot know that. */
export const asJson = (object: ApiObject): JsonObject => object as unknown as JsonObject;
