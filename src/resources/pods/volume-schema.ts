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
    path: field(1, string(), { presence: 'always', description: 'Path on the node.' }),
    type: optional(
      2,
      string({
        go: 'v1.HostPathType',
        enum: ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
      }),
      { fills: '', description: 'What must be there, or is made.' },
    ),
  },
  { required: ['path'], description: 'Files of the node.' },
);

const emptyDirVolumeSource = coreStruct(
  'EmptyDirVolumeSource',
  {
    medium: field(1, string({ go: 'v1.StorageMedium' }), {
      description: 'What it is stored on: the disk of the node, or Memory.',
    }),
    sizeLimit: optional(2, quantity(), { description: 'Most that it may hold.' }),
  },
  { description: 'An empty directory as old as the pod.' },
);

const persistentVolumeClaimVolumeSource = coreStruct(
  'PersistentVolumeClaimVolumeSource',
  {
    claimName: field(1, string(), {
      presence: 'always',
      description: 'Name of the claim, in the namespace of the pod.',
    }),
    readOnly: field(2, boolean(), { description: 'Mounted for reading only?' }),
  },
  { required: ['claimName'], description: 'A claim of a persistent volume.' },
);

const volumeResourceRequirements = coreStruct(
  'VolumeResourceRequirements',
  {
    limits: field(1, resourceList, { description: 'At the most.' }),
    requests: field(2, resourceList, { description: 'At the least.' }),
  },
  { description: 'How much a volume must hold.' },
);

const typedLocalObjectReference = coreStruct(
  'TypedLocalObjectReference',
  {
    apiGroup: field(1, string(), { presence: 'null', description: 'Group of its kind; the core group unless given.' }),
    kind: field(2, string(), { presence: 'always', description: 'Kind of the object.' }),
    name: field(3, string(), { presence: 'always', description: 'Name of the object.' }),
  },
  {
    required: ['kind', 'name'],
    mapType: 'atomic',
    description: 'Points at an object of any kind in the same namespace.',
  },
);

const typedObjectReference = coreStruct(
  'TypedObjectReference',
  {
    apiGroup: field(1, string(), { presence: 'null', description: 'Group of its kind; the core group unless given.' }),
    kind: field(2, string(), { presence: 'always', description: 'Kind of the object.' }),
    name: field(3, string(), { presence: 'always', description: 'Name of the object.' }),
    namespace: optional(4, string(), { description: 'Namespace of the object.' }),
  },
  { required: ['kind', 'name'], description: 'Points at an object of any kind.' },
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
      { description: 'In which ways it must be possible to mount it.' },
    ),
    selector: optional(4, labelSelector, { description: 'Labels that the volume must have.' }),
    resources: field(2, volumeResourceRequirements, { description: 'How much it must hold.' }),
    volumeName: field(3, string(), { description: 'Volume that the claim is bound to.' }),
    storageClassName: optional(5, string(), { description: 'Storage class.' }),
    volumeMode: optional(6, string({ go: 'v1.PersistentVolumeMode', enum: ['Block', 'Filesystem'] }), {
      fills: 'Filesystem',
      description: 'Is it a file system or a block device?',
    }),
    dataSource: optional(7, typedLocalObjectReference, { description: 'Object whose contents it begins with.' }),
    dataSourceRef: optional(8, typedObjectReference, { description: 'The same, also in another namespace.' }),
    volumeAttributesClassName: optional(9, string(), { description: 'Class of the attributes of the volume.' }),
  },
  { description: 'What is claimed of a persistent volume.' },
);

const persistentVolumeClaimTemplate = coreStruct(
  'PersistentVolumeClaimTemplate',
  {
    metadata: field(1, objectMeta, { description: 'Labels and annotations of the claim.' }),
    spec: field(2, persistentVolumeClaimSpec, { description: 'What is claimed.' }),
  },
  { required: ['spec'], description: 'What a claim is to be.' },
);

