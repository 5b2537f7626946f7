import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** A scope for names, which is deleted with everything in it. */
export interface Namespace extends ApiObject {
  readonly spec?: NamespaceSpec;
  readonly status?: NamespaceStatus;
}

/** The finalizers of a namespace. */
export interface NamespaceSpec {
  /** What must finish before a terminating namespace is removed; `kubernetes` belongs to the namespace controller. */
  readonly finalizers?: readonly string[];
}

/** Whether the namespace is active or terminating, and what delays its removal. */
export interface NamespaceStatus {
  readonly phase?: NamespacePhase | (string & {});
  readonly conditions?: readonly NamespaceCondition[];
}

/** The phase: Terminating from deletion on, when no new objects can be created in it. */
export type NamespacePhase = 'Active' | 'Terminating';

/** A finding of the namespace controller while it empties a namespace; times are RFC 3339. */
export interface NamespaceCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown' | (string & {});
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
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

/** The label that always holds the namespace's own name, so that selectors can refer to it. */
export const namespaceNameLabel = `${defaultDomains.signer}/metadata.name`;

/** Whether deletion has been requested. */
export const isTerminating = (namespace: Namespace): boolean =>
  namespace.metadata.deletionTimestamp !== undefined || namespace.status?.phase === 'Terminating';
