import { boolean, embedded, field, integer32, list, listMap, optional, string } from '../../schema/builder.js';
import { coreStruct, resourceList } from '../core-struct.js';
import { envFromSource, envVar } from './environment-schemas.js';
import { lifecycle, probe } from './probe-schemas.js';
import { securityContext } from './security-schemas.js';

/** Schemas of containers. */

const containerPort = coreStruct(
  'ContainerPort',
  {
    name: field(1, string(), { description: 'Name of the port.' }),
    hostPort: field(2, integer32(), { description: 'Port of the node that leads there.' }),
    containerPort: field(3, integer32(), { presence: 'always', description: 'Port of the pod.' }),
    protocol: field(4, string({ go: 'v1.Protocol', enum: ['SCTP', 'TCP', 'UDP'] }), {
      default: 'TCP',
      description: 'Protocol: TCP unless given.',
    }),
    hostIP: field(5, string(), { description: 'Address of the node that hostPort is bound to.' }),
  },
  { required: ['containerPort'], description: 'A port that a container listens on.' },
);

const resourceClaim = coreStruct(
  'ResourceClaim',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the claim in the spec of the pod.' }),
    request: field(2, string(), { description: 'Request of the claim; all unless given.' }),
  },
  { required: ['name'], description: 'A claim of the pod that is used.' },
);

export const resourceRequirements = coreStruct(
  'ResourceRequirements',
  {
    limits: field(1, resourceList, { description: 'At the most.' }),
    requests: field(2, resourceList, { description: 'At the least.' }),
    claims: field(3, list(resourceClaim, { listType: 'map', listMapKeys: ['name'] }), {
      description: 'Claims of the pod that are used.',
    }),
  },
  { description: 'Resources that something needs.' },
);

const containerResizePolicy = coreStruct(
  'ContainerResizePolicy',
  {
    resourceName: field(1, string({ go: 'v1.ResourceName' }), {
      presence: 'always',
      description: 'Name of the resource.',
    }),
    restartPolicy: field(2, string({ go: 'v1.ResourceResizeRestartPolicy' }), {
      presence: 'always',
      description: 'Is the container started again?',
    }),
  },
  { required: ['resourceName', 'restartPolicy'], description: 'What happens when a resource of a container changes.' },
);

const containerRestartRuleOnExitCodes = coreStruct(
  'ContainerRestartRuleOnExitCodes',
  {
    operator: field(1, string({ go: 'v1.ContainerRestartRuleOnExitCodesOperator' }), {
      description: 'Is the code one of them, or none?',
    }),
    values: field(2, list(integer32(), { listType: 'set' }), { description: 'The codes.' }),
  },
  { required: ['operator'], description: 'Exit codes that a rule is about.' },
);

const containerRestartRule = coreStruct(
  'ContainerRestartRule',
  {
    action: field(1, string({ go: 'v1.ContainerRestartRuleAction' }), { description: 'What is done.' }),
    exitCodes: optional(2, containerRestartRuleOnExitCodes, { description: 'Exit codes that the rule is about.' }),
  },
  { required: ['action'], description: 'What happens when a container ends in a certain way.' },
);

const volumeMount = coreStruct(
  'VolumeMount',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the volume.' }),
    readOnly: field(2, boolean(), { description: 'Mounted for reading only?' }),
    recursiveReadOnly: optional(7, string({ go: 'v1.RecursiveReadOnlyMode' }), {
      description: 'Is everything mounted below read-only, too?',
    }),
    mountPath: field(3, string(), { presence: 'always', description: 'Path in the container.' }),
    subPath: field(4, string(), { description: 'Path in the volume; its root unless given.' }),
    mountPropagation: optional(
      5,
      string({ go: 'v1.MountPropagationMode', enum: ['Bidirectional', 'HostToContainer', 'None'] }),
      { description: 'Do mounts within go from node to container, and back?' },
    ),
    subPathExpr: field(6, string(), { description: 'Path in the volume with variables.' }),
  },
  { required: ['name', 'mountPath'], description: 'Where a volume is mounted.' },
);

const volumeDevice = coreStruct(
  'VolumeDevice',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the volume.' }),
    devicePath: field(2, string(), { presence: 'always', description: 'Path in the container.' }),
  },
  { required: ['name', 'devicePath'], description: 'Where a block device is.' },
);

const containerFields = {
  name: field(1, string(), { presence: 'always', description: 'Name of the container.' }),
  image: field(2, string(), { description: 'Image it is started from.' }),
  command: field(3, list(string(), { listType: 'atomic' }), {
    description: 'Program that is started, instead of that of the image.',
  }),
  args: field(4, list(string(), { listType: 'atomic' }), { description: 'Arguments of the program.' }),
  workingDir: field(5, string(), { description: 'Directory the program is started in.' }),
  ports: field(6, listMap(containerPort, ['containerPort', 'protocol']), { description: 'Ports it listens on.' }),
  envFrom: field(19, list(envFromSource, { listType: 'atomic' }), {
    description: 'Where whole sets of environment variables are from.',
  }),
  env: field(7, listMap(envVar, ['name']), { description: 'Environment variables.' }),
  resources: field(8, resourceRequirements, { description: 'Resources it needs.' }),
  resizePolicy: field(23, list(containerResizePolicy, { listType: 'atomic' }), {
    description: 'What happens when its resources change.',
  }),
  restartPolicy: optional(24, string({ go: 'v1.ContainerRestartPolicy' }), {
    description: 'Is it started again? Makes a container that runs first one that goes on beside the others.',
  }),
  restartPolicyRules: field(25, list(containerRestartRule, { listType: 'atomic' }), {
    description: 'When it is started again, by how it ended.',
  }),
  volumeMounts: field(9, listMap(volumeMount, ['mountPath']), { description: 'Where volumes are mounted.' }),
  volumeDevices: field(21, listMap(volumeDevice, ['devicePath']), { description: 'Where block devices are.' }),
  livenessProbe: optional(10, probe, { description: 'Tells whether it is alive.' }),
  readinessProbe: optional(11, probe, { description: 'Tells whether it can be asked for something.' }),
  startupProbe: optional(22, probe, { description: 'Tells whether it has started.' }),
  lifecycle: optional(12, lifecycle, { description: 'What happens after its start and before its end.' }),
  terminationMessagePath: field(13, string(), {
    fills: '/dev/termination-log',
    description: 'File with the last message when it ends.',
  }),
  terminationMessagePolicy: field(
    20,
    string({ go: 'v1.TerminationMessagePolicy', enum: ['FallbackToLogsOnError', 'File'] }),
    { fills: 'File', description: 'What the last message is.' },
  ),
  imagePullPolicy: field(14, string({ go: 'v1.PullPolicy', enum: ['Always', 'IfNotPresent', 'Never'] }), {
    description: 'When the image is pulled.',
  }),
  securityContext: optional(15, securityContext, { description: 'Security of the container.' }),
  stdin: field(16, boolean(), { description: 'Is standard input kept open?' }),
  stdinOnce: field(17, boolean(), { description: 'Is standard input closed after the first who was attached?' }),
  tty: field(18, boolean(), { description: 'Is there a terminal?' }),
};

export const container = coreStruct('Container', containerFields, { required: ['name'], description: 'A program.' });

export const ephemeralContainer = coreStruct(
  'EphemeralContainer',
  {
    ...embedded(1, 'EphemeralContainerCommon', containerFields),
    targetContainerName: field(2, string(), { description: 'Container whose processes it sees.' }),
  },
  { required: ['name'], description: 'A program for a look inside.' },
);
