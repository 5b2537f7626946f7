import type { Labels } from '../api/selectors.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import type { Entry } from '../store/store.js';
import { stored, storedMetadata } from './forms.js';
import type { Selection } from './selection.js';

// Parsed objects are let go soon, and a selector by labels would read every entry of a collection again each time.
const labels = new WeakMap<Entry, { readonly of: ResourceDefinition; readonly labels: Labels | undefined }>();

function labelsOf(definition: ResourceDefinition, entry: Entry): Labels | undefined {
  const known = labels.get(entry);
  if (known?.of === definition) return known.labels;
  const found = storedMetadata(definition, entry).labels;
  labels.set(entry, { of: definition, labels: found });
  return found;
}

/** Is an entry among those a request is about? Reads of it only what the selection looks at. */
export function isSelected(selection: Selection, definition: ResourceDefinition, entry: Entry): boolean {
  if (selection.everything) return true;
  if (selection.name !== undefined && !entry.key.endsWith(`/${selection.name}`)) return false;
  if (selection.labels !== undefined && !selection.labels.matches(labelsOf(definition, entry))) return false;
  return selection.byLabelsAlone || selection.matches(stored(definition, entry));
}
