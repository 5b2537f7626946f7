import type { ApiObject } from '../../api/object.js';
import { recordUpdate } from '../../apply/ownership.js';
import { inTurns, type TurnTaking } from '../../runtime/turn-taking.js';
import { withVersions } from '../conversions.js';
import type { WriteRequest } from './request.js';

/** Books the fields this write changes to its manager. */
export function own(
  request: WriteRequest,
  live: ApiObject | undefined,
  next: ApiObject,
  turns: TurnTaking,
): Promise<ApiObject> {
  const { definition, view, context } = request;
  // A status that was sent as another kind has nothing to be compared with.
  if (live !== undefined && next.kind !== live.kind) return Promise.resolve(unowned(next));
  const owned = withVersions(definition, (versions) => {
    const steps = recordUpdate({
      live,
      next,
      schema: definition.schema,
      manager: request.manager,
      apiVersion: next.apiVersion,
      subresource: request.managedSubresource,
      now: context.now,
      resetFields: (view === undefined ? definition.resetFields : view.resetFields) ?? [],
      versions,
    });
    return inTurns(steps, turns);
  });
  if (definition.versions?.elsewhere === undefined) return owned;
  // Ownership cannot be expressed in a version that the object cannot be converted to: all entries are dropped.
  return owned.catch(() => unowned(next));
}

function unowned(object: ApiObject): ApiObject {
  const { managedFields: _managed, ...metadata } = object.metadata;
  return { ...object, metadata };
}
