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
          holderIdentity: optional(1, string(), { description: 'Who holds the lease.' }),
          leaseDurationSeconds: optional(2, integer32(), {
            description: 'How long others must wait after renewTime before they may take it.',
          }),
          acquireTime: optional(3, microTime(), { description: 'When the holder took the lease.' }),
          renewTime: optional(4, microTime(), { description: 'When the holder last renewed it.' }),
          leaseTransitions: optional(5, integer32(), { description: 'How often the holder changed.' }),
          strategy: optional(6, string({ go: 'v1.CoordinatedLeaseStrategy' }), {
            description: 'How a coordinated election picks the holder; not kept here.',
          }),
          preferredHolder: optional(7, string(), {
            description: 'Who should be given the lease in a coordinated election; not kept here.',
          }),
        },
        { description: 'Who holds a lease, and for how long.' },
      ),
      { description: 'Who holds the lease, and for how long.' },
    ),
  },
  { description: 'A claim that one holder has for a time.' },
);

/** Drops, without a warning, the fields of coordinated leader election, which is not enabled. */
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
