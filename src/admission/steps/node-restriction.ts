import { isDeepStrictEqual } from 'node:util';
import { type Domains, defaultDomains, isWithinDomain, signerKeyIn } from '../../api/domains.js';
import { type ApiError, forbidden, notFound, untyped } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import { CertificateSigningRequests } from '../../api/kinds/certificate-signing-request.js';
import { Leases } from '../../api/kinds/lease.js';
import { type Node, Nodes } from '../../api/kinds/node.js';
import { mirrorAnnotation, type Pod, Pods } from '../../api/kinds/pod.js';
import { type PodCertificateRequest, PodCertificateRequests } from '../../api/kinds/pod-certificate-request.js';
import {
  configMapNamesIn,
  resourceClaimsOf,
  secretNamesIn,
  sourcesIn,
  tokenAudiencesIn,
} from '../../api/kinds/pod-references.js';
import { ServiceAccounts } from '../../api/kinds/service-account.js';
import { otherBoundObject, type TokenRequest } from '../../api/kinds/token-request.js';
import { type ApiObject, isType, type ResourceType } from '../../api/object.js';
import { nodeUserPrefix } from '../../api/user.js';
import { wellKnownSigner } from '../../api/well-known-signers.js';
import type { Authorizer } from '../../auth/authorizer.js';
import { nodeIdentity } from '../../auth/node/node-identity.js';
import { leaseRefusal } from '../../auth/node/node-lease.js';
import type { ObjectSource } from '../../auth/object-source.js';
import { readUnverifiedRequest } from '../../pki/certificate-request.js';
import { PkiError } from '../../pki/pki-error.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { admissionSubject, nameOf } from '../admission-subject.js';
import { asRequest } from '../certificate-writes.js';

interface Parts {
  readonly objects: ObjectSource;
  readonly authorizer: Authorizer;
  readonly domains: Domains;
}

/** A write of one node's agent. */
interface NodeWrite extends Parts {
  readonly node: string;
  readonly attributes: AdmissionAttributes;
}

/** Why the write is refused: the text of a 403, or another failure. */
type Refusal = string | ApiError | undefined;

/**
 * Keeps node agents to what is theirs: their own Node (but not its taints and telling labels), mirror pods on it, their
 * lease, tokens and certificates for pods that run there, certificates in their own name. Authorization cannot say so, since it
 * does not see the objects. Runs before anything about the object is looked at.
 */
