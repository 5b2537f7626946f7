import { ApiError } from '../api/errors.js';
import { quote } from '../api/go-text.js';
import { compareText, sortTexts } from '../api/text-order.js';
import { maxToldSize } from '../api/violations.js';
import { type FieldSet, type Path, paths } from './field-set.js';
import { identityOf, type Owner } from './managed-fields.js';
import { printPath } from './path-element.js';

/** One field that an apply would change and somebody else owns. */
export interface FieldConflict {
  readonly owner: Owner;
  readonly path: Path;
}

/** An apply would change fields of others; says which. Becomes the 409 that `conflictError` makes. */
export class FieldConflicts extends Error {
  override readonly name = 'FieldConflicts';
  readonly conflicts: readonly FieldConflict[];

  constructor(conflicts: readonly FieldConflict[]) {
    super('fields are owned by others');
    this.conflicts = conflicts;
  }
}

/** The fields among them, as many as an answer tells. */
export function conflictsOf(owner: Owner, fields: FieldSet): readonly FieldConflict[] {
  const found: FieldConflict[] = [];
  let told = 0;
  for (const path of paths(fields)) {
    found.push({ owner, path });
    told += printPath(path).length;
    if (told > maxToldSize) break;
  }
  return found;
}

/** The answer to an apply without force: 409 with one cause for each field and owner, in the order of the message. */
export function conflictError(conflicts: readonly FieldConflict[]): ApiError {
  const causes = conflicts
    .toSorted((a, b) => compareText(identityOf(a.owner), identityOf(b.owner)))
    .map(({ owner, path }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${printOwner(owner)}`,
      field: printPath(path),
    }));
  return new ApiError({ reason: 'Conflict', message: conflictMessage(conflicts), details: { causes } });
}

function conflictMessage(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${printOwner(first.owner)}: ${printPath(first.path)}`;
  }
  const byOwner = new Map<string, FieldConflict[]>();
  for (const conflict of conflicts) {
    const identity = identityOf(conflict.owner);
    const same = byOwner.get(identity);
    if (same === undefined) byOwner.set(identity, [conflict]);
    else same.push(conflict);
  }
  const lines = sortTexts([...byOwner.keys()]).flatMap((identity) => {
    const same = byOwner.get(identity) ?? [];
    const heading = same[0] === undefined ? [] : [`conflicts with ${printOwner(same[0].owner)}:`];
    return [...heading, ...same.map(({ path }) => `- ${printPath(path)}`)];
  });
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function printOwner({ manager, operation, apiVersion, subresource }: Owner): string {
  const through = subresource === '' ? '' : ` with subresource ${quote(subresource)}`;
  return `${quote(manager)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
