import { signerKeyIn } from '../../api/domains.js';
import { type ApiError, untyped } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import { Nodes } from '../../api/kinds/node.js';
import { mirrorAnnotation, Pods } from '../../api/kinds/pod.js';
import type { PodCertificateRequest } from '../../api/kinds/pod-certificate-request.js';
import { ServiceAccounts } from '../../api/kinds/service-account.js';
import { nodeUserPrefix } from '../../api/user.js';
import { wellKnownSigner } from '../../api/well-known-signers.js';
import { readUnverifiedRequest } from '../../pki/certificate-request.js';
import { PkiError } from '../../pki/pki-error.js';
import { asCertificateRequest } from '../certificate-writes.js';
import { type NodeRule, notCached } from './node-write.js';

/** Checks that a node agent requests certificates from the signers for nodes only in its own name. */
export const requestRule: NodeRule = async ({ node, attributes, domains }) => {
  if (attributes.operation !== 'CREATE' || attributes.subresource) return undefined;
  const { signerName = '', request } = asCertificateRequest(attributes.object)?.spec ?? {};
  const signer = wellKnownSigner(signerName, domains);
  if (signer !== 'node-client' && signer !== 'node-serving') return undefined;
  try {
    const { subject } = readUnverifiedRequest(Buffer.from(request ?? '', 'base64'));
    const username = `${nodeUserPrefix}${node}`;
    return subject.commonName === username ? undefined : `can only create a node CSR with CN=${username}`;
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    return `unable to parse csr: ${error.message}`;
  }
};

/**
 * Checks that a node agent requests certificates only for pods on its node, and that pod, service account and node are
 * named correctly.
 */
export const podCertificateRule: NodeRule = async ({ node, attributes, objects, domains }) => {
  const { operation, subresource, key } = attributes;
  if (operation !== 'CREATE') return `unexpected operation ${operation}`;
  if (subresource) return `unexpected subresource ${subresource}`;
  const { namespace } = key;
  const spec = (attributes.object as PodCertificateRequest | undefined)?.spec ?? {};
  const {
    podName = '',
    podUID = '',
    serviceAccountName = '',
    serviceAccountUID = '',
    nodeName = '',
    nodeUID = '',
  } = spec;
  if (nodeName !== node) {
    return `PodCertificateRequest.Spec.NodeName=${quote(nodeName)}, which is not the requesting node ${quote(node)}`;
  }
  const podText = quote(`${namespace ?? ''}/${podName}`);
  // The cache may not contain the object yet, so that its absence does not forbid the request: the client may retry.
  const agent = await objects.get(Nodes, { name: nodeName });
  if (agent === undefined) return notFoundYet('node', quote(nodeName), notCached(Nodes, nodeName));
  if (agent.metadata.uid !== nodeUID) {
    return untyped(
      `PodCertificateRequest for pod ${podText} names node UID ${quote(nodeUID)}, inconsistent with the running node (${quote(agent.metadata.uid ?? '')})`,
    );
  }
  const pod = await objects.get(Pods, { namespace, name: podName });
  if (pod === undefined) return notFoundYet('pod', podText, notCached(Pods, podName));
  if (pod.metadata.uid !== podUID) {
    return untyped(
      `PodCertificateRequest for pod ${podText} contains pod UID (${quote(podUID)}) which differs from running pod ${quote(pod.metadata.uid ?? '')}`,
    );
  }
  if (pod.spec?.nodeName !== nodeName) {
    return `pod ${podText} is not running on node ${quote(nodeName)} named in the PodCertificateRequest`;
  }
  if (Object.hasOwn(pod.metadata.annotations ?? {}, signerKeyIn(domains, mirrorAnnotation))) {
    return `pod ${podText} is a mirror pod`;
  }
  const accountOfPod = pod.spec.serviceAccountName ?? '';
  if (serviceAccountName !== accountOfPod) {
    return `PodCertificateRequest for pod ${podText} contains serviceAccountName (${quote(serviceAccountName)}) that differs from running pod (${quote(accountOfPod)})`;
  }
  const account = await objects.get(ServiceAccounts, { namespace, name: serviceAccountName });
  if (account === undefined) {
    const accountText = quote(`${namespace ?? ''}/${serviceAccountName}`);
    return notFoundYet('service account', accountText, notCached(ServiceAccounts, serviceAccountName));
  }
  if (account.metadata.uid !== serviceAccountUID) {
    return untyped(
      `PodCertificateRequest for pod ${podText} names service account UID ${quote(serviceAccountUID)}, which differs from the running service account (${quote(account.metadata.uid ?? '')})`,
    );
  }
  return undefined;
};

const notFoundYet = (kindText: string, name: string, { message }: ApiError): ApiError =>
  untyped(`while retrieving ${kindText} ${name} named in the PodCertificateRequest: ${message}`);
