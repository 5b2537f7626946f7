import type { ApiObject, JsonObject } from '../../api/object.js';
import type { PatchOperation } from '../../api/patch-operation.js';
import type { ResourceKind } from '../webhooks/versioned-attributes.js';

/** Thrown when a mutation cannot be applied, which is a failure of the policy. */
export class MutationFailed extends Error {
  override readonly name = 'MutationFailed';
}

/** The version in which the policy sees the object, and the version of the request. */
export interface PatchVersions {
  readonly as: ResourceKind;
  readonly given: ResourceKind;
}

/** Applies the mutations of policies to objects. */
export interface PolicyPatcher {
  /**
   * Returns the object with the operations applied and defaults set; the unchanged object if an operation is a `test`
   * that fails.
   *
   * @throws MutationFailed, or ApiError for an unreadable result
   */
  applyJsonPatch(object: ApiObject, as: PatchVersions, operations: readonly PatchOperation[]): Promise<ApiObject>;
  /** Returns the object with a configuration merged into it and defaults set. Throws MutationFailed. */
  applyConfiguration(object: ApiObject, as: PatchVersions, configuration: JsonObject): Promise<ApiObject>;
}
