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
 * Admission of a request that is answered and not stored. `parent` is the kind it is put to, if any; `prepare` makes of
 * it what is judged and answered.
 */
export async function admitAction(
  parts: Parts,
  request: WriteRequest,
  given: ApiObject,
  parent?: ResourceDefinition,
  prepare?: (object: ApiObject) => Promise<ApiObject>,
): Promise<ApiObject> {
  // Of an object of its own the caller sets no system fields; a request put to another may name that one's uid.
  const sent = parent === undefined ? wipeSystemFields(given) : given;
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
  // Such a request is refused as a whole and without its kind.
  if (violations.length > 0) throw invalidObject({ group: definition.group, kind: '' }, violations);
  await parts.admission.validate({ ...attributes, object });
  return object;
}
