import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** A space for names; everything in it goes when it goes. */
export interface Namespace extends ApiObject {
  readonly spec?: NamespaceSpec;
  readonly status?: NamespaceStatus;
}

/** What keeps a namespace that is deleted. */
export interface NamespaceSpec {
  /** What must be done before a terminating namespace goes; `kubernetes` is the namespace controller's. */
  readonly finalizers?: readonly string[];
}

/** Whether the namespace is in use or going, and what keeps it from going. */
export interface NamespaceStatus {
  readonly phase?: NamespacePhase | (string & {});
  readonly conditions?: readonly NamespaceCondition[];
}

/** Terminating from the deletion on: nothing new is created in it then. */
export type NamespacePhase = 'Active' | 'Terminating';

/** What the namespace controller found while it emptied a namespace; times are RFC 3339. */
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

/** The finalizer in `spec.finalizers` that every namespace is born with. */
export const namespaceFinalizer = 'kubernetes';

/** Label that always holds the namespace's own name, so that selectors can name one. */
export const namespaceNameLabel = `${defaultDomains.signer}/metadata.name`;

/** Has deletion been asked for? */
export const isTerminating = (namespace: Namespace): boolean =>
  namespace.metadata.deletionTimestamp !== undefined || namespace.status?.phase === 'Terminating';
