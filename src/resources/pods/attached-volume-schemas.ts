import { boolean, field, integer32, list, map, optional, string } from '../../schema/builder.js';
import { coreStruct } from '../core-struct.js';
import { localObjectReference } from '../object-reference-schema.js';

/** Schemas of volumes that are attached from external storage. */

export const gcePersistentDiskVolumeSource = coreStruct(
  'GCEPersistentDiskVolumeSource',
  {
    pdName: field(1, string(), { presence: 'always', description: 'Name of the disk.' }),
    fsType: field(2, string(), { description: 'File system of the volume, such as ext4.' }),
    partition: field(3, integer32(), { description: 'Partition that is mounted.' }),
    readOnly: field(4, boolean(), { description: 'Mounted for reading only?' }),
  },
  { required: ['pdName'], description: 'A persistent disk of Google Compute Engine.' },
);

export const awsElasticBlockStoreVolumeSource = coreStruct(
  'AWSElasticBlockStoreVolumeSource',
  {
    volumeID: field(1, string(), { presence: 'always', description: 'Identity of the disk.' }),
    fsType: field(2, string(), { description: 'File system of the volume, such as ext4.' }),
    partition: field(3, integer32(), { description: 'Partition that is mounted.' }),
    readOnly: field(4, boolean(), { description: 'Mounted for reading only?' }),
  },
  { required: ['volumeID'], description: 'A disk of Amazon Elastic Block Store.' },
);

export const gitRepoVolumeSource = coreStruct(
  'GitRepoVolumeSource',
  {
    repository: field(1, string(), { presence: 'always', description: 'URL of the repository.' }),
    revision: field(2, string(), { description: 'Commit that is checked out.' }),
    directory: field(3, string(), { description: 'Directory to clone into.' }),
  },
  { required: ['repository'], description: 'A git repository, cloned when the pod starts.' },
);

export const nfsVolumeSource = coreStruct(
  'NFSVolumeSource',
  {
    server: field(1, string(), { presence: 'always', description: 'Name or address of the server.' }),
    path: field(2, string(), { presence: 'always', description: 'Path that the server exports.' }),
    readOnly: field(3, boolean(), { description: 'Mounted for reading only?' }),
  },
  { required: ['server', 'path'], description: 'A directory of an NFS server.' },
);

export const iscsiVolumeSource = coreStruct(
  'ISCSIVolumeSource',
  {
    targetPortal: field(1, string(), { presence: 'always', description: 'Portal of the target: address and port.' }),
    iqn: field(2, string(), { presence: 'always', description: 'Qualified name of the target.' }),
    lun: field(3, integer32(), { presence: 'always', description: 'Number of the logical unit.' }),
    iscsiInterface: field(4, string(), { default: 'default', description: 'Interface that is used.' }),
    fsType: field(5, string(), { description: 'File system of the volume, such as ext4.' }),
    readOnly: field(6, boolean(), { description: 'Mounted for reading only?' }),
    portals: field(7, list(string(), { listType: 'atomic' }), { description: 'Further portals.' }),
    chapAuthDiscovery: field(8, boolean(), { description: 'Is discovery authenticated by CHAP?' }),
    chapAuthSession: field(11, boolean(), { description: 'Are sessions authenticated by CHAP?' }),
    secretRef: optional(10, localObjectReference, { description: 'Secret with the credentials.' }),
    initiatorName: optional(12, string(), { description: 'Qualified name of the initiator.' }),
  },
  { required: ['targetPortal', 'iqn', 'lun'], description: 'A disk by iSCSI.' },
);

export const glusterfsVolumeSource = coreStruct(
  'GlusterfsVolumeSource',
  {
    endpoints: field(1, string(), { presence: 'always', description: 'Endpoints with the topology.' }),
    path: field(2, string(), { presence: 'always', description: 'Path of the volume.' }),
    readOnly: field(3, boolean(), { description: 'Mounted for reading only?' }),
  },
  { required: ['endpoints', 'path'], description: 'A volume of Glusterfs.' },
);

export const rbdVolumeSource = coreStruct(
  'RBDVolumeSource',
  {
    monitors: field(1, list(string(), { listType: 'atomic' }), {
      presence: 'always',
      description: 'Monitors of the cluster.',
    }),
    image: field(2, string(), { presence: 'always', description: 'Name of the image.' }),
    fsType: field(3, string(), { description: 'File system of the volume, such as ext4.' }),
    pool: field(4, string(), { default: 'rbd', description: 'Pool of the image.' }),
    user: field(5, string(), { default: 'admin', description: 'User of the cluster.' }),
    keyring: field(6, string(), { default: '/etc/ceph/keyring', description: 'Path of the key ring.' }),
    secretRef: optional(7, localObjectReference, {
      description: 'Secret with the credentials, instead of the key ring.',
    }),
    readOnly: field(8, boolean(), { description: 'Mounted for reading only?' }),
  },
  { required: ['monitors', 'image'], description: 'A block device of Ceph.' },
);

