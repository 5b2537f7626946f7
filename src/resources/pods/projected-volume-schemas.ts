import { boolean, field, integer32, integer64, list, map, optional, quantity, string } from '../../schema/builder.js';
import { labelSelector } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';
import { coreStruct } from '../core-struct.js';
import { nameOf } from '../object-reference-schema.js';

/** Schemas of volumes whose files are made from API objects. */

const keyToPath = coreStruct(
  'KeyToPath',
  {
    key: field(1, string(), { presence: 'always', description: 'Key of the entry.' }),
    path: field(2, string(), { presence: 'always', description: 'Path of the file, relative to the volume.' }),
    mode: optional(3, integer32(), {
      description: 'Permission bits of the file, 0 to 511 (octal 0777); defaultMode by default.',
    }),
  },
  { required: ['key', 'path'], description: 'Mapping of an entry to a file.' },
);

export const secretVolumeSource = coreStruct(
  'SecretVolumeSource',
  {
    secretName: field(1, string(), { description: 'Name of the Secret.' }),
    items: field(2, list(keyToPath, { listType: 'atomic' }), {
      description: 'Entries to project into files; all by default.',
    }),
    defaultMode: optional(3, integer32(), {
      fills: 420,
      description: 'Permission bits of files that set no mode of their own; 420 (octal 0644) by default.',
    }),
    optional: optional(4, boolean(), { description: 'Whether the Secret or its keys may be missing.' }),
  },
  { description: 'Volume with the entries of a Secret as files.' },
);

export const configMapVolumeSource = coreStruct(
  'ConfigMapVolumeSource',
  {
    ...nameOf('ConfigMap'),
    items: field(2, list(keyToPath, { listType: 'atomic' }), {
      description: 'Entries to project into files; all by default.',
    }),
    defaultMode: optional(3, integer32(), {
      fills: 420,
      description: 'Permission bits of files that set no mode of their own; 420 (octal 0644) by default.',
    }),
    optional: optional(4, boolean(), { description: 'Whether the ConfigMap or its keys may be missing.' }),
  },
  { description: 'Volume with the entries of a ConfigMap as files.' },
);

export const objectFieldSelector = coreStruct(
  'ObjectFieldSelector',
  {
    apiVersion: field(1, string(), {
      fills: 'v1',
      description: 'API version of the schema that fieldPath refers to; v1 by default.',
    }),
    fieldPath: field(2, string(), { presence: 'always', description: 'Path of the field, such as metadata.name.' }),
  },
  { required: ['fieldPath'], mapType: 'atomic', description: 'Reference to a field of an object.' },
);

export const resourceFieldSelector = coreStruct(
  'ResourceFieldSelector',
  {
    containerName: field(1, string(), {
      description: 'Name of the container; may be omitted only for environment variables.',
    }),
    resource: field(2, string(), {
      presence: 'always',
      description: 'Name of the resource, such as limits.cpu or requests.memory.',
    }),
    divisor: field(3, quantity(), {
      presence: 'always',
      description: 'Unit in which the value is expressed, such as 1m or 1Mi; 1 by default.',
    }),
  },
  {
    required: ['resource'],
    mapType: 'atomic',
    description: 'Reference to a resource limit or request of a container.',
  },
);

const downwardAPIVolumeFile = coreStruct(
  'DownwardAPIVolumeFile',
  {
    path: field(1, string(), { presence: 'always', description: 'Path of the file, relative to the volume.' }),
    fieldRef: optional(2, objectFieldSelector, {
      description: 'Field of the pod: its name, namespace, UID, labels or annotations.',
    }),
    resourceFieldRef: optional(3, resourceFieldSelector, { description: 'Resource limit or request of a container.' }),
    mode: optional(4, integer32(), {
      description: 'Permission bits of the file, 0 to 511 (octal 0777); defaultMode by default.',
    }),
  },
  { required: ['path'], description: 'File with the value of a field of the pod.' },
);

export const downwardAPIVolumeSource = coreStruct(
  'DownwardAPIVolumeSource',
  {
    items: field(1, list(downwardAPIVolumeFile, { listType: 'atomic' }), {
      description: 'Files of the volume, and the fields that they contain.',
    }),
    defaultMode: optional(2, integer32(), {
      fills: 420,
      description: 'Permission bits of files that set no mode of their own; 420 (octal 0644) by default.',
    }),
  },
  { description: 'Volume with fields of the pod as files.' },
);

