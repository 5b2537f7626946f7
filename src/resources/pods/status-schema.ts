import {
  boolean,
  field,
  integer32,
  integer64,
  list,
  listMap,
  map,
  optional,
  quantity,
  string,
  time,
} from '../../schema/builder.js';
import { coreStruct, resourceList } from '../core-struct.js';
import { resourceRequirements } from './container-schema.js';
import { signals } from './signals.js';

/** Schema of a pod's status. */

const podCondition = coreStruct(
  'PodCondition',
  {
    type: field(1, string({ go: 'v1.PodConditionType' }), { presence: 'always', description: 'Name of the aspect.' }),
    observedGeneration: field(7, integer64(), { description: 'Generation of the spec that it is of.' }),
    status: field(2, string({ go: 'v1.ConditionStatus' }), {
      presence: 'always',
      description: 'True, False or Unknown.',
    }),
    lastProbeTime: field(3, time(), { presence: 'always', description: 'When it was last looked at.' }),
    lastTransitionTime: field(4, time(), { presence: 'always', description: 'When it last changed.' }),
    reason: field(5, string(), { description: 'Why, for programs.' }),
    message: field(6, string(), { description: 'Why, for people.' }),
  },
  { required: ['type', 'status'], description: 'One aspect of the state.' },
);

const hostIP = coreStruct(
  'HostIP',
  {
    ip: field(1, string(), { presence: 'always', description: 'The address.' }),
  },
  { required: ['ip'], description: 'An address of a node.' },
);

const podIP = coreStruct(
  'PodIP',
  {
    ip: field(1, string(), { presence: 'always', description: 'The address.' }),
  },
  { required: ['ip'], description: 'An address of a pod.' },
);

const containerStateWaiting = coreStruct(
  'ContainerStateWaiting',
  {
    reason: field(1, string(), { description: 'For what, for programs.' }),
    message: field(2, string(), { description: 'For what, for people.' }),
  },
  { description: 'A container that waits.' },
);

const containerStateRunning = coreStruct(
  'ContainerStateRunning',
  {
    startedAt: field(1, time(), { presence: 'always', description: 'Since when.' }),
  },
  { description: 'A container that runs.' },
);

const containerStateTerminated = coreStruct(
  'ContainerStateTerminated',
  {
    exitCode: field(1, integer32(), { presence: 'always', description: 'Its exit code.' }),
    signal: field(2, integer32(), { description: 'Signal that ended it.' }),
    reason: field(3, string(), { description: 'Why, for programs.' }),
    message: field(4, string(), { description: 'Why, for people.' }),
    startedAt: field(5, time(), { presence: 'always', description: 'When it had been started.' }),
    finishedAt: field(6, time(), { presence: 'always', description: 'When it ended.' }),
    containerID: field(7, string(), { description: 'Identity of the container.' }),
  },
  { required: ['exitCode'], description: 'A container that has ended.' },
);

const containerState = coreStruct(
  'ContainerState',
  {
    waiting: optional(1, containerStateWaiting, { description: 'It waits.' }),
    running: optional(2, containerStateRunning, { description: 'It runs.' }),
    terminated: optional(3, containerStateTerminated, { description: 'It has ended.' }),
  },
  { description: 'What a container does: one of these.' },
);

const imageVolumeStatus = coreStruct(
  'ImageVolumeStatus',
  {
    imageRef: field(1, string(), { description: 'Digest of the image.' }),
  },
  { required: ['imageRef'], description: 'State of an image that is mounted.' },
);

const volumeStatus = coreStruct(
  'VolumeStatus',
  {
    image: optional(1, imageVolumeStatus, { description: 'State of an image.' }),
  },
  { description: 'State of a volume.' },
);

const volumeMountStatus = coreStruct(
  'VolumeMountStatus',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the volume.' }),
    mountPath: field(2, string(), { presence: 'always', description: 'Path in the container.' }),
    readOnly: field(3, boolean(), { description: 'Mounted for reading only?' }),
    recursiveReadOnly: optional(4, string({ go: 'v1.RecursiveReadOnlyMode' }), {
      description: 'Is everything mounted below read-only, too?',
    }),
    volumeStatus: optional(5, volumeStatus, { description: 'State of the volume.' }),
  },
  { required: ['name', 'mountPath'], description: 'A volume that is mounted.' },
);

