import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** Lock that one holder at a time has for a limited period, for example in leader election. */
export interface Lease extends ApiObject {
  readonly spec?: LeaseSpec;
}

/** Holder and term of a lease. Times are in RFC 3339 with six fraction digits. */
export interface LeaseSpec {
  /** Identity of the current holder of the lease. */
  readonly holderIdentity?: string;
  /** Seconds after `renewTime` that other candidates must wait before they may acquire the lease. */
  readonly leaseDurationSeconds?: number;
  /** Time at which the current holder acquired the lease. */
  readonly acquireTime?: string;
  /** Time at which the current holder last renewed the lease. */
  readonly renewTime?: string;
  /** Number of times that the lease has changed holders. */
  readonly leaseTransitions?: number;
  /** Strategy for picking the holder in a coordinated leader election. Not stored by this server. */
  readonly strategy?: string;
  /** Preferred holder in a coordinated leader election. Not stored by this server. */
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
