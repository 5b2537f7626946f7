import { hasCondition } from '../conditions.js';
import { maxInt64 } from '../go-integers.js';
import { type ApiObject, type JsonObject, type ResourceType, resourceType } from '../object.js';

/** Definition of a custom resource (apiextensions/v1); its name must be `<plural>.<group>`. */
export interface CustomResourceDefinition extends ApiObject {
  readonly kind: 'CustomResourceDefinition';
  readonly spec: CustomResourceDefinitionSpec;
  readonly status?: CustomResourceDefinitionStatus;
}

/** Definition of a resource. */
export interface CustomResourceDefinitionSpec {
  /** API group of the resource. */
  readonly group: string;
  /** Names of the resource and its kind. */
  readonly names: CustomResourceDefinitionNames;
  /** Scope of the resource: whether its objects are cluster-scoped or namespaced. */
  readonly scope: 'Cluster' | 'Namespaced';
  /** Versions of the resource. */
  readonly versions: readonly CustomResourceDefinitionVersion[];
  /** How objects are converted between versions. */
  readonly conversion?: CustomResourceConversion;
  /** Deprecated; must be false. */
  readonly preserveUnknownFields?: boolean;
}

/** Names of the resource and its kind. */
export interface CustomResourceDefinitionNames {
  /** Plural name of the resource in URLs, in lower case. */
  readonly plural: string;
  /** Singular name of the resource, in lower case; by default the kind in lower case. */
  readonly singular?: string;
  /** Short names of the resource, in lower case. */
  readonly shortNames?: readonly string[];
  /** Kind of the objects, in CamelCase. */
  readonly kind: string;
  /** Kind of lists of the objects; by default the kind followed by `List`. */
  readonly listKind?: string;
  /** Groups of resources that the resource is listed with, such as `all`. */
  readonly categories?: readonly string[];
}

/** Version of the resource. Any version may be served; exactly one is the storage version. */
export interface CustomResourceDefinitionVersion {
  /** Name of the version, such as `v1`. */
  readonly name: string;
  /** Whether the version is served. */
  readonly served: boolean;
  /** Whether objects are stored in this version; true for exactly one version. */
  readonly storage: boolean;
  /** Whether requests for this version receive a deprecation warning. */
  readonly deprecated?: boolean;
  /** Text of the deprecation warning; a standard text by default. */
  readonly deprecationWarning?: string;
  /**
   * OpenAPI v3 schema (JSONSchemaProps) by which objects are validated, pruned and defaulted; kept as it was written.
   */
  readonly schema?: { readonly openAPIV3Schema?: JsonObject };
  /** Subresources that the objects have. */
  readonly subresources?: CustomResourceSubresources;
  /** Columns of tables; by default the age. */
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[];
  /** Fields that can be used in field selectors; each must be a string, boolean or integer. */
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** Subresources that the objects have. */
export interface CustomResourceSubresources {
  /** Enables the `/status` subresource. */
  readonly status?: JsonObject;
  /** Enables the `/scale` subresource. */
  readonly scale?: CustomResourceScale;
}

/** How the scale subresource (autoscaling/v1 Scale) maps to fields of the object, by paths such as `.spec.replicas`. */
export interface CustomResourceScale {
  /** JSON path of the desired number of replicas, under `.spec`. */
  readonly specReplicasPath: string;
  /** JSON path of the observed number of replicas, under `.status`. */
  readonly statusReplicasPath: string;
  /** JSON path of the label selector, as a string, under `.spec` or `.status`. */
  readonly labelSelectorPath?: string;
}

/** Additional column of tables, such as those of `kubectl get`. */
export interface CustomResourceColumnDefinition {
  /** Heading of the column. */
  readonly name: string;
  /** OpenAPI type of the values, or `date`. */
  readonly type: string;
  /** OpenAPI format of the values. */
  readonly format?: string;
  readonly description?: string;
  /** Priority of the column: 0 is always shown, higher values only in wide output. */
  readonly priority?: number;
  /** JSON path of the value in the object. */
  readonly jsonPath: string;
}

/** How objects are converted between versions. */
export interface CustomResourceConversion {
  /** `None` (only `apiVersion` is changed) or `Webhook`. */
  readonly strategy: 'None' | 'Webhook';
  /** Webhook that converts objects. */
  readonly webhook?: {
    /** How to connect to the webhook: either by URL or by Service. */
    readonly clientConfig?: {
      readonly url?: string;
      readonly service?: {
        readonly namespace: string;
        readonly name: string;
        readonly path?: string;
        readonly port?: number;
      };
      /** CA certificates that the webhook's certificate is verified with: PEM in base64. */
      readonly caBundle?: string;
    };
    /** Versions of ConversionReview that the webhook accepts, in order of preference. */
    readonly conversionReviewVersions: readonly string[];
  };
}

/** Observed state of a definition. */
export interface CustomResourceDefinitionStatus {
  /** Conditions, such as Established, NamesAccepted and Terminating. */
  readonly conditions?: readonly CustomResourceDefinitionCondition[] | null;
  /** Names that the resource is served under. */
  readonly acceptedNames?: CustomResourceDefinitionNames;
  /** All versions that objects have ever been stored in. */
  readonly storedVersions?: readonly string[];
  /** Most recent generation that the server has processed. */
  readonly observedGeneration?: number;
}

/** Aspect of the state of a definition, such as NamesAccepted, Established or Terminating. */
export interface CustomResourceDefinitionCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** Time of the last change of the status, in RFC 3339. */
  readonly lastTransitionTime?: string;
  /** Reason for the status, as one word in CamelCase. */
  readonly reason?: string;
  /** Human-readable details. */
  readonly message?: string;
  /** Generation of the object that the condition is based on. */
  readonly observedGeneration?: number;
}

