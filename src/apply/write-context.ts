import type { ApiObject, JsonObject } from '../api/object.js';
import type { Schema } from '../schema/schema.js';

/** The properties of a write that field ownership depends on. */
export interface WriteContext {
  /** The schema of the object in `apiVersion`. */
  readonly schema: Schema;
  /** The version of the endpoint, such as `v1` or `apps/v1`. */
  readonly apiVersion: string;
  /** The field manager, as `managerName` returns it. */
  readonly manager: string;
  /** The subresource that is written; absent for the main resource. */
  readonly subresource?: string | undefined;
  /** The time of the write, in milliseconds since the epoch. */
  readonly now: number;
  /** The fields that writes through this endpoint reset and never own, with everything below them. */
  readonly resetFields?: readonly (readonly string[])[] | undefined;
  /** The versions of the kind, if there are several. */
  readonly versions?: Versions | undefined;
}

/** The versions of a kind. */
export interface Versions {
  /** Returns the object in another version, with its schema there; undefined if there is no such version. */
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
  /** Whether to take over fields that other managers own. */
  readonly force: boolean;
  /**
   * Whether the configuration is applied to the Scale of a custom resource. Kubernetes can neither determine owners for
   * the fields of a Scale without owners, nor convert a Scale that an apply has changed: it refuses both.
   */
  readonly isScale?: boolean;
}
