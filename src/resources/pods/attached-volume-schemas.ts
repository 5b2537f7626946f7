import { boolean, field, integer32, list, map, optional, string } from '../../schema/builder.js';
import { coreStruct } from '../core-struct.js';
import { localObjectReference } from '../object-reference-schema.js';

/** Schemas of volumes that are attached from external storage. */

export const gcePersistentDiskVolumeSource = coreStruct(
  'GCEPersistentDiskVolumeSource',
  {
    pdName: field(1, string(), { presence: 'always', description: 'Name of the persistent disk.' }),
    fsType: field(2, string(), { description: 'File system type of the volume, such as ext4.' }),
    partition: field(3, integer32(), { description: 'Number of the partition to mount; by default the whole volume.' }),
    readOnly: field(4, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
  },
  { required: ['pdName'], description: 'Persistent disk of Google Compute Engine.' },
);

export const awsElasticBlockStoreVolumeSource = coreStruct(
  'AWSElasticBlockStoreVolumeSource',
  {
    volumeID: field(1, string(), { presence: 'always', description: 'ID of the volume.' }),
    fsType: field(2, string(), { description: 'File system type of the volume, such as ext4.' }),
    partition: field(3, integer32(), { description: 'Number of the partition to mount; by default the whole volume.' }),
    readOnly: field(4, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
  },
  { required: ['volumeID'], description: 'Volume of Amazon Elastic Block Store.' },
);

export const gitRepoVolumeSource = coreStruct(
  'GitRepoVolumeSource',
  {
    repository: field(1, string(), { presence: 'always', description: 'URL of the repository.' }),
    revision: field(2, string(), { description: 'Commit hash to check out.' }),
    directory: field(3, string(), { description: 'Directory to clone into, relative to the volume.' }),
  },
  { required: ['repository'], description: 'Git repository that is cloned when the pod starts. Deprecated.' },
);

export const nfsVolumeSource = coreStruct(
  'NFSVolumeSource',
  {
    server: field(1, string(), { presence: 'always', description: 'Host name or IP address of the NFS server.' }),
    path: field(2, string(), { presence: 'always', description: 'Path that the server exports.' }),
    readOnly: field(3, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
  },
  { required: ['server', 'path'], description: 'Directory that an NFS server exports.' },
);

export const iscsiVolumeSource = coreStruct(
  'ISCSIVolumeSource',
  {
    targetPortal: field(1, string(), {
      presence: 'always',
      description: 'Portal of the target: IP address, or address:port if the port is not the default one.',
    }),
    iqn: field(2, string(), { presence: 'always', description: 'Qualified name (IQN) of the target.' }),
    lun: field(3, integer32(), { presence: 'always', description: 'Logical unit number (LUN) of the target.' }),
    iscsiInterface: field(4, string(), {
      default: 'default',
      description: 'Name of the iSCSI interface; "default" (tcp) by default.',
    }),
    fsType: field(5, string(), { description: 'File system type of the volume, such as ext4.' }),
    readOnly: field(6, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
    portals: field(7, list(string(), { listType: 'atomic' }), { description: 'Further portals of the target.' }),
    chapAuthDiscovery: field(8, boolean(), { description: 'Whether discovery is authenticated with CHAP.' }),
    chapAuthSession: field(11, boolean(), { description: 'Whether sessions are authenticated with CHAP.' }),
    secretRef: optional(10, localObjectReference, { description: 'Secret with the CHAP credentials.' }),
    initiatorName: optional(12, string(), { description: 'Qualified name (IQN) of the initiator.' }),
  },
  { required: ['targetPortal', 'iqn', 'lun'], description: 'Volume on an iSCSI disk.' },
);

export const glusterfsVolumeSource = coreStruct(
  'GlusterfsVolumeSource',
  {
    endpoints: field(1, string(), {
      presence: 'always',
      description: 'Name of the Endpoints object that lists the servers.',
    }),
    path: field(2, string(), { presence: 'always', description: 'Path of the volume.' }),
    readOnly: field(3, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
  },
  { required: ['endpoints', 'path'], description: 'Glusterfs volume. No longer supported.' },
);

export const rbdVolumeSource = coreStruct(
  'RBDVolumeSource',
  {
    monitors: field(1, list(string(), { listType: 'atomic' }), {
      presence: 'always',
      description: 'Ceph monitors of the cluster.',
    }),
    image: field(2, string(), { presence: 'always', description: 'Name of the image.' }),
    fsType: field(3, string(), { description: 'File system type of the volume, such as ext4.' }),
    pool: field(4, string(), { default: 'rbd', description: 'Pool that contains the image; rbd by default.' }),
    user: field(5, string(), { default: 'admin', description: 'RADOS user; admin by default.' }),
    keyring: field(6, string(), {
      default: '/etc/ceph/keyring',
      description: 'Path of the keyring of the user; /etc/ceph/keyring by default.',
    }),
    secretRef: optional(7, localObjectReference, {
      description: 'Secret with the credentials of the user; overrides keyring.',
    }),
    readOnly: field(8, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
  },
  { required: ['monitors', 'image'], description: 'RADOS block device of Ceph. No longer supported.' },
);

export const flexVolumeSource = coreStruct(
  'FlexVolumeSource',
  {
    driver: field(1, string(), { presence: 'always', description: 'Name of the driver.' }),
    fsType: field(2, string(), { description: 'File system type of the volume, such as ext4.' }),
    secretRef: optional(3, localObjectReference, {
      description: 'Secret with sensitive data that is passed to the driver.',
    }),
    readOnly: field(4, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
    options: field(5, map(string()), { description: 'Further options for the driver.' }),
  },
  { required: ['driver'], description: 'Volume that an exec-based driver on the node provides. Deprecated.' },
);

export const cinderVolumeSource = coreStruct(
  'CinderVolumeSource',
  {
    volumeID: field(1, string(), { presence: 'always', description: 'ID of the volume.' }),
    fsType: field(2, string(), { description: 'File system type of the volume, such as ext4.' }),
    readOnly: field(3, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
    secretRef: optional(4, localObjectReference, { description: 'Secret with the OpenStack connection parameters.' }),
  },
  { required: ['volumeID'], description: 'OpenStack Cinder volume.' },
);

export const cephFSVolumeSource = coreStruct(
  'CephFSVolumeSource',
  {
    monitors: field(1, list(string(), { listType: 'atomic' }), {
      presence: 'always',
      description: 'Ceph monitors of the cluster.',
    }),
    path: field(2, string(), { description: 'Path of the directory to mount; / by default.' }),
    user: field(3, string(), { description: 'RADOS user; admin by default.' }),
    secretFile: field(4, string(), {
      description: 'Path of the keyring of the user; /etc/ceph/user.secret by default.',
    }),
    secretRef: optional(5, localObjectReference, {
      description: 'Secret with the credentials of the user; overrides secretFile.',
    }),
    readOnly: field(6, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
  },
  { required: ['monitors'], description: 'Directory of a CephFS file system. No longer supported.' },
);

export const flockerVolumeSource = coreStruct(
  'FlockerVolumeSource',
  {
    datasetName: field(1, string(), { description: 'Name of the dataset. Deprecated: use datasetUUID.' }),
    datasetUUID: field(2, string(), { description: 'UUID of the dataset.' }),
  },
  { description: 'Flocker dataset. No longer supported.' },
);

export const fcVolumeSource = coreStruct(
  'FCVolumeSource',
  {
    targetWWNs: field(1, list(string(), { listType: 'atomic' }), {
      description: 'World Wide Names (WWNs) of the targets.',
    }),
    lun: optional(2, integer32(), { description: 'Logical unit number (LUN) of the target.' }),
    fsType: field(3, string(), { description: 'File system type of the volume, such as ext4.' }),
    readOnly: field(4, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
    wwids: field(5, list(string(), { listType: 'atomic' }), {
      description: 'World Wide Identifiers (WWIDs) of the volumes, instead of targetWWNs and lun.',
    }),
  },
  { description: 'Volume on a Fibre Channel disk.' },
);

export const azureFileVolumeSource = coreStruct(
  'AzureFileVolumeSource',
  {
    secretName: field(1, string(), {
      presence: 'always',
      description: 'Name of the Secret with the storage account and its key.',
    }),
    shareName: field(2, string(), { presence: 'always', description: 'Name of the share.' }),
    readOnly: field(3, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
  },
  { required: ['secretName', 'shareName'], description: 'Azure file share.' },
);

export const vsphereVirtualDiskVolumeSource = coreStruct(
  'VsphereVirtualDiskVolumeSource',
  {
    volumePath: field(1, string(), { presence: 'always', description: "Path of the volume's VMDK file." }),
    fsType: field(2, string(), { description: 'File system type of the volume, such as ext4.' }),
    storagePolicyName: field(3, string(), { description: 'Name of the storage policy.' }),
    storagePolicyID: field(4, string(), { description: 'ID of the storage policy.' }),
  },
  { required: ['volumePath'], description: 'vSphere virtual disk.' },
);

export const quobyteVolumeSource = coreStruct(
  'QuobyteVolumeSource',
  {
    registry: field(1, string(), {
      presence: 'always',
      description: 'Registry services of Quobyte, as comma-separated host:port pairs.',
    }),
    volume: field(2, string(), { presence: 'always', description: 'Name of the volume.' }),
    readOnly: field(3, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
    user: field(4, string(), {
      description: 'User that accesses the volume; by default the user of the service account.',
    }),
    group: field(5, string(), { description: 'Group that accesses the volume; none by default.' }),
    tenant: field(6, string(), { description: 'Tenant that owns the volume.' }),
  },
  { required: ['registry', 'volume'], description: 'Quobyte volume. No longer supported.' },
);

export const azureDiskVolumeSource = coreStruct(
  'AzureDiskVolumeSource',
  {
    diskName: field(1, string(), { presence: 'always', description: 'Name of the disk.' }),
    diskURI: field(2, string(), { presence: 'always', description: 'URI of the disk.' }),
    cachingMode: optional(3, string({ go: 'v1.AzureDataDiskCachingMode', enum: ['None', 'ReadOnly', 'ReadWrite'] }), {
      default: 'ReadWrite',
      description: 'Caching mode of the host: None, ReadOnly or ReadWrite (the default).',
    }),
    fsType: optional(4, string(), { default: 'ext4', description: 'File system type of the volume, such as ext4.' }),
    readOnly: optional(5, boolean(), {
      default: false,
      description: 'Whether the volume is mounted read-only; false by default.',
    }),
    kind: optional(6, string({ go: 'v1.AzureDataDiskKind', enum: ['Dedicated', 'Managed', 'Shared'] }), {
      default: 'Shared',
      description: 'Kind of the disk: Shared (the default), Dedicated or Managed.',
    }),
  },
  { required: ['diskName', 'diskURI'], description: 'Azure data disk.' },
);

export const photonPersistentDiskVolumeSource = coreStruct(
  'PhotonPersistentDiskVolumeSource',
  {
    pdID: field(1, string(), { presence: 'always', description: 'ID of the disk.' }),
    fsType: field(2, string(), { description: 'File system type of the volume, such as ext4.' }),
  },
  { required: ['pdID'], description: 'Photon persistent disk. No longer supported.' },
);

export const portworxVolumeSource = coreStruct(
  'PortworxVolumeSource',
  {
    volumeID: field(1, string(), { presence: 'always', description: 'ID of the volume.' }),
    fsType: field(2, string(), { description: 'File system type of the volume, such as ext4.' }),
    readOnly: field(3, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
  },
  { required: ['volumeID'], description: 'Portworx volume.' },
);

export const scaleIOVolumeSource = coreStruct(
  'ScaleIOVolumeSource',
  {
    gateway: field(1, string(), { presence: 'always', description: 'Host of the API gateway.' }),
    system: field(2, string(), { presence: 'always', description: 'Name of the storage system.' }),
    secretRef: field(3, localObjectReference, { presence: 'null', description: 'Secret with the login credentials.' }),
    sslEnabled: field(4, boolean(), { description: 'Whether to use TLS with the gateway; false by default.' }),
    protectionDomain: field(5, string(), { description: 'Name of the protection domain.' }),
    storagePool: field(6, string(), { description: 'Name of the storage pool.' }),
    storageMode: field(7, string(), {
      default: 'ThinProvisioned',
      description: 'Provisioning of the storage: ThickProvisioned or ThinProvisioned (the default).',
    }),
    volumeName: field(8, string(), { description: 'Name of the volume.' }),
    fsType: field(9, string(), { default: 'xfs', description: 'File system type of the volume, such as ext4.' }),
    readOnly: field(10, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
  },
  { required: ['gateway', 'system', 'secretRef'], description: 'ScaleIO volume. No longer supported.' },
);

export const storageOSVolumeSource = coreStruct(
  'StorageOSVolumeSource',
  {
    volumeName: field(1, string(), { description: 'Name of the volume.' }),
    volumeNamespace: field(2, string(), { description: 'Namespace of the volume in StorageOS.' }),
    fsType: field(3, string(), { description: 'File system type of the volume, such as ext4.' }),
    readOnly: field(4, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
    secretRef: optional(5, localObjectReference, { description: 'Secret with the credentials for the StorageOS API.' }),
  },
  { description: 'StorageOS volume. No longer supported.' },
);

export const csiVolumeSource = coreStruct(
  'CSIVolumeSource',
  {
    driver: field(1, string(), { presence: 'always', description: 'Name of the CSI driver.' }),
    readOnly: optional(2, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
    fsType: optional(3, string(), { description: 'File system type of the volume, such as ext4.' }),
    volumeAttributes: field(4, map(string()), {
      description: 'Properties of the volume that are passed to the driver.',
    }),
    nodePublishSecretRef: optional(5, localObjectReference, {
      description: 'Secret with sensitive data that is passed to the driver.',
    }),
  },
  { required: ['driver'], description: 'Ephemeral volume that a CSI driver provides for the lifetime of the pod.' },
);
