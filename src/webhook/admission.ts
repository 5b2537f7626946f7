import { ApiError, type Status } from '../api/errors.js';
import { stringify } from '../api/go-text.js';
import { parseJson } from '../api/json-text.js';
import {
  type ApiObject,
  groupVersion,
  isObject,
  type Json,
  type JsonObject,
  member,
  type ResourceType,
  type Unstructured,
} from '../api/object.js';
import type { UserInfo } from '../api/user.js';
import { jsonDifference } from './json-difference.js';
import { type ReviewContext, UnreadableReview, type Webhook } from './webhook.js';

/** The `request` of an AdmissionReview (admission.k8s.io/v1). */
export type AdmissionRequest<T extends ApiObject = Unstructured> = AdmissionRequestMembers &
  (
    | { readonly operation: 'CREATE' | 'CONNECT'; readonly object: T; readonly oldObject?: undefined }
    | { readonly operation: 'UPDATE'; readonly object: T; readonly oldObject: T }
    | { readonly operation: 'DELETE'; readonly object?: undefined; readonly oldObject: T }
  );

/** The members that are the same for all operations. */
export interface AdmissionRequestMembers {
  readonly uid: string;
  /** The kind of the objects, as the webhook's rules name it; `requestKind` is the one of the original request. */
  readonly kind: AdmissionKind;
  readonly requestKind?: AdmissionKind;
  readonly resource: AdmissionResource;
  readonly requestResource?: AdmissionResource;
  readonly subResource?: string;
  readonly requestSubResource?: string;
  /** The name; absent if the server has yet to generate it. */
  readonly name?: string;
  readonly namespace?: string;
  readonly userInfo: UserInfo;
  /** Whether nothing will be stored; external state must not be changed either. */
  readonly dryRun: boolean;
  /** The CreateOptions, UpdateOptions or DeleteOptions. */
  readonly options?: JsonObject;
}

/** The kind of an object under review. */
export interface AdmissionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The resource of a request under review. */
export interface AdmissionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** The further responses of a webhook to a request, besides its verdict. */
export interface AdmissionContext extends ReviewContext {
  /** Sends a warning to the caller, whatever the verdict. Text beyond 256 characters may be cut. */
  warn(text: string): void;
  /** Adds an annotation to the audit log under `WEBHOOK/key`. */
  auditAnnotation(key: string, value: string): void;
}

/**
 * The verdict: undefined or an empty text allows the request; a text denies it (403 Forbidden), and an ApiError is sent
 * to the caller unchanged. A thrown error is not a verdict but a failure of the webhook, to which `failurePolicy`
 * applies.
 */
export type AdmissionVerdict = void | string | ApiError;

/** How a webhook validates requests. */
export interface ValidatingWebhookSpec<T extends ApiObject> {
  /** The kind of the objects; requests about another kind are answered with 400. Default: any kind. */
  readonly for?: ResourceType<T>;
  validate(request: AdmissionRequest<T>, context: AdmissionContext): AdmissionVerdict | Promise<AdmissionVerdict>;
}

/** How a webhook changes objects. */
export interface MutatingWebhookSpec<T extends ApiObject> {
  /** The kind of the objects; requests about another kind are answered with 400. Default: any kind. */
  readonly for?: ResourceType<T>;
  /**
   * Returns the changed object, or a verdict. May be called twice for one request, with objects that it already
   * changed: it must then change nothing.
   */
  mutate(request: AdmissionRequest<T>, context: AdmissionContext): T | AdmissionVerdict | Promise<T | AdmissionVerdict>;
}

/** The size limit of a review, as in controller-runtime: an object and its old version, with the overhead of JSON. */
const maxReviewBytes = 7 * 1_048_576;

/** Returns a webhook for a ValidatingWebhookConfiguration. */
export const validatingWebhook = <T extends ApiObject = Unstructured>({
  for: kind,
  validate,
}: ValidatingWebhookSpec<T>): Webhook =>
  admissionWebhook<T>(kind, async (request, context) => ({ verdict: (await validate(request, context)) || undefined }));

