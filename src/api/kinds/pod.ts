import { defaultDomains } from '../domains.js';
import { type ApiObject, type JsonObject, resourceType } from '../object.js';

/** A group of containers. Here only as something that tokens can be bound to: nothing runs it. */
export interface Pod extends ApiObject {
  readonly spec?: PodSpec;
  readonly status?: PodStatus;
}

/** The fields that something here looks at. */
export interface PodSpec {
  /** null: none were told. */
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  /** Of all containers together. */
  readonly resources?: ResourceRequirements;
  readonly serviceAccountName?: string;
  /** What that was called at first. */
  readonly serviceAccount?: string;
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly restartPolicy?: string;
  readonly schedulerName?: string;
  readonly readinessGates?: readonly { readonly conditionType?: string }[];
  readonly [field: string]: unknown;
}

/** The sort of a volume is the name of its only other member. */
export interface Volume {
  readonly name?: string;
  readonly image?: { readonly reference?: string; readonly pullPolicy?: string };
  readonly [sort: string]: unknown;
}

/** One program of a pod; the fields that something here looks at. */
export interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly resources?: ResourceRequirements;
  readonly ports?: readonly ContainerPort[];
  /** `Always` on one of those that are started first: it goes on beside the others. */
  readonly restartPolicy?: string;
  readonly [field: string]: unknown;
}

/** A port that a container listens on; `hostPort` is one of its node. */
export interface ContainerPort {
  readonly name?: string;
  readonly protocol?: string;
  readonly containerPort?: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
}

/** Quantities by the name of the resource. */
export interface ResourceRequirements {
  readonly limits?: JsonObject;
  readonly requests?: JsonObject;
}

/** What the agent of the pod's node reports; the fields that something here looks at. */
export interface PodStatus {
  readonly phase?: string;
  readonly reason?: string;
  readonly qosClass?: string;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string; readonly reason?: string }[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip?: string }[];
  readonly nominatedNodeName?: string;
  readonly [field: string]: unknown;
}

/** How one container fares; the fields that something here looks at. */
export interface ContainerStatus {
  readonly name?: string;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string };
    readonly running?: object;
    readonly terminated?: Terminated;
  };
  readonly lastState?: { readonly terminated?: Terminated };
}

/** How a container ended. */
export interface Terminated {
  readonly reason?: string;
  readonly signal?: number;
  readonly exitCode?: number;
  readonly finishedAt?: string | null;
}

/** The resource `pods` of `v1`, namespaced. */
export const Pods = resourceType<Pod>({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
  shortNames: ['po'],
  categories: ['all'],
});

/** Stands on pods that only mirror one a node agent started from a file. */
export const mirrorAnnotation = `${defaultDomains.signer}/config.mirror`;
