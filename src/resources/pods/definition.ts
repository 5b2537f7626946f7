import { isDeepStrictEqual } from 'node:util';
import { type Pod, Pods } from '../../api/kinds/pod.js';
import { type ContainerList, containersIn } from '../../api/kinds/pod-references.js';
import { nameRules } from '../../api/names.js';
import { forbiddenField } from '../../api/violations.js';
import { defineResource } from '../../registry/resource-definition.js';
import { field, listMap, string, struct } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';
import { age } from '../columns.js';
import { keyedParts } from '../keyed-parts.js';
import { localObjectReference } from '../object-reference-schema.js';

const component = (name: string): { readonly component: string } => ({ component: `io.k8s.api.core.v1.${name}` });

const containers = keyedParts('Container', 'name', 'A program.');

/** Nothing runs pods here: of the spec only what identities need is known, the rest is kept as it is. */
export const podSchema = struct(
  'v1.Pod',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Names, labels, versions and times.' }),
    spec: field(
      2,
      struct(
        'v1.PodSpec',
        {
          volumes: field(1, keyedParts('Volume', 'name', 'Files for containers.'), {
            description: 'What containers mount.',
          }),
          initContainers: field(20, containers, { description: 'What runs first.' }),
          containers: field(2, containers, { description: 'What runs.' }),
          ephemeralContainers: field(34, keyedParts('EphemeralContainer', 'name', 'A program for a look inside.'), {
            description: 'What was added to look inside.',
          }),
          serviceAccountName: field(8, string(), { description: 'Account the pod runs as.' }),
          nodeName: field(10, string(), { description: 'Node the pod is bound to.' }),
          imagePullSecrets: field(15, listMap(localObjectReference, ['name']), {
            description: 'Secrets for pulling images.',
          }),
        },
        { preserveUnknownFields: true, description: 'What a pod should be.', ...component('PodSpec') },
      ),
      { description: 'What the pod should be.' },
    ),
    status: field(
      3,
      struct(
        'v1.PodStatus',
        {
          conditions: field(2, keyedParts('PodCondition', 'type', 'One aspect of the state.'), {
            description: 'State of the pod, aspect by aspect.',
          }),
        },
        { preserveUnknownFields: true, description: 'State of a pod.', ...component('PodStatus') },
      ),
      { description: 'State of the pod.' },
    ),
  },
  { description: 'A group of containers.', ...component('Pod') },
);

/** What accounts, nodes and Secrets are concluded from: all of the spec but what may change in Kubernetes too. */
function settled(pod: Pod): object {
  const { activeDeadlineSeconds: _1, terminationGracePeriodSeconds: _2, tolerations: _3, ...rest } = pod.spec ?? {};
  const withoutImages = (list: ContainerList) => containersIn(pod, list).map((one) => ({ ...one, image: '' }));
  return { ...rest, containers: withoutImages('containers'), initContainers: withoutImages('initContainers') };
}

const changeable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations`',
  '`spec.terminationGracePeriodSeconds`',
].join(',');

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Also under the name that the field had in the first versions. */
const nodeName = ({ spec }: Pod): string => text(spec?.nodeName);

export const pods = defineResource<Pod>({
  ...Pods,
  origin: 'built-in',
  schema: podSchema,
  nameRule: nameRules.dnsSubdomain,
  unconditionalUpdate: true,
  answersDeleted: true,
  newGeneration: (next, previous) => !isDeepStrictEqual(next.spec ?? {}, previous.spec ?? {}),
  selectableFields: {
    'spec.nodeName': nodeName,
    'spec.host': nodeName,
    'spec.serviceAccountName': ({ spec }) => text(spec?.serviceAccountName),
    'spec.restartPolicy': ({ spec }) => text(spec?.['restartPolicy']) || 'Always',
    'spec.schedulerName': ({ spec }) => text(spec?.['schedulerName']) || 'default-scheduler',
    'spec.hostNetwork': ({ spec }) => String(spec?.['hostNetwork'] === true),
    'status.phase': ({ status }) => text(status?.['phase']),
    'status.podIP': ({ status }) => text(status?.['podIP']),
    'status.podIPs': () => '',
    'status.nominatedNodeName': ({ status }) => text(status?.['nominatedNodeName']),
  },
  columns: [age],
  resetFields: [['status']],

  prepare: (next, previous) => ({
    ...next,
    status: previous === undefined ? { phase: 'Pending' } : (previous.status ?? {}),
  }),

  validate: (next, previous) =>
    previous === undefined || isDeepStrictEqual(settled(next), settled(previous))
      ? []
      : [forbiddenField('spec', `pod updates may not change fields other than ${changeable}`)],

  subresources: {
    status: {
      type: 'view',
      checksMetadata: 'on change',
      resetFields: [['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences'], ['spec']],
      prepare: (next, { metadata: { ownerReferences = [] }, spec = {} }) => ({
        ...next,
        metadata: { ...next.metadata, ownerReferences },
        spec,
      }),
    },
  },
});
