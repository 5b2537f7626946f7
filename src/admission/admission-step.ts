import type { ApiObject, ObjectKey, ResourceType } from '../api/object.js';
import type { UserInfo } from '../api/user.js';
import type { Caller } from '../registry/resource-definition.js';

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
  /**
   * Adds a fact to the request's record in the audit log; absent where none is kept. The first value of a key stays.
   * `fromLevel`: only records of that level have it.
   */
  readonly annotate?: ((key: string, value: string, fromLevel?: 'Request') => void) | undefined;
  /** The caller that waits for the response. Absent: no caller that could go away. */
  readonly caller?: Caller | undefined;
  /** A webhook has converted what is stored next. */
  readonly isConverted?: boolean;
  /** One of the deletions that a request for a whole collection comes to. */
  readonly isCollectionDelete?: boolean;
}

/** A write that is no deletion. */
export type WriteAttributes = AdmissionAttributes & { readonly object: ApiObject };

/** The rounds in which a request goes through all mutations: one, or two if some step asks for it. */
export interface ReinvocationContext {
  /** 0, then 1. */
  readonly round: number;
  /** All steps get to see the object once more. Nothing comes of it in the second round. */
  requestReinvocation(): void;
  /** What a step has to remember until the second round, by the step's name. */
  readonly memory: Map<string, unknown>;
}

/** One policy on the write path. Rejects by throwing an ApiError. */
export interface AdmissionStep {
  readonly name: string;
  /** Cheap, called first. */
  handles(attributes: AdmissionAttributes): boolean;
  /** Returns the object to continue with. */
  mutate?(attributes: WriteAttributes, rounds: ReinvocationContext): Promise<ApiObject>;
  /** Sees a deletion before those that validate it; there is nothing to change. */
  beforeDeletion?(attributes: AdmissionAttributes): Promise<void>;
  /** Sees the final object. */
  validate?(attributes: AdmissionAttributes): Promise<void>;
  /** Sees a new object right before it is stored, when nothing is waited for any more. */
  beforeCreation?(attributes: AdmissionAttributes): Promise<void>;
}
