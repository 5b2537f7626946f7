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
    type: field(1, string({ go: 'v1.PodConditionType' }), {
      presence: 'always',
      description: 'Type of the condition.',
    }),
    observedGeneration: field(7, integer64(), { description: 'Generation of the pod that the condition is based on.' }),
    status: field(2, string({ go: 'v1.ConditionStatus' }), {
      presence: 'always',
      description: 'Status of the condition: True, False or Unknown.',
    }),
    lastProbeTime: field(3, time(), { presence: 'always', description: 'Time of the last probe of the condition.' }),
    lastTransitionTime: field(4, time(), { presence: 'always', description: 'Time of the last change of the status.' }),
    reason: field(5, string(), { description: 'Reason for the status, as one word in CamelCase.' }),
    message: field(6, string(), { description: 'Human-readable details.' }),
  },
  { required: ['type', 'status'], description: 'Aspect of the state of a pod.' },
);

const hostIP = coreStruct(
  'HostIP',
  {
    ip: field(1, string(), { presence: 'always', description: 'IP address.' }),
  },
  { required: ['ip'], description: 'IP address of the node.' },
);

const podIP = coreStruct(
  'PodIP',
  {
    ip: field(1, string(), { presence: 'always', description: 'IP address.' }),
  },
  { required: ['ip'], description: 'IP address of the pod.' },
);

const containerStateWaiting = coreStruct(
  'ContainerStateWaiting',
  {
    reason: field(1, string(), {
      description: 'Reason why the container is not running yet, as one word in CamelCase.',
    }),
    message: field(2, string(), { description: 'Human-readable details.' }),
  },
  { description: 'State of a container that is waiting to run.' },
);

const containerStateRunning = coreStruct(
  'ContainerStateRunning',
  {
    startedAt: field(1, time(), { presence: 'always', description: 'Time at which the container was last started.' }),
  },
  { description: 'State of a running container.' },
);

const containerStateTerminated = coreStruct(
  'ContainerStateTerminated',
  {
    exitCode: field(1, integer32(), { presence: 'always', description: 'Exit code of the container.' }),
    signal: field(2, integer32(), { description: 'Number of the signal that terminated the container.' }),
    reason: field(3, string(), { description: 'Reason for the termination, as one word in CamelCase.' }),
    message: field(4, string(), { description: 'Human-readable details.' }),
    startedAt: field(5, time(), { presence: 'always', description: 'Time at which the container was started.' }),
    finishedAt: field(6, time(), { presence: 'always', description: 'Time at which the container terminated.' }),
    containerID: field(7, string(), { description: 'ID of the container, as <type>://<ID>.' }),
  },
  { required: ['exitCode'], description: 'State of a terminated container.' },
);

const containerState = coreStruct(
  'ContainerState',
  {
    waiting: optional(1, containerStateWaiting, { description: 'Details of a waiting container.' }),
    running: optional(2, containerStateRunning, { description: 'Details of a running container.' }),
    terminated: optional(3, containerStateTerminated, { description: 'Details of a terminated container.' }),
  },
  { description: 'State of a container; at most one member is set.' },
);

const imageVolumeStatus = coreStruct(
  'ImageVolumeStatus',
  {
    imageRef: field(1, string(), { description: 'Digest of the image of the volume.' }),
  },
  { required: ['imageRef'], description: 'State of an image volume.' },
);

const volumeStatus = coreStruct(
  'VolumeStatus',
  {
    image: optional(1, imageVolumeStatus, { description: 'State of an image volume.' }),
  },
  { description: 'State of a volume; at most one member is set.' },
);

const volumeMountStatus = coreStruct(
  'VolumeMountStatus',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the volume.' }),
    mountPath: field(2, string(), {
      presence: 'always',
      description: 'Path in the container at which the volume is mounted.',
    }),
    readOnly: field(3, boolean(), { description: 'Whether the volume is mounted read-only.' }),
    recursiveReadOnly: optional(4, string({ go: 'v1.RecursiveReadOnlyMode' }), {
      description: 'Whether the read-only mount is recursive: Disabled or Enabled; absent for other mounts.',
    }),
    volumeStatus: optional(5, volumeStatus, { description: 'State of the volume.' }),
  },
  { required: ['name', 'mountPath'], description: 'State of a volume mount.' },
);

