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
    const remaining = this.conflicts
      .map(({ owner, fields: of }) => ({ owner, fields: difference(of, fields) }))
      .filter(({ fields: of }) => !isEmpty(of));
    return remaining.length > 0 ? new FieldConflicts(remaining) : undefined;
  }
}

interface ReportedConflict {
  readonly by: string;
  readonly field: string;
}

/** The approximate number of bytes around each field and owner in an error response. */
const aroundEach = 80;

/** Returns the conflicts in the order of their owners, as many as a response lists. */
function reportedConflicts(conflicts: readonly FieldConflict[]): readonly ReportedConflict[] {
  const reported: ReportedConflict[] = [];
  let remaining = maxViolationChars;
  for (const { owner, fields } of conflicts.toSorted((a, b) => compareText(identityOf(a.owner), identityOf(b.owner)))) {
    const by = printOwner(owner);
    for (const path of paths(fields)) {
      if (remaining < 0) return reported;
      const field = printPath(path);
      remaining -= 2 * field.length + by.length + aroundEach;
      reported.push({ by, field });
    }
  }
  return reported;
}

/**
 * Returns the error for an apply without force: 409 with one cause for each field and owner, in the order of the
 * message. The message counts all conflicts; the number of listed conflicts is limited.
 */
export function conflictError({ conflicts }: FieldConflicts): ApiError {
  const reported = reportedConflicts(conflicts);
  const causes = reported.map(({ by, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${by}`,
    field,
  }));
  const all = conflicts.reduce((sum, { fields }) => sum + count(fields), 0);
  return new ApiError({ reason: 'Conflict', message: conflictMessage(reported, all), details: { causes } });
}

function conflictMessage(reported: readonly ReportedConflict[], all: number): string {
  const [first] = reported;
  if (first !== undefined && all === 1) {
    return `Apply failed with 1 conflict: conflict with ${first.by}: ${first.field}`;
  }
  const lines = reported.flatMap(({ by, field }, at) => [
    ...(reported[at - 1]?.by === by ? [] : [`conflicts with ${by}:`]),
    `- ${field}`,
  ]);
  return `Apply failed with ${all} conflicts: ${lines.join('\n')}`;
}

function printOwner({ manager, operation, apiVersion, subresource }: Owner): string {
  const through = subresource === '' ? '' : ` with subresource ${quote(subresource)}`;
  return `${quote(manager)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
