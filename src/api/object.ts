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
 * An owner of an object; the object is deleted once all its owners are gone. An owner is cluster-scoped or in the same
 * namespace; at most one is the controller.
 */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** One manager's share of an object (`metadata.managedFields[]`, KEP-555). */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  /** RFC 3339, whole seconds, UTC. */
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: JsonObject;
  readonly subresource?: string;
}

/** `metadata` of every object. Timestamps are RFC 3339 strings in UTC with whole seconds. */
export interface ObjectMeta {
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
  readonly namespace?: string | undefined;
  readonly selfLink?: string | undefined;
  readonly uid?: string | undefined;
  /** Opaque to clients; here the decimal revision of the store. */
  readonly resourceVersion?: string | undefined;
  readonly generation?: number | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly deletionTimestamp?: string | undefined;
  readonly deletionGracePeriodSeconds?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly managedFields?: readonly ManagedFieldsEntry[] | undefined;
}

/** The members common to all objects. Kinds extend it with `spec`, `status`, `data`, ... */
export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object whose members other than the common ones have no types. */
export interface Unstructured extends ApiObject {
  readonly [member: string]: unknown;
}

/** Casts an object so that members can be read by name. */
export const unstructured = (object: ApiObject): Unstructured => object as Unstructured;

/** Names one object of a known type; `namespace` is absent for cluster-scoped ones. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** An object of a kind with these types of `spec` and `status`, which may be generated from its schema. */
export interface Resource<Spec, Status = undefined> extends ApiObject {
  readonly spec: Spec;
  readonly status?: Status | undefined;
}

/** A group, version and plural, with the names clients know it by. Carries the type of its objects. */
export interface ResourceType<T extends ApiObject = ApiObject> {
  /** API group; empty for the core group. */
  readonly group: string;
  /** The group under the default domains if it is served under others; identifies the kind inside the server. */
  readonly homeGroup?: string;
  readonly version: string;
  /** Lower-case plural, as in URLs. */
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Never set; lets the compiler infer `T` from a value of this type. */
  readonly objectType?: T;
}

/** A page of objects, all as of `metadata.resourceVersion`. */
export interface List<T extends ApiObject = ApiObject> {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** `group/version`, or the bare version for the core group. */
export const groupVersion = (type: { readonly group: string; readonly version: string }): string =>
  type.group === '' ? type.version : `${type.group}/${type.version}`;

/** Returns Go's error for an apiVersion with more than one slash; undefined for others. */
export const groupVersionComplaint = (apiVersion: string): string | undefined =>
  apiVersion.split('/', 3).length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined;

/** The group in an apiVersion; empty for the core group. */
export const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));

/** The version without its group. */
export const shortVersion = (apiVersion: string): string => apiVersion.split('/').at(-1) ?? '';

/** `plural.group`, or the bare plural for the core group; how errors name a resource. */
export const groupResource = (type: { readonly group: string; readonly plural: string }): string =>
  type.group === '' ? type.plural : `${type.plural}.${type.group}`;

/** `Kind.group`, or the bare kind for the core group; how validation errors name a kind. */
export const groupKind = (type: { readonly group: string; readonly kind: string }): string =>
  type.group === '' ? type.kind : `${type.kind}.${type.group}`;

/** Whether an untyped value has the shape of an API object. */
export const hasMetadata = (value: unknown): value is ApiObject => isObject(value) && isObject(value['metadata']);

/** `namespace/name`, or the bare name; for logs and queue keys. */
export const keyText = (key: ObjectKey): string =>
  key.namespace === undefined || key.namespace === '' ? key.name : `${key.namespace}/${key.name}`;

/** Returns the namespace and name of an object; the name is empty if it has none yet. */
export const keyOf = (object: { readonly metadata: ObjectMeta }): ObjectKey => ({
  namespace: object.metadata.namespace,
  name: object.metadata.name ?? '',
});

/** Makes a resource type; names that are not given are derived where possible. */
export function resourceType<T extends ApiObject = Unstructured>(given: {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}): ResourceType<T> {
  return { singular: given.kind.toLowerCase(), listKind: `${given.kind}List`, ...given };
}

/** Whether this resource is the one that `type` names under the default domains. */
export const isType = (
  type: { readonly group: string; readonly homeGroup?: string; readonly plural: string },
  of: { readonly group: string; readonly plural: string },
): boolean => type.plural === of.plural && (type.homeGroup ?? type.group) === of.group;

/** Sets a member whose name a user chose: `__proto__` is a name like any other. */
export function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else object[name] = value;
}

/** Casts an API object to JsonObject: it is JSON, but TypeScript cannot tell. */
export const asJson = (object: ApiObject): JsonObject => object as unknown as JsonObject;
