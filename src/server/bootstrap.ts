import type { Domains } from '../api/domains.js';
import { isReason } from '../api/errors.js';
import { Namespaces } from '../api/kinds/namespace.js';
import type { ClusterRole, Role } from '../api/kinds/role.js';
import { ClusterRoles, Roles } from '../api/kinds/role.js';
import type { ClusterRoleBinding, RoleBinding } from '../api/kinds/role-binding.js';
import { ClusterRoleBindings, RoleBindings } from '../api/kinds/role-binding.js';
import { groupVersion, keyOf, keyText, type ResourceType } from '../api/object.js';
import type { SignerOptions } from '../auth/bootstrap/controller-roles.js';
import { bootstrapNamespaces, bootstrapPolicy } from '../auth/bootstrap/policy.js';
import { reconcileBootstrap } from '../auth/bootstrap/reconcile.js';
import type { Client } from '../client/client.js';

/**
 * The objects every server starts with: namespaces, and roles with their bindings. Run at every start; creates what
 * is missing, completes what lacks something, and never takes anything away. Two servers may do it at once.
 */
export async function bootstrap(client: Client, domains: Domains, signers: SignerOptions): Promise<void> {
  const namespaces = client.resource(Namespaces);
  const present = new Set((await namespaces.list()).items.map(({ metadata }) => metadata.name));
  await Promise.all(
    [...new Set([...bootstrapNamespaces, ...(signers.objects ?? []).map(({ namespace }) => namespace)])]
      .filter((name) => !present.has(name))
      .map((name) =>
        tolerateRace(
          namespaces.create({ apiVersion: groupVersion(Namespaces), kind: Namespaces.kind, metadata: { name } }),
        ),
      ),
  );
  const policy = bootstrapPolicy(domains, signers);
  await Promise.all([
    complete<ClusterRole>(client, ClusterRoles, policy.clusterRoles, domains),
    complete<ClusterRoleBinding>(client, ClusterRoleBindings, policy.clusterRoleBindings, domains),
    complete<Role>(client, Roles, policy.roles, domains),
    complete<RoleBinding>(client, RoleBindings, policy.roleBindings, domains),
  ]);
}

async function complete<T extends ClusterRole | Role | ClusterRoleBinding | RoleBinding>(
  client: Client,
  type: ResourceType<T>,
  wanted: readonly T[],
  domains: Domains,
): Promise<void> {
  const resource = client.resource<T>(type);
  const present = new Map((await resource.list()).items.map((object) => [keyText(keyOf(object)), object]));
  await Promise.all(
    wanted.map(async (object) => {
      const existing = present.get(keyText(keyOf(object)));
      const reconciliation = reconcileBootstrap(existing, object, domains);
      switch (reconciliation.action) {
        case 'none':
          return;
        case 'create':
          return tolerateRace(resource.create(reconciliation.object));
        case 'update':
          return tolerateRace(resource.update(reconciliation.object));
        case 'recreate': {
          // What another server has made by then stays.
          const { uid } = existing?.metadata ?? {};
          await tolerateRace(resource.delete(keyOf(object), uid ? { preconditions: { uid } } : {}), 'NotFound');
          return tolerateRace(resource.create(reconciliation.object));
        }
      }
    }),
  );
}

/** Another server at the same work is no failure. */
async function tolerateRace(
  write: Promise<unknown>,
  sign: 'AlreadyExists' | 'NotFound' = 'AlreadyExists',
): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isReason(error, sign) && !isReason(error, 'Conflict')) throw error;
  }
}
