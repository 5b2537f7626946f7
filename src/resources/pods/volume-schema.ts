import { boolean, embedded, field, list, optional, quantity, string } from '../../schema/builder.js';
import { labelSelector, objectMeta } from '../../schema/meta.js';
import { coreStruct, resourceList } from '../core-struct.js';
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  azureFileVolumeSource,
  cephFSVolumeSource,
  cinderVolumeSource,
  csiVolumeSource,
  fcVolumeSource,
  flexVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  gitRepoVolumeSource,
  glusterfsVolumeSource,
  iscsiVolumeSource,
  nfsVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  rbdVolumeSource,
  scaleIOVolumeSource,
  storageOSVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from './attached-volume-schemas.js';
import {
  configMapVolumeSource,
  downwardAPIVolumeSource,
  projectedVolumeSource,
  secretVolumeSource,
} from './projected-volume-schemas.js';

/** Schemas of volumes. */

const hostPathVolumeSource = coreStruct(
  'HostPathVolumeSource',
  {
    path: field(1, string(), { presence: 'always', description: 'Path on the host.' }),
    type: optional(
      2,
      string({
        go: 'v1.HostPathType',
        enum: ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
      }),
      {
        fills: '',
        description:
          'Type of the path that must exist on the host; types ending in OrCreate create it. Not checked by default.',
      },
    ),
  },
  { required: ['path'], description: 'File or directory on the host.' },
);

const emptyDirVolumeSource = coreStruct(
  'EmptyDirVolumeSource',
  {
    medium: field(1, string({ go: 'v1.StorageMedium' }), {
      description: 'Storage medium: empty for that of the node (the default), Memory, or HugePages.',
    }),
    sizeLimit: optional(2, quantity(), { description: 'Maximum size of the volume; unlimited by default.' }),
  },
  { description: 'Initially empty directory with the lifetime of the pod.' },
);

const persistentVolumeClaimVolumeSource = coreStruct(
  'PersistentVolumeClaimVolumeSource',
  {
    claimName: field(1, string(), {
      presence: 'always',
      description: 'Name of the PersistentVolumeClaim in the namespace of the pod.',
    }),
    readOnly: field(2, boolean(), { description: 'Whether the volume is mounted read-only; false by default.' }),
  },
  { required: ['claimName'], description: 'Reference to a PersistentVolumeClaim.' },
);

const volumeResourceRequirements = coreStruct(
  'VolumeResourceRequirements',
  {
    limits: field(1, resourceList, { description: 'Maximum amount of each resource.' }),
    requests: field(2, resourceList, {
      description: 'Minimum amount of each resource; by default the limit, if there is one.',
    }),
  },
  { description: 'Storage requirements of a volume.' },
);

const typedLocalObjectReference = coreStruct(
  'TypedLocalObjectReference',
  {
    apiGroup: field(1, string(), {
      presence: 'null',
      description: 'API group of the object; empty for the core group.',
    }),
    kind: field(2, string(), { presence: 'always', description: 'Kind of the object.' }),
    name: field(3, string(), { presence: 'always', description: 'Name of the object.' }),
  },
  {
    required: ['kind', 'name'],
    mapType: 'atomic',
    description: 'Reference to an object of any kind in the same namespace.',
  },
);

const typedObjectReference = coreStruct(
  'TypedObjectReference',
  {
    apiGroup: field(1, string(), {
      presence: 'null',
      description: 'API group of the object; empty for the core group.',
    }),
    kind: field(2, string(), { presence: 'always', description: 'Kind of the object.' }),
    name: field(3, string(), { presence: 'always', description: 'Name of the object.' }),
    namespace: optional(4, string(), { description: 'Namespace of the object.' }),
  },
  { required: ['kind', 'name'], description: 'Reference to an object of any kind, optionally in another namespace.' },
);

const persistentVolumeClaimSpec = coreStruct(
  'PersistentVolumeClaimSpec',
  {
    accessModes: field(
      1,
      list(
        string({
          go: 'v1.PersistentVolumeAccessMode',
          enum: ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'],
        }),
        { listType: 'atomic' },
      ),
      { description: 'Desired access modes, such as ReadWriteOnce.' },
    ),
    selector: optional(4, labelSelector, { description: 'Label selector of the volumes that can be bound.' }),
    resources: field(2, volumeResourceRequirements, { description: 'Minimum resources of the volume.' }),
    volumeName: field(3, string(), { description: 'Name of the PersistentVolume that the claim is bound to.' }),
    storageClassName: optional(5, string(), { description: 'Name of the StorageClass.' }),
    volumeMode: optional(6, string({ go: 'v1.PersistentVolumeMode', enum: ['Block', 'Filesystem'] }), {
      fills: 'Filesystem',
      description: 'Mode of the volume: Filesystem (the default) or Block.',
    }),
    dataSource: optional(7, typedLocalObjectReference, {
      description: 'VolumeSnapshot or PersistentVolumeClaim from which the volume is initially filled.',
    }),
    dataSourceRef: optional(8, typedObjectReference, {
      description:
        'Object from which the volume is initially filled; of more kinds than dataSource, and in any namespace.',
    }),
    volumeAttributesClassName: optional(9, string(), { description: 'Name of the VolumeAttributesClass.' }),
  },
  { description: 'Desired properties of a persistent volume.' },
);

