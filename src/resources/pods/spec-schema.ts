import { boolean, field, integer32, integer64, list, listMap, map, optional, string } from '../../schema/builder.js';
import { coreStruct, resourceList } from '../core-struct.js';
import { localObjectReference } from '../object-reference-schema.js';
import { container, ephemeralContainer, resourceRequirements } from './container-schema.js';
import {
  affinity,
  podSchedulingGate,
  podSchedulingGroup,
  toleration,
  topologySpreadConstraint,
} from './scheduling-schemas.js';
import { podSecurityContext } from './security-schemas.js';
import { volume } from './volume-schema.js';

/** Schema of a pod's spec. */

const hostAlias = coreStruct(
  'HostAlias',
  {
    ip: field(1, string(), { presence: 'always', description: 'IP address.' }),
    hostnames: field(2, list(string(), { listType: 'atomic' }), { description: 'Host names for the IP address.' }),
  },
  { required: ['ip'], description: "Entry of the pod's hosts file: an IP address and its host names." },
);

const podDNSConfigOption = coreStruct(
  'PodDNSConfigOption',
  {
    name: field(1, string(), { description: 'Name of the option.' }),
    value: optional(2, string(), { description: 'Value of the option.' }),
  },
  { description: 'Option of the DNS resolver.' },
);

const podDNSConfig = coreStruct(
  'PodDNSConfig',
  {
    nameservers: field(1, list(string(), { listType: 'atomic' }), {
      description: 'IP addresses of DNS servers, in addition to those of dnsPolicy.',
    }),
    searches: field(2, list(string(), { listType: 'atomic' }), {
      description: 'Search domains for host names, in addition to those of dnsPolicy.',
    }),
    options: field(3, list(podDNSConfigOption, { listType: 'atomic' }), {
      description: 'Resolver options, in addition to those of dnsPolicy.',
    }),
  },
  { description: 'DNS parameters of a pod, merged with those of dnsPolicy.' },
);

const podReadinessGate = coreStruct(
  'PodReadinessGate',
  {
    conditionType: field(1, string({ go: 'v1.PodConditionType' }), {
      presence: 'always',
      description: 'Type of the condition.',
    }),
  },
  { required: ['conditionType'], description: 'Additional condition that must be true for the pod to be ready.' },
);

const podOS = coreStruct(
  'PodOS',
  {
    name: field(1, string({ go: 'v1.OSName' }), {
      presence: 'always',
      description: 'Name of the operating system: linux or windows.',
    }),
  },
  { required: ['name'], description: 'Operating system of a pod.' },
);

const podResourceClaim = coreStruct(
  'PodResourceClaim',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the claim in this pod.' }),
    resourceClaimName: optional(3, string(), {
      description: 'Name of an existing ResourceClaim in the namespace of the pod.',
    }),
    resourceClaimTemplateName: optional(4, string(), {
      description: 'Name of a ResourceClaimTemplate from which a claim is created for the pod.',
    }),
  },
  {
    required: ['name'],
    description: 'Reference to a ResourceClaim or a template of one; exactly one of the two is set.',
  },
);

