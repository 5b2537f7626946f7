import { dnsLabel, dnsSubdomain } from './names.js';

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

/** What the usernames of service accounts begin with; namespace and name follow. */
export const accountPrefix = 'system:serviceaccount:';
/** What the usernames of node agents begin with; the name of the node follows. */
export const nodeUserPrefix = 'system:node:';

/** `system:serviceaccount:<namespace>:<name>` */
export const serviceAccountUsername = (namespace: string, name: string): string =>
  `${accountPrefix}${namespace}:${name}`;

/** The two groups of a service account, in their order. */
export const serviceAccountGroups = (namespace: string): readonly string[] => [
  wellKnown.serviceAccounts,
  `${wellKnown.serviceAccounts}:${namespace}`,
];

/** Who a service account is to the server, as whoever shows a token of it is. */
export const serviceAccountUser = (namespace: string, name: string, uid?: string): UserInfo => ({
  username: serviceAccountUsername(namespace, name),
  groups: [...serviceAccountGroups(namespace), wellKnown.authenticated],
  ...(uid === undefined ? {} : { uid }),
});

/** The account a username stands for; undefined if it is anybody else's, or an incomplete one. */
export function serviceAccountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name, ...rest] = username.slice(accountPrefix.length).split(':');
  if (name === undefined || rest.length > 0) return undefined;
  return dnsLabel(namespace).length === 0 && dnsSubdomain(name).length === 0 ? { namespace, name } : undefined;
}

/** The node a username stands for; undefined if it is anybody else's. */
export function nodeOf(username: string): string | undefined {
  if (!username.startsWith(nodeUserPrefix)) return undefined;
  const name = username.slice(nodeUserPrefix.length);
  return dnsSubdomain(name).length === 0 ? name : undefined;
}