/** Returns the resource type of CustomResourceDefinitions under an API domain such as `k8s.io`. */
export const customResourceDefinitionsIn = (domain: string): ResourceType<CustomResourceDefinition> =>
  resourceType<CustomResourceDefinition>({
    group: `apiextensions.${domain}`,
    version: 'v1',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    namespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
  });

/** The resource `customresourcedefinitions` of `apiextensions.k8s.io/v1`, cluster-scoped. */
export const CustomResourceDefinitions: ResourceType<CustomResourceDefinition> = customResourceDefinitionsIn('k8s.io');

/** The finalizer that keeps a definition until its custom resources are gone. */
export const customResourceCleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** Whether the defined resource is served, because its names have been accepted once. */
export const isServed = (crd: CustomResourceDefinition): boolean =>
  hasCondition(crd, 'Established') || hasCondition(crd, 'NamesAccepted');

/** Returns the version in which objects are stored; undefined if there is none. */
export const storageVersion = (crd: CustomResourceDefinition): CustomResourceDefinitionVersion | undefined =>
  crd.spec.versions.find(({ storage }) => storage);

const kubeLike = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/**
 * Returns the parts of a version in the format of Kubernetes, such as `v1beta2`; undefined for others, which are sorted
 * after these.
 */
function kubeVersion(version: string): RegExpExecArray | undefined {
  const parts = kubeLike.exec(version);
  return parts !== null && [parts[1], parts[3]].every((digits) => BigInt(digits ?? '0') <= maxInt64)
    ? parts
    : undefined;
}

const stability = { alpha: 0, beta: 1, stable: 2 };

/**
 * Orders API versions by preference, best first: v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1, v11alpha2, foo1,
 * foo10. A comparison function for `sort`.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [kubeVersion(a), kubeVersion(b)];
  if (!left || !right) {
    if (left) return -1;
    if (right) return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const rank = ([, , word]: RegExpExecArray): number =>
    word === 'alpha' ? stability.alpha : word === 'beta' ? stability.beta : stability.stable;
  const number = (text: string | undefined): bigint => BigInt(text ?? '0');
  const order = (x: bigint | number, y: bigint | number): number => (x > y ? -1 : x < y ? 1 : 0);
  return (
    order(rank(left), rank(right)) ||
    order(number(left[1]), number(right[1])) ||
    order(number(left[3]), number(right[3]))
  );
}

/** Returns the served versions, best first. */
export const servedVersions = (crd: CustomResourceDefinition): readonly string[] =>
  crd.spec.versions
    .filter(({ served }) => served)
    .map(({ name }) => name)
    .sort(compareVersions);

/** Returns the warning for clients of a deprecated version; undefined for other versions. */
export function deprecationWarning(crd: CustomResourceDefinition, version: string): string | undefined {
  const { group, names, versions } = crd.spec;
  const requested = versions.find(({ name }) => name === version);
  if (!requested?.deprecated) return undefined;
  if (requested.deprecationWarning !== undefined) return requested.deprecationWarning;
  const [newer] = versions
    .filter(({ name, served, deprecated }) => served && !deprecated && compareVersions(name, version) < 0)
    .map(({ name }) => name)
    .sort(compareVersions);
  const replacement = newer === undefined ? '' : `; use ${group}/${newer} ${names.kind}`;
  return `${group}/${version} ${names.kind} is deprecated${replacement}`;
}
