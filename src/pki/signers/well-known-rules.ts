import { type Domains, defaultDomains } from '../../api/domains.js';
import { nodeUserPrefix, wellKnown } from '../../api/user.js';
import { type WellKnownSigner, wellKnownSigner } from '../../api/well-known-signers.js';
import type { CertificateRequest } from '../certificate-request.js';

/**
 * The rules of the well-known signers. Approver and signer share them; texts are those of Kubernetes' controllers,
 * because they end up in conditions.
 */

/** The parts of a request that rules check. */
export interface RequestedCertificate {
  readonly request: CertificateRequest;
  readonly usages: readonly string[];
}

/** Returns the reason for a mismatch or violation; undefined if there is none. */
type Rule = (requested: RequestedCertificate) => string | undefined;

const organizationIsNodes: Rule = ({ request: { subject } }) =>
  subject.organizations.length === 1 && subject.organizations[0] === wellKnown.nodes
    ? undefined
    : `subject organization is not ${wellKnown.nodes}`;

const commonNameIsNode: Rule = ({ request: { subject } }) =>
  subject.commonName.startsWith(nodeUserPrefix)
    ? undefined
    : `subject common name does not begin with ${nodeUserPrefix}`;

const noDns: Rule = ({ request }) =>
  request.dnsNames.length === 0 ? undefined : 'DNS subjectAltNames are not allowed';
const noEmail: Rule = ({ request }) =>
  request.emailAddresses.length === 0 ? undefined : 'Email subjectAltNames are not allowed';
const noIp: Rule = ({ request }) =>
  request.ipAddresses.length === 0 ? undefined : 'IP subjectAltNames are not allowed';
const noUri: Rule = ({ request }) => (request.uris.length === 0 ? undefined : 'URI subjectAltNames are not allowed');

const dnsOrIp: Rule = ({ request }) =>
  request.dnsNames.length + request.ipAddresses.length > 0 ? undefined : 'DNS or IP subjectAltName is required';

/** The usages are exactly these, with or without key encipherment; repetitions and order do not matter. */
const usagesAre =
  (...wanted: readonly string[]): Rule =>
  ({ usages }) => {
    const present = new Set(usages);
    present.delete('key encipherment');
    const others = wanted.filter((usage) => usage !== 'key encipherment');
    return present.size === others.length && others.every((usage) => present.has(usage))
      ? undefined
      : `usages did not match [${wanted.join(' ')}]`;
  };

const clientUsages: ReadonlySet<string> = new Set(['digital signature', 'key encipherment', 'client auth']);
const usagesAreClients: Rule = ({ usages }) => {
  const foreign = usages.find((usage) => !clientUsages.has(usage));
  if (foreign !== undefined) return `invalid usage for client certificate: ${foreign}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
};

/** The rules in the order they are checked; the first violation is reported. */
const rules: Readonly<Record<WellKnownSigner, readonly Rule[]>> = {
  client: [usagesAreClients],
  'node-client': [
    organizationIsNodes,
    noDns,
    noEmail,
    noIp,
    noUri,
    commonNameIsNode,
    usagesAre('client auth', 'digital signature', 'key encipherment'),
  ],
  'node-serving': [
    organizationIsNodes,
    dnsOrIp,
    noEmail,
    noUri,
    usagesAre('digital signature', 'key encipherment', 'server auth'),
    commonNameIsNode,
  ],
  'legacy-unknown': [],
};

/** Returns the first rule of a well-known signer that a request breaks; undefined if it complies with all. */
export function brokenRule(signer: WellKnownSigner, requested: RequestedCertificate): string | undefined {
  for (const rule of rules[signer]) {
    const broken = rule(requested);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

/** Like `brokenRule`, by signer name; other signers have no rules here. */
export function brokenSignerRule(
  signerName: string,
  requested: RequestedCertificate,
  domains: Domains = defaultDomains,
): string | undefined {
  const signer = wellKnownSigner(signerName, domains);
  return signer && brokenRule(signer, requested);
}
