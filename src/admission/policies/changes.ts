import type { ApiObject, JsonObject } from '../../api/object.js';
import type { PatchOperation } from '../../api/patch-operation.js';
import type { ResourceKind } from '../webhooks/versioned-attributes.js';

/** A change that a policy wants cannot be made: the policy has failed. */
export class ChangeFailed extends Error {
  override readonly name = 'ChangeFailed';
}

/** In which version an object is changed, and in which one the request was made. */
export interface ChangedAs {
  readonly as: ResourceKind;
  readonly given: ResourceKind;
}

/** How objects are changed as policies want it. */
export interface PolicyChanges {
  /**
   * The object changed by operations, with defaults; as it is if one of them is a `test` that fails.
   *
   * @throws ChangeFailed, or ApiError for a result that cannot be read.
   */
  patched(object: ApiObject, as: ChangedAs, operations: readonly PatchOperation[]): Promise<ApiObject>;
  /** The object with a configuration merged in, with defaults. Throws ChangeFailed. */
  merged(object: ApiObject, as: ChangedAs, configuration: JsonObject): Promise<ApiObject>;
}
