import { boolean, field, integer32, integer64, list, listMap, optional, string, time } from '../../schema/builder.js';
import { coreStruct, resourceList } from '../core-struct.js';
import { nodeConfigSource } from './spec-schema.js';

/** Schema of a node's status. */

const nodeCondition = coreStruct(
  'NodeCondition',
  {
    type: field(1, string({ go: 'v1.NodeConditionType' }), { presence: 'always', description: 'Name of the aspect.' }),
    status: field(2, string({ go: 'v1.ConditionStatus' }), {
      presence: 'always',
      description: 'True, False or Unknown.',
    }),
    lastHeartbeatTime: field(3, time(), { presence: 'always', description: 'When it was last told.' }),
    lastTransitionTime: field(4, time(), { presence: 'always', description: 'When it last changed.' }),
    reason: field(5, string(), { description: 'Why, for programs.' }),
    message: field(6, string(), { description: 'Why, for people.' }),
  },
  { required: ['type', 'status'], description: 'One aspect of the state.' },
);

const nodeAddress = coreStruct(
  'NodeAddress',
  {
    type: field(1, string({ go: 'v1.NodeAddressType' }), { presence: 'always', description: 'Sort of the address.' }),
    address: field(2, string(), { presence: 'always', description: 'The address.' }),
  },
  { required: ['type', 'address'], description: 'An address of a node.' },
);

const daemonEndpoint = coreStruct(
  'DaemonEndpoint',
  {
    Port: field(1, integer32(), { presence: 'always', description: 'The port.' }),
  },
  { required: ['Port'], description: 'A port of an agent.' },
);

const nodeDaemonEndpoints = coreStruct(
  'NodeDaemonEndpoints',
  {
    kubeletEndpoint: field(1, daemonEndpoint, { description: 'The node agent.' }),
  },
  { description: 'Where agents of a node listen.' },
);

const nodeSwapStatus = coreStruct(
  'NodeSwapStatus',
  {
    capacity: optional(1, integer64(), { description: 'Bytes.' }),
  },
  { description: 'Swap space of a node.' },
);

const nodeSystemInfo = coreStruct(
  'NodeSystemInfo',
  {
    machineID: field(1, string(), { presence: 'always', description: 'Identity of the installation.' }),
    systemUUID: field(2, string(), { presence: 'always', description: 'Identity of the hardware.' }),
    bootID: field(3, string(), { presence: 'always', description: 'Identity of the last start.' }),
    kernelVersion: field(4, string(), { presence: 'always', description: 'Version of the kernel.' }),
    osImage: field(5, string(), { presence: 'always', description: 'Name of the operating system.' }),
    containerRuntimeVersion: field(6, string(), {
      presence: 'always',
      description: 'What runs containers, and its version.',
    }),
    kubeletVersion: field(7, string(), { presence: 'always', description: 'Version of the node agent.' }),
    kubeProxyVersion: field(8, string(), { presence: 'always', description: 'No longer told.' }),
    operatingSystem: field(9, string(), { presence: 'always', description: 'linux or windows.' }),
    architecture: field(10, string(), { presence: 'always', description: 'Architecture, such as amd64.' }),
    swap: optional(11, nodeSwapStatus, { description: 'Its swap space.' }),
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
    description: 'What a machine is.',
  },
);

const containerImage = coreStruct(
  'ContainerImage',
  {
    names: field(1, list(string(), { listType: 'atomic' }), { presence: 'always', description: 'Names of the image.' }),
    sizeBytes: field(2, integer64(), { description: 'Size in bytes.' }),
  },
  { description: 'An image on a node.' },
);

const attachedVolume = coreStruct(
  'AttachedVolume',
  {
    name: field(1, string({ go: 'v1.UniqueVolumeName' }), { presence: 'always', description: 'Name of the volume.' }),
    devicePath: field(2, string(), { presence: 'always', description: 'Where it is.' }),
  },
  { required: ['name', 'devicePath'], description: 'A volume that is attached.' },
);

const nodeConfigStatus = coreStruct(
  'NodeConfigStatus',
  {
    assigned: optional(1, nodeConfigSource, { description: 'What it was told to use.' }),
    active: optional(2, nodeConfigSource, { description: 'What it uses.' }),
    lastKnownGood: optional(3, nodeConfigSource, { description: 'What it falls back to.' }),
    error: field(4, string(), { description: 'What went wrong.' }),
  },
  { description: 'Configuration of an agent; no longer used.' },
);

const nodeRuntimeHandlerFeatures = coreStruct(
  'NodeRuntimeHandlerFeatures',
  {
    recursiveReadOnlyMounts: optional(1, boolean(), { description: 'Read-only mounts, with all below.' }),
    userNamespaces: optional(2, boolean(), { description: 'Users of its own.' }),
  },
  { description: 'What a runtime can do.' },
);

const nodeRuntimeHandler = coreStruct(
  'NodeRuntimeHandler',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the handler; empty for the default.' }),
    features: optional(2, nodeRuntimeHandlerFeatures, { description: 'What it can do.' }),
  },
  { description: 'Something that can run containers.' },
);

const nodeFeatures = coreStruct(
  'NodeFeatures',
  {
    supplementalGroupsPolicy: optional(1, boolean(), { description: 'Policies of supplemental groups.' }),
  },
  { description: 'What a node agent can do.' },
);

export const nodeStatus = coreStruct(
  'NodeStatus',
  {
    capacity: field(1, resourceList, { description: 'Resources of the machine.' }),
    allocatable: field(2, resourceList, { keepsEmpty: true, description: 'Resources that pods can have.' }),
    phase: field(3, string({ go: 'v1.NodePhase', enum: ['Pending', 'Running', 'Terminated'] }), {
      description: 'No longer used.',
    }),
    conditions: field(4, listMap(nodeCondition, ['type']), { description: 'State of the node, aspect by aspect.' }),
    addresses: field(5, listMap(nodeAddress, ['type']), { description: 'Where the node is reached.' }),
    daemonEndpoints: field(6, nodeDaemonEndpoints, { description: 'Where its agent listens.' }),
    nodeInfo: field(7, nodeSystemInfo, { description: 'What the machine is.' }),
    images: field(8, list(containerImage, { listType: 'atomic' }), { description: 'Images that are there.' }),
    volumesInUse: field(9, list(string({ go: 'v1.UniqueVolumeName' }), { listType: 'atomic' }), {
      description: 'Volumes that are used.',
    }),
    volumesAttached: field(10, list(attachedVolume, { listType: 'atomic' }), {
      description: 'Volumes that are attached.',
    }),
    config: optional(11, nodeConfigStatus, { description: 'Configuration of its agent; no longer used.' }),
    runtimeHandlers: field(12, list(nodeRuntimeHandler, { listType: 'atomic' }), {
      description: 'What can run containers.',
    }),
    features: optional(13, nodeFeatures, { description: 'What its agent can do.' }),
    declaredFeatures: field(14, list(string(), { listType: 'atomic' }), {
      description: 'Features that pods may need.',
    }),
  },
  { description: 'State of a node.' },
);
