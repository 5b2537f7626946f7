import type { Labels } from '../api/label-requirements.js';
import { runSync, type Steps } from '../api/steps.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { runInTurns } from '../runtime/turn-taking.js';
import type { Entry } from '../store/store.js';
import { decodeEntry, decodeEntryMetadata, isLarge } from './entry-codec.js';
import type { Selection } from './selection.js';

// Labels are cached, because parsed objects are released soon and a label selector would otherwise read every entry of
// a collection each time.
const labels = new WeakMap<Entry, { readonly of: ResourceDefinition; readonly labels: Labels | undefined }>();

function* readLabels(definition: ResourceDefinition, entry: Entry): Steps<Labels | undefined> {
  const known = labels.get(entry);
  if (known?.of === definition) return known.labels;
  const found = (yield* decodeEntryMetadata(definition, entry)).labels;
  labels.set(entry, { of: definition, labels: found });
  return found;
}

/** Whether an entry is selected. Reads only the parts that the selection requires. */
export function isSelected(selection: Selection, definition: ResourceDefinition, entry: Entry): boolean {
  if (selection.everything) return true;
  if (!mayBeNamed(selection, entry)) return false;
  if (selection.labels !== undefined && !selection.labels.matches(runSync(readLabels(definition, entry)))) return false;
  return selection.byLabelsAlone || selection.matches(decodeEntry(definition, entry));
}

const mayBeNamed = ({ name }: Selection, { key }: Entry): boolean => name === undefined || key.endsWith(`/${name}`);

/**
 * Reads what `isSelected` needs of large entries, in turns with other work; returns undefined if there are no such
 * entries.
 */
export function readForSelection(
  selection: Selection,
  definition: ResourceDefinition,
  entries: readonly (Entry | undefined)[],
): Promise<unknown> | undefined {
  if (selection.everything) return undefined;
  const large = entries.filter((entry) => entry !== undefined && isLarge(entry) && mayBeNamed(selection, entry));
  if (large.length === 0) return undefined;
  const read = selection.byLabelsAlone ? (entry: Entry) => runInTurns(readLabels(definition, entry)) : readWhole;
  return Promise.all((large as readonly Entry[]).map(read));
}

// Many watches may read the same entry.
const underWay = new WeakMap<Entry, Promise<unknown>>();

function readWhole(entry: Entry): Promise<unknown> {
  const known = underWay.get(entry);
  if (known !== undefined) return known;
  const reading = runInTurns(entry.read()).finally(() => underWay.delete(entry));
  underWay.set(entry, reading);
  return reading;
}