export function nodeRestriction(parts: Parts) {
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

type Rule = (write: NodeWrite) => Promise<Refusal>;

const ruleFor = (resource: ResourceType<ApiObject>): Rule | undefined =>
  rules.find(([type]) => isType(resource, type))?.[1];

const podRule: Rule = async (write) => {
  const { node, attributes, objects } = write;
  const { operation, subresource, key } = attributes;
  if (subresource === 'status') return podStatusRefusal(write);
  if (subresource === 'eviction') {
    const pod = await objects.get(Pods, key);
    if (pod === undefined) return notCached(Pods, key.name);
    return pod.spec?.nodeName === node
      ? undefined
      : `node ${node} can only evict pods with spec.nodeName set to itself`;
  }
  if (subresource) {
    return `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`;
  }
  if (operation === 'CREATE') return podCreateRefusal(write);
  if (operation === 'DELETE') {
    return asPod(attributes.previous)?.spec?.nodeName === node
      ? undefined
      : `node ${quote(node)} can only delete pods with spec.nodeName set to itself`;
  }
  return `unexpected operation ${quote(operation)}, node ${quote(node)} can only create and delete mirror pods`;
};

function podStatusRefusal({ node, attributes: { operation, object, previous } }: NodeWrite): Refusal {
  if (operation !== 'UPDATE') return `unexpected operation ${quote(operation)}`;
  if (asPod(previous)?.spec?.nodeName !== node) {
    return `node ${quote(node)} can only update pod status for pods with spec.nodeName set to itself`;
  }
  if (!isDeepStrictEqual(object?.metadata.labels ?? {}, previous?.metadata.labels ?? {})) {
    return `node ${quote(node)} cannot update labels through pod status`;
  }
  const changes = (member: string, empty?: unknown): boolean =>
    !isDeepStrictEqual(
      valueIn(asPod(object)?.status, member) ?? empty,
      valueIn(asPod(previous)?.status, member) ?? empty,
    );
  // What a pod claims its node may read.
  if (changes('resourceClaimStatuses', [])) return `node ${quote(node)} cannot update resource claim statues`;
  if (changes('extendedResourceClaimStatus')) {
    return `node ${quote(node)} cannot update extended resource claim status`;
  }
  return undefined;
}

async function podCreateRefusal(write: NodeWrite): Promise<Refusal> {
  const { node, attributes, domains } = write;
  const pod = asPod(attributes.object);
  if (pod === undefined) return 'there is no pod';
  const who = `node ${quote(node)}`;
  const mirror = signerKeyIn(domains, mirrorAnnotation);
  if (!Object.hasOwn(pod.metadata.annotations ?? {}, mirror)) {
    return `pod does not have ${quote(mirror)} annotation, ${who} can only create mirror pods`;
  }
  if (pod.spec?.nodeName !== node) return `${who} can only create pods with spec.nodeName set to itself`;
  return (await ownerRefusal(write, pod)) ?? referenceRefusal(who, pod);
}

async function ownerRefusal({ node, objects }: NodeWrite, { metadata }: Pod): Promise<Refusal> {
  const who = `node ${quote(node)}`;
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) return `${who} can only create pods with a single owner reference set to itself`;
  if (owner === undefined || owner.apiVersion !== Nodes.version || owner.kind !== Nodes.kind || owner.name !== node) {
    return `${who} can only create pods with an owner reference set to itself`;
  }
  if (!owner.controller) return `${who} can only create pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion) return `${who} must not set blockOwnerDeletion on an owner reference`;
  const found = await objects.get(Nodes, { name: node });
  if (found === undefined) return notCached(Nodes, node);
  return owner.uid === found.metadata.uid
    ? undefined
    : `node ${node} UID mismatch: expected ${owner.uid} got ${found.metadata.uid}`;
}

/** Kubernetes looks in caches here, which know kinds by their singular. */
const notCached = ({ singular }: ResourceType, name: string): ApiError =>
  notFound({ group: '', plural: singular, name });

/** A node must not get hold of other objects by making a pod that names them. */
function referenceRefusal(who: string, pod: Pod): Refusal {
  const what = referencedBy(pod);
  return what === undefined ? undefined : `${who} can not create pods that reference ${what}`;
}

function referencedBy(pod: Pod): string | undefined {
  if (pod.spec?.serviceAccountName) return 'serviceaccounts';
  if (secretNamesIn(pod).size > 0) return 'secrets';
  if (configMapNamesIn(pod).size > 0) return 'configmaps';
  if (resourceClaimsOf(pod).length > 0) return 'resourceclaims';
  return sourcesIn(pod)
    .map((source) => referencedVia.get(source))
    .find((what) => what !== undefined);
}

/** Sources of volumes that stand for other objects than those that are named above. */
const referencedVia: ReadonlyMap<string, string> = new Map([
  ['csi', 'csidrivers (via CSI volumes)'],
  ['glusterfs', 'endpoints (via glusterFS volumes)'],
  ['persistentVolumeClaim', 'persistentvolumeclaims'],
  ['ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'],
  ['serviceAccountToken', 'serviceaccounts (via projected volumes)'],
  ['clusterTrustBundle', 'clustertrustbundles'],
  ['podCertificate', 'podcertificates'],
]);

const nodeRule: Rule = async ({ node, attributes, domains }) => {
  const { operation, object, previous } = attributes;
  const who = `node ${quote(node)}`;
  const name = nameOf(attributes);
  if (name !== node) return `${who} is not allowed to modify node ${quote(name)}`;
  const [next, last] = [asNode(object), asNode(previous)];
  if (operation === 'CREATE') {
    if (specOf(next, 'configSource') !== undefined) {
      return `${who} is not allowed to create pods with a non-nil configSource`;
    }
    const labels = forbiddenLabels(next, undefined, domains);
    return labels.length > 0 ? `${who} is not allowed to set the following labels: ${labels.join(', ')}` : undefined;
  }
  if (operation !== 'UPDATE') return undefined;
  const source = specOf(next, 'configSource');
  if (source !== undefined && !isDeepStrictEqual(source, specOf(last, 'configSource'))) {
    return `${who} is not allowed to update configSource to a new non-nil configSource`;
  }
  if (!isDeepStrictEqual(specOf(next, 'taints') ?? [], specOf(last, 'taints') ?? [])) {
    return `${who} is not allowed to modify taints`;
  }
  if (!isDeepStrictEqual(next?.metadata.ownerReferences ?? [], last?.metadata.ownerReferences ?? [])) {
    return `${who} is not allowed to modify ownerReferences`;
  }
  const labels = forbiddenLabels(next, last, domains);
  return labels.length > 0 ? `is not allowed to modify labels: ${labels.join(', ')}` : undefined;
};

/** Labels under our domains that a node may give itself; it must not draw work to itself with others. */
const ownLabels: readonly string[] = [
  'kubernetes.io/hostname',
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'node.kubernetes.io/instance-type',
];
const ownLabelDomains: readonly string[] = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const restrictedDomain = 'node-restriction.kubernetes.io';

function forbiddenLabels(next: Node | undefined, last: Node | undefined, domains: Domains): readonly string[] {
  const [after, before] = [next?.metadata.labels ?? {}, last?.metadata.labels ?? {}];
  const under = (name: string): string =>
    name.replace(new RegExp(`${defaultDomains.signer.replaceAll('.', '\\.')}(?=/|$)`), () => domains.signer);
  const own = new Set(ownLabels.map(under));
  const ownDomains = ownLabelDomains.map(under);
  const restricted = under(restrictedDomain);
  const isForbidden = (label: string): boolean => {
    const domain = label.includes('/') ? label.slice(0, label.indexOf('/')) : '';
    if (isWithinDomain(domain, restricted)) return true;
    const isOurs = isWithinDomain(domain, domains.signer) || isWithinDomain(domain, domains.api);
    return isOurs && !own.has(label) && !ownDomains.some((one) => isWithinDomain(domain, one));
  };
  const read = (labels: Readonly<Record<string, string>>, key: string): string | undefined =>
    Object.hasOwn(labels, key) ? labels[key] : undefined;
  return [...new Set([...Object.keys(after), ...Object.keys(before)])]
    .filter((label) => read(after, label) !== read(before, label) && isForbidden(label))
    .sort();
}

const tokenRule: Rule = async (write) => {
  const { node, attributes, objects } = write;
  if (attributes.operation !== 'CREATE' || attributes.subresource !== 'token') return undefined;
  const { boundObjectRef: ref, audiences } = (attributes.object as TokenRequest | undefined)?.spec ?? {};
  if (ref?.apiVersion !== 'v1' || ref.kind !== Pods.kind || !ref.name) {
    return 'node requested token not bound to a pod';
  }
  if (!ref.uid) return 'node requested token with a pod binding without a uid';
  const pod = await objects.get(Pods, { namespace: attributes.key.namespace, name: ref.name });
  if (pod === undefined) return notCached(Pods, ref.name);
  if (ref.uid !== pod.metadata.uid) {
    return otherBoundObject(ref);
  }
  if (pod.spec?.nodeName !== node) return 'node requested token bound to a pod scheduled on a different node';
  return audienceRefusal(write, pod, audiences ?? []);
};

/** A node asks for tokens only for whom the pod's volumes say, unless it has the right to more. */
async function audienceRefusal(
  { attributes, authorizer }: NodeWrite,
  pod: Pod,
  audiences: readonly string[],
): Promise<Refusal> {
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const [audience = ''] = audiences;
  if (tokenAudiencesIn(pod).has(audience)) return undefined;
  const { user, key } = attributes;
  const { verdict } = await authorizer.authorize({
    user,
    verb: 'request-serviceaccounts-token-audience',
    group: '',
    version: 'v1',
    resource: audience,
    namespace: key.namespace,
    name: key.name,
  });
  if (verdict === 'allow') return undefined;
  return `audience ${quote(audience)} not found in pod spec volume, ${user.username} is not authorized to request tokens for this audience`;
}

const leaseRule: Rule = async ({ node, attributes }) =>
  leaseRefusal(node, { namespace: attributes.key.namespace, name: nameOf(attributes) });

const requestRule: Rule = async ({ node, attributes, domains }) => {
  if (attributes.operation !== 'CREATE' || attributes.subresource) return undefined;
  const { signerName = '', request } = asRequest(attributes.object)?.spec ?? {};
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

/** A node asks for certificates of pods that run there, and tells who they are as it is. */
const podCertificateRule: Rule = async ({ node, attributes, objects, domains }) => {
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
  // What another server may not know of yet is no refusal: it may be asked again.
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

const notFoundYet = (what: string, name: string, { message }: ApiError): ApiError =>
  untyped(`while retrieving ${what} ${name} named in the PodCertificateRequest: ${message}`);

const rules: readonly (readonly [ResourceType, Rule])[] = [
  [Pods, podRule],
  [Nodes, nodeRule],
  [ServiceAccounts, tokenRule],
  [Leases, leaseRule],
  [CertificateSigningRequests, requestRule],
  [PodCertificateRequests, podCertificateRule],
];

/** Objects as what the rule they are for says they are. */
const asPod = (object: ApiObject | undefined): Pod | undefined => object as Pod | undefined;
const asNode = (object: ApiObject | undefined): Node | undefined => object as Node | undefined;

const specOf = (node: Node | undefined, member: string): unknown => valueIn(node?.spec, member);

/** A member that no type here tells of; undefined also where null stands. */
function valueIn(given: unknown, member: string): unknown {
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, member)) return undefined;
  return (given as Readonly<Record<string, unknown>>)[member] ?? undefined;
}