export const flexVolumeSource = coreStruct(
  'FlexVolumeSource',
  {
    driver: field(1, string(), { presence: 'always', description: 'Name of the program.' }),
    fsType: field(2, string(), { description: 'File system of the volume, such as ext4.' }),
    secretRef: optional(3, localObjectReference, { description: 'Secret with the credentials.' }),
    readOnly: field(4, boolean(), { description: 'Mounted for reading only?' }),
    options: field(5, map(string()), { description: 'What else the program is told.' }),
  },
  { required: ['driver'], description: 'A volume that a program on the node attaches.' },
);

export const cinderVolumeSource = coreStruct(
  'CinderVolumeSource',
  {
    volumeID: field(1, string(), { presence: 'always', description: 'Identity of the volume.' }),
    fsType: field(2, string(), { description: 'File system of the volume, such as ext4.' }),
    readOnly: field(3, boolean(), { description: 'Mounted for reading only?' }),
    secretRef: optional(4, localObjectReference, { description: 'Secret with the credentials.' }),
  },
  { required: ['volumeID'], description: 'A volume of OpenStack Cinder.' },
);

export const cephFSVolumeSource = coreStruct(
  'CephFSVolumeSource',
  {
    monitors: field(1, list(string(), { listType: 'atomic' }), {
      presence: 'always',
      description: 'Monitors of the cluster.',
    }),
    path: field(2, string(), { description: 'Path that is mounted; the root unless given.' }),
    user: field(3, string(), { description: 'User of the cluster.' }),
    secretFile: field(4, string(), { description: 'Path of the key ring.' }),
    secretRef: optional(5, localObjectReference, {
      description: 'Secret with the credentials, instead of the key ring.',
    }),
    readOnly: field(6, boolean(), { description: 'Mounted for reading only?' }),
  },
  { required: ['monitors'], description: 'A directory of CephFS.' },
);

export const flockerVolumeSource = coreStruct(
  'FlockerVolumeSource',
  {
    datasetName: field(1, string(), { description: 'Name of the data set.' }),
    datasetUUID: field(2, string(), { description: 'Identity of the data set.' }),
  },
  { description: 'A data set of Flocker.' },
);

export const fcVolumeSource = coreStruct(
  'FCVolumeSource',
  {
    targetWWNs: field(1, list(string(), { listType: 'atomic' }), { description: 'World wide names of targets.' }),
    lun: optional(2, integer32(), { description: 'Number of the logical unit.' }),
    fsType: field(3, string(), { description: 'File system of the volume, such as ext4.' }),
    readOnly: field(4, boolean(), { description: 'Mounted for reading only?' }),
    wwids: field(5, list(string(), { listType: 'atomic' }), { description: 'World wide identifiers of volumes.' }),
  },
  { description: 'A disk by Fibre Channel.' },
);

export const azureFileVolumeSource = coreStruct(
  'AzureFileVolumeSource',
  {
    secretName: field(1, string(), { presence: 'always', description: 'Secret with the account and its key.' }),
    shareName: field(2, string(), { presence: 'always', description: 'Name of the share.' }),
    readOnly: field(3, boolean(), { description: 'Mounted for reading only?' }),
  },
  { required: ['secretName', 'shareName'], description: 'A file share of Azure.' },
);

export const vsphereVirtualDiskVolumeSource = coreStruct(
  'VsphereVirtualDiskVolumeSource',
  {
    volumePath: field(1, string(), { presence: 'always', description: 'Path of the disk.' }),
    fsType: field(2, string(), { description: 'File system of the volume, such as ext4.' }),
    storagePolicyName: field(3, string(), { description: 'Name of the storage policy.' }),
    storagePolicyID: field(4, string(), { description: 'Identity of the storage policy.' }),
  },
  { required: ['volumePath'], description: 'A disk of vSphere.' },
);

