/**
 * Kinds that Kubernetes' scheme knows, whether they are served here or not: a body of a known kind at the wrong
 * place is told apart from one that nobody knows.
 */
const kinds: Readonly<Record<string, readonly string[]>> = {
  v1: [
    'Binding',
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
    'PodTemplate',
    'ReplicationController',
    'ResourceQuota',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  'apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
  'apiextensions.k8s.io/v1beta1': ['CustomResourceDefinition'],
  'admissionregistration.k8s.io/v1': [
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ],
  'admissionregistration.k8s.io/v1beta1': ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'],
  'apps/v1': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  'authentication.k8s.io/v1': ['SelfSubjectReview', 'TokenRequest', 'TokenReview'],
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
  'autoscaling/v1': ['Scale', 'HorizontalPodAutoscaler'],
  'batch/v1': ['CronJob', 'Job'],
  'certificates.k8s.io/v1': ['CertificateSigningRequest'],
  'certificates.k8s.io/v1alpha1': ['ClusterTrustBundle'],
  'certificates.k8s.io/v1beta1': ['CertificateSigningRequest', 'ClusterTrustBundle', 'PodCertificateRequest'],
  'coordination.k8s.io/v1': ['Lease'],
  'coordination.k8s.io/v1beta1': ['Lease', 'LeaseCandidate'],
  'events.k8s.io/v1': ['Event'],
  'events.k8s.io/v1beta1': ['Event'],
  'networking.k8s.io/v1': ['Ingress', 'IngressClass', 'NetworkPolicy'],
  'policy/v1': ['Eviction', 'PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'rbac.authorization.k8s.io/v1alpha1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'rbac.authorization.k8s.io/v1beta1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'resource.k8s.io/v1': ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'],
  'resource.k8s.io/v1beta1': ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'],
  'resource.k8s.io/v1beta2': ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'],
};
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
    [...names.flatMap((name) => [name, `${name}List`]), ...everywhere].map((name) => `${version} ${name}`),
  ),
);

/** What an object says it is. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

export const isUnversioned = ({ kind }: Pick<TypeMeta, 'kind'>): boolean => unversioned.has(kind);

/** Known where objects of a group are read: the extension group knows no other. */
export const isRegistered = ({ apiVersion, kind }: TypeMeta, group: string): boolean =>
  unversioned.has(kind) ||
  (known.has(`${apiVersion} ${kind}`) && (!group.startsWith('apiextensions.') || apiVersion.startsWith(`${group}/`)));

/** Version of options whose body does not say it. */
export const optionsVersion = 'meta.k8s.io/v1';

/** Known where options are read, which is a smaller scheme. */
export const isOptionsKind = ({ apiVersion, kind }: TypeMeta): boolean =>
  unversioned.has(kind) || (apiVersion === optionsVersion && everywhere.includes(kind));