const linuxContainerUser = coreStruct(
  'LinuxContainerUser',
  {
    uid: field(1, integer64(), { presence: 'always', description: 'Number of the user.' }),
    gid: field(2, integer64(), { presence: 'always', description: 'Number of the group.' }),
    supplementalGroups: field(3, list(integer64(), { listType: 'atomic' }), { description: 'Further groups.' }),
  },
  { required: ['uid', 'gid'], description: 'User of a process on Linux.' },
);

const containerUser = coreStruct(
  'ContainerUser',
  {
    linux: optional(1, linuxContainerUser, { description: 'On Linux.' }),
  },
  { description: 'User of a process.' },
);

const resourceHealth = coreStruct(
  'ResourceHealth',
  {
    resourceID: field(1, string({ go: 'v1.ResourceID' }), {
      presence: 'always',
      description: 'Identity of the device.',
    }),
    health: field(2, string({ go: 'v1.ResourceHealthStatus' }), { description: 'Healthy, Unhealthy or Unknown.' }),
    message: optional(6, string(), { description: 'Why, for people.' }),
  },
  { required: ['resourceID'], description: 'Health of a device.' },
);

const resourceStatus = coreStruct(
  'ResourceStatus',
  {
    name: field(1, string({ go: 'v1.ResourceName' }), { presence: 'always', description: 'Name of the resource.' }),
    resources: field(2, list(resourceHealth, { listType: 'map', listMapKeys: ['resourceID'] }), {
      description: 'Health of each device.',
    }),
  },
  { required: ['name'], description: 'Health of a resource.' },
);

const containerStatus = coreStruct(
  'ContainerStatus',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the container.' }),
    state: field(2, containerState, { description: 'What it does.' }),
    lastState: field(3, containerState, { description: 'What it did before it was started again.' }),
    ready: field(4, boolean(), { presence: 'always', description: 'Can it be asked for something?' }),
    restartCount: field(5, integer32(), { presence: 'always', description: 'How often it was started again.' }),
    image: field(6, string(), { presence: 'always', description: 'Image it runs.' }),
    imageID: field(7, string(), { presence: 'always', description: 'Identity of the image.' }),
    containerID: field(8, string(), { description: 'Identity of the container.' }),
    started: optional(9, boolean(), { description: 'Has it started?' }),
    allocatedResources: field(10, resourceList, { description: 'Resources that the node has set apart.' }),
    resources: optional(11, resourceRequirements, { description: 'Resources that are in force.' }),
    volumeMounts: field(12, listMap(volumeMountStatus, ['mountPath']), { description: 'Volumes that are mounted.' }),
    user: optional(13, containerUser, { description: 'User that the first process runs as.' }),
    allocatedResourcesStatus: field(14, listMap(resourceStatus, ['name']), { description: 'Health of its devices.' }),
    stopSignal: optional(15, string({ go: 'v1.Signal', enum: signals }), { description: 'Signal that ends it.' }),
  },
  { required: ['name', 'ready', 'restartCount', 'image', 'imageID'], description: 'State of a container.' },
);

const podResourceClaimStatus = coreStruct(
  'PodResourceClaimStatus',
  {
    name: field(1, string(), { presence: 'always', description: 'Name in the spec of the pod.' }),
    resourceClaimName: optional(2, string(), { description: 'Name of the claim.' }),
  },
  { required: ['name'], description: 'A claim made for a pod.' },
);

const containerExtendedResourceRequest = coreStruct(
  'ContainerExtendedResourceRequest',
  {
    containerName: field(1, string(), { presence: 'always', description: 'Name of the container.' }),
    resourceName: field(2, string(), { presence: 'always', description: 'Name of the resource.' }),
    requestName: field(3, string(), { presence: 'always', description: 'Name of the request.' }),
  },
  {
    required: ['containerName', 'resourceName', 'requestName'],
    description: 'An extended resource of a container, as a request of a claim.',
  },
);