const projection = (kind: 'ConfigMap' | 'Secret'): Schema =>
  coreStruct(
    `${kind}Projection`,
    {
      ...nameOf(kind),
      items: field(2, list(keyToPath, { listType: 'atomic' }), {
        description: 'Entries to project into files; all by default.',
      }),
      optional: optional(4, boolean(), { description: `Whether the ${kind} or its keys may be missing.` }),
    },
    { description: `Projection of the entries of a ${kind} into files.` },
  );

const downwardAPIProjection = coreStruct(
  'DownwardAPIProjection',
  {
    items: field(1, list(downwardAPIVolumeFile, { listType: 'atomic' }), {
      description: 'Files of the projection, and the fields that they contain.',
    }),
  },
  { description: 'Projection of fields of the pod into files.' },
);

const serviceAccountTokenProjection = coreStruct(
  'ServiceAccountTokenProjection',
  {
    audience: field(1, string(), { description: 'Audience of the token; by default the API server.' }),
    expirationSeconds: optional(2, integer64(), {
      fills: 3600,
      description:
        'Requested lifetime of the token in seconds; 3600 by default, at least 600. The kubelet renews it in time.',
    }),
    path: field(3, string(), { presence: 'always', description: 'Path of the file, relative to the volume.' }),
  },
  { required: ['path'], description: "Projection of a token of the pod's service account." },
);

const clusterTrustBundleProjection = coreStruct(
  'ClusterTrustBundleProjection',
  {
    name: optional(1, string(), {
      description: 'Name of a single ClusterTrustBundle; cannot be combined with signerName and labelSelector.',
    }),
    signerName: optional(2, string(), {
      description: 'Signer name of the ClusterTrustBundles to combine; cannot be combined with name.',
    }),
    labelSelector: optional(3, labelSelector, {
      description: "Label selector of the signer's ClusterTrustBundles; none match if absent, all if empty.",
    }),
    optional: optional(5, boolean(), { description: 'Whether the bundles may be missing.' }),
    path: field(4, string(), { presence: 'always', description: 'Path of the file, relative to the volume.' }),
  },
  {
    required: ['path'],
    description: 'Projection of the trust anchors of one or several ClusterTrustBundles into one file.',
  },
);

const podCertificateProjection = coreStruct(
  'PodCertificateProjection',
  {
    signerName: field(1, string(), { description: 'Name of the signer that certificates are requested from.' }),
    keyType: field(2, string(), {
      description: 'Type of the key pair: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.',
    }),
    maxExpirationSeconds: optional(3, integer32(), {
      description: 'Maximum lifetime of the certificate in seconds, 3600 to 7862400 (91 days); 86400 by default.',
    }),
    credentialBundlePath: field(4, string(), {
      description: 'Path of a file with the private key followed by the certificate chain.',
    }),
    keyPath: field(5, string(), { description: 'Path of a file with the private key.' }),
    certificateChainPath: field(6, string(), { description: 'Path of a file with the certificate chain.' }),
    userAnnotations: field(7, map(string()), {
      description: 'Additional information for the signer, copied to unverifiedUserAnnotations of the request.',
    }),
  },
  {
    required: ['signerName', 'keyType'],
    description: 'Projection of a key pair that is generated for the pod, and of its certificate chain.',
  },
);

const volumeProjection = coreStruct(
  'VolumeProjection',
  {
    secret: optional(1, projection('Secret'), { description: 'Entries of a Secret.' }),
    downwardAPI: optional(2, downwardAPIProjection, { description: 'Fields of the pod.' }),
    configMap: optional(3, projection('ConfigMap'), { description: 'Entries of a ConfigMap.' }),
    serviceAccountToken: optional(4, serviceAccountTokenProjection, {
      description: "Token of the pod's service account.",
    }),
    clusterTrustBundle: optional(5, clusterTrustBundleProjection, {
      description: 'Trust anchors of ClusterTrustBundles.',
    }),
    podCertificate: optional(6, podCertificateProjection, {
      description: 'Private key and certificate chain of the pod.',
    }),
  },
  { description: 'Source of a projected volume; exactly one member is set.' },
);

export const projectedVolumeSource = coreStruct(
  'ProjectedVolumeSource',
  {
    sources: field(1, list(volumeProjection, { listType: 'atomic' }), {
      presence: 'always',
      description: 'Sources that are projected into the volume.',
    }),
    defaultMode: optional(2, integer32(), {
      fills: 420,
      description: 'Permission bits of files that set no mode of their own; 420 (octal 0644) by default.',
    }),
  },
  { description: 'Volume that combines several sources in one directory.' },
);
