import { controllerReference, groupVersion, type Namespace, type RoleBinding, RoleBindings } from 'kedge';
import type { Team } from './team.ts';

/** Returns the objects that a team should have. Pure, so that it can be tested without a server. */
export function wanted(team: Team): { readonly namespace: Namespace; readonly binding: RoleBinding } {
  const name = `team-${team.metadata.name}`;
  // With this reference the garbage collector deletes the objects of a team once the team is deleted.
  const ownerReferences = [controllerReference(team)];
  return {
    namespace: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, ownerReferences },
    },
    binding: {
      apiVersion: groupVersion(RoleBindings),
      kind: 'RoleBinding',
      metadata: { name: 'members', namespace: name, ownerReferences },
      roleRef: { apiGroup: RoleBindings.group, kind: 'ClusterRole', name: 'edit' },
      subjects: (team.spec?.members ?? []).map((member) => ({
        apiGroup: RoleBindings.group,
        kind: 'User',
        name: member,
      })),
    },
  };
}