const persistentVolumeClaimTemplate = coreStruct(
  'PersistentVolumeClaimTemplate',
  {
    metadata: field(1, objectMeta, { description: 'Labels and annotations that are copied to the claim.' }),
    spec: field(2, persistentVolumeClaimSpec, { description: 'Specification of the claim.' }),
  },
  { required: ['spec'], description: 'Template of a PersistentVolumeClaim.' },
);

const ephemeralVolumeSource = coreStruct(
  'EphemeralVolumeSource',
  {
    volumeClaimTemplate: optional(1, persistentVolumeClaimTemplate, {
      description: 'Template of the claim that is created for the volume.',
    }),
  },
  { description: 'Claim that is created for the pod and deleted with it.' },
);

const imageVolumeSource = coreStruct(
  'ImageVolumeSource',
  {
    reference: field(1, string(), { description: 'Reference to the image or artifact.' }),
    pullPolicy: field(2, string({ go: 'v1.PullPolicy', enum: ['Always', 'IfNotPresent', 'Never'] }), {
      description: 'When the image is pulled: Always, Never or IfNotPresent.',
    }),
  },
  { description: 'Volume with the contents of an OCI image or artifact.' },
);

const volumeSourceFields = {
  hostPath: optional(1, hostPathVolumeSource, { description: 'File or directory on the host.' }),
  emptyDir: optional(2, emptyDirVolumeSource, {
    description: 'Initially empty directory with the lifetime of the pod.',
  }),
  gcePersistentDisk: optional(3, gcePersistentDiskVolumeSource, {
    description: 'Persistent disk of Google Compute Engine.',
  }),
  awsElasticBlockStore: optional(4, awsElasticBlockStoreVolumeSource, {
    description: 'Volume of Amazon Elastic Block Store.',
  }),
  gitRepo: optional(5, gitRepoVolumeSource, { description: 'Git repository. Deprecated.' }),
  secret: optional(6, secretVolumeSource, { description: 'Entries of a Secret as files.' }),
  nfs: optional(7, nfsVolumeSource, { description: 'Directory that an NFS server exports.' }),
  iscsi: optional(8, iscsiVolumeSource, { description: 'iSCSI disk.' }),
  glusterfs: optional(9, glusterfsVolumeSource, { description: 'Glusterfs volume. No longer supported.' }),
  persistentVolumeClaim: optional(10, persistentVolumeClaimVolumeSource, {
    description: 'Reference to a PersistentVolumeClaim.',
  }),
  rbd: optional(11, rbdVolumeSource, { description: 'RADOS block device of Ceph. No longer supported.' }),
  flexVolume: optional(12, flexVolumeSource, {
    description: 'Volume that an exec-based driver on the node provides. Deprecated.',
  }),
  cinder: optional(13, cinderVolumeSource, { description: 'OpenStack Cinder volume.' }),
  cephfs: optional(14, cephFSVolumeSource, { description: 'Directory of a CephFS file system. No longer supported.' }),
  flocker: optional(15, flockerVolumeSource, { description: 'Flocker dataset. No longer supported.' }),
  downwardAPI: optional(16, downwardAPIVolumeSource, { description: 'Fields of the pod as files.' }),
  fc: optional(17, fcVolumeSource, { description: 'Fibre Channel disk.' }),
  azureFile: optional(18, azureFileVolumeSource, { description: 'Azure file share.' }),
  configMap: optional(19, configMapVolumeSource, { description: 'Entries of a ConfigMap as files.' }),
  vsphereVolume: optional(20, vsphereVirtualDiskVolumeSource, { description: 'vSphere virtual disk.' }),
  quobyte: optional(21, quobyteVolumeSource, { description: 'Quobyte volume. No longer supported.' }),
  azureDisk: optional(22, azureDiskVolumeSource, { description: 'Azure data disk.' }),
  photonPersistentDisk: optional(23, photonPersistentDiskVolumeSource, {
    description: 'Photon persistent disk. No longer supported.',
  }),
  projected: optional(26, projectedVolumeSource, { description: 'Several sources combined in one directory.' }),
  portworxVolume: optional(24, portworxVolumeSource, { description: 'Portworx volume.' }),
  scaleIO: optional(25, scaleIOVolumeSource, { description: 'ScaleIO volume. No longer supported.' }),
  storageos: optional(27, storageOSVolumeSource, { description: 'StorageOS volume. No longer supported.' }),
  csi: optional(28, csiVolumeSource, { description: 'Ephemeral volume that a CSI driver provides.' }),
  ephemeral: optional(29, ephemeralVolumeSource, {
    description: 'Claim that is created for the pod and deleted with it.',
  }),
  image: optional(30, imageVolumeSource, { description: 'Contents of an OCI image or artifact.' }),
};

export const volume = coreStruct(
  'Volume',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the volume; unique in the pod.' }),
    ...embedded(2, 'VolumeSource', volumeSourceFields),
  },
  { required: ['name'], description: 'Volume that containers of a pod can mount.' },
);
