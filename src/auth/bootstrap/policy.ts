import type { Domains } from '../../api/domains.js';
import { type ClusterRole, ClusterRoles, type PolicyRule, type Role, Roles } from '../../api/kinds/role.js';
import {
  type ClusterRoleBinding,
  ClusterRoleBindings,
  type RoleBinding,
  RoleBindings,
  type Subject,
} from '../../api/kinds/role-binding.js';
import { groupVersion, type ResourceType } from '../../api/object.js';
import { wellKnown } from '../../api/user.js';
import { leaseNamespace } from '../node/node-lease.js';
import { apiGroups } from './api-groups.js';
import { type ClusterRoleFacts, clusterRoles } from './cluster-roles.js';
import { controllerAccounts, controllerNamespace, controllerRoles, type SignerOptions } from './controller-roles.js';
import { rule } from './policy-rule.js';

/** The namespaces that are created at the first start. */
export const bootstrapNamespaces = ['default', 'kube-system', 'kube-public', leaseNamespace] as const;

/** The roles and bindings that are created at the first start and completed at every later one. */
export interface BootstrapPolicy {
  readonly clusterRoles: readonly ClusterRole[];
  readonly clusterRoleBindings: readonly ClusterRoleBinding[];
  readonly roles: readonly Role[];
  readonly roleBindings: readonly RoleBinding[];
}

export function bootstrapPolicy(domains: Domains, options: SignerOptions = {}): BootstrapPolicy {
  const controllers = [...controllerRoles(domains, options)];
  const local = [...localRoles(domains), ...objectRoles(domains, options)];
  return {
    clusterRoles: [
      ...[...clusterRoles(domains)].map(([name, facts]) => clusterRole(name, facts, domains)),
      ...controllers.map(([account, rules]) => clusterRole(`system:controller:${account}`, { rules }, domains)),
    ],
    clusterRoleBindings: [
      ...clusterBindings.map(([name, subjects]) => clusterRoleBinding(name, subjects(domains), domains)),
      ...controllers.map(([account]) =>
        clusterRoleBinding(`system:controller:${account}`, [serviceAccount(account)], domains),
      ),
    ],
    roles: local.map(({ namespace, name, rules }) => ({
      ...head(Roles, { name, namespace }, domains),
      rules,
    })),
    roleBindings: local.map(({ namespace, name, binding = name, subjects }) => ({
      ...head(RoleBindings, { name: binding, namespace }, domains),
      roleRef: { apiGroup: apiGroups(domains).rbac, kind: 'Role', name },
      subjects,
    })),
  };
}

const head = (
  type: ResourceType,
  { labels, ...names }: { name: string; namespace?: string; labels?: Readonly<Record<string, string>> },
  { signer }: Domains,
) => ({
  kind: type.kind,
  apiVersion: groupVersion(type),
  metadata: {
    ...names,
    labels: { [`${signer}/bootstrapping`]: 'rbac-defaults', ...labels },
    annotations: { [autoUpdateAnnotation({ signer })]: 'true' },
  },
});

/** Returns the name of the annotation that, with the value `false`, keeps the server from completing the object. */
export const autoUpdateAnnotation = ({ signer }: Pick<Domains, 'signer'>): string =>
  `rbac.authorization.${signer}/autoupdate`;

const aggregateTo = (target: string, domains: Domains): Readonly<Record<string, string>> => ({
  [`${apiGroups(domains).rbac}/aggregate-to-${target}`]: 'true',
});

const clusterRole = (
  name: string,
  { rules, aggregates, aggregatedTo }: ClusterRoleFacts,
  domains: Domains,
): ClusterRole => ({
  ...head(
    ClusterRoles,
    { name, labels: aggregatedTo === undefined ? {} : aggregateTo(aggregatedTo, domains) },
    domains,
  ),
  rules,
  ...(aggregates === undefined
    ? {}
    : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregateTo(aggregates, domains) }] } }),
});

const clusterRoleBinding = (name: string, subjects: readonly Subject[], domains: Domains): ClusterRoleBinding => ({
  ...head(ClusterRoleBindings, { name }, domains),
  roleRef: { apiGroup: apiGroups(domains).rbac, kind: 'ClusterRole', name },
  ...(subjects.length > 0 ? { subjects } : {}),
});

const user =
  (name: string) =>
  (domains: Domains): Subject => ({
    kind: 'User',
    apiGroup: apiGroups(domains).rbac,
    name,
  });
const group =
  (name: string) =>
  (domains: Domains): Subject => ({
    kind: 'Group',
    apiGroup: apiGroups(domains).rbac,
    name,
  });
