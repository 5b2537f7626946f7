import { defaultDomains } from '../domains.js';
import { type ApiObject, type JsonObject, resourceType } from '../object.js';

/** A group of containers. Present only because tokens can be bound to it: nothing runs it. */
export interface Pod extends ApiObject {
  readonly spec?: PodSpec;
  readonly status?: PodStatus;
}

/** The fields of a pod's spec that are used here. */
export interface PodSpec {
  /** The containers; null if the field was omitted. */
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  /** The resources of all containers together. */
  readonly resources?: ResourceRequirements;
  readonly serviceAccountName?: string;
  /** The deprecated name of `serviceAccountName`. */
  readonly serviceAccount?: string;
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly restartPolicy?: string;
  readonly schedulerName?: string;
  readonly readinessGates?: readonly { readonly conditionType?: string }[];
  readonly [field: string]: unknown;
}

/** A volume, whose type is the name of its only other member. */
export interface Volume {
  readonly name?: string;
  readonly image?: { readonly reference?: string; readonly pullPolicy?: string };
  readonly [sort: string]: unknown;
}

/** A container; the fields that are used here. */
export interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly resources?: ResourceRequirements;
  readonly ports?: readonly ContainerPort[];
  /** `Always` on an init container makes it a sidecar, which keeps running beside the others. */
  readonly restartPolicy?: string;
  readonly [field: string]: unknown;
}

/** A port that a container listens on; `hostPort` is a port of its node. */
export interface ContainerPort {
  readonly name?: string;
  readonly protocol?: string;
  readonly containerPort?: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
}

/** Quantities by resource name. */
export interface ResourceRequirements {
  readonly limits?: JsonObject;
  readonly requests?: JsonObject;
}

/** The state reported by the agent of the pod's node; the fields that are used here. */
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

/** The state of one container; the fields that are used here. */
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

/** The annotation of mirror pods, which represent pods that a node agent started from a file. */
export const mirrorAnnotation = `${defaultDomains.signer}/config.mirror`;