const linuxContainerUser = coreStruct(
  'LinuxContainerUser',
  {
    uid: field(1, integer64(), { presence: 'always', description: 'User ID of the first process.' }),
    gid: field(2, integer64(), { presence: 'always', description: 'Primary group ID of the first process.' }),
    supplementalGroups: field(3, list(integer64(), { listType: 'atomic' }), {
      description: 'Supplemental group IDs of the first process.',
    }),
  },
  { required: ['uid', 'gid'], description: 'User of a container on Linux.' },
);

const containerUser = coreStruct(
  'ContainerUser',
  {
    linux: optional(1, linuxContainerUser, { description: 'User and groups on Linux.' }),
  },
  { description: 'User of the first process of a container.' },
);

const resourceHealth = coreStruct(
  'ResourceHealth',
  {
    resourceID: field(1, string({ go: 'v1.ResourceID' }), {
      presence: 'always',
      description: 'ID of the device.',
    }),
    health: field(2, string({ go: 'v1.ResourceHealthStatus' }), {
      description: 'Health of the device: Healthy, Unhealthy or Unknown.',
    }),
    message: optional(6, string(), { description: 'Human-readable details.' }),
  },
  { required: ['resourceID'], description: 'Health of a device.' },
);

const resourceStatus = coreStruct(
  'ResourceStatus',
  {
    name: field(1, string({ go: 'v1.ResourceName' }), { presence: 'always', description: 'Name of the resource.' }),
    resources: field(2, list(resourceHealth, { listType: 'map', listMapKeys: ['resourceID'] }), {
      description: 'Health of each device of the resource.',
    }),
  },
  { required: ['name'], description: 'Health of the devices of a resource.' },
);

const containerStatus = coreStruct(
  'ContainerStatus',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the container.' }),
    state: field(2, containerState, { description: 'Current state of the container.' }),
    lastState: field(3, containerState, {
      description: 'Details of the previous termination of the container, if there was one.',
    }),
    ready: field(4, boolean(), {
      presence: 'always',
      description: 'Whether the container is ready to serve requests.',
    }),
    restartCount: field(5, integer32(), { presence: 'always', description: 'Number of restarts of the container.' }),
    image: field(6, string(), { presence: 'always', description: 'Name of the image that the container runs.' }),
    imageID: field(7, string(), { presence: 'always', description: 'ID of the image that the container runs.' }),
    containerID: field(8, string(), { description: 'ID of the container, as <type>://<ID>.' }),
    started: optional(9, boolean(), {
      description: 'Whether the postStart hook has finished and the startup probe has succeeded.',
    }),
    allocatedResources: field(10, resourceList, {
      description: 'Resources that the node has allocated to the container.',
    }),
    resources: optional(11, resourceRequirements, { description: 'Resource requests and limits that are in effect.' }),
    volumeMounts: field(12, listMap(volumeMountStatus, ['mountPath']), { description: 'State of the volume mounts.' }),
    user: optional(13, containerUser, { description: 'User that the first process was started as.' }),
    allocatedResourcesStatus: field(14, listMap(resourceStatus, ['name']), {
      description: 'Health of the devices that are allocated to the container.',
    }),
    stopSignal: optional(15, string({ go: 'v1.Signal', enum: signals }), {
      description: 'Signal that stops the container.',
    }),
  },
  { required: ['name', 'ready', 'restartCount', 'image', 'imageID'], description: 'State of a container.' },
);

const podResourceClaimStatus = coreStruct(
  'PodResourceClaimStatus',
  {
    name: field(1, string(), { presence: 'always', description: "Name of the claim in the pod's resourceClaims." }),
    resourceClaimName: optional(2, string(), {
      description: 'Name of the ResourceClaim that was created; absent if none was needed.',
    }),
  },
  { required: ['name'], description: 'ResourceClaim that was created for a pod from a template.' },
);

const containerExtendedResourceRequest = coreStruct(
  'ContainerExtendedResourceRequest',
  {
    containerName: field(1, string(), { presence: 'always', description: 'Name of the container.' }),
    resourceName: field(2, string(), { presence: 'always', description: 'Name of the resource.' }),
    requestName: field(3, string(), { presence: 'always', description: 'Name of the request in the claim.' }),
  },
  {
    required: ['containerName', 'resourceName', 'requestName'],
    description: 'Mapping of an extended resource of a container to a request of a claim.',
  },
);

