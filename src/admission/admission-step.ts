import type { ApiObject, ObjectKey, ResourceType } from '../api/object.js';
import type { UserInfo } from '../api/user.js';

/** A write on its way to the store, as policy sees it. */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly resource: ResourceType<ApiObject>;
  readonly subresource: string | undefined;
  /** The name is empty while it is still to be generated. */
  readonly key: ObjectKey;
  /** The name in the URL; absent on POST to a collection, also when the object has a name. */
  readonly urlName?: string | undefined;
  /** absent on DELETE. */
  readonly object: ApiObject | undefined;
  /** absent on CREATE. */
  readonly previous: ApiObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options object of the request (CreateOptions, UpdateOptions, PatchOptions, DeleteOptions). */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Sends a Warning header with the answer. */
  warn(text: string): void;
  /** Adds a fact to the request's record in the audit log; absent where none is kept. The first value of a key stays. */
  readonly annotate?: ((key: string, value: string) => void) | undefined;
}

/** One policy on the write path. Rejects by throwing an ApiError. */
export interface AdmissionStep {
  readonly name: string;
  /** Cheap, asked first. */
  handles(attributes: AdmissionAttributes): boolean;
  /** Returns the object to go on with. */
  mutate?(attributes: AdmissionAttributes): Promise<ApiObject>;
  /** Sees the final object. */
  validate?(attributes: AdmissionAttributes): Promise<void>;
}
