import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** A temporary claim by one holder, such as leadership. */
export interface Lease extends ApiObject {
  readonly spec?: LeaseSpec;
}

/** The holder and the duration of a lease. Times are RFC 3339 with six fraction digits. */
export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
  readonly strategy?: string;
  readonly preferredHolder?: string;
}

/** The resource `leases` of `coordination.k8s.io/v1`, namespaced. */
export const Leases = resourceType<Lease>({
  group: `coordination.${defaultDomains.api}`,
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
});
