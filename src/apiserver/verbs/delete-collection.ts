import { isReason } from '../../api/errors.js';
import { keyOf } from '../../api/object.js';
import type { DeleteParameters, ListParameters } from '../../api/options.js';
import type { RequestContext } from '../../registry/resource-definition.js';
import { inTurns, TurnTaking } from '../../runtime/turn-taking.js';
import { readMetadata } from '../forms.js';
import type { Parts } from '../parts.js';
import type { Result } from '../request.js';
import { deleteObject } from './delete.js';
import { type ListTarget, listObjects } from './list.js';

/** DELETE of a collection: each object by itself, in order; answers the list as it was before. */
export async function deleteCollection(
  parts: Parts,
  target: ListTarget,
  selection: ListParameters,
  parameters: DeleteParameters,
  context: RequestContext,
): Promise<Result> {
  const list = await listObjects(parts, target, selection);
  const turns = new TurnTaking();
  for (const entry of list.entries) {
    if (turns.isDue) await turns.next();
    target.signal.throwIfAborted();
    const key = keyOf({ metadata: await inTurns(readMetadata(target.definition, entry), turns) });
    try {
      await deleteObject(parts, target.definition, key, parameters, { ...context, key }, { isOneOfMany: true });
    } catch (error) {
      // Somebody else was faster, and it is gone all the same.
      if (!isReason(error, 'NotFound')) throw error;
    }
  }
  return list;
}
