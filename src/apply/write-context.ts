import type { ApiObject, JsonObject } from '../api/object.js';
import type { Schema } from '../schema/schema.js';

/** One write, as far as ownership cares. */
export interface WriteContext {
  /** Schema of the object in `apiVersion`. */
  readonly schema: Schema;
  /** Version of the endpoint written to: `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** As `managerName` answers it. */
  readonly manager: string;
  /** Absent for the main resource. */
  readonly subresource?: string | undefined;
  /** Milliseconds. */
  readonly now: number;
  /** Fields that this endpoint does not write, and so never owns; everything below them included. */
  readonly resetFields?: readonly (readonly string[])[] | undefined;
  /** For kinds with several versions. */
  readonly versions?: Versions | undefined;
}

/** The versions of a kind. */
export interface Versions {
  /** The same object in another version, with its schema there; undefined if there is no such version. */
  convert(object: JsonObject, apiVersion: string): { readonly object: JsonObject; readonly schema: Schema } | undefined;
}

/** An apply. */
export interface ApplyContext extends WriteContext {
  /** What is stored, as the version of the endpoint prints it; absent when the apply creates. */
  readonly live: ApiObject | undefined;
  /** The configuration as sent. */
  readonly config: JsonObject;
  /** Of the endpoint. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** Take fields that others own. */
  readonly force: boolean;
  /**
   * It is applied to a custom resource's Scale. Kubernetes has no fields of Scales for owners to be found by, nor can it
   * convert a Scale that an apply changed: it refuses both.
   */
  readonly isScale?: boolean;
}