export const quobyteVolumeSource = coreStruct(
  'QuobyteVolumeSource',
  {
    registry: field(1, string(), { presence: 'always', description: 'Registries: addresses with ports.' }),
    volume: field(2, string(), { presence: 'always', description: 'Name of the volume.' }),
    readOnly: field(3, boolean(), { description: 'Mounted for reading only?' }),
    user: field(4, string(), { description: 'User that mounts it.' }),
    group: field(5, string(), { description: 'Group that mounts it.' }),
    tenant: field(6, string(), { description: 'Tenant of the volume.' }),
  },
  { required: ['registry', 'volume'], description: 'A volume of Quobyte.' },
);

export const azureDiskVolumeSource = coreStruct(
  'AzureDiskVolumeSource',
  {
    diskName: field(1, string(), { presence: 'always', description: 'Name of the disk.' }),
    diskURI: field(2, string(), { presence: 'always', description: 'URL of the disk.' }),
    cachingMode: optional(3, string({ go: 'v1.AzureDataDiskCachingMode', enum: ['None', 'ReadOnly', 'ReadWrite'] }), {
      default: 'ReadWrite',
      description: 'How it is cached.',
    }),
    fsType: optional(4, string(), { default: 'ext4', description: 'File system of the volume, such as ext4.' }),
    readOnly: optional(5, boolean(), { default: false, description: 'Mounted for reading only?' }),
    kind: optional(6, string({ go: 'v1.AzureDataDiskKind', enum: ['Dedicated', 'Managed', 'Shared'] }), {
      default: 'Shared',
      description: 'Sort of the disk.',
    }),
  },
  { required: ['diskName', 'diskURI'], description: 'A disk of Azure.' },
);

export const photonPersistentDiskVolumeSource = coreStruct(
  'PhotonPersistentDiskVolumeSource',
  {
    pdID: field(1, string(), { presence: 'always', description: 'Identity of the disk.' }),
    fsType: field(2, string(), { description: 'File system of the volume, such as ext4.' }),
  },
  { required: ['pdID'], description: 'A disk of Photon.' },
);

export const portworxVolumeSource = coreStruct(
  'PortworxVolumeSource',
  {
    volumeID: field(1, string(), { presence: 'always', description: 'Identity of the volume.' }),
    fsType: field(2, string(), { description: 'File system of the volume, such as ext4.' }),
    readOnly: field(3, boolean(), { description: 'Mounted for reading only?' }),
  },
  { required: ['volumeID'], description: 'A volume of Portworx.' },
);

export const scaleIOVolumeSource = coreStruct(
  'ScaleIOVolumeSource',
  {
    gateway: field(1, string(), { presence: 'always', description: 'Address of the gateway.' }),
    system: field(2, string(), { presence: 'always', description: 'Name of the system.' }),
    secretRef: field(3, localObjectReference, { presence: 'null', description: 'Secret with the credentials.' }),
    sslEnabled: field(4, boolean(), { description: 'Is the gateway spoken to by TLS?' }),
    protectionDomain: field(5, string(), { description: 'Name of the protection domain.' }),
    storagePool: field(6, string(), { description: 'Name of the storage pool.' }),
    storageMode: field(7, string(), { default: 'ThinProvisioned', description: 'Is the storage thick or thin?' }),
    volumeName: field(8, string(), { description: 'Name of the volume.' }),
    fsType: field(9, string(), { default: 'xfs', description: 'File system of the volume, such as ext4.' }),
    readOnly: field(10, boolean(), { description: 'Mounted for reading only?' }),
  },
  { required: ['gateway', 'system', 'secretRef'], description: 'A volume of ScaleIO.' },
);

export const storageOSVolumeSource = coreStruct(
  'StorageOSVolumeSource',
  {
    volumeName: field(1, string(), { description: 'Name of the volume.' }),
    volumeNamespace: field(2, string(), { description: 'Namespace of the volume in StorageOS.' }),
    fsType: field(3, string(), { description: 'File system of the volume, such as ext4.' }),
    readOnly: field(4, boolean(), { description: 'Mounted for reading only?' }),
    secretRef: optional(5, localObjectReference, { description: 'Secret with the credentials.' }),
  },
  { description: 'A volume of StorageOS.' },
);

export const csiVolumeSource = coreStruct(
  'CSIVolumeSource',
  {
    driver: field(1, string(), { presence: 'always', description: 'Name of the driver.' }),
    readOnly: optional(2, boolean(), { description: 'Mounted for reading only?' }),
    fsType: optional(3, string(), { description: 'File system of the volume, such as ext4.' }),
    volumeAttributes: field(4, map(string()), { description: 'What else the driver is told.' }),
    nodePublishSecretRef: optional(5, localObjectReference, { description: 'Secret that is given to the driver.' }),
  },
  { required: ['driver'], description: 'A volume of a CSI driver that is as old as the pod.' },
);