export const podSpec = coreStruct(
  'PodSpec',
  {
    volumes: field(
      1,
      list(volume, {
        listType: 'map',
        listMapKeys: ['name'],
        patchStrategy: 'merge,retainKeys',
        patchMergeKey: 'name',
      }),
      { description: 'Volumes that containers of the pod can mount.' },
    ),
    initContainers: field(20, listMap(container, ['name']), {
      description: 'Containers that run before the others start, one after the other.',
    }),
    containers: field(2, listMap(container, ['name']), {
      presence: 'always',
      description: 'Containers of the pod; at least one.',
    }),
    ephemeralContainers: field(34, listMap(ephemeralContainer, ['name']), {
      description: 'Containers that were added to the running pod for debugging.',
    }),
    restartPolicy: field(3, string({ go: 'v1.RestartPolicy', enum: ['Always', 'Never', 'OnFailure'] }), {
      fills: 'Always',
      description: 'When containers are restarted: Always (the default), OnFailure or Never.',
    }),
    terminationGracePeriodSeconds: optional(4, integer64(), {
      fills: 30,
      description: 'Seconds that the pod has to terminate gracefully; 30 by default.',
    }),
    activeDeadlineSeconds: optional(5, integer64(), {
      description: 'Seconds that the pod may be active on the node before it is terminated and marked as failed.',
    }),
    dnsPolicy: field(
      6,
      string({ go: 'v1.DNSPolicy', enum: ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] }),
      {
        fills: 'ClusterFirst',
        description: 'DNS policy: ClusterFirst (the default), ClusterFirstWithHostNet, Default or None.',
      },
    ),
    nodeSelector: field(7, map(string()), {
      mapType: 'atomic',
      description: 'Labels that a node must have for the pod to be scheduled on it.',
    }),
    serviceAccountName: field(8, string(), { description: 'Name of the service account that the pod runs as.' }),
    serviceAccount: field(9, string(), { description: 'Deprecated: use serviceAccountName.' }),
    automountServiceAccountToken: optional(21, boolean(), {
      description:
        'Whether a token of the service account is mounted automatically; by default as set in the service account.',
    }),
    nodeName: field(10, string(), { description: 'Name of the node that the pod is bound to.' }),
    hostNetwork: field(11, boolean(), {
      description: 'Whether the pod uses the network namespace of the host; false by default.',
    }),
    hostPID: field(12, boolean(), {
      description: 'Whether the pod uses the process ID namespace of the host; false by default.',
    }),
    hostIPC: field(13, boolean(), {
      description: 'Whether the pod uses the IPC namespace of the host; false by default.',
    }),
    shareProcessNamespace: optional(27, boolean(), {
      description: 'Whether all containers share one process namespace; false by default.',
    }),
    securityContext: optional(14, podSecurityContext, {
      fills: {},
      description: 'Security options of the pod, and defaults for its containers.',
    }),
    imagePullSecrets: field(15, listMap(localObjectReference, ['name']), {
      description: 'Secrets with credentials for pulling images.',
    }),
    hostname: field(16, string(), { description: 'Host name of the pod; by default the name of the pod.' }),
    subdomain: field(17, string(), {
      description:
        'Subdomain: the fully qualified host name is <hostname>.<subdomain>.<namespace>.svc.<cluster domain>.',
    }),
    affinity: optional(18, affinity, { description: 'Scheduling constraints by nodes and other pods.' }),
    schedulerName: field(19, string(), {
      fills: 'default-scheduler',
      description: 'Name of the scheduler for the pod; default-scheduler by default.',
    }),
    tolerations: field(22, list(toleration, { listType: 'atomic' }), {
      description: 'Taints of nodes that the pod tolerates.',
    }),
    hostAliases: field(23, listMap(hostAlias, ['ip']), { description: "Additional entries for the pod's hosts file." }),
    priorityClassName: field(24, string(), { description: 'Name of the PriorityClass that sets the priority.' }),
    priority: optional(25, integer32(), {
      description: 'Priority of the pod; higher values are scheduled first. Set from the PriorityClass.',
    }),
    dnsConfig: optional(26, podDNSConfig, { description: 'DNS parameters in addition to those of dnsPolicy.' }),
    readinessGates: field(28, list(podReadinessGate, { listType: 'atomic' }), {
      description: 'Conditions that must be true, in addition to ready containers, for the pod to be ready.',
    }),
    runtimeClassName: optional(29, string(), { description: 'Name of the RuntimeClass that runs the pod.' }),
    enableServiceLinks: optional(30, boolean(), {
      fills: true,
      description: 'Whether Services of the namespace are published as environment variables; true by default.',
    }),
    preemptionPolicy: optional(31, string({ go: 'v1.PreemptionPolicy', enum: ['Never', 'PreemptLowerPriority'] }), {
      description: 'Whether pods of lower priority may be preempted: PreemptLowerPriority (the default) or Never.',
    }),
    overhead: field(32, resourceList, {
      description: 'Resources that running the pod takes in addition to those of its containers.',
    }),
    topologySpreadConstraints: field(33, listMap(topologySpreadConstraint, ['topologyKey', 'whenUnsatisfiable']), {
      description: 'Constraints on how pods are spread across topology domains.',
    }),
    setHostnameAsFQDN: optional(35, boolean(), {
      description: 'Whether the host name is the fully qualified one instead of its first label; false by default.',
    }),
    os: optional(36, podOS, { description: "Operating system of the pod's containers." }),
    hostUsers: optional(37, boolean(), {
      description: 'Whether the pod uses the user namespace of the host; true by default.',
    }),
    schedulingGates: field(38, listMap(podSchedulingGate, ['name']), {
      description: 'Gates that must all be removed before the pod can be scheduled.',
    }),
    resourceClaims: field(
      39,
      list(podResourceClaim, {
        listType: 'map',
        listMapKeys: ['name'],
        patchStrategy: 'merge,retainKeys',
        patchMergeKey: 'name',
      }),
      { description: 'Claims that must be allocated before the pod starts, and that its containers can use.' },
    ),
    resources: optional(40, resourceRequirements, { description: 'Total resources of all containers of the pod.' }),
    hostnameOverride: optional(41, string(), {
      description: 'Host name of the pod, instead of that from hostname and subdomain. Does not affect DNS records.',
    }),
    schedulingGroup: optional(43, podSchedulingGroup, { description: 'Group of pods that the pod is scheduled with.' }),
  },
  { required: ['containers'], description: 'Desired state of a pod.' },
);
