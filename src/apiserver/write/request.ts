import type { AdmissionAttributes, WriteAttributes } from '../../admission/admission-step.js';
import type { ApiObject, ObjectKey } from '../../api/object.js';
import type { WriteParameters } from '../../api/options.js';
import type { UserInfo } from '../../api/user.js';
import { managerName } from '../../apply/manager-name.js';
import type { RequestContext, ResourceDefinition, SubresourceView } from '../../registry/resource-definition.js';
import type { Entry } from '../../store/store.js';
import { accessOf, requireAccess } from '../access.js';
import type { Parts } from '../parts.js';
import type { ApiRequest, Result } from '../request.js';
import type { Target } from '../resolve-target.js';

/** The parameters of a write for `createObject`, `updateObject` and `admitAction`. */
export interface WriteRequest {
  readonly definition: ResourceDefinition;
  /** The subresource that the write is sent to, if any. */
  readonly view?: SubresourceView<ApiObject> | undefined;
  readonly context: RequestContext;
  /** Whether everything is done except storing the result. */
  readonly dryRun: boolean;
  /** The name that is recorded as the manager of the written fields. */
  readonly manager: string;
  /** The subresource that is recorded with the manager. */
  readonly managedSubresource?: string | undefined;
  /** The options object of the request, for admission. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether the caller has gone. */
  abandoned(): boolean;
  /**
   * The objects that validating admission sees instead, if the object was sent as another kind; mutating admission has
   * run on that kind already.
   */
  readonly validatedAs?: { next(object: ApiObject): ApiObject; previous(object: ApiObject): ApiObject } | undefined;
}

/** The result of a write. */
export interface WriteResult {
  readonly created: boolean;
  /** The committed entry; undefined in a dry run, or if the object was removed. */
  readonly entry: Entry | undefined;
  readonly object: ApiObject;
}

/** The maximum duration of a write in milliseconds, however long its caller would wait. */
export const longestWriteMs = 34_000;

/** Returns the WriteRequest for a request. */
export const writeRequest = (
  request: ApiRequest,
  { definition, subresource }: Target,
  context: RequestContext,
  { dryRun, givenDryRun, fieldManager, givenFieldValidation: fieldValidation }: WriteParameters,
): WriteRequest => ({
  definition,
  view: subresource?.type === 'view' ? subresource : undefined,
  context,
  dryRun,
  manager: managerName(fieldManager, request.header('user-agent')),
  managedSubresource: context.subresource,
  options: {
    ...(givenDryRun.length > 0 ? { dryRun: givenDryRun } : {}),
    ...(fieldManager === undefined ? {} : { fieldManager }),
    ...(fieldValidation === undefined ? {} : { fieldValidation }),
  },
  abandoned: () => request.signal.aborted,
});

/** Returns the key of the object: the name in the URL, or that of an object in a collection. */
export const objectKeyOf = ({ key: { namespace, name = '' } }: RequestContext): ObjectKey => ({ namespace, name });

/** Returns the response to a write: the stored bytes if there are any. */
export function resultOf(definition: ResourceDefinition, { created, entry, object }: WriteResult): Result {
  const code = created ? 201 : 200;
  if (entry !== undefined) return { type: 'entry', code, definition, entry };
  return { type: 'object', code, definition, object };
}

/**
 * Returns a function that checks that the caller may create the object, which PUT and apply need if they create one.
 */
export const mayCreate = (parts: Parts, request: ApiRequest, user: UserInfo) => (): Promise<void> =>
  requireAccess(parts.authorizer, { ...accessOf(user, request.info), verb: 'create' });

/**
 * Returns a function that converts an object to the one that is returned to the caller. A custom resource that apply or
 * admission made (`isGenerated`) keeps its unknown members until it is stored, but not in the response.
 */
export const answerOf = ({ reader }: ResourceDefinition, isGenerated: boolean): ((object: ApiObject) => ApiObject) =>
  isGenerated && reader !== undefined ? reader.pruned : (object) => object;

export function attributesOf(
  { definition, context, dryRun, options }: WriteRequest,
  operation: AdmissionAttributes['operation'],
  object: ApiObject,
  previous: ApiObject | undefined,
): WriteAttributes {
  return {
    operation,
    resource: definition,
    subresource: context.subresource,
    key: { namespace: context.key.namespace, name: context.key.name ?? object.metadata.name ?? '' },
    object,
    previous,
    user: context.user,
    dryRun,
    options,
    warn: (text) => context.warn(text),
    annotate: context.annotate,
    caller: context.caller,
    urlName: context.key.name,
  };
}
