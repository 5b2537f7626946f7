import { type ApiObject, type JsonObject, resourceType } from '../object.js';

/** Machine of a cluster. Served only because identities and tokens refer to nodes. */
export interface Node extends ApiObject {
  readonly spec?: NodeSpec;
  readonly status?: NodeStatus;
}

/** Desired state of a node; only the fields that are used here have types. */
export interface NodeSpec {
  /** IP range of the pods on the node, in CIDR notation. */
  readonly podCIDR?: string;
  /** IP ranges of the pods on the node, in CIDR notation; at most one for each IP family. */
  readonly podCIDRs?: readonly string[];
  /** Whether new pods are kept from being scheduled onto the node. */
  readonly unschedulable?: boolean;
  readonly [field: string]: unknown;
}

/** Observed state of a node, as reported by its kubelet; only the fields that are used here have types. */
export interface NodeStatus {
  /** Total resources of the node: quantities by resource name. */
  readonly capacity?: JsonObject;
  /** Resources of the node that are available for pods: quantities by resource name. */
  readonly allocatable?: JsonObject;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  /** Addresses at which the node can be reached. */
  readonly addresses?: readonly { readonly type?: string; readonly address?: string }[];
  /** IDs and versions of the node's hardware and software. */
  readonly nodeInfo?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** The resource `nodes` of `v1`, cluster-scoped. */
export const Nodes = resourceType<Node>({
  group: '',
  version: 'v1',
  plural: 'nodes',
  kind: 'Node',
  namespaced: false,
  shortNames: ['no'],
});
