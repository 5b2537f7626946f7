import { defaultDomains } from '../../api/domains.js';
import type { Node } from '../../api/kinds/node.js';
import { sortTexts } from '../../api/text-order.js';
import type { Column } from '../../registry/resource-definition.js';
import { age, column } from '../columns.js';

/** Columns of nodes. Descriptions go over the wire, in Kubernetes' words. */

const roleLabel = `${defaultDomains.signer}/role`;
const rolePrefix = `node-role.${defaultDomains.signer}/`;

function rolesOf({ metadata }: Node): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([label, value]) => {
    if (label.startsWith(rolePrefix)) return [label.slice(rolePrefix.length)];
    return label === roleLabel ? [value] : [];
  });
  return sortTexts([...new Set(roles.filter((role) => role !== ''))]).join(',') || '<none>';
}

function stateOf({ spec, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable === true ? `${state},SchedulingDisabled` : state;
}

function kernelOf(node: Node): string {
  const { architecture } = node.status?.nodeInfo ?? {};
  return nodeInfo(node, 'kernelVersion') + (architecture ? ` (${architecture})` : '');
}

const nodeInfo = ({ status }: Node, member: string): string => status?.nodeInfo?.[member] || '<unknown>';
const addressOf = ({ status }: Node, addressType: string): string =>
  status?.addresses?.find(({ type }) => type === addressType)?.address ?? '<none>';

const addresses =
  "List of addresses reachable to the node. Queried from cloud provider, if available. More info: https://kubernetes.io/docs/reference/node/node-status/#addresses Note: This field is declared as mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an example. Consumers should assume that addresses can change during the lifetime of a Node. However, there are some exceptions where this may not be possible, such as Pods that inherit a Node's address in its own status or consumers of the downward API (status.hostIP).";

const wide = { priority: 1 };

export const nodeColumns: readonly Column<Node>[] = [
  column('Status', 'The status of the node', stateOf),
  column('Roles', 'The roles of the node', rolesOf),
  age,
  column(
    'Version',
    'Kubelet Version reported by the node.',
    ({ status }) => status?.nodeInfo?.['kubeletVersion'] ?? '',
  ),
  column('Internal-IP', addresses, (node) => addressOf(node, 'InternalIP'), wide),
  column('External-IP', addresses, (node) => addressOf(node, 'ExternalIP'), wide),
  column(
    'OS-Image',
    'OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy)).',
    (node) => nodeInfo(node, 'osImage'),
    wide,
  ),
  column(
    'Kernel-Version',
    "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64).",
    kernelOf,
    wide,
  ),
  column(
    'Container-Runtime',
    'ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2).',
    (node) => nodeInfo(node, 'containerRuntimeVersion'),
    wide,
  ),
];
