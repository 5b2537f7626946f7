import { isDeepStrictEqual } from 'node:util';
import { type Domains, defaultDomains, isWithinDomain } from '../../api/domains.js';
import { quote } from '../../api/go-text.js';
import type { Node } from '../../api/kinds/node.js';
import { type ApiObject, member } from '../../api/object.js';
import { nameOf } from '../admission-subject.js';
import { memberOf, type NodeRule } from './node-write.js';

/** Checks that a node agent writes only its own Node, and no taints or labels that could attract pods. */
export const nodeRule: NodeRule = async ({ node, attributes, domains }) => {
  const { operation, object, previous } = attributes;
  const nodeText = `node ${quote(node)}`;
  const name = nameOf(attributes);
  if (name !== node) return `${nodeText} is not allowed to modify node ${quote(name)}`;
  const [next, last] = [asNode(object), asNode(previous)];
  if (operation === 'CREATE') {
    if (specOf(next, 'configSource') !== undefined) {
      return `${nodeText} is not allowed to create pods with a non-nil configSource`;
    }
    const labels = forbiddenLabels(next, undefined, domains);
    return labels.length > 0
      ? `${nodeText} is not allowed to set the following labels: ${labels.join(', ')}`
      : undefined;
  }
  if (operation !== 'UPDATE') return undefined;
  const source = specOf(next, 'configSource');
  if (source !== undefined && !isDeepStrictEqual(source, specOf(last, 'configSource'))) {
    return `${nodeText} is not allowed to update configSource to a new non-nil configSource`;
  }
  if (!isDeepStrictEqual(specOf(next, 'taints') ?? [], specOf(last, 'taints') ?? [])) {
    return `${nodeText} is not allowed to modify taints`;
  }
  if (!isDeepStrictEqual(next?.metadata.ownerReferences ?? [], last?.metadata.ownerReferences ?? [])) {
    return `${nodeText} is not allowed to modify ownerReferences`;
  }
  const labels = forbiddenLabels(next, last, domains);
  return labels.length > 0 ? `is not allowed to modify labels: ${labels.join(', ')}` : undefined;
};

/** Labels in the configured domains that a node agent may set on its own Node; other labels could attract pods. */
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
  return [...new Set([...Object.keys(after), ...Object.keys(before)])]
    .filter((label) => member(after, label) !== member(before, label) && isForbidden(label))
    .sort();
}

/** Casts an object to the kind that the rule is for. */
const asNode = (object: ApiObject | undefined): Node | undefined => object as Node | undefined;

const specOf = (node: Node | undefined, member: string): unknown => memberOf(node?.spec, member);
