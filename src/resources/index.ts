import { type Domains, defaultDomains, groupIn } from '../api/domains.js';
import { Roles } from '../api/kinds/role.js';
import { genericDefinition, type ResourceDefinition, type SubresourceAction } from '../registry/resource-definition.js';
import { clusterRoleBindingDefinition } from './clusterrolebindings/definition.js';
import { clusterRoles } from './clusterroles/definition.js';
import { configMaps } from './configmaps/definition.js';
import { deviceClasses } from './deviceclasses/definition.js';
import { coreEvents, eventsV1Definition } from './events/definition.js';
import { leases } from './leases/definition.js';
import { mutatingAdmissionPolicies } from './mutatingadmissionpolicies/definition.js';
import { mutatingAdmissionPolicyBindings } from './mutatingadmissionpolicybindings/definition.js';
import { mutatingWebhookConfigurations } from './mutatingwebhookconfigurations/definition.js';
import { namespaceDefinition } from './namespaces/definition.js';
import { nodes } from './nodes/definition.js';
import { podDefinition } from './pods/definition.js';
import { roleBindingDefinition } from './rolebindings/definition.js';
import { roles } from './roles/definition.js';
import { secretDefinition } from './secrets/definition.js';
import { serviceAccounts } from './serviceaccounts/definition.js';
import { validatingAdmissionPolicies } from './validatingadmissionpolicies/definition.js';
import { validatingAdmissionPolicyBindings } from './validatingadmissionpolicybindings/definition.js';
import { validatingWebhookConfigurations } from './validatingwebhookconfigurations/definition.js';

/** What built-in kinds need from other packages. */
export interface BuiltinParts {
  /** Default: those of Kubernetes. */
  readonly domains?: Domains;
  /** Handles `serviceaccounts/token`; without it there is no such subresource. */
  readonly token?: SubresourceAction;
  /** Kinds that are answered and never stored: TokenReview, SelfSubjectReview. */
  readonly authenticationReviews?: readonly ResourceDefinition[];
  /** Kinds that are answered and never stored: SubjectAccessReview and its relatives. */
  readonly authorizationReviews?: readonly ResourceDefinition[];
  /** CertificateSigningRequest, ClusterTrustBundle, PodCertificateRequest. */
  readonly certificates?: readonly ResourceDefinition[];
  /** CustomResourceDefinition. */
  readonly extensions?: readonly ResourceDefinition[];
}

/** Returns every built-in kind: groups in the order of discovery, kinds within a group by their plural. */
export function builtinDefinitions(parts: BuiltinParts = {}): readonly ResourceDefinition[] {
  const { domains = defaultDomains } = parts;
  const core = [
    configMaps,
    coreEvents,
    namespaceDefinition(domains),
    nodes,
    podDefinition(domains),
    secretDefinition(domains),
    serviceAccounts({ ...tokenOf(parts), domains }),
  ];
  const roleGroup = groupIn(domains, Roles.group);
  const rbac = [clusterRoleBindingDefinition(roleGroup), clusterRoles, roleBindingDefinition(roleGroup), roles];
  const admission = [
    mutatingAdmissionPolicies,
    mutatingAdmissionPolicyBindings,
    mutatingWebhookConfigurations,
    validatingAdmissionPolicies,
    validatingAdmissionPolicyBindings,
    validatingWebhookConfigurations,
  ];
  return [
    ...core.map(genericDefinition),
    genericDefinition(eventsV1Definition(domains)),
    ...(parts.authenticationReviews ?? []),
    ...(parts.authorizationReviews ?? []),
    ...(parts.certificates ?? []),
    ...rbac.map(genericDefinition),
    ...admission.map(genericDefinition),
    ...(parts.extensions ?? []),
    genericDefinition(leases),
    genericDefinition(deviceClasses),
  ];
}

const tokenOf = ({ token }: BuiltinParts): { readonly token?: SubresourceAction } =>
  token === undefined ? {} : { token };
