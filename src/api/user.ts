import { dnsLabel, dnsSubdomain } from './names.js';

/** The authenticated caller (UserInfo of authentication/v1). */
export interface UserInfo {
  /** Name of the user, unique among all active users. */
  readonly username: string;
  /** Unique ID of the user over time: a later user of the same name has a different one. */
  readonly uid?: string;
  /** Names of the groups that the user belongs to. */
  readonly groups: readonly string[];
  /** Additional attributes from the authenticator. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Users and groups that the API server itself knows. */
export const wellKnown = {
  anonymous: 'system:anonymous',
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
  masters: 'system:masters',
  apiserver: 'system:apiserver',
  nodes: 'system:nodes',
  serviceAccounts: 'system:serviceaccounts',
} as const;

/** The prefix of service account usernames, which is followed by the namespace, a colon and the name. */
export const accountPrefix = 'system:serviceaccount:';
/** The prefix of the usernames of kubelets, which is followed by the name of the node. */
export const nodeUserPrefix = 'system:node:';

/** Returns the username of a service account: `system:serviceaccount:<namespace>:<name>`. */
export const serviceAccountUsername = (namespace: string, name: string): string =>
  `${accountPrefix}${namespace}:${name}`;

/** Returns the two groups of a service account, in order. */
export const serviceAccountGroups = (namespace: string): readonly string[] => [
  wellKnown.serviceAccounts,
  `${wellKnown.serviceAccounts}:${namespace}`,
];

/** Returns the user of a service account, as its tokens authenticate it. */
export const serviceAccountUser = (namespace: string, name: string, uid?: string): UserInfo => ({
  username: serviceAccountUsername(namespace, name),
  groups: [...serviceAccountGroups(namespace), wellKnown.authenticated],
  ...(uid === undefined ? {} : { uid }),
});

/** Returns the service account that a username belongs to; undefined for other or incomplete usernames. */
export function serviceAccountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name, ...rest] = username.slice(accountPrefix.length).split(':');
  if (name === undefined || rest.length > 0) return undefined;
  return dnsLabel(namespace).length === 0 && dnsSubdomain(name).length === 0 ? { namespace, name } : undefined;
}

/** Returns the node whose kubelet a username belongs to; undefined for other usernames. */
export function nodeOf(username: string): string | undefined {
  if (!username.startsWith(nodeUserPrefix)) return undefined;
  const name = username.slice(nodeUserPrefix.length);
  return dnsSubdomain(name).length === 0 ? name : undefined;
}
