import { readWriteParameters } from '../../api/options.js';
import type { RequestContext } from '../../registry/resource-definition.js';
import { subresourceDefinition } from '../../registry/subresource.js';
import { readSentObject } from '../bodies.js';
import type { Parts } from '../parts.js';
import type { ApiRequest, Result } from '../request.js';
import type { Target } from '../resolve-target.js';
import { dedupeOwners, placedByUrl } from '../write/given-object.js';
import { mayCreate, objectKeyOf, resultOf, writeRequest } from '../write/request.js';
import { updateObject } from '../write/update.js';
import { projectedWrite, readProjected } from './projection.js';

/** Replaces an object with the one that was sent, or creates it if the kind allows that. */
export async function putObject(
  parts: Parts,
  request: ApiRequest,
  target: Target,
  context: RequestContext,
): Promise<Result> {
  const { definition, subresource } = target;
  const parameters = readWriteParameters(request.query, { kind: 'UpdateOptions' });
  const key = objectKeyOf(context);
  const write = writeRequest(request, target, context, parameters);
  if (subresource?.type === 'projection') {
    const seen = subresourceDefinition(definition, subresource.of);
    const sent = placedByUrl(seen, context, await readProjected(parts, request, seen, parameters, context));
    const change = async () => ({ object: sent, managed: false });
    return projectedWrite(parts, write, key, subresource, { change, checkUid: true });
  }
  const { object, emptyMembers } = await readSentObject(parts, request, definition, parameters, context);
  const sent = dedupeOwners(placedByUrl(definition, context, object), context, 'request');
  const written = await updateObject(parts, write, key, {
    change: async () => ({ object: sent, emptyMembers, managed: false }),
    checkUid: true,
    create: definition.createOnUpdate ?? false,
    mayCreate: mayCreate(parts, request, context.user),
  });
  return resultOf(definition, written);
}