const podExtendedResourceClaimStatus = coreStruct(
  'PodExtendedResourceClaimStatus',
  {
    requestMappings: field(1, list(containerExtendedResourceRequest, { listType: 'atomic' }), {
      presence: 'always',
      description: 'Mapping of containers and extended resources to requests of the claim.',
    }),
    resourceClaimName: field(2, string(), { presence: 'always', description: 'Name of the ResourceClaim.' }),
  },
  {
    required: ['requestMappings', 'resourceClaimName'],
    description: 'ResourceClaim that was created for the extended resources of a pod.',
  },
);

const nodeAllocatableResourceClaimStatus = coreStruct(
  'NodeAllocatableResourceClaimStatus',
  {
    resourceClaimName: field(1, string(), { presence: 'always', description: 'Name of the ResourceClaim.' }),
    containers: field(2, list(string(), { listType: 'set' }), {
      description: 'Names of the containers that use the claim.',
    }),
    resources: field(3, map(quantity(), { go: 'map[v1.ResourceName]resource.Quantity' }), {
      presence: 'always',
      description: 'Total quantity of each resource that is allocated to the claim.',
    }),
  },
  {
    required: ['resourceClaimName', 'resources'],
    description: 'Node-allocatable resources that are allocated through a claim.',
  },
);

export const podStatus = coreStruct(
  'PodStatus',
  {
    observedGeneration: field(17, integer64(), { description: 'Generation of the pod that the status is based on.' }),
    phase: field(1, string({ go: 'v1.PodPhase', enum: ['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown'] }), {
      description: 'Phase of the lifecycle: Pending, Running, Succeeded, Failed or Unknown.',
    }),
    conditions: field(2, listMap(podCondition, ['type']), { description: 'Conditions of the pod.' }),
    message: field(3, string(), { description: 'Human-readable details.' }),
    reason: field(4, string(), { description: 'Reason for the state, as one word in CamelCase.' }),
    nominatedNodeName: field(11, string(), {
      description: 'Name of the node on which the pod may run once lower-priority pods have been preempted.',
    }),
    hostIP: field(5, string(), { description: 'IP address of the node.' }),
    hostIPs: field(16, list(hostIP, { listType: 'atomic', patchStrategy: 'merge', patchMergeKey: 'ip' }), {
      description: 'IP addresses of the node.',
    }),
    podIP: field(6, string(), { description: 'Primary IP address of the pod.' }),
    podIPs: field(12, listMap(podIP, ['ip']), {
      description: 'IP addresses of the pod; at most one for each IP family.',
    }),
    startTime: optional(7, time(), { description: 'Time at which the kubelet acknowledged the pod.' }),
    initContainerStatuses: field(10, list(containerStatus, { listType: 'atomic' }), {
      description: 'State of the init containers.',
    }),
    containerStatuses: field(8, list(containerStatus, { listType: 'atomic' }), {
      description: 'State of the containers.',
    }),
    qosClass: field(9, string({ go: 'v1.PodQOSClass', enum: ['BestEffort', 'Burstable', 'Guaranteed'] }), {
      description: 'Quality of service class: Guaranteed, Burstable or BestEffort.',
    }),
    ephemeralContainerStatuses: field(13, list(containerStatus, { listType: 'atomic' }), {
      description: 'State of the ephemeral containers.',
    }),
    resize: field(14, string({ go: 'v1.PodResizeStatus' }), {
      description:
        'Deprecated: state of a resize of resources; see the conditions PodResizePending and PodResizeInProgress.',
    }),
    resourceClaimStatuses: field(
      15,
      list(podResourceClaimStatus, {
        listType: 'map',
        listMapKeys: ['name'],
        patchStrategy: 'merge,retainKeys',
        patchMergeKey: 'name',
      }),
      { description: 'State of the resource claims of the pod.' },
    ),
    extendedResourceClaimStatus: optional(18, podExtendedResourceClaimStatus, {
      description: 'ResourceClaim that was created for extended resources.',
    }),
    allocatedResources: field(19, resourceList, {
      description: 'Total resources that the node has allocated to the pod.',
    }),
    resources: optional(20, resourceRequirements, {
      description: 'Resource requests and limits of the pod that are in effect.',
    }),
    nodeAllocatableResourceClaimStatuses: field(21, list(nodeAllocatableResourceClaimStatus, { listType: 'atomic' }), {
      description: 'Node-allocatable resources that are allocated through claims of the pod.',
    }),
  },
  { description: 'Observed state of a pod.' },
);
