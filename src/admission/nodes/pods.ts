import { isDeepStrictEqual } from 'node:util';
import { signerKeyIn } from '../../api/domains.js';
import { quote } from '../../api/go-text.js';
import { Nodes } from '../../api/kinds/node.js';
import { mirrorAnnotation, type Pod, Pods } from '../../api/kinds/pod.js';
import { configMapNamesIn, resourceClaimsOf, secretNamesIn, sourcesIn } from '../../api/kinds/pod-references.js';
import type { ApiObject } from '../../api/object.js';
import { memberOf, type NodeRule, type NodeWrite, notCached, type Refusal } from './node-write.js';

/**
 * Checks that a node agent creates and deletes only mirror pods of its node, and changes the status of and evicts only
 * pods on its node.
 */
export const podRule: NodeRule = async (write) => {
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
      memberOf(asPod(object)?.status, member) ?? empty,
      memberOf(asPod(previous)?.status, member) ?? empty,
    );
  // A node agent may read the claims that are named here, so it must not choose them.
  if (changes('resourceClaimStatuses', [])) return `node ${quote(node)} cannot update resource claim statues`;
  if (changes('extendedResourceClaimStatus')) {
    return `node ${quote(node)} cannot update extended resource claim status`;
  }
  return undefined;
}

async function podCreateRefusal(write: NodeWrite): Promise<Refusal> {
  const { node, attributes, domains } = write;
  const pod = asPod(attributes.object);
  if (pod === undefined) return 'no such pod';
  const nodeText = `node ${quote(node)}`;
  const mirror = signerKeyIn(domains, mirrorAnnotation);
  if (!Object.hasOwn(pod.metadata.annotations ?? {}, mirror)) {
    return `pod does not have ${quote(mirror)} annotation, ${nodeText} can only create mirror pods`;
  }
  if (pod.spec?.nodeName !== node) return `${nodeText} can only create pods with spec.nodeName set to itself`;
  return (await ownerRefusal(write, pod)) ?? referenceRefusal(nodeText, pod);
}

async function ownerRefusal({ node, objects }: NodeWrite, { metadata }: Pod): Promise<Refusal> {
  const nodeText = `node ${quote(node)}`;
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) return `${nodeText} can only create pods with a single owner reference set to itself`;
  if (owner === undefined || owner.apiVersion !== Nodes.version || owner.kind !== Nodes.kind || owner.name !== node) {
    return `${nodeText} can only create pods with an owner reference set to itself`;
  }
  if (!owner.controller) return `${nodeText} can only create pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion) return `${nodeText} must not set blockOwnerDeletion on an owner reference`;
  const found = await objects.get(Nodes, { name: node });
  if (found === undefined) return notCached(Nodes, node);
  return owner.uid === found.metadata.uid
    ? undefined
    : `node ${node} UID mismatch: expected ${owner.uid} got ${found.metadata.uid}`;
}

/**
 * Returns the refusal of a pod with references: by creating such a pod, a node agent could gain access to other
 * objects.
 */
function referenceRefusal(nodeText: string, pod: Pod): Refusal {
  const referenced = referencedBy(pod);
  return referenced === undefined ? undefined : `${nodeText} can not create pods that reference ${referenced}`;
}

function referencedBy(pod: Pod): string | undefined {
  if (pod.spec?.serviceAccountName) return 'serviceaccounts';
  if (secretNamesIn(pod).size > 0) return 'secrets';
  if (configMapNamesIn(pod).size > 0) return 'configmaps';
  if (resourceClaimsOf(pod).length > 0) return 'resourceclaims';
  return sourcesIn(pod)
    .map((source) => referencedVia.get(source))
    .find((plural) => plural !== undefined);
}

/** Volume sources that refer to objects of kinds that are not checked above. */
const referencedVia: ReadonlyMap<string, string> = new Map([
  ['csi', 'csidrivers (via CSI volumes)'],
  ['glusterfs', 'endpoints (via glusterFS volumes)'],
  ['persistentVolumeClaim', 'persistentvolumeclaims'],
  ['ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'],
  ['serviceAccountToken', 'serviceaccounts (via projected volumes)'],
  ['clusterTrustBundle', 'clustertrustbundles'],
  ['podCertificate', 'podcertificates'],
]);

/** Casts an object to the kind that the rule is for. */
const asPod = (object: ApiObject | undefined): Pod | undefined => object as Pod | undefined;
