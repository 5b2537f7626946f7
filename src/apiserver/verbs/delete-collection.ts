import { isReason } from '../../api/errors.js';
import { keyOf } from '../../api/object.js';
import type { DeleteParameters, ListParameters } from '../../api/options.js';
import type { RequestContext } from '../../registry/resource-definition.js';
import { runInTurns, TurnTaking } from '../../runtime/turn-taking.js';
import type { Entry } from '../../store/store.js';
import { decodeEntryMetadata } from '../entry-codec.js';
import type { Parts } from '../parts.js';
import type { Result } from '../request.js';
import { deleteObject } from './delete.js';
import { type ListTarget, listObjects } from './list.js';

/** The number of objects in a page if the caller sets no limit, so that a given version is read exactly. */
const pageSize = 10_000;

/** Deletes the objects of a collection one by one, in order. Returns the list as it was before. */
export async function deleteCollection(
  parts: Parts,
  target: ListTarget,
  selection: ListParameters,
  parameters: DeleteParameters,
  context: RequestContext,
): Promise<Result> {
  const isLimited = selection.limit !== undefined && selection.limit !== 0;
  const paged = isLimited ? selection : { ...selection, limit: pageSize };
  const turns = new TurnTaking();
  const first = await listObjects(parts, target, paged);
  const entries = [...first.entries];
  for (let page = first; ; ) {
    await deleteEach(parts, target, page.entries, { parameters, context, turns });
    if (isLimited || page.continue === undefined) return { ...first, entries };
    const further = { resourceVersion: '', resourceVersionMatch: undefined, continue: page.continue };
    page = await listObjects(parts, target, { ...paged, ...further });
    entries.push(...page.entries);
  }
}

async function deleteEach(
  parts: Parts,
  { definition, signal }: ListTarget,
  entries: readonly Entry[],
  {
    parameters,
    context,
    turns,
  }: { readonly parameters: DeleteParameters; readonly context: RequestContext; readonly turns: TurnTaking },
): Promise<void> {
  for (const entry of entries) {
    if (turns.isDue) await turns.next();
    signal.throwIfAborted();
    const metadata = await runInTurns(decodeEntryMetadata(definition, entry), turns);
    const key = keyOf({ metadata });
    try {
      const found = { uid: metadata.uid };
      await deleteObject(parts, { definition, parameters, context: { ...context, key }, found });
    } catch (error) {
      // Another caller has deleted the object. An object that has since been created under its name is kept.
      if (!isReason(error, 'NotFound')) throw error;
    }
  }
}
