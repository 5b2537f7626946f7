import { groupVersion, type Namespace, type OwnerReference, type RoleBinding, RoleBindings } from 'kedge';
import { type Team, Teams } from './team.ts';

/** What a team is to have. Pure, so that it is tested without a server. */
export function wanted(team: Team): { readonly namespace: Namespace; readonly binding: RoleBinding } {
  const name = `team-${team.metadata.name}`;
  return {
    namespace: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, ownerReferences: [ownerReference(team)] },
    },
    binding: {
      apiVersion: groupVersion(RoleBindings),
      kind: 'RoleBinding',
      metadata: { name: 'members', namespace: name, ownerReferences: [ownerReference(team)] },
      roleRef: { apiGroup: RoleBindings.group, kind: 'ClusterRole', name: 'edit' },
      subjects: (team.spec.members ?? []).map((member) => ({
        apiGroup: RoleBindings.group,
        kind: 'User',
        name: member,
      })),
    },
  };
}

/** With it the garbage collector deletes what a team had when the team is gone. */
const ownerReference = ({ metadata }: Team): OwnerReference => ({
  apiVersion: groupVersion(Teams),
  kind: Teams.kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  controller: true,
});
