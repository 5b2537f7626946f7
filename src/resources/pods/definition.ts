import { type Domains, signerKeyIn } from '../../api/domains.js';
import { mirrorAnnotation, type Pod, Pods } from '../../api/kinds/pod.js';
import { nameRules } from '../../api/names.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { coreStruct } from '../core-struct.js';
import { hasNewSpec } from '../new-spec.js';
import { podColumns, podCompleted } from './columns.js';
import { withPodDefaults } from './defaults.js';
import { qosClass } from './qos.js';
import { podSpec } from './spec-schema.js';
import { podStatus } from './status-schema.js';
import { mirrorChangeViolations, mirrorViolations, podUpdateViolations } from './update-rules.js';
import { newPodViolations, podViolations } from './validate.js';
import { podWarnings } from './warnings.js';

/** The schema of pods. Nothing runs them here: they are stored as they are sent. */
const podSchema = coreStruct(
  'Pod',
  {
    ...objectMembers,
    spec: field(2, podSpec, { description: 'Desired state of the pod.' }),
    status: field(3, podStatus, { description: 'Observed state of the pod.' }),
  },
  { description: 'Group of containers that run together on one node.' },
);

/** Reads the node for field selectors, also under the name that the field had in the first versions. */
const nodeName = ({ spec }: Pod): string => spec?.nodeName ?? '';

export function podDefinition(domains: Domains): ResourceDefinition<Pod> {
  const mirror = signerKeyIn(domains, mirrorAnnotation);
  return defineResource<Pod>({
    ...Pods,
    origin: 'built-in',
    schema: podSchema,
    nameRule: nameRules.dnsSubdomain,
    unconditionalUpdate: true,
    returnsDeleted: true,
    newGeneration: hasNewSpec,
    selectableFields: {
      'spec.nodeName': nodeName,
      'spec.host': nodeName,
      'spec.serviceAccountName': ({ spec }) => spec?.serviceAccountName ?? '',
      'spec.restartPolicy': ({ spec }) => spec?.restartPolicy ?? '',
      'spec.schedulerName': ({ spec }) => spec?.schedulerName ?? '',
      'spec.hostNetwork': ({ spec }) => String(spec?.hostNetwork === true),
      'status.phase': ({ status }) => status?.phase ?? '',
      'status.podIP': ({ status }) => status?.podIP ?? '',
      'status.podIPs': () => '',
      'status.nominatedNodeName': ({ status }) => status?.nominatedNodeName ?? '',
    },
    columns: podColumns,
    completed: podCompleted,
    resetFields: [['status']],

    defaults: withPodDefaults,

    prepare: (next, previous) => ({
      ...next,
      status:
        previous === undefined ? { phase: 'Pending', qosClass: qosClass(next.spec ?? {}) } : (previous.status ?? {}),
    }),

    validate: function* (next, previous) {
      return [
        ...mirrorViolations(next, mirror),
        // An unchanged spec was validated when it was written. It is not validated again, so that the pod can be
        // deleted whatever the rules are now.
        ...(previous === undefined || hasNewSpec(next, previous) ? yield* podViolations(next, domains) : []),
        ...(previous === undefined
          ? newPodViolations(next)
          : [...mirrorChangeViolations(next, previous, mirror), ...podUpdateViolations(next, previous)]),
      ];
    },

    // Updates are rarely made by people who would read warnings.
    warnings: (next, previous) => (previous === undefined ? podWarnings(next) : []),

    subresources: {
      status: {
        type: 'view',
        updateRules: ['metadata change', 'contents'],
        validate: (next, previous) => mirrorChangeViolations(next, previous, mirror),
        resetFields: [['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences'], ['spec']],
        prepare: (next, { metadata: { ownerReferences = [], deletionTimestamp }, spec = {}, status }) => {
          const { deletionTimestamp: _, ...metadata } = next.metadata;
          return {
            ...next,
            metadata: {
              ...metadata,
              ownerReferences,
              ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
            },
            spec,
            // An update without a QoS class has not changed it.
            status: { ...(status?.qosClass === undefined ? {} : { qosClass: status.qosClass }), ...next.status },
          };
        },
      },
    },
  });
}
