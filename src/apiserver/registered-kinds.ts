/**
 * Kinds that Kubernetes' scheme knows, whether they are served here or not: a body of a known kind at the wrong
 * place is told apart from one that nobody knows.
 */
const kinds: Readonly<Record<string, readonly string[]>> = {
  v1: [
    'Binding',
    'ComponentStatus',
    'ConfigMap',
    'Endpoints',
    'Event',
    'LimitRange',
    'List',
    'Namespace',
    'Node',
    'NodeProxyOptions',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodAttachOptions',
    'PodExecOptions',
    'PodLogOptions',
    'PodPortForwardOptions',
    'PodProxyOptions',
    'PodStatusResult',
    'PodTemplate',
    'RangeAllocation',
    'ReplicationController',
    'ResourceQuota',
    'Secret',
    'SerializedReference',
    'Service',
    'ServiceAccount',
    'ServiceProxyOptions',
  ],
  'admission.k8s.io/v1': ['AdmissionReview'],
  'admission.k8s.io/v1beta1': ['AdmissionReview'],
  'admissionregistration.k8s.io/v1': [
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'admissionregistration.k8s.io/v1alpha1': [
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ],
  'admissionregistration.k8s.io/v1beta1': [
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
  'apiextensions.k8s.io/v1beta1': ['CustomResourceDefinition'],
  'apps/v1': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  'apps/v1beta1': ['ControllerRevision', 'Deployment', 'DeploymentRollback', 'Scale', 'StatefulSet'],
  'apps/v1beta2': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'Scale', 'StatefulSet'],
  'authentication.k8s.io/v1': ['SelfSubjectReview', 'TokenRequest', 'TokenReview'],
  'authentication.k8s.io/v1alpha1': ['SelfSubjectReview'],
  'authentication.k8s.io/v1beta1': ['SelfSubjectReview', 'TokenReview'],
  'authorization.k8s.io/v1': [
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
    'SubjectAccessReview',
  ],
  'authorization.k8s.io/v1beta1': [
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
    'SubjectAccessReview',
  ],
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
  'flowcontrol.apiserver.k8s.io/v1': ['FlowSchema', 'PriorityLevelConfiguration'],
  'flowcontrol.apiserver.k8s.io/v1beta1': ['FlowSchema', 'PriorityLevelConfiguration'],
  'flowcontrol.apiserver.k8s.io/v1beta2': ['FlowSchema', 'PriorityLevelConfiguration'],
  'flowcontrol.apiserver.k8s.io/v1beta3': ['FlowSchema', 'PriorityLevelConfiguration'],
  'imagepolicy.k8s.io/v1alpha1': ['ImageReview'],
  'internal.apiserver.k8s.io/v1alpha1': ['StorageVersion'],
  'networking.k8s.io/v1': ['IPAddress', 'Ingress', 'IngressClass', 'NetworkPolicy', 'ServiceCIDR'],
  'networking.k8s.io/v1beta1': ['IPAddress', 'Ingress', 'IngressClass', 'ServiceCIDR'],
  'node.k8s.io/v1': ['RuntimeClass'],
  'node.k8s.io/v1alpha1': ['RuntimeClass'],
  'node.k8s.io/v1beta1': ['RuntimeClass'],
  'policy/v1': ['Eviction', 'PodDisruptionBudget'],
  'policy/v1beta1': ['Eviction', 'PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'rbac.authorization.k8s.io/v1alpha1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'rbac.authorization.k8s.io/v1beta1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'resource.k8s.io/v1': ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'],
  'resource.k8s.io/v1alpha3': ['DeviceTaintRule', 'ResourcePoolStatusRequest'],
  'resource.k8s.io/v1beta1': ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'],
  'resource.k8s.io/v1beta2': [
    'DeviceClass',
    'DeviceTaintRule',
    'ResourceClaim',
    'ResourceClaimTemplate',
    'ResourceSlice',
  ],
  'scheduling.k8s.io/v1': ['PriorityClass'],
  'scheduling.k8s.io/v1alpha2': ['PodGroup', 'Workload'],
  'scheduling.k8s.io/v1beta1': ['PriorityClass'],
  'storage.k8s.io/v1': [
    'CSIDriver',
    'CSINode',
    'CSIStorageCapacity',
    'StorageClass',
    'VolumeAttachment',
    'VolumeAttributesClass',
  ],
  'storage.k8s.io/v1alpha1': ['CSIStorageCapacity', 'VolumeAttachment', 'VolumeAttributesClass'],
  'storage.k8s.io/v1beta1': [
    'CSIDriver',
    'CSINode',
    'CSIStorageCapacity',
    'StorageClass',
    'VolumeAttachment',
    'VolumeAttributesClass',
  ],
  'storagemigration.k8s.io/v1beta1': ['StorageVersionMigration'],
};
/** Kinds of which there is no list. */
const alone = new Set([
  'AdmissionReview',
  'Binding',
  'DeploymentRollback',
  'Eviction',
  'ImageReview',
  'List',
  'LocalSubjectAccessReview',
  'NodeProxyOptions',
  'PodAttachOptions',
  'PodExecOptions',
  'PodLogOptions',
  'PodPortForwardOptions',
  'PodProxyOptions',
  'PodStatusResult',
  'RangeAllocation',
  'Scale',
  'SelfSubjectAccessReview',
  'SelfSubjectReview',
  'SelfSubjectRulesReview',
  'SerializedReference',
  'ServiceProxyOptions',
  'SubjectAccessReview',
  'TokenRequest',
  'TokenReview',
]);
/** Known in every version that has kinds. */
const everywhere = [
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
];
/** Known in every version whatever. */
const unversioned = new Set(['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status']);

const known = new Set(
  Object.entries(kinds).flatMap(([version, names]) =>
    [...names.flatMap((name) => (alone.has(name) ? [name] : [name, `${name}List`])), ...everywhere].map(
      (name) => `${version} ${name}`,
    ),
  ),
);

/** What an object says it is. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

export const isUnversioned = ({ kind }: Pick<TypeMeta, 'kind'>): boolean => unversioned.has(kind);

const extensions = 'apiextensions.';

/** Known where objects of a group are read: the extension group knows no other, and no other knows it. */
export const isRegistered = ({ apiVersion, kind }: TypeMeta, group: string): boolean =>
  unversioned.has(kind) ||
  (known.has(`${apiVersion} ${kind}`) &&
    (group.startsWith(extensions) ? apiVersion.startsWith(`${group}/`) : !apiVersion.startsWith(extensions)));

/** Version of options whose body does not say it. */
export const optionsVersion = 'meta.k8s.io/v1';

/** Known where options are read, which is a smaller scheme. */
export const isOptionsKind = ({ apiVersion, kind }: TypeMeta): boolean =>
  unversioned.has(kind) || (apiVersion === optionsVersion && everywhere.includes(kind));
