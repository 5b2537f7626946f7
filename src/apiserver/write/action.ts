import { invalidObject } from '../../api/errors.js';
import type { ApiObject } from '../../api/object.js';
import { resultOf } from '../../api/steps.js';
import { wipeSystemFields } from '../../registry/metadata-rules.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { runInTurns, TurnTaking } from '../../runtime/turn-taking.js';
import type { Parts } from '../parts.js';
import { dedupeOwners, inNamespace } from './given-object.js';
import { runMutatingAdmission } from './mutating-admission.js';
import { recordOwnership } from './ownership.js';
import { attributesOf, type WriteRequest } from './request.js';

/**
 * Runs admission for a request that is answered and not stored. `parent` is the kind of the object that the request is
 * made to, if any; `prepare` returns the object that is validated and answered.
 */
export async function admitAction(
  parts: Parts,
  request: WriteRequest,
  body: ApiObject,
  parent?: ResourceDefinition,
  prepare?: (object: ApiObject) => Promise<ApiObject>,
): Promise<ApiObject> {
  // A request on its own must not contain system fields; a request to another object may contain the uid of that
  // object.
  const sent = parent === undefined ? wipeSystemFields(body) : body;
  const placed = inNamespace(request.definition, request.context, sent);
  const owned = dedupeOwners(placed, request.context, 'request');
  const managed = await recordOwnership(request, undefined, owned, new TurnTaking());
  const attributes = {
    ...attributesOf(request, 'CREATE', managed, undefined),
    ...(parent === undefined ? {} : { resource: parent }),
  };
  const admitted = await runMutatingAdmission(parts, attributes);
  const object = (await prepare?.(admitted)) ?? admitted;
  const { definition, context } = request;
  const violations = await runInTurns(resultOf(definition.validate?.(object, undefined, context) ?? []));
  // Such a request is refused as a whole, and the error names no kind.
  if (violations.length > 0) throw invalidObject({ group: definition.group, kind: '' }, violations);
  await parts.admission.validate({ ...attributes, object });
  return object;
}
