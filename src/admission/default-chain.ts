import type { Domains } from '../api/domains.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { ObjectSource } from '../auth/object-source.js';
import type { Rbac } from '../auth/rbac.js';
import type { Clock } from '../runtime/clock.js';
import type { AdmissionStep } from './admission-step.js';
import { bindingEscalation } from './steps/binding-escalation.js';
import { certificateLedger } from './steps/certificate-ledger.js';
import { csrApprovalPermission } from './steps/csr-approval-permission.js';
import { csrSigningPermission } from './steps/csr-signing-permission.js';
import { csrSubjectRestriction } from './steps/csr-subject-restriction.js';
import { immortalNamespaces } from './steps/immortal-namespaces.js';
import { namespaceExists, namespaceStillExists } from './steps/namespace-exists.js';
import { nodeRestriction } from './steps/node-restriction.js';
import { podCertificateSigningPermission } from './steps/pod-certificate-signing-permission.js';
import { podServiceAccount } from './steps/pod-service-account.js';
import { roleEscalation } from './steps/role-escalation.js';
import { trustBundleAttestation } from './steps/trust-bundle-attestation.js';

export interface ChainParts {
  readonly authorizer: Authorizer;
  readonly rbac: Rbac;
  readonly objects: ObjectSource;
  readonly domains: Domains;
  readonly clock: Clock;
  /** Whether node agents are restricted to their own objects. */
  readonly nodeRestriction: boolean;
  /** Steps that call webhooks that can change objects. */
  readonly mutating?: readonly AdmissionStep[];
  /** Steps that call webhooks that can only reject requests. */
  readonly validating?: readonly AdmissionStep[];
}

/** Returns the admission steps in the order in which they run: all mutating steps, then all validating ones. */
export const defaultChain = ({
  authorizer,
  rbac,
  objects,
  domains,
  clock,
  nodeRestriction: restrictsNodes,
  mutating = [],
  validating = [],
}: ChainParts): readonly AdmissionStep[] => [
  namespaceExists({ objects }),
  immortalNamespaces,
  podServiceAccount({ objects, domains, clock }),
  ...(restrictsNodes ? [nodeRestriction({ objects, authorizer, domains })] : []),
  csrApprovalPermission({ authorizer, domains }),
  csrSigningPermission({ authorizer, domains }),
  podCertificateSigningPermission({ authorizer, domains }),
  trustBundleAttestation({ authorizer, domains }),
  csrSubjectRestriction({ domains }),
  certificateLedger({ objects }),
  ...mutating,
  // These steps check the object as it will be stored, so that no later step may change a role or binding.
  roleEscalation({ authorizer, rbac }),
  bindingEscalation({ authorizer, rbac }),
  ...validating,
  namespaceStillExists({ objects, after: [...mutating, ...validating] }),
];
