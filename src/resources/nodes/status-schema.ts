import { boolean, field, integer32, integer64, list, listMap, optional, string, time } from '../../schema/builder.js';
import { coreStruct, resourceList } from '../core-struct.js';
import { nodeConfigSource } from './spec-schema.js';

/** Schema of a node's status. */

const nodeCondition = coreStruct(
  'NodeCondition',
  {
    type: field(1, string({ go: 'v1.NodeConditionType' }), {
      presence: 'always',
      description: 'Type of the condition.',
    }),
    status: field(2, string({ go: 'v1.ConditionStatus' }), {
      presence: 'always',
      description: 'Status of the condition: True, False or Unknown.',
    }),
    lastHeartbeatTime: field(3, time(), {
      presence: 'always',
      description: 'Time of the last update of the condition.',
    }),
    lastTransitionTime: field(4, time(), { presence: 'always', description: 'Time of the last change of the status.' }),
    reason: field(5, string(), { description: 'Reason for the status, as one word in CamelCase.' }),
    message: field(6, string(), { description: 'Human-readable details.' }),
  },
  { required: ['type', 'status'], description: 'Aspect of the state of a node.' },
);

const nodeAddress = coreStruct(
  'NodeAddress',
  {
    type: field(1, string({ go: 'v1.NodeAddressType' }), {
      presence: 'always',
      description: 'Type of the address, such as Hostname, InternalIP or ExternalIP.',
    }),
    address: field(2, string(), { presence: 'always', description: 'IP address, or host or DNS name.' }),
  },
  { required: ['type', 'address'], description: 'An address of a node.' },
);

const daemonEndpoint = coreStruct(
  'DaemonEndpoint',
  {
    Port: field(1, integer32(), { presence: 'always', description: 'Port number.' }),
  },
  { required: ['Port'], description: 'Port that a daemon listens on.' },
);

const nodeDaemonEndpoints = coreStruct(
  'NodeDaemonEndpoints',
  {
    kubeletEndpoint: field(1, daemonEndpoint, { description: 'Endpoint of the kubelet.' }),
  },
  { description: 'Ports that daemons of a node listen on.' },
);

const nodeSwapStatus = coreStruct(
  'NodeSwapStatus',
  {
    capacity: optional(1, integer64(), { description: 'Size of the swap space in bytes.' }),
  },
  { description: 'Swap space of a node.' },
);

const nodeSystemInfo = coreStruct(
  'NodeSystemInfo',
  {
    machineID: field(1, string(), { presence: 'always', description: "ID of the operating system's installation." }),
    systemUUID: field(2, string(), { presence: 'always', description: 'UUID of the hardware.' }),
    bootID: field(3, string(), { presence: 'always', description: 'ID of the current boot.' }),
    kernelVersion: field(4, string(), { presence: 'always', description: "Version of the operating system's kernel." }),
    osImage: field(5, string(), { presence: 'always', description: 'Name and version of the operating system.' }),
    containerRuntimeVersion: field(6, string(), {
      presence: 'always',
      description: 'Name and version of the container runtime, such as containerd://1.4.2.',
    }),
    kubeletVersion: field(7, string(), { presence: 'always', description: 'Version of the kubelet.' }),
    kubeProxyVersion: field(8, string(), {
      presence: 'always',
      description: 'Deprecated: version of kube-proxy; no longer reported.',
    }),
    operatingSystem: field(9, string(), { presence: 'always', description: 'Operating system: linux or windows.' }),
    architecture: field(10, string(), { presence: 'always', description: 'CPU architecture, such as amd64.' }),
    swap: optional(11, nodeSwapStatus, { description: 'Swap space of the node.' }),
  },
  {
    required: [
      'machineID',
      'systemUUID',
      'bootID',
      'kernelVersion',
      'osImage',
      'containerRuntimeVersion',
      'kubeletVersion',
      'kubeProxyVersion',
      'operatingSystem',
      'architecture',
    ],
    description: "IDs and versions of a node's hardware and software.",
  },
);

const containerImage = coreStruct(
  'ContainerImage',
  {
    names: field(1, list(string(), { listType: 'atomic' }), {
      presence: 'always',
      description: 'Names by which the image is known.',
    }),
    sizeBytes: field(2, integer64(), { description: 'Size of the image in bytes.' }),
  },
  { description: 'Container image that is stored on a node.' },
);

