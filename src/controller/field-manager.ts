/** Who owns the fields that built-in controllers write, under the names Kubernetes has for them (`metadata.managedFields`). */
export const fieldManagers = {
  controllers: 'kube-controller-manager',
  customResourceDefinitions: 'kube-apiserver',
  policies: 'validatingadmissionpolicy-status',
  aggregation: 'clusterrole-aggregation-controller',
} as const;
