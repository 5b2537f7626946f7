import { defaultDomains } from '../../api/domains.js';
import type { Node } from '../../api/kinds/node.js';
import type { ObjectMeta } from '../../api/object.js';
import { sortTexts } from '../../api/text-order.js';
import type { Column } from '../../registry/resource-definition.js';
import { age, column } from '../columns.js';

/** How a node is printed. Descriptions go over the wire, in Kubernetes' words. */

interface Shown {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
    readonly addresses?: readonly { readonly type?: string; readonly address?: string }[];
    readonly nodeInfo?: Readonly<Record<string, string>>;
  };
}

const roleLabel = `${defaultDomains.signer}/role`;
const rolePrefix = `node-role.${defaultDomains.signer}/`;

function rolesOf({ metadata }: Shown): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([label, value]) => {
    if (label.startsWith(rolePrefix)) return [label.slice(rolePrefix.length)];
    return label === roleLabel ? [value] : [];
  });
  return sortTexts([...new Set(roles.filter((role) => role !== ''))]).join(',') || '<none>';
}

function stateOf({ spec, status }: Shown): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable === true ? `${state},SchedulingDisabled` : state;
}

function kernelOf(node: Shown): string {
  const { architecture } = node.status?.nodeInfo ?? {};
  return known(node, 'kernelVersion') + (architecture ? ` (${architecture})` : '');
}

const known = ({ status }: Shown, member: string): string => status?.nodeInfo?.[member] || '<unknown>';
const addressOf = ({ status }: Shown, sort: string): string =>
  status?.addresses?.find(({ type }) => type === sort)?.address ?? '<none>';

const addresses =
  "List of addresses reachable to the node. Queried from cloud provider, if available. More info: https://kubernetes.io/docs/reference/node/node-status/#addresses Note: This field is declared as mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an example. Consumers should assume that addresses can change during the lifetime of a Node. However, there are some exceptions where this may not be possible, such as Pods that inherit a Node's address in its own status or consumers of the downward API (status.hostIP).";

const shown = (
  name: string,
  description: string,
  cell: (node: Shown) => string,
  more: { readonly priority?: number } = {},
): Column<Node> => column<Node>(name, description, (node) => cell(node as object as Shown), more);
const wide = { priority: 1 };

export const nodeColumns: readonly Column<Node>[] = [
  shown('Status', 'The status of the node', stateOf),
  shown('Roles', 'The roles of the node', rolesOf),
  age as Column<Node>,
  shown('Version', 'Kubelet Version reported by the node.', ({ status }) => status?.nodeInfo?.['kubeletVersion'] ?? ''),
  shown('Internal-IP', addresses, (node) => addressOf(node, 'InternalIP'), wide),
  shown('External-IP', addresses, (node) => addressOf(node, 'ExternalIP'), wide),
  shown(
    'OS-Image',
    'OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy)).',
    (node) => known(node, 'osImage'),
    wide,
  ),
  shown(
    'Kernel-Version',
    "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64).",
    kernelOf,
    wide,
  ),
  shown(
    'Container-Runtime',
    'ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2).',
    (node) => known(node, 'containerRuntimeVersion'),
    wide,
  ),
];
