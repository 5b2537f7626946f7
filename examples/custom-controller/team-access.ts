import { defineController, type Namespace, Namespaces, type RoleBinding, RoleBindings } from 'kedge';

const label = 'example.com/team';
const name = 'team-edit';

/** Returns the binding that a team's namespace should have; undefined for other namespaces. */
export function teamBinding({ metadata }: Namespace): RoleBinding | undefined {
  const team = metadata.labels?.[label];
  if (team === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name, namespace: metadata.name ?? '', labels: { [label]: team } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: `team:${team}` }],
  };
}

/**
 * Lets every team edit the namespaces that have its label, for as long as they have it. Reverts changes that others
 * make to its bindings.
 */
export const teamAccess = defineController({
  name: 'team-access',
  for: Namespaces,
  alsoOn: [
    {
      on: RoleBindings,
      fieldSelector: `metadata.name=${name}`,
      keys: async ({ metadata }) => [{ name: metadata.namespace ?? '' }],
    },
  ],

  async reconcile(namespace, { client, log }) {
    const bindings = client.resource(RoleBindings);
    const key = { namespace: namespace.metadata.name ?? '', name };
    const desired = teamBinding(namespace);
    if (desired === undefined) {
      const existing = await bindings.get(key);
      // A binding with this name but without the label is not ours, and stays.
      if (existing?.metadata.labels?.[label] !== undefined) await bindings.delete(key);
      return;
    }
    await bindings.patch(key, { type: 'apply', body: desired, fieldManager: 'team-access', force: true });
    log.info({ namespace: key.namespace }, 'team may edit');
  },
});
