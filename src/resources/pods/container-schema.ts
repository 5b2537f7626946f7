import { boolean, embedded, field, integer32, list, listMap, optional, string } from '../../schema/builder.js';
import { coreStruct, resourceList } from '../core-struct.js';
import { envFromSource, envVar } from './environment-schemas.js';
import { lifecycle, probe } from './probe-schemas.js';
import { securityContext } from './security-schemas.js';

/** Schemas of containers. */

const containerPort = coreStruct(
  'ContainerPort',
  {
    name: field(1, string(), { description: 'Name of the port, by which services can refer to it.' }),
    hostPort: field(2, integer32(), { description: 'Port on the host that is forwarded to the container.' }),
    containerPort: field(3, integer32(), { presence: 'always', description: "Port on the pod's IP address." }),
    protocol: field(4, string({ go: 'v1.Protocol', enum: ['SCTP', 'TCP', 'UDP'] }), {
      default: 'TCP',
      description: 'Protocol: TCP (the default), UDP or SCTP.',
    }),
    hostIP: field(5, string(), { description: 'Host IP address that hostPort is bound to.' }),
  },
  { required: ['containerPort'], description: 'Network port of a container.' },
);

const resourceClaim = coreStruct(
  'ResourceClaim',
  {
    name: field(1, string(), { presence: 'always', description: "Name of an entry of the pod's resourceClaims." }),
    request: field(2, string(), {
      description: 'Name of a request in the claim; by default everything in the claim is available.',
    }),
  },
  { required: ['name'], description: 'Reference to a resource claim of the pod.' },
);

export const resourceRequirements = coreStruct(
  'ResourceRequirements',
  {
    limits: field(1, resourceList, { description: 'Maximum amount of each resource.' }),
    requests: field(2, resourceList, {
      description: 'Minimum amount of each resource; by default the limit, if there is one.',
    }),
    claims: field(3, list(resourceClaim, { listType: 'map', listMapKeys: ['name'] }), {
      description: 'Resource claims of the pod that are used.',
    }),
  },
  { description: 'Resource requirements of a container or pod.' },
);

const containerResizePolicy = coreStruct(
  'ContainerResizePolicy',
  {
    resourceName: field(1, string({ go: 'v1.ResourceName' }), {
      presence: 'always',
      description: 'Name of the resource: cpu or memory.',
    }),
    restartPolicy: field(2, string({ go: 'v1.ResourceResizeRestartPolicy' }), {
      presence: 'always',
      description: 'Whether a change of the resource restarts the container: NotRequired or RestartContainer.',
    }),
  },
  {
    required: ['resourceName', 'restartPolicy'],
    description: 'How a container is resized when one of its resources changes.',
  },
);

const containerRestartRuleOnExitCodes = coreStruct(
  'ContainerRestartRuleOnExitCodes',
  {
    operator: field(1, string({ go: 'v1.ContainerRestartRuleOnExitCodesOperator' }), {
      description: 'How the exit code is compared with the values: In or NotIn.',
    }),
    values: field(2, list(integer32(), { listType: 'set' }), {
      description: 'Exit codes to compare with; at most 255.',
    }),
  },
  { required: ['operator'], description: 'Condition on the exit code of a container.' },
);

const containerRestartRule = coreStruct(
  'ContainerRestartRule',
  {
    action: field(1, string({ go: 'v1.ContainerRestartRuleAction' }), {
      description: 'Action if the rule matches: Restart.',
    }),
    exitCodes: optional(2, containerRestartRuleOnExitCodes, {
      description: 'Condition on the exit code of the container.',
    }),
  },
  { required: ['action'], description: 'Rule for what happens when a container exits.' },
);

const volumeMount = coreStruct(
  'VolumeMount',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the volume.' }),
    readOnly: field(2, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
    recursiveReadOnly: optional(7, string({ go: 'v1.RecursiveReadOnlyMode' }), {
      description: 'Whether read-only mounts are recursive: Disabled (the default), IfPossible or Enabled.',
    }),
    mountPath: field(3, string(), {
      presence: 'always',
      description: 'Path in the container at which the volume is mounted.',
    }),
    subPath: field(4, string(), {
      description: 'Path within the volume that is mounted; by default the root of the volume.',
    }),
    mountPropagation: optional(
      5,
      string({ go: 'v1.MountPropagationMode', enum: ['Bidirectional', 'HostToContainer', 'None'] }),
      {
        description:
          'How mounts propagate between host and container: None (the default), HostToContainer or Bidirectional.',
      },
    ),
    subPathExpr: field(6, string(), {
      description: 'Like subPath, but with $(NAME) references to environment variables expanded.',
    }),
  },
  { required: ['name', 'mountPath'], description: 'Mount of a volume in a container.' },
);

