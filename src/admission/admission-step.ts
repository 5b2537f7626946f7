import type { ApiObject, ObjectKey, ResourceType } from '../api/object.js';
import type { UserInfo } from '../api/user.js';
import type { Caller } from '../registry/resource-definition.js';

/** The attributes of a write, as admission sees them. */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly resource: ResourceType<ApiObject>;
  readonly subresource: string | undefined;
  /** The namespace and name of the object. The name is empty while it is still to be generated. */
  readonly key: ObjectKey;
  /** The name in the URL; absent on POST to a collection, even if the object has a name. */
  readonly urlName?: string | undefined;
  /** The object that is written; absent on DELETE. */
  readonly object: ApiObject | undefined;
  /** The object before the write; absent on CREATE. */
  readonly previous: ApiObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options object of the request (CreateOptions, UpdateOptions, PatchOptions, DeleteOptions). */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Adds a Warning header to the response. */
  warn(text: string): void;
  /**
   * Adds an annotation to the audit event of the request; absent if the request is not audited. The first value of a
   * key is kept. With `fromLevel`, only events of at least that level contain the annotation.
   */
  readonly annotate?: ((key: string, value: string, fromLevel?: 'Request') => void) | undefined;
  /** The caller that waits for the response; absent if there is none that could go away. */
  readonly caller?: Caller | undefined;
  /** Whether a webhook converts the object before it is stored. */
  readonly isConverted?: boolean;
  /** Whether the name of the new object was generated, which happens after mutating admission. */
  readonly isNameGenerated?: boolean;
  /** Whether the deletion is part of a deletecollection request. */
  readonly isCollectionDelete?: boolean;
}

/** A write other than a deletion. */
export type WriteAttributes = AdmissionAttributes & { readonly object: ApiObject };

/** The context of mutating admission, which runs once, and a second time if a step requests reinvocation. */
export interface ReinvocationContext {
  /** The number of the round: 0, then 1. */
  readonly round: number;
  /** Requests that all mutating steps run once more. Has no effect in the second round. */
  requestReinvocation(): void;
  /** State that steps keep for the second round, by the name of the step. */
  readonly memory: Map<string, unknown>;
}

/** One check or change of writes. A step rejects a write by throwing an ApiError. */
export interface AdmissionStep {
  readonly name: string;
  /** Whether the step handles this write. Called first, and inexpensive. */
  handles(attributes: AdmissionAttributes): boolean;
  /** Returns the object, changed or not. */
  mutate?(attributes: WriteAttributes, rounds: ReinvocationContext): Promise<ApiObject>;
  /** Called for a deletion before it is validated. Nothing can be changed. */
  beforeDeletion?(attributes: AdmissionAttributes): Promise<void>;
  /** Validates the final object. */
  validate?(attributes: AdmissionAttributes): Promise<void>;
  /** Called immediately before a new object is stored, with nothing asynchronous in between. */
  beforeCreation?(attributes: AdmissionAttributes): Promise<void>;
}