const podExtendedResourceClaimStatus = coreStruct(
  'PodExtendedResourceClaimStatus',
  {
    requestMappings: field(1, list(containerExtendedResourceRequest, { listType: 'atomic' }), {
      presence: 'always',
      description: 'What belongs to which container.',
    }),
    resourceClaimName: field(2, string(), { presence: 'always', description: 'Name of the claim.' }),
  },
  { required: ['requestMappings', 'resourceClaimName'], description: 'A claim made for extended resources.' },
);

const nodeAllocatableResourceClaimStatus = coreStruct(
  'NodeAllocatableResourceClaimStatus',
  {
    resourceClaimName: field(1, string(), { presence: 'always', description: 'Name of the claim.' }),
    containers: field(2, list(string(), { listType: 'set' }), { description: 'Containers that use it.' }),
    resources: field(3, map(quantity(), { go: 'map[v1.ResourceName]resource.Quantity' }), {
      presence: 'always',
      description: 'How much.',
    }),
  },
  { required: ['resourceClaimName', 'resources'], description: 'A claim for resources of the node.' },
);

export const podStatus = coreStruct(
  'PodStatus',
  {
    observedGeneration: field(17, integer64(), { description: 'Generation of the spec that the state is of.' }),
    phase: field(1, string({ go: 'v1.PodPhase', enum: ['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown'] }), {
      description: 'Where in its life the pod is.',
    }),
    conditions: field(2, listMap(podCondition, ['type']), { description: 'State of the pod, aspect by aspect.' }),
    message: field(3, string(), { description: 'Why, for people.' }),
    reason: field(4, string(), { description: 'Why, for programs.' }),
    nominatedNodeName: field(11, string(), { description: 'Node that the pod may get when others have gone.' }),
    hostIP: field(5, string(), { description: 'Address of its node.' }),
    hostIPs: field(16, list(hostIP, { listType: 'atomic', patchStrategy: 'merge', patchMergeKey: 'ip' }), {
      description: 'Addresses of its node.',
    }),
    podIP: field(6, string(), { description: 'Address of the pod.' }),
    podIPs: field(12, listMap(podIP, ['ip']), { description: 'Addresses of the pod.' }),
    startTime: optional(7, time(), { description: 'When the node took notice of the pod.' }),
    initContainerStatuses: field(10, list(containerStatus, { listType: 'atomic' }), {
      description: 'Containers that run first.',
    }),
    containerStatuses: field(8, list(containerStatus, { listType: 'atomic' }), { description: 'Containers.' }),
    qosClass: field(9, string({ go: 'v1.PodQOSClass', enum: ['BestEffort', 'Burstable', 'Guaranteed'] }), {
      description: 'How its needs are served when there is not enough.',
    }),
    ephemeralContainerStatuses: field(13, list(containerStatus, { listType: 'atomic' }), {
      description: 'Containers that were added to look inside.',
    }),
    resize: field(14, string({ go: 'v1.PodResizeStatus' }), { description: 'How far a change of resources is.' }),
    resourceClaimStatuses: field(
      15,
      list(podResourceClaimStatus, {
        listType: 'map',
        listMapKeys: ['name'],
        patchStrategy: 'merge,retainKeys',
        patchMergeKey: 'name',
      }),
      { description: 'Claims made for the pod.' },
    ),
    extendedResourceClaimStatus: optional(18, podExtendedResourceClaimStatus, {
      description: 'Claim made for extended resources.',
    }),
    allocatedResources: field(19, resourceList, { description: 'Resources that the node has set apart.' }),
    resources: optional(20, resourceRequirements, { description: 'Resources that are in force.' }),
    nodeAllocatableResourceClaimStatuses: field(21, list(nodeAllocatableResourceClaimStatus, { listType: 'atomic' }), {
      description: 'Claims for resources of the node.',
    }),
  },
  { description: 'State of a pod.' },
);