const attachedVolume = coreStruct(
  'AttachedVolume',
  {
    name: field(1, string({ go: 'v1.UniqueVolumeName' }), { presence: 'always', description: 'Name of the volume.' }),
    devicePath: field(2, string(), { presence: 'always', description: 'Path of the device of the volume.' }),
  },
  { required: ['name', 'devicePath'], description: 'Volume that is attached to a node.' },
);

const nodeConfigStatus = coreStruct(
  'NodeConfigStatus',
  {
    assigned: optional(1, nodeConfigSource, { description: 'Configuration that the node was assigned.' }),
    active: optional(2, nodeConfigSource, { description: 'Configuration that the node uses.' }),
    lastKnownGood: optional(3, nodeConfigSource, {
      description: 'Configuration that the node falls back to in case of errors.',
    }),
    error: field(4, string(), { description: 'Problem with the assigned configuration.' }),
  },
  { description: 'State of the configuration of a kubelet. No longer used.' },
);

const nodeRuntimeHandlerFeatures = coreStruct(
  'NodeRuntimeHandlerFeatures',
  {
    recursiveReadOnlyMounts: optional(1, boolean(), {
      description: 'Whether the handler supports recursive read-only mounts.',
    }),
    userNamespaces: optional(2, boolean(), { description: 'Whether the handler supports user namespaces.' }),
  },
  { description: 'Features that a runtime handler supports.' },
);

const nodeRuntimeHandler = coreStruct(
  'NodeRuntimeHandler',
  {
    name: field(1, string(), {
      presence: 'always',
      description: 'Name of the handler; empty for the default handler.',
    }),
    features: optional(2, nodeRuntimeHandlerFeatures, { description: 'Features that the handler supports.' }),
  },
  { description: 'Handler of the container runtime.' },
);

const nodeFeatures = coreStruct(
  'NodeFeatures',
  {
    supplementalGroupsPolicy: optional(1, boolean(), {
      description: 'Whether the container runtime supports supplementalGroupsPolicy.',
    }),
  },
  { description: 'Features that the container runtime of a node supports.' },
);

export const nodeStatus = coreStruct(
  'NodeStatus',
  {
    capacity: field(1, resourceList, { description: 'Total resources of the node.' }),
    allocatable: field(2, resourceList, {
      keepsEmpty: true,
      description: 'Resources of the node that are available for pods.',
    }),
    phase: field(3, string({ go: 'v1.NodePhase', enum: ['Pending', 'Running', 'Terminated'] }), {
      description: 'Deprecated: phase of the node. No longer used.',
    }),
    conditions: field(4, listMap(nodeCondition, ['type']), { description: 'Conditions of the node.' }),
    addresses: field(5, listMap(nodeAddress, ['type']), { description: 'Addresses at which the node can be reached.' }),
    daemonEndpoints: field(6, nodeDaemonEndpoints, { description: 'Ports that daemons of the node listen on.' }),
    nodeInfo: field(7, nodeSystemInfo, { description: "IDs and versions of the node's hardware and software." }),
    images: field(8, list(containerImage, { listType: 'atomic' }), {
      description: 'Container images that are stored on the node.',
    }),
    volumesInUse: field(9, list(string({ go: 'v1.UniqueVolumeName' }), { listType: 'atomic' }), {
      description: 'Attachable volumes that the node has mounted.',
    }),
    volumesAttached: field(10, list(attachedVolume, { listType: 'atomic' }), {
      description: 'Volumes that are attached to the node.',
    }),
    config: optional(11, nodeConfigStatus, { description: "State of the kubelet's configuration. No longer used." }),
    runtimeHandlers: field(12, list(nodeRuntimeHandler, { listType: 'atomic' }), {
      description: 'Runtime handlers that are available on the node.',
    }),
    features: optional(13, nodeFeatures, { description: 'Features that the container runtime supports.' }),
    declaredFeatures: field(14, list(string(), { listType: 'atomic' }), {
      description: 'Features, related to feature gates, that the node declares.',
    }),
  },
  { description: 'Observed state of a node.' },
);
