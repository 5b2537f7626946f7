import { ApiError, internalError } from '../../api/errors.js';
import { Namespaces } from '../../api/kinds/namespace.js';
import { type ApiObject, isType, type JsonObject, type ResourceType } from '../../api/object.js';
import type { AdmissionAttributes } from '../admission-step.js';

/** The type of webhooks as a label of metrics; `admit` for mutating webhooks. */
export type WebhookType = 'admit' | 'validating';

/** A resource in one version, and the kind of its objects, or of the objects of its subresource. */
export interface ResourceKind {
  readonly resource: { readonly group: string; readonly version: string; readonly plural: string };
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
}

/** The operations on kinds and objects that admission needs (ObjectInterfaces of kube-apiserver). */
export interface ObjectInterfaces {
  /** Returns the equivalent resources in other versions and groups, each with the subresource, in order. */
  equivalents(resource: ResourceType, subresource: string | undefined): readonly ResourceKind[];
  /** Converts the object to another version. Rejects with the error that is returned to the caller. */
  convert(object: ApiObject, to: ResourceKind): Promise<ApiObject>;
  /** Returns the JSON of the object, with its members in order. */
  toJson(object: ApiObject, as: ResourceKind): JsonObject;
  /** Parses a JSON Patch. Throws an Error in the words of Go. */
  readPatch(text: Buffer): {
    readonly isEmpty: boolean;
    /**
     * Applies the patch and decodes the result with defaults. `isChanged` is determined before defaulting, as in
     * Kubernetes. Rejects with an Error if the patch does not apply.
     */
    apply(object: ApiObject, as: ResourceKind): Promise<{ readonly object: ApiObject; readonly isChanged: boolean }>;
  };
  /** Whether times in objects of this kind are finer than their text until they have been decoded from it. */
  hasFineTimes(as: ResourceKind): boolean;
  /** Whether two objects are deeply equal. */
  same(a: ApiObject | undefined, b: ApiObject | undefined): boolean;
}

/** The attributes of a request with its objects in one version. */
export interface VersionedAttributes {
  readonly as: ResourceKind;
  readonly object: ApiObject | undefined;
  readonly previous: ApiObject | undefined;
}

/** Returns the attributes in the version of the request. */
export function originalAttributes({ resource, object, previous }: AdmissionAttributes): VersionedAttributes {
  const { apiVersion, kind } = object ?? previous ?? { apiVersion: '', kind: resource.kind };
  const slash = apiVersion.indexOf('/');
  return {
    as: {
      resource,
      kind:
        apiVersion === ''
          ? { group: resource.group, version: resource.version, kind }
          : { group: apiVersion.slice(0, Math.max(0, slash)), version: apiVersion.slice(slash + 1), kind },
    },
    object,
    previous,
  };
}

/** Converts the objects of a request to another version. */
export async function convertAttributes(
  kinds: ObjectInterfaces,
  seen: VersionedAttributes,
  as: ResourceKind,
): Promise<VersionedAttributes> {
  if (isSameKind(seen.as.kind, as.kind)) return seen.as === as ? seen : { ...seen, as };
  const convert = async (object: ApiObject | undefined): Promise<ApiObject | undefined> =>
    object === undefined ? undefined : kinds.convert(object, as);
  return { as, object: await convert(seen.object), previous: await convert(seen.previous) };
}

/**
 * Like `convertAttributes`, for a webhook. A failed conversion is no failure of the webhook, so that no failurePolicy
 * ignores it. For mutating webhooks, Kubernetes wraps the error twice as an internal error.
 */
export async function convertForWebhook(
  type: WebhookType,
  ...given: Parameters<typeof convertAttributes>
): Promise<VersionedAttributes> {
  try {
    return await convertAttributes(...given);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const internal = internalError(error.message, error);
    throw type === 'admit' ? internalError(internal.message, internal) : internal;
  }
}

const isSameKind = (a: ResourceKind['kind'], b: ResourceKind['kind']): boolean =>
  a.group === b.group && a.version === b.version && a.kind === b.kind;

/**
 * Returns the namespace of the request: for a Namespace its own name, unless that is generated; empty for other
 * cluster-scoped objects.
 */
export const namespaceOf = ({ resource, key, isNameGenerated }: AdmissionAttributes): string =>
  isNamespace(resource) ? (isNameGenerated ? '' : key.name) : (key.namespace ?? '');

export const isNamespace = (resource: Pick<ResourceType, 'group' | 'plural'>): boolean => isType(resource, Namespaces);
