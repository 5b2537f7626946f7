import { forbidden } from '../../api/errors.js';
import { type ClusterRole, ClusterRoles, type PolicyRule, Roles } from '../../api/kinds/role.js';
import { type ApiObject, isType } from '../../api/object.js';
import type { Authorizer } from '../../auth/authorizer.js';
import type { Rbac } from '../../auth/rbac.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { namedSubject } from '../admission-subject.js';
import { changesOnlyCollectorFields, escalationRefusal, isPrivileged } from '../escalation.js';

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/**
 * Refuses to write a role with rules that the user does not have, unless the user may `escalate` it. Runs after every
 * step that may change the object and before it is validated.
 */
export const roleEscalation = ({
  authorizer,
  rbac,
}: {
  readonly authorizer: Authorizer;
  readonly rbac: Rbac;
}): AdmissionStep => ({
  name: 'RoleEscalation',

  handles: ({ operation, resource, subresource, user }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    (isType(resource, Roles) || isType(resource, ClusterRoles)) &&
    !subresource &&
    !isPrivileged(user),

  async mutate(attributes) {
    const { object, previous } = attributes;
    if (changesOnlyCollectorFields(object, previous) || (await mayEscalate(attributes, authorizer))) return object;

    const refusal = await escalationRefusal(rbac, attributes, rulesOf(object));
    if (refusal !== undefined) throw refusal;
    if (aggregates(object) || (previous !== undefined && aggregates(previous))) {
      if ((await escalationRefusal(rbac, attributes, everything)) !== undefined) {
        throw forbidden(namedSubject(attributes), 'must have cluster-admin privileges to use the aggregationRule');
      }
    }
    return object;
  },
});

async function mayEscalate(attributes: AdmissionAttributes, authorizer: Authorizer): Promise<boolean> {
  const { user, resource, key, operation, urlName } = attributes;
  const { verdict } = await authorizer.authorize({
    user,
    verb: 'escalate',
    group: resource.group,
    version: resource.version,
    resource: resource.plural,
    namespace: resource.namespaced ? key.namespace : undefined,
    name: urlName ?? (operation === 'UPDATE' ? key.name : undefined),
  });
  return verdict === 'allow';
}

const rulesOf = (role: ApiObject & Pick<ClusterRole, 'rules'>): readonly PolicyRule[] => role.rules ?? [];
const aggregates = (role: ApiObject & Pick<ClusterRole, 'aggregationRule'>): boolean =>
  Boolean(role.aggregationRule?.clusterRoleSelectors?.length);
