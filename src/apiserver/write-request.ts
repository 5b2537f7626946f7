import type { WriteParameters } from '../api/options.js';
import type { UserInfo } from '../api/user.js';
import { managerName } from '../apply/manager-name.js';
import type { RequestContext, ResourceDefinition } from '../registry/resource-definition.js';
import { accessOf, requireAccess } from './access.js';
import type { Parts } from './parts.js';
import type { ApiRequest, Result } from './request.js';
import type { WriteRequest, Written } from './write.js';

/** A request as the write path takes it. */
export const writeRequest = (
  request: ApiRequest,
  definition: ResourceDefinition,
  context: RequestContext,
  { givenDryRun: dryRun, fieldManager, givenFieldValidation: fieldValidation }: WriteParameters,
): WriteRequest => ({
  definition,
  context,
  manager: managerName(fieldManager, request.header('user-agent')),
  managedSubresource: context.subresource,
  options: {
    ...(dryRun.length > 0 ? { dryRun } : {}),
    ...(fieldManager === undefined ? {} : { fieldManager }),
    ...(fieldValidation === undefined ? {} : { fieldValidation }),
  },
  abandoned: () => request.signal.aborted,
});

/** A write as an answer: the stored bytes where there are any. */
export function resultOf(definition: ResourceDefinition, { created, entry, object }: Written): Result {
  const code = created ? 201 : 200;
  if (entry !== undefined) return { type: 'entry', code, definition, entry };
  return { type: 'object', code, definition, object };
}

/** Creating through PUT or apply needs the right to create as well. */
export const mayCreate = (parts: Parts, request: ApiRequest, user: UserInfo) => (): Promise<void> =>
  requireAccess(parts.authorizer, { ...accessOf(user, request.info), verb: 'create' });
