import { boolean, field, integer64, list, optional, string } from '../../schema/builder.js';
import { coreStruct } from '../core-struct.js';

/** Schemas of security contexts, which determine what containers may do. */

const capabilities = coreStruct(
  'Capabilities',
  {
    add: field(1, list(string({ go: 'v1.Capability' }), { listType: 'atomic' }), {
      description: 'Capabilities that are added.',
    }),
    drop: field(2, list(string({ go: 'v1.Capability' }), { listType: 'atomic' }), {
      description: 'Capabilities that are removed.',
    }),
  },
  { description: 'POSIX capabilities to add to, and to remove from, those of the runtime.' },
);

const seLinuxOptions = coreStruct(
  'SELinuxOptions',
  {
    user: field(1, string(), { description: 'SELinux user label.' }),
    role: field(2, string(), { description: 'SELinux role label.' }),
    type: field(3, string(), { description: 'SELinux type label.' }),
    level: field(4, string(), { description: 'SELinux level label.' }),
  },
  { description: 'SELinux labels of a container.' },
);

const windowsSecurityContextOptions = coreStruct(
  'WindowsSecurityContextOptions',
  {
    gmsaCredentialSpecName: optional(1, string(), {
      description: 'Name of the GMSA (group managed service account) credential spec.',
    }),
    gmsaCredentialSpec: optional(2, string(), {
      description: 'Contents of the GMSA credential spec that gmsaCredentialSpecName refers to.',
    }),
    runAsUserName: optional(3, string(), {
      description: 'Windows user name that runs the entrypoint; by default that of the image.',
    }),
    hostProcess: optional(4, boolean(), {
      description: 'Whether the container runs as a HostProcess container; the same for all containers of a pod.',
    }),
  },
  { description: 'Security options that are specific to Windows.' },
);

const seccompProfile = coreStruct(
  'SeccompProfile',
  {
    type: field(1, string({ go: 'v1.SeccompProfileType', enum: ['Localhost', 'RuntimeDefault', 'Unconfined'] }), {
      presence: 'always',
      description: 'Type of the profile: Localhost, RuntimeDefault or Unconfined.',
    }),
    localhostProfile: optional(2, string(), {
      description:
        "Path of the profile file on the node, relative to the kubelet's seccomp directory; only for type Localhost.",
    }),
  },
  { required: ['type'], description: 'Seccomp profile of a pod or container.' },
);

const appArmorProfile = coreStruct(
  'AppArmorProfile',
  {
    type: field(1, string({ go: 'v1.AppArmorProfileType', enum: ['Localhost', 'RuntimeDefault', 'Unconfined'] }), {
      presence: 'always',
      description: 'Type of the profile: Localhost, RuntimeDefault or Unconfined.',
    }),
    localhostProfile: optional(2, string(), {
      description: 'Name of a profile that is loaded on the node; only for type Localhost.',
    }),
  },
  { required: ['type'], description: 'AppArmor profile of a pod or container.' },
);

export const securityContext = coreStruct(
  'SecurityContext',
  {
    capabilities: optional(1, capabilities, {
      description: 'Capabilities to add and remove; by default those of the container runtime.',
    }),
    privileged: optional(2, boolean(), {
      description: 'Whether the container runs in privileged mode, equivalent to root on the host; false by default.',
    }),
    seLinuxOptions: optional(3, seLinuxOptions, { description: 'SELinux labels of the container.' }),
    windowsOptions: optional(10, windowsSecurityContextOptions, { description: 'Options for Windows containers.' }),
    runAsUser: optional(4, integer64(), {
      description: 'User ID that runs the entrypoint; by default the user of the image.',
    }),
    runAsGroup: optional(8, integer64(), {
      description: 'Group ID that runs the entrypoint; by default that of the container runtime.',
    }),
    runAsNonRoot: optional(5, boolean(), {
      description: 'Whether the container must run as a non-root user; the kubelet refuses to start it as root.',
    }),
    readOnlyRootFilesystem: optional(6, boolean(), {
      description: 'Whether the root file system of the container is read-only; false by default.',
    }),
    allowPrivilegeEscalation: optional(7, boolean(), {
      description: 'Whether a process may gain more privileges than its parent process.',
    }),
    procMount: optional(9, string({ go: 'v1.ProcMountType', enum: ['Default', 'Unmasked'] }), {
      description: 'Type of the /proc mount: Default or Unmasked.',
    }),
    seccompProfile: optional(11, seccompProfile, { description: 'Seccomp profile of the container.' }),
    appArmorProfile: optional(12, appArmorProfile, { description: 'AppArmor profile of the container.' }),
  },
  { description: 'Security options of a container; they override those of the pod.' },
);

const sysctl = coreStruct(
  'Sysctl',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the kernel parameter.' }),
    value: field(2, string(), { presence: 'always', description: 'Value of the kernel parameter.' }),
  },
  { required: ['name', 'value'], description: 'Kernel parameter to set.' },
);

export const podSecurityContext = coreStruct(
  'PodSecurityContext',
  {
    seLinuxOptions: optional(1, seLinuxOptions, { description: 'SELinux labels of all containers.' }),
    windowsOptions: optional(8, windowsSecurityContextOptions, { description: 'Options for Windows containers.' }),
    runAsUser: optional(2, integer64(), {
      description: 'User ID that runs the entrypoint of containers; by default the user of the image.',
    }),
    runAsGroup: optional(6, integer64(), {
      description: 'Group ID that runs the entrypoint of containers; by default that of the container runtime.',
    }),
    runAsNonRoot: optional(3, boolean(), {
      description: 'Whether containers must run as a non-root user; the kubelet refuses to start them as root.',
    }),
    supplementalGroups: field(4, list(integer64(), { listType: 'atomic' }), {
      description: 'Additional groups of the first process of each container.',
    }),
    supplementalGroupsPolicy: optional(12, string({ go: 'v1.SupplementalGroupsPolicy', enum: ['Merge', 'Strict'] }), {
      description: 'Whether group memberships in the image also apply: Merge (the default) or Strict.',
    }),
    fsGroup: optional(5, integer64(), {
      description: 'Group ID that owns the volumes, and that all containers have as an additional group.',
    }),
    sysctls: field(7, list(sysctl, { listType: 'atomic' }), {
      description: 'Namespaced kernel parameters to set for the pod.',
    }),
    fsGroupChangePolicy: optional(9, string({ go: 'v1.PodFSGroupChangePolicy', enum: ['Always', 'OnRootMismatch'] }), {
      description: 'When the ownership of volumes is changed: Always (the default) or OnRootMismatch.',
    }),
    seccompProfile: optional(10, seccompProfile, { description: 'Seccomp profile of all containers.' }),
    appArmorProfile: optional(11, appArmorProfile, { description: 'AppArmor profile of all containers.' }),
    seLinuxChangePolicy: optional(13, string({ go: 'v1.PodSELinuxChangePolicy' }), {
      description: 'How volumes are relabelled for SELinux: MountOption or Recursive.',
    }),
  },
  { description: 'Security options of a pod, and defaults for those of its containers.' },
);
