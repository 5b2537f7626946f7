import { type Domains, defaultDomains } from '../../src/api/domains.js';
import type { CertificateSigningRequest } from '../../src/api/kinds/certificate-signing-request.js';
import { wellKnownSigner } from '../../src/api/well-known-signers.js';
import type { CertificateRequest } from '../../src/pki/certificate-request.js';
import { brokenRule } from '../../src/pki/signers/well-known-rules.js';

/** A kind of request that is approved automatically if its requester has a permission. */
export interface Recognised {
  /** The subresource of certificatesigningrequests that the requester must be allowed to create. */
  readonly permission: 'selfnodeclient' | 'nodeclient';
  /** The message of the condition. */
  readonly message: string;
}

const selfNodeClient: Recognised = {
  permission: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
};
const nodeClient: Recognised = {
  permission: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
};

/**
 * Returns the kinds of node client request that this one matches, the narrower first; none if it is another request.
 */
export function recognise(
  csr: CertificateSigningRequest,
  request: CertificateRequest,
  domains: Domains = defaultDomains,
): readonly Recognised[] {
  const { signerName = '', usages = [], username } = csr.spec;
  if (wellKnownSigner(signerName, domains) !== 'node-client') return [];
  if (brokenRule('node-client', { request, usages }) !== undefined) return [];
  return username === request.subject.commonName ? [selfNodeClient, nodeClient] : [nodeClient];
}
