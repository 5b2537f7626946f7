import { ApiError, internalError } from '../../api/errors.js';
import { Namespaces } from '../../api/kinds/namespace.js';
import { type ApiObject, isType, type JsonObject, type ResourceType } from '../../api/object.js';
import type { AdmissionAttributes } from '../admission-step.js';

/** How a webhook came into a request. */
export type WebhookType = 'admit' | 'validating';

/** A version of a resource, and the kind that its objects, or those of a subresource, are of there. */
export interface ResourceKind {
  readonly resource: { readonly group: string; readonly version: string; readonly plural: string };
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
}

/** What calling webhooks must know of kinds and do with their objects. */
export interface ObjectInterfaces {
  /** The other versions and groups that the same objects have, each with the subresource, in order. */
  equivalents(resource: ResourceType, subresource: string | undefined): readonly ResourceKind[];
  /** The object as another version has it. Throws what a caller is told. */
  convert(object: ApiObject, to: ResourceKind): Promise<ApiObject>;
  /** The object as it goes out. */
  toJson(object: ApiObject, as: ResourceKind): JsonObject;
  /** Reads a JSON Patch. Throws an Error with Go's words for what is wrong with it. */
  readPatch(text: Buffer): {
    readonly isEmpty: boolean;
    /**
     * The object changed and read again, with defaults; whether that changes anything is decided before there are any, as in
     * Kubernetes. Throws an Error that tells what does not fit.
     */
    apply(object: ApiObject, as: ResourceKind): Promise<{ readonly object: ApiObject; readonly isChanged: boolean }>;
  };
  /** Are times in objects of this kind finer than their text, until they are read back from it? */
  hasFineTimes(as: ResourceKind): boolean;
  /** Equal in content? */
  same(a: ApiObject | undefined, b: ApiObject | undefined): boolean;
}

/** A request with its objects in one version. */
export interface VersionedAttributes {
  readonly as: ResourceKind;
  readonly object: ApiObject | undefined;
  readonly previous: ApiObject | undefined;
}

/** The request as it was made. */
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

/** The request with its objects in the version that somebody wants to see. */
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
 * The same for a webhook. That its version cannot be had is no failure of the webhook, so no failurePolicy lets it pass;
 * webhooks that mutate are in Kubernetes two calls away from the conversion, each of which says that it is internal.
 */
export async function convertForWebhook(
  sort: WebhookType,
  ...given: Parameters<typeof convertAttributes>
): Promise<VersionedAttributes> {
  try {
    return await convertAttributes(...given);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const told = internalError(error.message, error);
    throw sort === 'admit' ? internalError(told.message, told) : told;
  }
}

const isSameKind = (a: ResourceKind['kind'], b: ResourceKind['kind']): boolean =>
  a.group === b.group && a.version === b.version && a.kind === b.kind;

/** The namespace a request is about: that of its object, and of a Namespace its own name. Empty for cluster-wide ones. */
export const namespaceOf = ({ resource, key }: AdmissionAttributes): string =>
  isNamespace(resource) ? key.name : (key.namespace ?? '');

export const isNamespace = (resource: Pick<ResourceType, 'group' | 'plural'>): boolean => isType(resource, Namespaces);
