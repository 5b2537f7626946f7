import { type Lease, Leases } from '../../api/kinds/lease.js';
import { nameRules } from '../../api/names.js';
import { invalid, type Violation } from '../../api/violations.js';
import { defineResource } from '../../registry/resource-definition.js';
import { field, integer32, microTime, optional, string, structsOf } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { age, column } from '../columns.js';

const struct = structsOf('io.k8s.api.coordination.v1');

const leaseSchema = struct(
  'Lease',
  {
    ...objectMembers,
    spec: field(
      2,
      struct(
        'LeaseSpec',
        {
          holderIdentity: optional(1, string(), { description: 'Identity of the current holder of the lease.' }),
          leaseDurationSeconds: optional(2, integer32(), {
            description: 'Seconds after renewTime that other candidates must wait before they may acquire the lease.',
          }),
          acquireTime: optional(3, microTime(), {
            description: 'Time at which the current holder acquired the lease.',
          }),
          renewTime: optional(4, microTime(), {
            description: 'Time at which the current holder last renewed the lease.',
          }),
          leaseTransitions: optional(5, integer32(), {
            description: 'Number of times that the lease has changed holders.',
          }),
          strategy: optional(6, string({ go: 'v1.CoordinatedLeaseStrategy' }), {
            description: 'Strategy for picking the holder in a coordinated leader election. Not stored by this server.',
          }),
          preferredHolder: optional(7, string(), {
            description: 'Preferred holder in a coordinated leader election. Not stored by this server.',
          }),
        },
        { description: 'Holder and term of a lease.' },
      ),
      { description: 'Holder and term of the lease.' },
    ),
  },
  { description: 'Lock that one holder at a time has for a limited period, for example in leader election.' },
);

/** Returns the lease without the fields of coordinated leader election, which is not enabled. No warning is sent. */
function withoutCoordination(lease: Lease): Lease {
  if (lease.spec === undefined) return lease;
  const { strategy: _strategy, preferredHolder: _preferredHolder, ...spec } = lease.spec;
  return { ...lease, spec };
}

function validateSpec({ spec }: Lease): readonly Violation[] {
  const { leaseDurationSeconds, leaseTransitions } = spec ?? {};
  return [
    ...(typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0
      ? [invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0')]
      : []),
    ...(typeof leaseTransitions === 'number' && leaseTransitions < 0
      ? [invalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0')]
      : []),
  ];
}

export const leases = defineResource<Lease>({
  ...Leases,
  origin: 'built-in',
  anyFinalizer: true,
  updateRules: ['metadata change', 'contents'],
  schema: leaseSchema,
  nameRule: nameRules.dnsSubdomain,
  createOnUpdate: true,
  columns: [
    column(
      'Holder',
      'holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.',
      ({ spec }: Lease) => spec?.holderIdentity ?? '',
    ),
    age,
  ],
  prepare: withoutCoordination,
  validate: validateSpec,
});
