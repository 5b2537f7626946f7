import type { ApiObject, ObjectKey, ResourceType } from '../api/object.js';
import type { UserInfo } from '../api/user.js';
import type { Caller } from '../registry/resource-definition.js';

/** A write on its way to the store, as admission sees it. */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly resource: ResourceType<ApiObject>;
  readonly subresource: string | undefined;
  /** The name is empty while it is still to be generated. */
  readonly key: ObjectKey;
  /** The name in the URL; absent on POST to a collection, also when the object has a name. */
  readonly urlName?: string | undefined;
  /** Absent on DELETE. */
  readonly object: ApiObject | undefined;
  /** Absent on CREATE. */
  readonly previous: ApiObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options object of the request (CreateOptions, UpdateOptions, PatchOptions, DeleteOptions). */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Sends a Warning header with the answer. */
  warn(text: string): void;
  /**
   * Adds an annotation to the request's audit event; absent if it is not audited. The first value of a key stays. With
   * `fromLevel`, only events of that level or above get it.
   */
  readonly annotate?: ((key: string, value: string, fromLevel?: 'Request') => void) | undefined;
  /** The caller that waits for the response. Absent: no caller that could go away. */
  readonly caller?: Caller | undefined;
  /** The object was converted by a webhook before it is stored. */
  readonly isConverted?: boolean;
  /** The deletion is part of a deletecollection request. */
  readonly isCollectionDelete?: boolean;
}

/** A write other than a deletion. */
export type WriteAttributes = AdmissionAttributes & { readonly object: ApiObject };

/** The context of mutating admission, which runs once, and a second time if a step requests reinvocation. */
export interface ReinvocationContext {
  /** 0, then 1. */
  readonly round: number;
  /** Runs all mutating steps once more. No effect in the second round. */
  requestReinvocation(): void;
  /** State that steps keep for the second round, by the step's name. */
  readonly memory: Map<string, unknown>;
}

/** One policy on the write path. Rejects by throwing an ApiError. */
export interface AdmissionStep {
  readonly name: string;
  /** Cheap, called first. */
  handles(attributes: AdmissionAttributes): boolean;
  /** Returns the object to continue with. */
  mutate?(attributes: WriteAttributes, rounds: ReinvocationContext): Promise<ApiObject>;
  /** Called for a deletion before validation; nothing can be changed. */
  beforeDeletion?(attributes: AdmissionAttributes): Promise<void>;
  /** Sees the final object. */
  validate?(attributes: AdmissionAttributes): Promise<void>;
  /** Called right before a new object is stored, with nothing asynchronous after it. */
  beforeCreation?(attributes: AdmissionAttributes): Promise<void>;
}
