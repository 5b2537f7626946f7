import { hasCondition } from '../conditions.js';
import { maxInt64 } from '../go-integers.js';
import { type ApiObject, type JsonObject, type ResourceType, resourceType } from '../object.js';

/** A resource type that users define (apiextensions/v1 CustomResourceDefinition). */
export interface CustomResourceDefinition extends ApiObject {
  readonly kind: 'CustomResourceDefinition';
  readonly spec: CustomResourceDefinitionSpec;
  readonly status?: CustomResourceDefinitionStatus;
}

/** A resource type and its versions. The definition is named `<names.plural>.<group>`. */
export interface CustomResourceDefinitionSpec {
  readonly group: string;
  readonly names: CustomResourceDefinitionNames;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly versions: readonly CustomResourceDefinitionVersion[];
  readonly conversion?: CustomResourceConversion;
  /** Deprecated; only false is accepted. */
  readonly preserveUnknownFields?: boolean;
}

/** The names of a resource type. `kind` and `listKind` are in CamelCase, the others in lower case. */
export interface CustomResourceDefinitionNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

/** One version of a resource type. Exactly one of them is stored, any may be served. */
export interface CustomResourceDefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  /** The schema; `openAPIV3Schema` is JSONSchemaProps as written. */
  readonly schema?: { readonly openAPIV3Schema?: JsonObject };
  readonly subresources?: CustomResourceSubresources;
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** The subresources of a custom resource: its status and a scale. */
export interface CustomResourceSubresources {
  readonly status?: JsonObject;
  readonly scale?: CustomResourceScale;
}

/** The paths, such as `.spec.replicas`, at which a custom resource keeps the values of `autoscaling/v1` Scale. */
export interface CustomResourceScale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** A column of the tables that `kubectl get` shows. A priority above 0 is shown only with `-o wide`. */
export interface CustomResourceColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** How objects are converted between versions: only `apiVersion` changes, or a webhook converts them. */
export interface CustomResourceConversion {
  readonly strategy: 'None' | 'Webhook';
  readonly webhook?: {
    readonly clientConfig?: {
      readonly url?: string;
      readonly service?: {
        readonly namespace: string;
        readonly name: string;
        readonly path?: string;
        readonly port?: number;
      };
      /** The CA certificates: PEM in base64. */
      readonly caBundle?: string;
    };
    readonly conversionReviewVersions: readonly string[];
  };
}

/** The accepted names, and the versions in which objects have ever been stored. */
export interface CustomResourceDefinitionStatus {
  readonly conditions?: readonly CustomResourceDefinitionCondition[] | null;
  readonly acceptedNames?: CustomResourceDefinitionNames;
  readonly storedVersions?: readonly string[];
  readonly observedGeneration?: number;
}

/** A condition such as NamesAccepted, Established or Terminating; times are RFC 3339. */
export interface CustomResourceDefinitionCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

/** Returns the resource type under an API domain such as `k8s.io`. */
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

/** Whether its resources are served: its names were accepted once. */
export const isServed = (crd: CustomResourceDefinition): boolean =>
  hasCondition(crd, 'Established') || hasCondition(crd, 'NamesAccepted');

/** Returns the version in which objects are stored. */
export const storageVersion = (crd: CustomResourceDefinition): CustomResourceDefinitionVersion | undefined =>
  crd.spec.versions.find(({ storage }) => storage);

const kubeLike = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/**
 * Returns the parts of a version with Kubernetes' format, such as `v1beta2`; undefined for others, which are sorted
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
 * foo10. For `sort`.
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

/** Returns the warning for clients of a deprecated version; undefined for others. */
export function deprecationWarning(crd: CustomResourceDefinition, version: string): string | undefined {
  const { group, names, versions } = crd.spec;
  const asked = versions.find(({ name }) => name === version);
  if (!asked?.deprecated) return undefined;
  if (asked.deprecationWarning !== undefined) return asked.deprecationWarning;
  const [better] = versions
    .filter(({ name, served, deprecated }) => served && !deprecated && compareVersions(name, version) < 0)
    .map(({ name }) => name)
    .sort(compareVersions);
  const instead = better === undefined ? '' : `; use ${group}/${better} ${names.kind}`;
  return `${group}/${version} ${names.kind} is deprecated${instead}`;
}
