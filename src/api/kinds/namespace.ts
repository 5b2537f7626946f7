import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** A space for names; everything in it goes when it goes. */
export interface Namespace extends ApiObject {
  readonly spec?: NamespaceSpec;
  readonly status?: NamespaceStatus;
}

export interface NamespaceSpec {
  /** What must be done before a terminating namespace goes; `kubernetes` is the namespace controller's. */
  readonly finalizers?: readonly string[];
}

export interface NamespaceStatus {
  readonly phase?: NamespacePhase | (string & {});
  readonly conditions?: readonly NamespaceCondition[];
}

export type NamespacePhase = 'Active' | 'Terminating';

export interface NamespaceCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown' | (string & {});
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

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
