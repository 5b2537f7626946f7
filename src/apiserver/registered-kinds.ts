import type { TypeMeta } from '../api/type-meta.js';

const admissionPolicies = [
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
];
const webhooks = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
const accessReviews = [
  'LocalSubjectAccessReview',
  'SelfSubjectAccessReview',
  'SelfSubjectRulesReview',
  'SubjectAccessReview',
];
const priorities = ['FlowSchema', 'PriorityLevelConfiguration'];
const roles = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];
const devices = ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'];
const storage = [
  'CSIDriver',
  'CSINode',
  'CSIStorageCapacity',
  'StorageClass',
  'VolumeAttachment',
  'VolumeAttributesClass',
];
const options = [
  'NodeProxyOptions',
  'PodAttachOptions',
  'PodExecOptions',
  'PodLogOptions',
  'PodPortForwardOptions',
  'PodProxyOptions',
  'ServiceProxyOptions',
];

/**
 * The kinds in the scheme of Kubernetes, whether or not they are served here: a known kind at a wrong path is answered
 * differently from an unknown one.
 */
const kinds: Readonly<Record<string, readonly string[]>> = {
  v1: [
    ...options,
    'Binding',
    'ComponentStatus',
    'ConfigMap',
    'Endpoints',
    'Event',
    'LimitRange',
    'List',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodStatusResult',
    'PodTemplate',
    'RangeAllocation',
    'ReplicationController',
    'ResourceQuota',
    'Secret',
    'SerializedReference',
    'Service',
    'ServiceAccount',
  ],
  'admission.k8s.io/v1': ['AdmissionReview'],
  'admission.k8s.io/v1beta1': ['AdmissionReview'],
  'admissionregistration.k8s.io/v1': [...admissionPolicies, ...webhooks],
  'admissionregistration.k8s.io/v1alpha1': admissionPolicies,
  'admissionregistration.k8s.io/v1beta1': [...admissionPolicies, ...webhooks],
  'apiextensions.k8s.io/v1': ['ConversionReview', 'CustomResourceDefinition'],
  'apiextensions.k8s.io/v1beta1': ['ConversionReview', 'CustomResourceDefinition'],
  'apps/v1': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  'apps/v1beta1': ['ControllerRevision', 'Deployment', 'DeploymentRollback', 'Scale', 'StatefulSet'],
  'apps/v1beta2': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'Scale', 'StatefulSet'],
  'authentication.k8s.io/v1': ['SelfSubjectReview', 'TokenRequest', 'TokenReview'],
  'authentication.k8s.io/v1alpha1': ['SelfSubjectReview'],
  'authentication.k8s.io/v1beta1': ['SelfSubjectReview', 'TokenReview'],
  'authorization.k8s.io/v1': accessReviews,
  'authorization.k8s.io/v1beta1': accessReviews,
  'autoscaling/v1': ['HorizontalPodAutoscaler', 'Scale'],
  'autoscaling/v2': ['HorizontalPodAutoscaler'],
  'batch/v1': ['CronJob', 'Job'],
  'batch/v1beta1': ['CronJob'],
  'certificates.k8s.io/v1': ['CertificateSigningRequest'],
  'certificates.k8s.io/v1alpha1': ['ClusterTrustBundle'],
  'certificates.k8s.io/v1beta1': ['CertificateSigningRequest', 'ClusterTrustBundle', 'PodCertificateRequest'],
  'coordination.k8s.io/v1': ['Lease'],
  'coordination.k8s.io/v1alpha2': ['LeaseCandidate'],
  'coordination.k8s.io/v1beta1': ['Lease', 'LeaseCandidate'],
  'discovery.k8s.io/v1': ['EndpointSlice'],
  'discovery.k8s.io/v1beta1': ['EndpointSlice'],
  'events.k8s.io/v1': ['Event'],
  'events.k8s.io/v1beta1': ['Event'],
  'extensions/v1beta1': [
    'DaemonSet',
    'Deployment',
    'DeploymentRollback',
    'Ingress',
    'NetworkPolicy',
    'ReplicaSet',
    'Scale',
  ],
  'flowcontrol.apiserver.k8s.io/v1': priorities,
  'flowcontrol.apiserver.k8s.io/v1beta1': priorities,
  'flowcontrol.apiserver.k8s.io/v1beta2': priorities,
  'flowcontrol.apiserver.k8s.io/v1beta3': priorities,
  'imagepolicy.k8s.io/v1alpha1': ['ImageReview'],
  'internal.apiserver.k8s.io/v1alpha1': ['StorageVersion'],
  'networking.k8s.io/v1': ['IPAddress', 'Ingress', 'IngressClass', 'NetworkPolicy', 'ServiceCIDR'],
  'networking.k8s.io/v1beta1': ['IPAddress', 'Ingress', 'IngressClass', 'ServiceCIDR'],
  'node.k8s.io/v1': ['RuntimeClass'],
  'node.k8s.io/v1alpha1': ['RuntimeClass'],
  'node.k8s.io/v1beta1': ['RuntimeClass'],
  'policy/v1': ['Eviction', 'PodDisruptionBudget'],
  'policy/v1beta1': ['Eviction', 'PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1': roles,
  'rbac.authorization.k8s.io/v1alpha1': roles,
  'rbac.authorization.k8s.io/v1beta1': roles,
  'resource.k8s.io/v1': devices,
  'resource.k8s.io/v1alpha3': ['DeviceTaintRule', 'ResourcePoolStatusRequest'],
  'resource.k8s.io/v1beta1': devices,
  'resource.k8s.io/v1beta2': [...devices, 'DeviceTaintRule'],
  'scheduling.k8s.io/v1': ['PriorityClass'],
  'scheduling.k8s.io/v1alpha2': ['PodGroup', 'Workload'],
  'scheduling.k8s.io/v1beta1': ['PriorityClass'],
  'storage.k8s.io/v1': storage,
  'storage.k8s.io/v1alpha1': ['CSIStorageCapacity', 'VolumeAttachment', 'VolumeAttributesClass'],
  'storage.k8s.io/v1beta1': storage,
  'storagemigration.k8s.io/v1beta1': ['StorageVersionMigration'],
};
/** The kinds without a list kind. */
const alone = new Set([
  ...options,
  ...accessReviews,
  'AdmissionReview',
  'Binding',
  'ConversionReview',
  'DeploymentRollback',
  'Eviction',
  'ImageReview',
  'List',
  'PodStatusResult',
  'RangeAllocation',
  'Scale',
  'SelfSubjectReview',
  'SerializedReference',
  'TokenRequest',
  'TokenReview',
]);
/** The kinds that are registered in every version that has kinds. */
const everywhere = [
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
];
/** The kinds that are registered in every version, whether or not it exists. */
const unversioned = new Set(['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status']);