/** Returns a webhook for a MutatingWebhookConfiguration. Its changes to the object are sent as a JSON Patch. */
export const mutatingWebhook = <const T extends ApiObject = Unstructured>({
  for: kind,
  mutate,
}: MutatingWebhookSpec<T>): Webhook =>
  admissionWebhook<T>(kind, async (request, context) => {
    // `mutate` may change its object in place, whatever the types say.
    const before = structuredClone(request.object) as Json | undefined;
    const result = (await mutate(request, context)) || undefined;
    if (typeof result !== 'object' || result instanceof ApiError) return { verdict: result };
    if (before === undefined) throw new Error('an object that is being deleted cannot be changed');
    // What JSON omits counts as removed.
    return { patch: jsonDifference(before, parseJson(stringify(result) ?? 'null')) };
  });

interface Outcome {
  readonly verdict?: AdmissionVerdict;
  readonly patch?: readonly object[];
}

function admissionWebhook<T extends ApiObject>(
  kind: ResourceType<T> | undefined,
  decide: (request: AdmissionRequest<T>, context: AdmissionContext) => Promise<Outcome>,
): Webhook {
  return {
    review: 'AdmissionReview',
    group: 'admission.k8s.io',
    maxBytes: maxReviewBytes,
    async respond(body, context) {
      const request = admissionRequest<T>(body);
      if (kind !== undefined) checkKind(request, kind);
      const warnings: string[] = [];
      const auditAnnotations: [string, string][] = [];
      const { verdict, patch = [] } = await decide(request, {
        ...context,
        warn: (text) => void warnings.push(text),
        auditAnnotation: (key, value) => void auditAnnotations.push([key, value]),
      });
      if (verdict !== undefined) {
        const { operation, name, namespace, userInfo } = request;
        const logFields = { kind: request.kind.kind, namespace, name, operation, user: userInfo.username };
        context.log.info({ ...logFields, why: denial(verdict).message }, 'denied');
      }
      return {
        allowed: verdict === undefined,
        ...(verdict === undefined ? {} : { status: denial(verdict) }),
        ...(patch.length === 0
          ? {}
          : { patchType: 'JSONPatch', patch: Buffer.from(stringify(patch) ?? '').toString('base64') }),
        ...(warnings.length === 0 ? {} : { warnings }),
        ...(auditAnnotations.length === 0 ? {} : { auditAnnotations: Object.fromEntries(auditAnnotations) }),
      };
    },
  };
}

const denial = (verdict: string | ApiError): Partial<Status> =>
  typeof verdict === 'string' ? { code: 403, reason: 'Forbidden', message: verdict } : verdict.toStatus();

const operations: readonly unknown[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/** Returns the request of a review. Everything its type promises is checked, except the objects' own members. */
function admissionRequest<T extends ApiObject>(body: JsonObject): AdmissionRequest<T> {
  const of = (name: string): Json | undefined => member(body, name);
  const [operation, kind, resource, userInfo] = [of('operation'), of('kind'), of('resource'), of('userInfo')];
  if (!operations.includes(operation)) throw new UnreadableReview('request.operation is unknown');
  for (const [name, value] of Object.entries({ kind, resource, userInfo })) {
    if (!isObject(value ?? null)) throw new UnreadableReview(`request.${name} is missing`);
  }
  const objects = { object: of('object') ?? undefined, oldObject: of('oldObject') ?? undefined };
  for (const name of objectsOf[operation as keyof typeof objectsOf]) {
    if (!isObject(objects[name])) throw new UnreadableReview(`request.${name} is missing`);
  }
  const { username, groups } = userInfo as JsonObject;
  return {
    ...body,
    ...objects,
    userInfo: { ...(userInfo as JsonObject), username: username ?? '', groups: groups ?? [] },
    dryRun: of('dryRun') === true,
    options: of('options') ?? undefined,
  } as unknown as AdmissionRequest<T>;
}

const objectsOf = {
  CREATE: ['object'],
  UPDATE: ['object', 'oldObject'],
  DELETE: ['oldObject'],
  CONNECT: ['object'],
} as const;

function checkKind({ kind }: Pick<AdmissionRequestMembers, 'kind'>, expected: ResourceType): void {
  if (kind.kind === expected.kind && kind.group === expected.group && kind.version === expected.version) return;
  const text = (one: AdmissionKind): string => `${groupVersion(one)} ${one.kind}`;
  throw new UnreadableReview(`this webhook is for ${text(expected)}, not ${text(kind)}`);
}
