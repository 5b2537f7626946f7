import { notFound, untyped } from '../../api/errors.js';
import { ClusterRoles, Roles } from '../../api/kinds/role.js';
import { ClusterRoleBindings, RoleBindings, type RoleRef } from '../../api/kinds/role-binding.js';
import { type ApiObject, isType } from '../../api/object.js';
import type { Authorizer } from '../../auth/authorizer.js';
import { type Rbac, unknownRoleKind } from '../../auth/rbac.js';
import { checkLookupKey } from '../../registry/keys.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { changesOnlyCollectorFields, escalationRefusal, isPrivileged } from '../escalation.js';

const resourceOf: ReadonlyMap<string, string> = new Map([
  [ClusterRoles.kind, ClusterRoles.plural],
  [Roles.kind, Roles.plural],
]);

/**
 * Refuses to bind a role with rules that the user does not have, unless the user may `bind` it. Runs after every step
 * that may change the object and before it is validated.
 */
export const bindingEscalation = ({
  authorizer,
  rbac,
}: {
  readonly authorizer: Authorizer;
  readonly rbac: Rbac;
}): AdmissionStep => ({
  name: 'BindingEscalation',

  handles: ({ operation, resource, subresource, user }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    (isType(resource, RoleBindings) || isType(resource, ClusterRoleBindings)) &&
    !subresource &&
    !isPrivileged(user),

  async mutate(attributes) {
    const { object, previous, resource } = attributes;
    const roleRef = roleRefOf(object);
    if (changesOnlyCollectorFields(object, previous) || (await mayBind(roleRef, attributes, authorizer))) return object;

    const found = await rbac.rulesOf(roleRef, namespaceOf(attributes));
    if ('missing' in found) {
      if (found.missing === 'kind') throw untyped(unknownRoleKind(roleRef));
      checkLookupKey(
        { namespaced: roleRef.kind === Roles.kind },
        { namespace: namespaceOf(attributes), name: roleRef.name },
      );
      throw notFound({ group: resource.group, plural: resource.plural, name: roleRef.name });
    }
    const refusal = await escalationRefusal(rbac, attributes, found.rules);
    if (refusal !== undefined) throw refusal;
    return object;
  },
});

const namespaceOf = ({ resource, key }: AdmissionAttributes): string =>
  resource.namespaced ? (key.namespace ?? '') : '';

const roleRefOf = (binding: ApiObject & { readonly roleRef?: Partial<RoleRef> }): RoleRef => ({
  apiGroup: binding.roleRef?.apiGroup ?? '',
  kind: binding.roleRef?.kind ?? '',
  name: binding.roleRef?.name ?? '',
});

async function mayBind(
  { kind, apiGroup, name }: RoleRef,
  attributes: AdmissionAttributes,
  authorizer: Authorizer,
): Promise<boolean> {
  const resource = resourceOf.get(kind);
  if (resource === undefined) return false;
  const { verdict } = await authorizer.authorize({
    user: attributes.user,
    verb: 'bind',
    group: apiGroup,
    version: '',
    resource,
    namespace: namespaceOf(attributes) || undefined,
    name,
  });
  return verdict === 'allow';
}
