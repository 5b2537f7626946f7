import type { Domains } from '../../api/domains.js';
import { parseFieldSelector } from '../../api/field-selectors.js';
import { quote } from '../../api/go-text.js';
import { type Pod, Pods } from '../../api/kinds/pod.js';
import { type PodCertificateRequest, PodCertificateRequests } from '../../api/kinds/pod-certificate-request.js';
import { type AccessAttributes, type Authorizer, type Decision, noRules } from '../authorizer.js';
import { apiGroups } from '../bootstrap/api-groups.js';
import { nodeRules } from '../bootstrap/cluster-roles.js';
import { incrementalIndex } from '../incremental-index.js';
import type { ObjectSource } from '../object-source.js';
import { ruleAllows } from '../rule-matching.js';
import { NodeGraph, type RelatedKind } from './node-graph.js';
import { nodeIdentity } from './node-identity.js';
import { leaseRefusal } from './node-lease.js';

const allow: Decision = { verdict: 'allow', reason: '' };
const noOpinion = (reason = ''): Decision => ({ verdict: 'no-opinion', reason });

/** An access check of a node agent whose decision depends on the node. */
interface Question {
  readonly node: string;
  readonly attributes: AccessAttributes;
  /** Whether the object is related to a pod on the node. */
  isRelated(kind: RelatedKind, namespace: string, name: string): Promise<boolean>;
  /** Returns the PodCertificateRequest with this name. */
  podCertificate(namespace: string, name: string): Promise<PodCertificateRequest | undefined>;
}
type Answer = (question: Question) => Promise<Decision>;

/**
 * Authorizes node agents: what the rules of `system:node` allow, with access to Secrets, service accounts, pods and
 * similar objects restricted to those that are related to the node through its pods. Has no opinion on other users.
 * NodeRestriction further restricts their writes.
 */
export function nodeAuthorizer(objects: ObjectSource, domains: Domains): Authorizer {
  const rules = nodeRules(domains);
  const answers = answersIn(domains);
  const graphOf = incrementalIndex<Pod, NodeGraph>(new NodeGraph(domains));
  return {
    async authorize(attributes) {
      const identity = nodeIdentity(attributes.user);
      if (identity === undefined) return noOpinion();
      const node = identity.name;
      if (node === '') return noOpinion(`unknown node for user ${quote(attributes.user.username)}`);
      const answer =
        attributes.path === undefined ? answers.get(`${attributes.group}/${attributes.resource}`) : undefined;
      if (answer !== undefined) {
        const isRelated: Question['isRelated'] = async (...object) =>
          graphOf(await objects.list(Pods)).isRelated(node, ...object);
        const podCertificate: Question['podCertificate'] = (namespace, name) =>
          objects.get(PodCertificateRequests, { namespace, name });
        return answer({ node, attributes, isRelated, podCertificate });
      }
      return rules.some((rule) => ruleAllows(rule, attributes)) ? allow : noOpinion();
    },

    rulesFor: async (user) =>
      nodeIdentity(user) === undefined ? noRules() : noRules('node authorizer does not support user rule resolution'),
  };
}

/** Returns the rules for each resource, by group and resource. */
function answersIn(domains: Domains): ReadonlyMap<string, Answer> {
  const { certificates, coordination, resource, storage } = apiGroups(domains);
  return new Map<string, Answer>([
    ['/secrets', readsRelated('secrets')],
    ['/configmaps', readsRelated('configmaps')],
    ['/persistentvolumeclaims', claims],
    // Volumes are never bound here, so that none is related to a node.
    ['/persistentvolumes', getsRelated(undefined)],
    [`${resource}/resourceclaims`, getsRelated(undefined)],
    [`${storage}/volumeattachments`, getsRelated(undefined)],
    ['/serviceaccounts', accounts],
    [`${certificates}/podcertificaterequests`, podCertificates],
    [`${coordination}/leases`, leases],
    ['/nodes', nodes],
    ['/pods', pods],
  ]);
}

const unrelated = (node: string): Decision => noOpinion(`no relationship found between node '${node}' and this object`);

async function related({ node, attributes, isRelated }: Question, kind: RelatedKind | undefined): Promise<Decision> {
  const { namespace = '', name = '' } = attributes;
  if (name === '') return noOpinion('No Object name found');
  if (kind === undefined) return unrelated(node);
  return (await isRelated(kind, namespace, name)) ? allow : unrelated(node);
}