const ephemeralVolumeSource = coreStruct(
  'EphemeralVolumeSource',
  {
    volumeClaimTemplate: optional(1, persistentVolumeClaimTemplate, { description: 'What the claim is to be.' }),
  },
  { description: 'A claim that is made for the pod and goes with it.' },
);

const imageVolumeSource = coreStruct(
  'ImageVolumeSource',
  {
    reference: field(1, string(), { description: 'Name of the image.' }),
    pullPolicy: field(2, string({ go: 'v1.PullPolicy', enum: ['Always', 'IfNotPresent', 'Never'] }), {
      description: 'When the image is pulled.',
    }),
  },
  { description: 'The contents of an image.' },
);

const volumeSourceFields = {
  hostPath: optional(1, hostPathVolumeSource, { description: 'Files of the node.' }),
  emptyDir: optional(2, emptyDirVolumeSource, { description: 'An empty directory as old as the pod.' }),
  gcePersistentDisk: optional(3, gcePersistentDiskVolumeSource, {
    description: 'A persistent disk of Google Compute Engine.',
  }),
  awsElasticBlockStore: optional(4, awsElasticBlockStoreVolumeSource, {
    description: 'A disk of Amazon Elastic Block Store.',
  }),
  gitRepo: optional(5, gitRepoVolumeSource, { description: 'A git repository.' }),
  secret: optional(6, secretVolumeSource, { description: 'A Secret.' }),
  nfs: optional(7, nfsVolumeSource, { description: 'A directory of an NFS server.' }),
  iscsi: optional(8, iscsiVolumeSource, { description: 'A disk by iSCSI.' }),
  glusterfs: optional(9, glusterfsVolumeSource, { description: 'A volume of Glusterfs.' }),
  persistentVolumeClaim: optional(10, persistentVolumeClaimVolumeSource, {
    description: 'A claim of a persistent volume.',
  }),
  rbd: optional(11, rbdVolumeSource, { description: 'A block device of Ceph.' }),
  flexVolume: optional(12, flexVolumeSource, { description: 'A volume that a program on the node attaches.' }),
  cinder: optional(13, cinderVolumeSource, { description: 'A volume of OpenStack Cinder.' }),
  cephfs: optional(14, cephFSVolumeSource, { description: 'A directory of CephFS.' }),
  flocker: optional(15, flockerVolumeSource, { description: 'A data set of Flocker.' }),
  downwardAPI: optional(16, downwardAPIVolumeSource, { description: 'Facts about the pod.' }),
  fc: optional(17, fcVolumeSource, { description: 'A disk by Fibre Channel.' }),
  azureFile: optional(18, azureFileVolumeSource, { description: 'A file share of Azure.' }),
  configMap: optional(19, configMapVolumeSource, { description: 'A ConfigMap.' }),
  vsphereVolume: optional(20, vsphereVirtualDiskVolumeSource, { description: 'A disk of vSphere.' }),
  quobyte: optional(21, quobyteVolumeSource, { description: 'A volume of Quobyte.' }),
  azureDisk: optional(22, azureDiskVolumeSource, { description: 'A disk of Azure.' }),
  photonPersistentDisk: optional(23, photonPersistentDiskVolumeSource, { description: 'A disk of Photon.' }),
  projected: optional(26, projectedVolumeSource, { description: 'Several sources in one directory.' }),
  portworxVolume: optional(24, portworxVolumeSource, { description: 'A volume of Portworx.' }),
  scaleIO: optional(25, scaleIOVolumeSource, { description: 'A volume of ScaleIO.' }),
  storageos: optional(27, storageOSVolumeSource, { description: 'A volume of StorageOS.' }),
  csi: optional(28, csiVolumeSource, { description: 'A volume of a CSI driver that is as old as the pod.' }),
  ephemeral: optional(29, ephemeralVolumeSource, { description: 'A claim that is made for the pod and goes with it.' }),
  image: optional(30, imageVolumeSource, { description: 'The contents of an image.' }),
};

export const volume = coreStruct(
  'Volume',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the volume.' }),
    ...embedded(2, 'VolumeSource', volumeSourceFields),
  },
  { required: ['name'], description: 'Files for containers.' },
);
