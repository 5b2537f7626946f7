import { Namespaces } from '../../api/kinds/namespace.js';
import { type ClusterRole, ClusterRoles, type PolicyRule, rbacGroup } from '../../api/kinds/role.js';
import { type ClusterRoleBinding, ClusterRoleBindings } from '../../api/kinds/role-binding.js';
import { ServiceAccounts } from '../../api/kinds/service-account.js';
import type { TokenRequest } from '../../api/kinds/token-request.js';
import { groupVersion } from '../../api/object.js';
import type { Client } from '../../client/client.js';

/** Creates identities for one run of the demo, in a namespace of their own; `remove` deletes all of them. */
export interface Accounts {
  readonly namespace: string;
  /** Creates a service account with these cluster roles and, if given, rules of its own; returns a token of it. */
  create(name: string, grant: Grant): Promise<string>;
  remove(): Promise<void>;
}

interface Grant {
  readonly clusterRoles?: readonly string[];
  readonly rules?: readonly PolicyRule[];
}

/** The lifetime of the tokens, the shortest that the API grants. */
const tokenSeconds = 600;

export async function openAccounts(admin: Client, namespace: string): Promise<Accounts> {
  const roles = admin.resource(ClusterRoles);
  const bindings = admin.resource(ClusterRoleBindings);
  const namespaces = admin.resource(Namespaces);
  await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const created: { readonly roles: string[]; readonly bindings: string[] } = { roles: [], bindings: [] };

  const bind = async (account: string, role: string, at: number): Promise<void> => {
    const name = `${namespace}:${account}:${at}`;
    const binding: ClusterRoleBinding = {
      apiVersion: groupVersion(ClusterRoleBindings),
      kind: ClusterRoleBindings.kind,
      metadata: { name },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
    };
    await bindings.create(binding);
    created.bindings.push(name);
  };

  const ownRole = async (account: string, rules: readonly PolicyRule[]): Promise<string> => {
    const name = `${namespace}:${account}`;
    const role: ClusterRole = {
      apiVersion: groupVersion(ClusterRoles),
      kind: ClusterRoles.kind,
      metadata: { name },
      rules,
    };
    await roles.create(role);
    created.roles.push(name);
    return name;
  };

  return {
    namespace,
    async create(name, { clusterRoles = [], rules }) {
      const accounts = admin.resource(ServiceAccounts);
      await accounts.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } });
      const granted = [...clusterRoles, ...(rules === undefined ? [] : [await ownRole(name, rules)])];
      await Promise.all(granted.map((role, at) => bind(name, role, at)));
      const { status } = await accounts.subresource<TokenRequest>('token').create(
        { namespace, name },
        {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          metadata: {},
          spec: { expirationSeconds: tokenSeconds },
        },
      );
      if (status === undefined) throw new Error(`the server issued no token for ${namespace}/${name}`);
      return status.token;
    },
    async remove() {
      await Promise.all([
        ...created.bindings.map((name) => bindings.delete({ name })),
        ...created.roles.map((name) => roles.delete({ name })),
        namespaces.delete({ name: namespace }),
      ]);
    },
  };
}
