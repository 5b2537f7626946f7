import { badRequest } from '../../api/errors.js';
import type { ApiObject } from '../../api/object.js';
import { readWriteParameters } from '../../api/options.js';
import type { RequestContext } from '../../registry/resource-definition.js';
import { readObject } from '../bodies.js';
import { dedupeOwners } from '../given-object.js';
import type { Parts } from '../parts.js';
import type { ApiRequest, Result } from '../request.js';
import { mayCreate, resultOf, writeRequest } from '../resource-request.js';
import type { Target } from '../target.js';
import { updateObject } from '../write.js';
import { projectedDefinition, projectedWrite, readProjected } from './projection.js';

/** PUT: the object becomes what was sent. Creates it where the kind allows that. */
export async function putObject(
  parts: Parts,
  request: ApiRequest,
  target: Target,
  context: RequestContext,
): Promise<Result> {
  const { definition, subresource } = target;
  const parameters = readWriteParameters(request.query, { kind: 'UpdateOptions' });
  const acting = { ...context, dryRun: parameters.dryRun };
  const key = { namespace: context.key.namespace, name: context.key.name ?? '' };
  const write = writeRequest(request, definition, acting, parameters);
  if (subresource?.type === 'projection') {
    const sent = await readProjected(parts, request, projectedDefinition(definition, subresource), parameters, context);
    checkName(sent, key.name);
    const change = async () => ({ object: sent, managed: false });
    return projectedWrite(parts, write, key, subresource, { change, checkUid: true });
  }
  const sent = dedupeOwners(await readObject(parts, request, definition, parameters, context), context, 'request');
  checkName(sent, key.name);
  const written = await updateObject(
    parts,
    { ...write, view: subresource?.type === 'view' ? subresource : undefined },
    key,
    {
      change: async () => ({ object: sent, managed: false }),
      checkUid: true,
      create: definition.createOnUpdate ?? false,
      mayCreate: mayCreate(parts, request, context.user),
    },
  );
  return resultOf(definition, written);
}

/** The name in the body must be that of the URL. */
export function checkName({ metadata }: ApiObject, name: string): void {
  if (!metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}
