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

/** The dependencies of built-in kinds on other packages. */
export interface BuiltinParts {
  /** The domain names; by default those of Kubernetes. */
  readonly domains?: Domains;
  /** Handles `serviceaccounts/token`; if absent, there is no such subresource. */
  readonly token?: SubresourceAction;
  /** The kinds TokenReview and SelfSubjectReview, which are answered and never stored. */
  readonly authenticationReviews?: readonly ResourceDefinition[];
  /** The kinds of access reviews, which are answered and never stored. */
  readonly authorizationReviews?: readonly ResourceDefinition[];
  /** The kinds CertificateSigningRequest, ClusterTrustBundle and PodCertificateRequest. */
  readonly certificates?: readonly ResourceDefinition[];
  /** The kind CustomResourceDefinition. */
  readonly extensions?: readonly ResourceDefinition[];
}

/** Returns every built-in kind: groups in the order of discovery, and kinds in a group by their plural. */
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
