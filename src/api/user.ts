import { dnsLabel, dnsSubdomain } from './names.js';

/** The caller as established by authentication (authentication/v1 UserInfo). */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Groups and users that the API server itself knows. */
export const wellKnown = {
  anonymous: 'system:anonymous',
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
  masters: 'system:masters',
  apiserver: 'system:apiserver',
  nodes: 'system:nodes',
  serviceAccounts: 'system:serviceaccounts',
} as const;

/** The prefix of service account usernames; namespace and name follow. */
export const accountPrefix = 'system:serviceaccount:';
/** The prefix of node agents' usernames; the name of the node follows. */
export const nodeUserPrefix = 'system:node:';

/** `system:serviceaccount:<namespace>:<name>` */
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

/** Returns the service account of a username; undefined for other or incomplete ones. */
export function serviceAccountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name, ...rest] = username.slice(accountPrefix.length).split(':');
  if (name === undefined || rest.length > 0) return undefined;
  return dnsLabel(namespace).length === 0 && dnsSubdomain(name).length === 0 ? { namespace, name } : undefined;
}

/** Returns the node of a username; undefined for other ones. */
export function nodeOf(username: string): string | undefined {
  if (!username.startsWith(nodeUserPrefix)) return undefined;
  const name = username.slice(nodeUserPrefix.length);
  return dnsSubdomain(name).length === 0 ? name : undefined;
}
