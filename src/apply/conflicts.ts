import { ApiError } from '../api/errors.js';
import { quote } from '../api/go-text.js';
import { compareText } from '../api/text-order.js';
import { maxViolationChars } from '../api/violations.js';
import { count, difference, type FieldSet, isEmpty, paths } from './field-set.js';
import { identityOf, type Owner } from './managed-fields.js';
import { printPath } from './path-element.js';

/** The fields that an apply would change although another manager owns them. */
export interface FieldConflict {
  readonly owner: Owner;
  /** Never empty. */
  readonly fields: FieldSet;
}

/** Thrown for conflicts with other managers. `conflictError` turns it into the 409 response. */
export class FieldConflicts extends Error {
  override readonly name = 'FieldConflicts';
  readonly conflicts: readonly FieldConflict[];

  constructor(conflicts: readonly FieldConflict[]) {
    super('fields are owned by others');
    this.conflicts = conflicts;
  }

  /** Returns the conflicts without these fields; undefined if none is left. */
  without(fields: FieldSet): FieldConflicts | undefined {
    const left = this.conflicts
      .map(({ owner, fields: of }) => ({ owner, fields: difference(of, fields) }))
      .filter(({ fields: of }) => !isEmpty(of));
    return left.length > 0 ? new FieldConflicts(left) : undefined;
  }
}

interface Told {
  readonly by: string;
  readonly field: string;
}

/** The approximate number of bytes around each field and owner in an error response. */
const aroundEach = 80;

/** Returns the conflicts in the order of their owners, as many as a response lists. */
function toldOf(conflicts: readonly FieldConflict[]): readonly Told[] {
  const told: Told[] = [];
  let room = maxViolationChars;
  for (const { owner, fields } of conflicts.toSorted((a, b) => compareText(identityOf(a.owner), identityOf(b.owner)))) {
    const by = printOwner(owner);
    for (const path of paths(fields)) {
      if (room < 0) return told;
      const field = printPath(path);
      room -= 2 * field.length + by.length + aroundEach;
      told.push({ by, field });
    }
  }
  return told;
}

/**
 * Returns the error for an apply without force: 409 with one cause for each field and owner, in the order of the
 * message. The message counts all conflicts; the number of listed conflicts is limited.
 */
export function conflictError({ conflicts }: FieldConflicts): ApiError {
  const told = toldOf(conflicts);
  const causes = told.map(({ by, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${by}`,
    field,
  }));
  const all = conflicts.reduce((sum, { fields }) => sum + count(fields), 0);
  return new ApiError({ reason: 'Conflict', message: conflictMessage(told, all), details: { causes } });
}

function conflictMessage(told: readonly Told[], all: number): string {
  const [first] = told;
  if (first !== undefined && all === 1) {
    return `Apply failed with 1 conflict: conflict with ${first.by}: ${first.field}`;
  }
  const lines = told.flatMap(({ by, field }, at) => [
    ...(told[at - 1]?.by === by ? [] : [`conflicts with ${by}:`]),
    `- ${field}`,
  ]);
  return `Apply failed with ${all} conflicts: ${lines.join('\n')}`;
}

function printOwner({ manager, operation, apiVersion, subresource }: Owner): string {
  const through = subresource === '' ? '' : ` with subresource ${quote(subresource)}`;
  return `${quote(manager)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
