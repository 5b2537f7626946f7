import { type ApiObject, type JsonObject, resourceType } from '../object.js';

/** A machine. Present only because identities and tokens refer to it. */
export interface Node extends ApiObject {
  readonly spec?: NodeSpec;
  readonly status?: NodeStatus;
}

/** The fields of a node's spec that are used here. */
export interface NodeSpec {
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly unschedulable?: boolean;
  readonly [field: string]: unknown;
}

/** The state reported by the node's agent. */
export interface NodeStatus {
  /** Quantities by resource name. */
  readonly capacity?: JsonObject;
  readonly allocatable?: JsonObject;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  readonly addresses?: readonly { readonly type?: string; readonly address?: string }[];
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
