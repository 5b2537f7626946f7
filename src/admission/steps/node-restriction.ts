import { forbidden } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import { CertificateSigningRequests } from '../../api/kinds/certificate-signing-request.js';
import { Leases } from '../../api/kinds/lease.js';
import { Nodes } from '../../api/kinds/node.js';
import { Pods } from '../../api/kinds/pod.js';
import { PodCertificateRequests } from '../../api/kinds/pod-certificate-request.js';
import { ServiceAccounts } from '../../api/kinds/service-account.js';
import { type ApiObject, isType, type ResourceType } from '../../api/object.js';
import { nodeIdentity } from '../../auth/node/node-identity.js';
import { leaseRefusal } from '../../auth/node/node-lease.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { admissionSubject, nameOf } from '../admission-subject.js';
import { podCertificateRule, requestRule } from '../nodes/certificates.js';
import type { NodeParts, NodeRule } from '../nodes/node-write.js';
import { nodeRule } from '../nodes/nodes.js';
import { podRule } from '../nodes/pods.js';
import { tokenRule } from '../nodes/tokens.js';

/**
 * Restricts node agents to their own Node (without taints and labels that could attract pods), mirror pods on it, their
 * lease, tokens and certificates for pods on it, and certificates in their own name. Authorization cannot check this,
 * because it does not see the objects. Runs before all other checks of the object.
 */
export function nodeRestriction(parts: NodeParts) {
  const check = async (attributes: AdmissionAttributes): Promise<void> => {
    const identity = nodeIdentity(attributes.user);
    if (identity === undefined) return;
    const refusal =
      identity.name === ''
        ? `could not determine node from user ${quote(attributes.user.username)}`
        : await ruleFor(attributes.resource)?.({ ...parts, node: identity.name, attributes });
    if (refusal === undefined) return;
    throw typeof refusal === 'string' ? forbidden(admissionSubject(attributes), refusal) : refusal;
  };
  return {
    name: 'NodeRestriction',
    handles: ({ user, resource }) => {
      const identity = nodeIdentity(user);
      return identity !== undefined && (identity.name === '' || ruleFor(resource) !== undefined);
    },
    async mutate(attributes) {
      await check(attributes);
      return attributes.object;
    },
    beforeDeletion: check,
  } satisfies AdmissionStep;
}

const ruleFor = (resource: ResourceType<ApiObject>): NodeRule | undefined =>
  rules.find(([type]) => isType(resource, type))?.[1];

/** Checks that a node agent writes only the lease of its node. */
const leaseRule: NodeRule = async ({ node, attributes }) =>
  leaseRefusal(node, { namespace: attributes.key.namespace, name: nameOf(attributes) });

const rules: readonly (readonly [ResourceType, NodeRule])[] = [
  [Pods, podRule],
  [Nodes, nodeRule],
  [ServiceAccounts, tokenRule],
  [Leases, leaseRule],
  [CertificateSigningRequests, requestRule],
  [PodCertificateRequests, podCertificateRule],
];
