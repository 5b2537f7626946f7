import { boolean, field, integer64, list, optional, string } from '../../schema/builder.js';
import { coreStruct } from '../core-struct.js';

/** Schemas of security contexts, which say what containers may do. */

const capabilities = coreStruct(
  'Capabilities',
  {
    add: field(1, list(string({ go: 'v1.Capability' }), { listType: 'atomic' }), { description: 'Those it gets.' }),
    drop: field(2, list(string({ go: 'v1.Capability' }), { listType: 'atomic' }), { description: 'Those it loses.' }),
  },
  { description: 'POSIX capabilities.' },
);

const seLinuxOptions = coreStruct(
  'SELinuxOptions',
  {
    user: field(1, string(), { description: 'User label.' }),
    role: field(2, string(), { description: 'Role label.' }),
    type: field(3, string(), { description: 'Type label.' }),
    level: field(4, string(), { description: 'Level label.' }),
  },
  { description: 'Labels of SELinux.' },
);

const windowsSecurityContextOptions = coreStruct(
  'WindowsSecurityContextOptions',
  {
    gmsaCredentialSpecName: optional(1, string(), {
      description: 'Name of the credential specification of a group managed account.',
    }),
    gmsaCredentialSpec: optional(2, string(), { description: 'That specification itself.' }),
    runAsUserName: optional(3, string(), { description: 'User it runs as.' }),
    hostProcess: optional(4, boolean(), { description: 'Does it run as a process of its node?' }),
  },
  { description: 'Security on Windows.' },
);

const seccompProfile = coreStruct(
  'SeccompProfile',
  {
    type: field(1, string({ go: 'v1.SeccompProfileType', enum: ['Localhost', 'RuntimeDefault', 'Unconfined'] }), {
      presence: 'always',
      description: 'Which sort of profile.',
    }),
    localhostProfile: optional(2, string(), { description: 'File with the profile on the node.' }),
  },
  { required: ['type'], description: 'A profile of seccomp.' },
);

const appArmorProfile = coreStruct(
  'AppArmorProfile',
  {
    type: field(1, string({ go: 'v1.AppArmorProfileType', enum: ['Localhost', 'RuntimeDefault', 'Unconfined'] }), {
      presence: 'always',
      description: 'Which sort of profile.',
    }),
    localhostProfile: optional(2, string(), { description: 'Profile that is loaded on the node.' }),
  },
  { required: ['type'], description: 'A profile of AppArmor.' },
);

export const securityContext = coreStruct(
  'SecurityContext',
  {
    capabilities: optional(1, capabilities, { description: 'Capabilities it gets and loses.' }),
    privileged: optional(2, boolean(), { description: 'May it do everything on its node?' }),
    seLinuxOptions: optional(3, seLinuxOptions, { description: 'Labels of SELinux.' }),
    windowsOptions: optional(10, windowsSecurityContextOptions, { description: 'What there is on Windows.' }),
    runAsUser: optional(4, integer64(), { description: 'User it runs as.' }),
    runAsGroup: optional(8, integer64(), { description: 'Group it runs as.' }),
    runAsNonRoot: optional(5, boolean(), { description: 'Must it run as a user other than root?' }),
    readOnlyRootFilesystem: optional(6, boolean(), { description: 'Is its root file system read-only?' }),
    allowPrivilegeEscalation: optional(7, boolean(), { description: 'May it get more rights than its parent?' }),
    procMount: optional(9, string({ go: 'v1.ProcMountType', enum: ['Default', 'Unmasked'] }), {
      description: 'How /proc is mounted.',
    }),
    seccompProfile: optional(11, seccompProfile, { description: 'Profile of seccomp.' }),
    appArmorProfile: optional(12, appArmorProfile, { description: 'Profile of AppArmor.' }),
  },
  { description: 'Security of a container.' },
);

const sysctl = coreStruct(
  'Sysctl',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the parameter.' }),
    value: field(2, string(), { presence: 'always', description: 'Its value.' }),
  },
  { required: ['name', 'value'], description: 'A parameter of the kernel.' },
);

export const podSecurityContext = coreStruct(
  'PodSecurityContext',
  {
    seLinuxOptions: optional(1, seLinuxOptions, { description: 'Labels of SELinux.' }),
    windowsOptions: optional(8, windowsSecurityContextOptions, { description: 'What there is on Windows.' }),
    runAsUser: optional(2, integer64(), { description: 'User that containers run as.' }),
    runAsGroup: optional(6, integer64(), { description: 'Group that containers run as.' }),
    runAsNonRoot: optional(3, boolean(), { description: 'Must containers run as users other than root?' }),
    supplementalGroups: field(4, list(integer64(), { listType: 'atomic' }), {
      description: 'Further groups of the first process.',
    }),
    supplementalGroupsPolicy: optional(12, string({ go: 'v1.SupplementalGroupsPolicy', enum: ['Merge', 'Strict'] }), {
      description: 'How further groups come together with those of the image.',
    }),
    fsGroup: optional(5, integer64(), { description: 'Group that volumes belong to.' }),
    sysctls: field(7, list(sysctl, { listType: 'atomic' }), { description: 'Parameters of the kernel.' }),
    fsGroupChangePolicy: optional(9, string({ go: 'v1.PodFSGroupChangePolicy', enum: ['Always', 'OnRootMismatch'] }), {
      description: 'When the owner of files is changed.',
    }),
    seccompProfile: optional(10, seccompProfile, { description: 'Profile of seccomp.' }),
    appArmorProfile: optional(11, appArmorProfile, { description: 'Profile of AppArmor.' }),
    seLinuxChangePolicy: optional(13, string({ go: 'v1.PodSELinuxChangePolicy' }), {
      description: 'How labels of SELinux are put on volumes.',
    }),
  },
  { description: 'Security of a pod, and what its containers take over.' },
);
