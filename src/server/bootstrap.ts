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
import type { Client, ResourceClient } from '../client/client.js';

/**
 * Creates the objects that every server starts with: namespaces, and roles with their bindings. Runs at every start;
 * creates missing objects, completes incomplete ones, and never removes anything. Several servers may run it at the
 * same time.
 */
export async function bootstrap(client: Client, domains: Domains, signers: SignerOptions): Promise<void> {
  const namespaces = client.resource(Namespaces);
  const present = new Set((await namespaces.list()).items.map(({ metadata }) => metadata.name));
  await Promise.all(
    [...new Set([...bootstrapNamespaces, ...(signers.objects ?? []).map(({ namespace }) => namespace)])]
      .filter((name) => !present.has(name))
      .map((name) =>
        ignoreExisting(
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

type PolicyObject = ClusterRole | Role | ClusterRoleBinding | RoleBinding;

async function complete<T extends PolicyObject>(
  client: Client,
  type: ResourceType<T>,
  expected: readonly T[],
  domains: Domains,
): Promise<void> {
  const resource = client.resource<T>(type);
  const present = new Map((await resource.list()).items.map((object) => [keyText(keyOf(object)), object]));
  await Promise.all(
    expected.map(async (object) => {
      let existing = present.get(keyText(keyOf(object)));
      for (let tries = 1; ; tries++) {
        // It is terminating, held by a finalizer; the next start creates it again.
        if (existing?.metadata.deletionTimestamp !== undefined) return;
        try {
          await reconcileObject(resource, existing, object, domains);
          return;
        } catch (error) {
          // Another client has written the object meanwhile, perhaps with other contents.
          if (tries === mostTries || !signsOfRace.some((reason) => isReason(error, reason))) throw error;
          existing = await resource.get(keyOf(object));
        }
      }
    }),
  );
}

const signsOfRace = ['AlreadyExists', 'Conflict', 'NotFound'] as const;
const mostTries = 10;

async function reconcileObject<T extends PolicyObject>(
  resource: ResourceClient<T>,
  existing: T | undefined,
  object: T,
  domains: Domains,
): Promise<void> {
  const reconciliation = reconcileBootstrap(existing, object, domains);
  switch (reconciliation.action) {
    case 'none':
      return;
    case 'create':
      await resource.create(reconciliation.object);
      return;
    case 'update':
      await resource.update(reconciliation.object);
      return;
    case 'recreate': {
      // An object that another server has created meanwhile is kept.
      const { uid } = existing?.metadata ?? {};
      await resource.delete(keyOf(object), uid ? { preconditions: { uid } } : {});
      await resource.create(reconciliation.object);
    }
  }
}

/** Ignores AlreadyExists, because another server may create the same object at the same time. */
const ignoreExisting = (creation: Promise<unknown>): Promise<unknown> =>
  creation.catch((error: unknown) => {
    if (!isReason(error, 'AlreadyExists')) throw error;
  });
