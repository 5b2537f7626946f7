import { defaultDomains } from '../domains.js';
import { type ApiObject, type JsonObject, resourceType } from '../object.js';

/**
 * Group of containers that run on one node. Served only because tokens can be bound to pods; nothing here runs them.
 */
export interface Pod extends ApiObject {
  readonly spec?: PodSpec;
  readonly status?: PodStatus;
}

/** Desired state of a pod; only the fields that are used here have types. */
export interface PodSpec {
  /** Containers of the pod; null if the field was omitted. */
  readonly containers?: readonly Container[] | null;
  /** Containers that run before the others start, one after the other. */
  readonly initContainers?: readonly Container[];
  /** Containers that were added to the running pod for debugging. */
  readonly ephemeralContainers?: readonly Container[];
  /** Volumes that containers of the pod can mount. */
  readonly volumes?: readonly Volume[];
  /** Total resources of all containers of the pod. */
  readonly resources?: ResourceRequirements;
  /** Name of the service account that the pod runs as. */
  readonly serviceAccountName?: string;
  /** Deprecated: use `serviceAccountName`. */
  readonly serviceAccount?: string;
  /** Name of the node that the pod is bound to. */
  readonly nodeName?: string;
  /** Whether the pod uses the network namespace of the host; false by default. */
  readonly hostNetwork?: boolean;
  /** When containers are restarted: `Always` (the default), `OnFailure` or `Never`. */
  readonly restartPolicy?: string;
  /** Name of the scheduler for the pod; `default-scheduler` by default. */
  readonly schedulerName?: string;
  /** Conditions that must be true, in addition to ready containers, for the pod to be ready. */
  readonly readinessGates?: readonly { readonly conditionType?: string }[];
  readonly [field: string]: unknown;
}

/** Volume that containers of a pod can mount. The name of its only other member is its type. */
export interface Volume {
  /** Name of the volume; unique in the pod. */
  readonly name?: string;
  /** Contents of an OCI image or artifact. */
  readonly image?: { readonly reference?: string; readonly pullPolicy?: string };
  readonly [source: string]: unknown;
}

/** Container of a pod; only the fields that are used here have types. */
export interface Container {
  readonly name?: string;
  /** Container image to run. */
  readonly image?: string;
  /** When the image is pulled: `Always`, `Never` or `IfNotPresent`. */
  readonly imagePullPolicy?: string;
  /** Compute resources that the container requires. */
  readonly resources?: ResourceRequirements;
  /** Ports that the container exposes. */
  readonly ports?: readonly ContainerPort[];
  /**
   * Restart policy of this container: `Always`, `OnFailure` or `Never`. An init container with `Always` is a sidecar,
   * which keeps running beside the other containers.
   */
  readonly restartPolicy?: string;
  readonly [field: string]: unknown;
}

/** Network port of a container. */
export interface ContainerPort {
  /** Name of the port, by which services can refer to it. */
  readonly name?: string;
  /** Protocol: `TCP` (the default), `UDP` or `SCTP`. */
  readonly protocol?: string;
  /** Port on the pod's IP address. */
  readonly containerPort?: number;
  /** Port on the host that is forwarded to the container. */
  readonly hostPort?: number;
  /** Host IP address that `hostPort` is bound to. */
  readonly hostIP?: string;
}

/** Resource requirements of a container or pod: quantities by resource name. */
export interface ResourceRequirements {
  /** Maximum amount of each resource. */
  readonly limits?: JsonObject;
  /** Minimum amount of each resource; by default the limit, if there is one. */
  readonly requests?: JsonObject;
}

/** Observed state of a pod, as reported by the kubelet of its node; only the fields that are used here have types. */
export interface PodStatus {
  /** Phase of the lifecycle: `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`. */
  readonly phase?: string;
  /** Reason for the state, as one word in CamelCase. */
  readonly reason?: string;
  /** Quality of service class: `Guaranteed`, `Burstable` or `BestEffort`. */
  readonly qosClass?: string;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string; readonly reason?: string }[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
  /** Primary IP address of the pod. */
  readonly podIP?: string;
  /** IP addresses of the pod; at most one for each IP family. */
  readonly podIPs?: readonly { readonly ip?: string }[];
  /** Name of the node on which the pod may run once lower-priority pods have been preempted. */
  readonly nominatedNodeName?: string;
  readonly [field: string]: unknown;
}

/** State of a container; only the fields that are used here have types. */
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

/** The annotation of mirror pods, which represent pods that a kubelet started from a file. */
export const mirrorAnnotation = `${defaultDomains.signer}/config.mirror`;
