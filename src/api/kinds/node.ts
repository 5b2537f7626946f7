import { type ApiObject, type JsonObject, resourceType } from '../object.js';

/** A machine. Here only as something that identities and tokens refer to. */
export interface Node extends ApiObject {
  readonly spec?: NodeSpec;
  readonly status?: NodeStatus;
}

/** The fields that something here looks at. */
export interface NodeSpec {
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly unschedulable?: boolean;
  readonly [field: string]: unknown;
}

/** What the agent of the node reports. */
export interface NodeStatus {
  /** Quantities by the name of the resource. */
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
