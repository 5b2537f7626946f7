/** Field managers of the built-in controllers, with the names of Kubernetes' controllers (`metadata.managedFields`). */
export const fieldManagers = {
  controllers: 'kube-controller-manager',
  customResourceDefinitions: 'kube-apiserver',
  policies: 'validatingadmissionpolicy-status',
  aggregation: 'clusterrole-aggregation-controller',
} as const;
