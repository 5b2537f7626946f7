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
    ip: field(1, string(), { presence: 'always', description: 'The address.' }),
    hostnames: field(2, list(string(), { listType: 'atomic' }), { description: 'The names.' }),
  },
  { required: ['ip'], description: 'Names for an address.' },
);

const podDNSConfigOption = coreStruct(
  'PodDNSConfigOption',
  {
    name: field(1, string(), { description: 'Name of the option.' }),
    value: optional(2, string(), { description: 'Its value.' }),
  },
  { description: 'An option of the resolver.' },
);

const podDNSConfig = coreStruct(
  'PodDNSConfig',
  {
    nameservers: field(1, list(string(), { listType: 'atomic' }), { description: 'Addresses of servers.' }),
    searches: field(2, list(string(), { listType: 'atomic' }), { description: 'Domains that are tried.' }),
    options: field(3, list(podDNSConfigOption, { listType: 'atomic' }), { description: 'Options of the resolver.' }),
  },
  { description: 'How names are looked up.' },
);

const podReadinessGate = coreStruct(
  'PodReadinessGate',
  {
    conditionType: field(1, string({ go: 'v1.PodConditionType' }), {
      presence: 'always',
      description: 'Type of the condition.',
    }),
  },
  { required: ['conditionType'], description: 'A condition that must be true for a pod to be ready.' },
);

const podOS = coreStruct(
  'PodOS',
  {
    name: field(1, string({ go: 'v1.OSName' }), { presence: 'always', description: 'linux or windows.' }),
  },
  { required: ['name'], description: 'An operating system.' },
);

const podResourceClaim = coreStruct(
  'PodResourceClaim',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the claim in this pod.' }),
    resourceClaimName: optional(3, string(), { description: 'Claim that there is.' }),
    resourceClaimTemplateName: optional(4, string(), { description: 'Template that a claim is made from.' }),
  },
  { required: ['name'], description: 'A claim of devices.' },
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
      { description: 'What containers can mount.' },
    ),
    initContainers: field(20, listMap(container, ['name']), {
      description: 'What runs before the containers, one after the other.',
    }),
    containers: field(2, listMap(container, ['name']), { presence: 'always', description: 'What runs.' }),
    ephemeralContainers: field(34, listMap(ephemeralContainer, ['name']), {
      description: 'What was added to look inside.',
    }),
    restartPolicy: field(3, string({ go: 'v1.RestartPolicy', enum: ['Always', 'Never', 'OnFailure'] }), {
      fills: 'Always',
      description: 'When containers are started again.',
    }),
    terminationGracePeriodSeconds: optional(4, integer64(), {
      fills: 30,
      description: 'Seconds that a pod has to end by itself; 30 unless given.',
    }),
    activeDeadlineSeconds: optional(5, integer64(), {
      description: 'Seconds that a pod may be active before it counts as failed.',
    }),
    dnsPolicy: field(
      6,
      string({ go: 'v1.DNSPolicy', enum: ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] }),
      { fills: 'ClusterFirst', description: 'Where names are looked up.' },
    ),
    nodeSelector: field(7, map(string()), { mapType: 'atomic', description: 'Labels that the node must have.' }),
    serviceAccountName: field(8, string(), { description: 'Account the pod runs as.' }),
    serviceAccount: field(9, string(), { description: 'Former name of serviceAccountName.' }),
    automountServiceAccountToken: optional(21, boolean(), { description: 'Does the pod get a token of its account?' }),
    nodeName: field(10, string(), { description: 'Node the pod is bound to.' }),
    hostNetwork: field(11, boolean(), { description: 'Does the pod use the network of its node?' }),
    hostPID: field(12, boolean(), { description: 'Does the pod see the processes of its node?' }),
    hostIPC: field(13, boolean(), { description: 'Does the pod share the memory of its node?' }),
    shareProcessNamespace: optional(27, boolean(), { description: 'Do containers see the processes of each other?' }),
    securityContext: optional(14, podSecurityContext, {
      fills: {},
      description: 'Security of the pod and what containers take over.',
    }),
    imagePullSecrets: field(15, listMap(localObjectReference, ['name']), {
      description: 'Secrets for pulling images.',
    }),
    hostname: field(16, string(), { description: 'Host name of the pod.' }),
    subdomain: field(17, string(), { description: 'Domain below the one of the namespace.' }),
    affinity: optional(18, affinity, { description: 'Which nodes and neighbours the pod wants.' }),
    schedulerName: field(19, string(), {
      fills: 'default-scheduler',
      description: 'Scheduler that is to bind the pod.',
    }),
    tolerations: field(22, list(toleration, { listType: 'atomic' }), {
      description: 'Taints of nodes that the pod bears.',
    }),
    hostAliases: field(23, listMap(hostAlias, ['ip']), { description: 'Further names for addresses.' }),
    priorityClassName: field(24, string(), { description: 'Class of its priority.' }),
    priority: optional(25, integer32(), { description: 'Priority; higher ones go first.' }),
    dnsConfig: optional(26, podDNSConfig, { description: 'How names are looked up, beyond the policy.' }),
    readinessGates: field(28, list(podReadinessGate, { listType: 'atomic' }), {
      description: 'Conditions that must be true besides for the pod to be ready.',
    }),
    runtimeClassName: optional(29, string(), { description: 'Class of what runs the containers.' }),
    enableServiceLinks: optional(30, boolean(), {
      fills: true,
      description: 'Are Services told in environment variables?',
    }),
    preemptionPolicy: optional(31, string({ go: 'v1.PreemptionPolicy', enum: ['Never', 'PreemptLowerPriority'] }), {
      description: 'May pods of lower priority be evicted for it?',
    }),
    overhead: field(32, resourceList, {
      description: 'Resources that running the pod takes besides those of its containers.',
    }),
    topologySpreadConstraints: field(33, listMap(topologySpreadConstraint, ['topologyKey', 'whenUnsatisfiable']), {
      description: 'How pods are spread.',
    }),
    setHostnameAsFQDN: optional(35, boolean(), { description: 'Is the host name the fully qualified one?' }),
    os: optional(36, podOS, { description: 'Operating system that the pod needs.' }),
    hostUsers: optional(37, boolean(), { description: 'Does the pod share the users of its node?' }),
    schedulingGates: field(38, listMap(podSchedulingGate, ['name']), {
      description: 'What must be removed before the pod is scheduled.',
    }),
    resourceClaims: field(
      39,
      list(podResourceClaim, {
        listType: 'map',
        listMapKeys: ['name'],
        patchStrategy: 'merge,retainKeys',
        patchMergeKey: 'name',
      }),
      { description: 'Claims of devices that containers may use.' },
    ),
    resources: optional(40, resourceRequirements, { description: 'Resources of all containers together.' }),
    hostnameOverride: optional(41, string(), { description: 'Host name, whatever else says about it.' }),
    schedulingGroup: optional(43, podSchedulingGroup, { description: 'Group that the pod is scheduled with.' }),
  },
  { required: ['containers'], description: 'What a pod should be.' },
);
