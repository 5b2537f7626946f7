import { ClusterTrustBundles } from '../src/api/kinds/cluster-trust-bundle.js';
import { Nodes } from '../src/api/kinds/node.js';
import { Pods } from '../src/api/kinds/pod.js';
import {
  type PodCertificateRequest,
  PodCertificateRequests,
  podCertificateEnding,
} from '../src/api/kinds/pod-certificate-request.js';
import { ServiceAccounts } from '../src/api/kinds/service-account.js';
import { type ApiObject, groupVersion, type ResourceType } from '../src/api/object.js';
import { nodeUserPrefix, wellKnown } from '../src/api/user.js';
import type { Server } from '../src/embed.js';
import { readPemCertificates } from '../src/pki/certificate.js';
import { type ChainVerdict, verifyChain } from '../src/pki/certificate-chain.js';
import { oids } from '../src/pki/oids.js';
import type { NamedObject } from '../src/pki/pod-signing.js';
import { type TestPodRequestOptions, testPodRequest } from '../src/testing/certificates.js';
import { untilAny, untilList } from '../src/testing/until.js';

/** The part of a node agent that handles the certificates of one pod, with the node's identity. */
export interface NodeAgent {
  /** The pod, account and node of the request, with the uids they have in the API server. */
  readonly pod: NamedObject;
  readonly serviceAccount: NamedObject;
  readonly node: NamedObject;
  /** Requests a certificate, and waits until the request has ended. */
  ask(options: TestPodRequestOptions): Promise<PodCertificateRequest>;
  /** Waits for the anchors of the signer, and verifies the chain with them. */
  verify(request: PodCertificateRequest): Promise<ChainVerdict>;
}

/** Creates a node, an account, and a pod that runs on the node as this account, and returns the node's agent. */
export async function nodeAgent(
  server: Pick<Server, 'client'>,
  names: { readonly node: string; readonly namespace: string; readonly account: string; readonly pod: string },
): Promise<NodeAgent> {
  const { namespace } = names;
  const admin = server.client();
  const create = async <T extends ApiObject>(type: ResourceType<T>, name: string, more: object = {}) => {
    const metadata = type.namespaced ? { name, namespace } : { name };
    const object = { apiVersion: groupVersion(type), kind: type.kind, metadata, ...more };
    const { uid = '' } = (await admin.resource(type).create(object as ApiObject as T)).metadata;
    return { name, uid };
  };
  const node = await create(Nodes, names.node);
  const serviceAccount = await create(ServiceAccounts, names.account);
  const pod = await create(Pods, names.pod, {
    spec: { nodeName: names.node, serviceAccountName: names.account, containers: [{ name: 'c', image: 'i' }] },
  });
  const own = server.client({
    username: `${nodeUserPrefix}${names.node}`,
    groups: [wellKnown.nodes, wellKnown.authenticated],
  });
  return {
    pod,
    serviceAccount,
    node,

    async ask(options) {
      const requests = own.resource(PodCertificateRequests);
      await requests.create(await testPodRequest({ namespace, pod, serviceAccount, node, ...options }));
      return untilAny(
        requests,
        { namespace, fieldSelector: `spec.nodeName=${names.node}` },
        (request) => request.metadata.name === options.name && podCertificateEnding(request) !== undefined,
      );
    },

    async verify({ spec, status }) {
      const bundles = await untilList(
        own.resource(ClusterTrustBundles),
        { fieldSelector: `spec.signerName=${spec.signerName}` },
        ({ length }) => length > 0,
      );
      const [leaf, ...intermediates] = readPemCertificates(status?.certificateChain ?? '');
      if (leaf === undefined) throw new Error('no certificate');
      const anchors = readPemCertificates(bundles.map((bundle) => bundle.spec.trustBundle ?? '').join(''));
      return verifyChain(leaf, { intermediates, anchors, now: Date.now(), usage: oids.clientAuth });
    },
  };
}
