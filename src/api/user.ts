/** Who is calling, as authentication established it (authentication/v1 UserInfo). */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Groups and users the API server itself knows. */
export const wellKnown = {
  anonymous: 'system:anonymous',
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
  masters: 'system:masters',
  apiserver: 'system:apiserver',
  nodes: 'system:nodes',
  serviceAccounts: 'system:serviceaccounts',
} as const;

/** `system:serviceaccount:<namespace>:<name>` */
export const serviceAccountUsername = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`;

/** The two groups of a service account, in their order. */
export const serviceAccountGroups = (namespace: string): readonly string[] => [
  wellKnown.serviceAccounts,
  `${wellKnown.serviceAccounts}:${namespace}`,
];
