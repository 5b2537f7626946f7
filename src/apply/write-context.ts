import type { ApiObject, JsonObject } from '../api/object.js';
import type { Schema } from '../schema/schema.js';

/** What field ownership needs to know about a write. */
export interface WriteContext {
  /** Schema of the object in `apiVersion`. */
  readonly schema: Schema;
  /** Version of the endpoint written to: `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** The field manager, as `managerName` returns it. */
  readonly manager: string;
  /** Absent for the main resource. */
  readonly subresource?: string | undefined;
  /** Milliseconds. */
  readonly now: number;
  /** Fields that writes through this endpoint reset and never own, with everything below them. */
  readonly resetFields?: readonly (readonly string[])[] | undefined;
  /** For kinds with several versions. */
  readonly versions?: Versions | undefined;
}

/** The versions of a kind. */
export interface Versions {
  /** The same object in another version, with its schema there; undefined if there is no such version. */
  convert(object: JsonObject, apiVersion: string): { readonly object: JsonObject; readonly schema: Schema } | undefined;
}

/** An apply request. */
export interface ApplyContext extends WriteContext {
  /** The stored object in the version of the endpoint; absent if the apply creates it. */
  readonly live: ApiObject | undefined;
  /** The configuration as sent. */
  readonly config: JsonObject;
  /** The kind of the endpoint. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** Take over fields that others own. */
  readonly force: boolean;
  /**
   * It is applied to a custom resource's Scale. Kubernetes has no fields of Scales for owners to be found by, nor can it
   * convert a Scale that an apply changed: it refuses both.
   */
  readonly isScale?: boolean;
}