const registered = new Set(
  Object.entries(kinds).flatMap(([version, names]) =>
    [...names.flatMap((name) => (alone.has(name) ? [name] : [name, `${name}List`])), ...everywhere].map(
      (name) => `${version} ${name}`,
    ),
  ),
);

/** Whether a kind has one Go type for all versions. */
export const isUnversioned = ({ kind }: Pick<TypeMeta, 'kind'>): boolean =>
  unversioned.has(kind) || everywhere.includes(kind);

const extensions = 'apiextensions.';
/** Whether this is the group of CustomResourceDefinitions, which has a scheme of its own. */
export const isExtensionGroup = (group: string): boolean => group.startsWith(extensions);

/** Whether this is the group of Scale, which has a scheme of its own that converts between none of its versions. */
export const isScaleGroup = (group: string): boolean => group === 'autoscaling';

/**
 * Whether a kind is registered in the scheme that reads objects of a group. That of the extension group knows no kinds
 * of other groups, except options in the version of the core group and watch events in any version; no other scheme
 * knows its kinds. The scheme of Scale knows the versions that have a Scale.
 */
export function isRegistered({ apiVersion, kind }: TypeMeta, group: string): boolean {
  if (unversioned.has(kind)) return true;
  if (!registered.has(`${apiVersion} ${kind}`)) return false;
  if (isScaleGroup(group)) return registered.has(`${apiVersion} Scale`);
  if (!isExtensionGroup(group)) return !apiVersion.startsWith(extensions);
  return (
    apiVersion.startsWith(`${group}/`) || kind === 'WatchEvent' || (apiVersion === 'v1' && everywhere.includes(kind))
  );
}

/** The kinds without an internal version. */
const withoutInternalVersion = new Set(['ConversionReview']);

/** Whether a kind has an internal version in a group, in the scheme that reads objects of the group `read`. */
export const isRegisteredIn = (group: string, kind: string, read: string): boolean =>
  isExtensionGroup(group) === isExtensionGroup(read) &&
  !withoutInternalVersion.has(kind) &&
  Object.keys(kinds).some(
    (version) =>
      (group === '' ? version === 'v1' : version.startsWith(`${group}/`)) && registered.has(`${version} ${kind}`),
  );

/** The version of options whose body names none. */
export const optionsVersion = 'meta.k8s.io/v1';

/**
 * Whether a kind is registered in the smaller scheme that reads options: some in every version, others only in the
 * group meta.k8s.io.
 */
export const isOptionsKind = ({ kind, apiVersion }: TypeMeta): boolean =>
  unversioned.has(kind) ||
  updateOptions.has(kind) ||
  (everywhere.includes(kind) && apiVersion === optionsVersion) ||
  (metadataKinds.has(kind) && metadataVersions.has(apiVersion));
const updateOptions: ReadonlySet<string> = new Set(['CreateOptions', 'UpdateOptions']);
const metadataKinds: ReadonlySet<string> = new Set([
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
  'Table',
  'TableOptions',
]);
const metadataVersions: ReadonlySet<string> = new Set([
  optionsVersion,
  'meta.k8s.io/v1beta1',
  'meta.k8s.io/__internal',
]);
