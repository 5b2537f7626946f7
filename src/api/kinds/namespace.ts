import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** Scope in which names of objects are unique. When a namespace is deleted, so are all objects in it. */
export interface Namespace extends ApiObject {
  readonly spec?: NamespaceSpec;
  readonly status?: NamespaceStatus;
}

/** Specification of a namespace. */
export interface NamespaceSpec {
  /**
   * Finalizers that must be removed before the namespace is deleted; `kubernetes` is that of the namespace controller.
   */
  readonly finalizers?: readonly string[];
}

/** Observed state of a namespace. */
export interface NamespaceStatus {
  /** Phase of the lifecycle: `Active` or `Terminating`. */
  readonly phase?: NamespacePhase | (string & {});
  /** Conditions that show the progress of a deletion. */
  readonly conditions?: readonly NamespaceCondition[];
}

/**
 * Phase of the lifecycle. A namespace is Terminating once its deletion was requested; no objects can then be created in
 * it.
 */
export type NamespacePhase = 'Active' | 'Terminating';

/** Aspect of the state of a namespace, which the namespace controller reports while it deletes the contents. */
export interface NamespaceCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown' | (string & {});
  /** Time of the last change of the status, in RFC 3339. */
  readonly lastTransitionTime?: string | null;
  /** Reason for the status, as one word in CamelCase. */
  readonly reason?: string;
  /** Human-readable details. */
  readonly message?: string;
}

/** The resource `namespaces` of `v1`, cluster-scoped. */
export const Namespaces = resourceType<Namespace>({
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
  shortNames: ['ns'],
});

/** The finalizer in `spec.finalizers` that every namespace has from its creation. */
export const namespaceFinalizer = 'kubernetes';

/** The label that always holds the name of the namespace, so that label selectors can select a namespace by name. */
export const namespaceNameLabel = `${defaultDomains.signer}/metadata.name`;

/** Whether the deletion of the namespace has been requested. */
export const isTerminating = (namespace: Namespace): boolean =>
  namespace.metadata.deletionTimestamp !== undefined || namespace.status?.phase === 'Terminating';
