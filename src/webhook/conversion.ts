import { messageOf } from '../api/message-of.js';
import {
  type ApiObject,
  groupVersion,
  hasMetadata,
  isList,
  type JsonObject,
  member,
  type ResourceType,
} from '../api/object.js';
import { UnreadableReview, type Webhook } from './webhook.js';

/**
 * Conversion between a version and the hub. The functions must be pure; `apiVersion` and `kind` of their results are
 * set afterwards.
 */
export interface ConversionSpoke<S extends ApiObject, H extends ApiObject> {
  readonly version: ResourceType<S>;
  toHub(object: S): H;
  fromHub(hub: H): S;
}

/** The versions of a kind, and their conversions from and to the hub. */
export interface ConversionWebhookSpec<H extends ApiObject, S extends readonly ApiObject[]> {
  /** The version through which all others are converted. */
  readonly hub: ResourceType<H>;
  /** The other versions. */
  readonly spokes: { readonly [I in keyof S]: ConversionSpoke<S[I], NoInfer<H>> };
}

/** The size limit of a review, in which a server may send all objects of a list. */
const maxReviewBytes = 32 * 1_048_576;

/**
 * Returns a webhook for `spec.conversion` of a CustomResourceDefinition, with a hub as in controller-runtime: two
 * functions for each version but the hub. Name, uid and similar metadata must not change; a server rejects objects in
 * which they do.
 */
export function conversionWebhook<const H extends ApiObject, const S extends readonly ApiObject[]>({
  hub,
  spokes,
}: ConversionWebhookSpec<H, S>): Webhook {
  const hubVersion = groupVersion(hub);
  const byVersion = new Map(
    (spokes as readonly ConversionSpoke<ApiObject, H>[]).map((one) => [groupVersion(one.version), one]),
  );
  const spoke = (version: string): ConversionSpoke<ApiObject, H> => {
    const found = byVersion.get(version);
    if (found === undefined) throw new Error(`${JSON.stringify(version)} is not a version that is converted here`);
    return found;
  };
  const objectFrom = <T extends ApiObject>(converted: T, apiVersion: string): T => {
    if (!hasMetadata(converted)) throw new Error(`its conversion to ${apiVersion} is not an object`);
    return { ...converted, apiVersion, kind: hub.kind };
  };
  const convert = (object: ApiObject, to: string): ApiObject => {
    const from = object.apiVersion;
    if (object.kind !== hub.kind)
      throw new Error(`${JSON.stringify(object.kind)} is not a kind that is converted here`);
    if (from === to) return object;
    const asHub = from === hubVersion ? (object as H) : objectFrom(spoke(from).toHub(object), hubVersion);
    return to === hubVersion ? asHub : objectFrom(spoke(to).fromHub(asHub), to);
  };
  return {
    review: 'ConversionReview',
    group: 'apiextensions.k8s.io',
    maxBytes: maxReviewBytes,
    async respond(request: JsonObject, { log }) {
      const to = member(request, 'desiredAPIVersion');
      const objects = member(request, 'objects') ?? null;
      if (typeof to !== 'string') throw new UnreadableReview('request.desiredAPIVersion is missing');
      if (!isList(objects)) throw new UnreadableReview('request.objects is missing');
      try {
        const convertedObjects = objects.map((object, index) => {
          if (!hasMetadata(object)) throw new UnreadableReview(`request.objects[${index}] is not an object`);
          return convert(object, to);
        });
        return { result: { status: 'Success' }, convertedObjects };
      } catch (error) {
        if (error instanceof UnreadableReview) throw error;
        log.warn({ to, err: error }, 'conversion failed');
        return { result: { status: 'Failure', message: messageOf(error) }, convertedObjects: [] };
      }
    },
  };
}
