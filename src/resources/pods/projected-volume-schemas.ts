import { boolean, field, integer32, integer64, list, map, optional, quantity, string } from '../../schema/builder.js';
import { labelSelector } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';
import { coreStruct } from '../core-struct.js';
import { nameOf } from '../object-reference-schema.js';

/** Schemas of volumes whose files are made from API objects. */

const keyToPath = coreStruct(
  'KeyToPath',
  {
    key: field(1, string(), { presence: 'always', description: 'Name of the entry.' }),
    path: field(2, string(), { presence: 'always', description: 'Path of the file, relative to the volume.' }),
    mode: optional(3, integer32(), { description: 'Mode of the file.' }),
  },
  { required: ['key', 'path'], description: 'An entry and its file.' },
);

export const secretVolumeSource = coreStruct(
  'SecretVolumeSource',
  {
    secretName: field(1, string(), { description: 'Name of the Secret.' }),
    items: field(2, list(keyToPath, { listType: 'atomic' }), {
      description: 'Entries that become files; all unless given.',
    }),
    defaultMode: optional(3, integer32(), { fills: 420, description: 'Mode of files that have none of their own.' }),
    optional: optional(4, boolean(), { description: 'May the Secret or its entries be missing?' }),
  },
  { description: 'Entries of a Secret as files.' },
);

export const configMapVolumeSource = coreStruct(
  'ConfigMapVolumeSource',
  {
    ...nameOf('ConfigMap'),
    items: field(2, list(keyToPath, { listType: 'atomic' }), {
      description: 'Entries that become files; all unless given.',
    }),
    defaultMode: optional(3, integer32(), { fills: 420, description: 'Mode of files that have none of their own.' }),
    optional: optional(4, boolean(), { description: 'May the ConfigMap or its entries be missing?' }),
  },
  { description: 'Entries of a ConfigMap as files.' },
);

export const objectFieldSelector = coreStruct(
  'ObjectFieldSelector',
  {
    apiVersion: field(1, string(), { fills: 'v1', description: 'Version of the API that the path is about.' }),
    fieldPath: field(2, string(), { presence: 'always', description: 'Path of the field.' }),
  },
  { required: ['fieldPath'], mapType: 'atomic', description: 'A field of an object.' },
);

export const resourceFieldSelector = coreStruct(
  'ResourceFieldSelector',
  {
    containerName: field(1, string(), { description: 'Name of the container.' }),
    resource: field(2, string(), { presence: 'always', description: 'Name of the resource, such as limits.cpu.' }),
    divisor: field(3, quantity(), { presence: 'always', description: 'What the quantity is divided by.' }),
  },
  { required: ['resource'], mapType: 'atomic', description: 'A resource of a container.' },
);

const downwardAPIVolumeFile = coreStruct(
  'DownwardAPIVolumeFile',
  {
    path: field(1, string(), { presence: 'always', description: 'Path of the file, relative to the volume.' }),
    fieldRef: optional(2, objectFieldSelector, { description: 'A field of the pod.' }),
    resourceFieldRef: optional(3, resourceFieldSelector, { description: 'A resource of a container.' }),
    mode: optional(4, integer32(), { description: 'Mode of the file.' }),
  },
  { required: ['path'], description: 'A file with one fact about the pod.' },
);

export const downwardAPIVolumeSource = coreStruct(
  'DownwardAPIVolumeSource',
  {
    items: field(1, list(downwardAPIVolumeFile, { listType: 'atomic' }), {
      description: 'Files, and what is in them.',
    }),
    defaultMode: optional(2, integer32(), { fills: 420, description: 'Mode of files that have none of their own.' }),
  },
  { description: 'Facts about the pod as files.' },
);

const projection = (kind: 'ConfigMap' | 'Secret'): Schema =>
  coreStruct(
    `${kind}Projection`,
    {
      ...nameOf(kind),
      items: field(2, list(keyToPath, { listType: 'atomic' }), {
        description: 'Entries that become files; all unless given.',
      }),
      optional: optional(4, boolean(), { description: `May the ${kind} or its entries be missing?` }),
    },
    { description: `Entries of a ${kind} among other sources.` },
  );

const downwardAPIProjection = coreStruct(
  'DownwardAPIProjection',
  {
    items: field(1, list(downwardAPIVolumeFile, { listType: 'atomic' }), {
      description: 'Files, and what is in them.',
    }),
  },
  { description: 'Facts about the pod among other sources.' },
);

const serviceAccountTokenProjection = coreStruct(
  'ServiceAccountTokenProjection',
  {
    audience: field(1, string(), { description: 'For whom the token is; the API server unless given.' }),
    expirationSeconds: optional(2, integer64(), {
      fills: 3600,
      description: 'Seconds that the token is valid; renewed in time.',
    }),
    path: field(3, string(), { presence: 'always', description: 'Path of the file, relative to the volume.' }),
  },
  { required: ['path'], description: 'A token of the account of the pod.' },
);

const clusterTrustBundleProjection = coreStruct(
  'ClusterTrustBundleProjection',
  {
    name: optional(1, string(), { description: 'Name of the bundle.' }),
    signerName: optional(2, string(), { description: 'Signer whose bundles are meant.' }),
    labelSelector: optional(3, labelSelector, { description: 'Labels that bundles of the signer must have.' }),
    optional: optional(5, boolean(), { description: 'May there be no such bundle?' }),
    path: field(4, string(), { presence: 'always', description: 'Path of the file, relative to the volume.' }),
  },
  { required: ['path'], description: 'Anchors of one bundle, or of all of a signer, in one file.' },
);

const podCertificateProjection = coreStruct(
  'PodCertificateProjection',
  {
    signerName: field(1, string(), { description: 'Signer that is asked for certificates.' }),
    keyType: field(2, string(), { description: 'Sort of the key.' }),
    maxExpirationSeconds: optional(3, integer32(), {
      description: 'Longest time that certificates may be valid, in seconds.',
    }),
    credentialBundlePath: field(4, string(), { description: 'Path of a file with the key and the chain.' }),
    keyPath: field(5, string(), { description: 'Path of a file with the key.' }),
    certificateChainPath: field(6, string(), { description: 'Path of a file with the chain.' }),
    userAnnotations: field(7, map(string()), { description: 'What the signer is told besides.' }),
  },
  { required: ['signerName', 'keyType'], description: 'A key that is made for the pod, and certificates for it.' },
);

const volumeProjection = coreStruct(
  'VolumeProjection',
  {
    secret: optional(1, projection('Secret'), { description: 'Entries of a Secret.' }),
    downwardAPI: optional(2, downwardAPIProjection, { description: 'Facts about the pod.' }),
    configMap: optional(3, projection('ConfigMap'), { description: 'Entries of a ConfigMap.' }),
    serviceAccountToken: optional(4, serviceAccountTokenProjection, {
      description: 'A token of the account of the pod.',
    }),
    clusterTrustBundle: optional(5, clusterTrustBundleProjection, { description: 'Anchors of ClusterTrustBundles.' }),
    podCertificate: optional(6, podCertificateProjection, { description: 'A key and a certificate for the pod.' }),
  },
  { description: 'One of several sources of a volume.' },
);

export const projectedVolumeSource = coreStruct(
  'ProjectedVolumeSource',
  {
    sources: field(1, list(volumeProjection, { listType: 'atomic' }), {
      presence: 'always',
      description: 'The sources.',
    }),
    defaultMode: optional(2, integer32(), { fills: 420, description: 'Mode of files that have none of their own.' }),
  },
  { description: 'Several sources in one directory.' },
);