const volumeDevice = coreStruct(
  'VolumeDevice',
  {
    name: field(1, string(), {
      presence: 'always',
      description: 'Name of the volume, which must come from a persistent volume claim.',
    }),
    devicePath: field(2, string(), {
      presence: 'always',
      description: 'Path in the container at which the device appears.',
    }),
  },
  { required: ['name', 'devicePath'], description: 'Block device in a container.' },
);

const containerFields = {
  name: field(1, string(), { presence: 'always', description: 'Name of the container.' }),
  image: field(2, string(), { description: 'Container image to run.' }),
  command: field(3, list(string(), { listType: 'atomic' }), {
    description: 'Command to run; by default the entrypoint of the image.',
  }),
  args: field(4, list(string(), { listType: 'atomic' }), {
    description: 'Arguments of the command; by default those of the image.',
  }),
  workingDir: field(5, string(), { description: 'Working directory of the command; by default that of the image.' }),
  ports: field(6, listMap(containerPort, ['containerPort', 'protocol']), {
    description: 'Ports that the container exposes.',
  }),
  envFrom: field(19, list(envFromSource, { listType: 'atomic' }), {
    description: 'Sources whose entries all become environment variables.',
  }),
  env: field(7, listMap(envVar, ['name']), { description: 'Environment variables of the container.' }),
  resources: field(8, resourceRequirements, { description: 'Compute resources that the container requires.' }),
  resizePolicy: field(23, list(containerResizePolicy, { listType: 'atomic' }), {
    description: 'How the container is resized when its resources change.',
  }),
  restartPolicy: optional(24, string({ go: 'v1.ContainerRestartPolicy' }), {
    description:
      'Restart policy of this container: Always, OnFailure or Never. An init container with Always is a sidecar.',
  }),
  restartPolicyRules: field(25, list(containerRestartRule, { listType: 'atomic' }), {
    description: 'Rules for restarts by exit code, checked in order; restartPolicy applies if none matches.',
  }),
  volumeMounts: field(9, listMap(volumeMount, ['mountPath']), { description: 'Volumes to mount in the container.' }),
  volumeDevices: field(21, listMap(volumeDevice, ['devicePath']), {
    description: 'Block devices to attach to the container.',
  }),
  livenessProbe: optional(10, probe, {
    description: 'Probe for whether the container is alive; it is restarted if the probe fails.',
  }),
  readinessProbe: optional(11, probe, { description: 'Probe for whether the container is ready to serve requests.' }),
  startupProbe: optional(22, probe, {
    description: 'Probe for whether the container has started; other probes wait until it succeeds.',
  }),
  lifecycle: optional(12, lifecycle, {
    description: 'Actions that run after the start and before the termination of the container.',
  }),
  terminationMessagePath: field(13, string(), {
    fills: '/dev/termination-log',
    description: 'File in the container with its termination message; /dev/termination-log by default.',
  }),
  terminationMessagePolicy: field(
    20,
    string({ go: 'v1.TerminationMessagePolicy', enum: ['FallbackToLogsOnError', 'File'] }),
    { fills: 'File', description: 'Source of the termination message: File (the default) or FallbackToLogsOnError.' },
  ),
  imagePullPolicy: field(14, string({ go: 'v1.PullPolicy', enum: ['Always', 'IfNotPresent', 'Never'] }), {
    description: 'When the image is pulled: Always, Never or IfNotPresent.',
  }),
  securityContext: optional(15, securityContext, {
    description: 'Security options of the container; they override those of the pod.',
  }),
  stdin: field(16, boolean(), { description: 'Whether a buffer for standard input is allocated; false by default.' }),
  stdinOnce: field(17, boolean(), {
    description: 'Whether standard input is closed after the first client detaches; false by default.',
  }),
  tty: field(18, boolean(), { description: 'Whether a terminal is allocated; false by default.' }),
};

export const container = coreStruct('Container', containerFields, {
  required: ['name'],
  description: 'Container of a pod.',
});

export const ephemeralContainer = coreStruct(
  'EphemeralContainer',
  {
    ...embedded(1, 'EphemeralContainerCommon', containerFields),
    targetContainerName: field(2, string(), {
      description: 'Name of the container whose namespaces are shared, such as that of processes.',
    }),
  },
  { required: ['name'], description: 'Container that is added to a running pod for debugging.' },
);