const reads: readonly string[] = ['get', 'list', 'watch'];

const readsRelated =
  (kind: RelatedKind): Answer =>
  async (question) => {
    const { verb, subresource, namespace } = question.attributes;
    if (!reads.includes(verb)) return noOpinion('can only read resources of this type');
    if (subresource) return noOpinion('cannot read subresource');
    if (!namespace) return noOpinion('can only read namespaced object of this type');
    return related(question, kind);
  };

const getsRelated =
  (kind: RelatedKind | undefined): Answer =>
  async (question) => {
    const { verb, subresource } = question.attributes;
    if (verb !== 'get') return noOpinion('can only get individual resources of this type');
    if (subresource) return noOpinion('cannot get subresource');
    return related(question, kind);
  };

const claims: Answer = async (question) => {
  const { verb, subresource } = question.attributes;
  if (subresource !== 'status') return getsRelated('persistentvolumeclaims')(question);
  if (verb !== 'update' && verb !== 'patch') return noOpinion('can only get/update/patch this type');
  return related(question, 'persistentvolumeclaims');
};

const accounts: Answer = async (question) => {
  const { verb, name, subresource } = question.attributes;
  // A node agent reads a service account only before it requests a token for it.
  if (verb === 'get' && !subresource) return readsRelated('serviceaccounts')(question);
  if (verb !== 'create' || !name) return noOpinion('can only create tokens for individual service accounts');
  if (subresource !== 'token') return noOpinion('can only create token subresource of serviceaccount');
  return related(question, 'serviceaccounts');
};

const podCertificates: Answer = async ({ node, attributes, podCertificate }) => {
  const { verb, subresource, namespace = '', name = '' } = attributes;
  if (subresource) return noOpinion('nodes may not access the status subresource of PodCertificateRequests');
  // Admission checks the created object.
  if (verb === 'create') return allow;
  if (verb === 'get') {
    if (name === '') return noOpinion('No Object name found');
    return (await podCertificate(namespace, name))?.spec?.nodeName === node ? allow : unrelated(node);
  }
  if (verb !== 'list' && verb !== 'watch') return noOpinion(`nodes may not ${verb} podcertificaterequests`);
  return selectsNode(node, attributes)
    ? allow
    : noOpinion('can only list/watch podcertificaterequests with nodeName field selector');
};

const leases: Answer = async ({ node, attributes: { verb, namespace, name = '' } }) => {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(verb)) {
    return noOpinion('can only get, create, update, patch, or delete a node lease');
  }
  // On create, the name is in the body, which admission checks.
  const refusal = leaseRefusal(node, verb === 'create' ? { namespace } : { namespace, name });
  return refusal === undefined ? allow : noOpinion(refusal);
};

const nodes: Answer = async ({ node, attributes: { verb, subresource, name = '' } }) => {
  if (subresource) return subresource === 'status' && isUpdate(verb) ? allow : noOpinion();
  if (verb === 'create' || isUpdate(verb)) return allow;
  if (!reads.includes(verb)) return noOpinion();
  if (name === node) return allow;
  const target = name === '' ? 'all nodes' : `'${name}'`;
  return noOpinion(`node '${node}' cannot read ${target}, only its own Node object`);
};

const pods: Answer = async (question) => {
  const { node, attributes } = question;
  const { verb, subresource, name } = attributes;
  if (subresource === 'status') return isUpdate(verb) ? allow : noOpinion();
  if (subresource === 'eviction') return verb === 'create' ? allow : noOpinion();
  if (subresource) return noOpinion();
  if (verb === 'create' || verb === 'delete') return allow;
  if (verb === 'get') return getsRelated('pods')(question);
  if (verb !== 'list' && verb !== 'watch') return noOpinion();
  if (selectsNode(node, attributes)) return allow;
  if (name) return related(question, 'pods');
  return noOpinion('can only list/watch pods with spec.nodeName field selector');
};

const isUpdate = (verb: string): boolean => verb === 'update' || verb === 'patch';

/** Whether a field selector restricts a list to a node; other requirements may restrict it further. */
function selectsNode(node: string, { fieldSelector = '' }: AccessAttributes): boolean {
  if (fieldSelector === '') return false;
  try {
    return parseFieldSelector(fieldSelector).requirements.some(
      ({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node,
    );
  } catch {
    return false;
  }
}