const serviceAccount = (name: string): Subject => ({ kind: 'ServiceAccount', name, namespace: controllerNamespace });

const subjects =
  (...subjects: readonly ((domains: Domains) => Subject)[]) =>
  (domains: Domains): readonly Subject[] =>
    subjects.map((subject) => subject(domains));

/** The ClusterRoleBindings; each refers to the ClusterRole of the same name. */
const clusterBindings: readonly (readonly [string, (domains: Domains) => readonly Subject[]])[] = [
  ['cluster-admin', subjects(group(wellKnown.masters))],
  ['system:monitoring', subjects(group('system:monitoring'))],
  ['system:discovery', subjects(group(wellKnown.authenticated))],
  ['system:basic-user', subjects(group(wellKnown.authenticated))],
  ['system:public-info-viewer', subjects(group(wellKnown.authenticated), group(wellKnown.unauthenticated))],
  ['system:service-account-issuer-discovery', subjects(group(wellKnown.serviceAccounts))],
  ['system:cluster-trust-bundle-discovery', subjects(group(wellKnown.serviceAccounts))],
  ['system:node-proxier', subjects(user('system:kube-proxy'))],
  ['system:kube-controller-manager', subjects(user('system:kube-controller-manager'))],
  ['system:kube-scheduler', subjects(user('system:kube-scheduler'))],
  ['system:volume-scheduler', subjects(user('system:kube-scheduler'))],
  ['system:kube-dns', subjects(() => serviceAccount('kube-dns'))],
  ['system:node', subjects()],
];

interface LocalRole {
  readonly namespace: string;
  readonly name: string;
  /** The name of the RoleBinding; by default that of the role. */
  readonly binding?: string;
  readonly rules: readonly PolicyRule[];
  readonly subjects: readonly Subject[];
}

/** Returns the roles for objects that only some controllers need: one for each controller, namespace and kind. */
const objectRoles = (domains: Domains, { objects = [] }: SignerOptions): readonly LocalRole[] =>
  objects.map(({ controller, namespace, resource, names, keeps = false }) => ({
    namespace,
    name: `system:controller:${controllerAccounts[controller]}-${resource}`,
    rules: [
      rule(keeps ? 'get list update watch' : 'get list watch', apiGroups(domains).core, resource, names),
      // Objects that are to be created have no name yet that a rule could contain.
      ...(keeps ? [rule('create', apiGroups(domains).core, resource)] : []),
    ],
    subjects: [serviceAccount(controllerAccounts[controller])],
  }));

/** Returns the roles in the namespaces of the system. */
function localRoles(domains: Domains): readonly LocalRole[] {
  const g = apiGroups(domains);
  const leaderLocking = (component: string, ...accounts: readonly string[]): LocalRole => ({
    namespace: 'kube-system',
    name: `system::leader-locking-${component}`,
    rules: ['leases', 'leasecandidates'].map((kind) => rule('create get list update watch', g.coordination, kind)),
    subjects: [user(`system:${component}`)(domains), ...accounts.map(serviceAccount)],
  });
  return [
    {
      namespace: 'kube-system',
      name: 'extension-apiserver-authentication-reader',
      binding: 'system::extension-apiserver-authentication-reader',
      rules: [rule('R', g.core, 'configmaps', ['extension-apiserver-authentication'])],
      subjects: [user('system:kube-controller-manager')(domains), user('system:kube-scheduler')(domains)],
    },
    leaderLocking('kube-controller-manager', 'kube-controller-manager', 'leader-election-controller'),
    leaderLocking('kube-scheduler', 'kube-scheduler'),
    {
      namespace: 'kube-system',
      name: 'system:controller:bootstrap-signer',
      rules: [rule('R', g.core, 'secrets')],
      subjects: [serviceAccount('bootstrap-signer')],
    },
    {
      namespace: 'kube-system',
      name: 'system:controller:cloud-provider',
      rules: [rule('create get list watch', g.core, 'configmaps')],
      subjects: [serviceAccount('cloud-provider')],
    },
    {
      namespace: 'kube-system',
      name: 'system:controller:token-cleaner',
      rules: [
        rule('delete get list watch', g.core, 'secrets'),
        rule('create patch update', [g.core, g.events], 'events'),
      ],
      subjects: [serviceAccount('token-cleaner')],
    },
    {
      namespace: 'kube-public',
      name: 'system:controller:bootstrap-signer',
      rules: [
        rule('R', g.core, 'configmaps'),
        rule('update', g.core, 'configmaps', ['cluster-info']),
        rule('create patch update', [g.core, g.events], 'events'),
      ],
      subjects: [serviceAccount('bootstrap-signer')],
    },
  ];
}
