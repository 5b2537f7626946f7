import { child, duplicate, index, invalid, required, tooMany, type Violation } from '../../api/violations.js';
import { followPath } from '../../schema/field-path.js';
import type { SchemaProps } from '../../schema/json-schema-props.js';
import { notStructural } from '../../schema/structural.js';
import type { VersionParts } from './internal-spec.js';

interface SelectableFieldRules {
  readonly path: string;
  /** Path of the schema in messages. */
  readonly schemaPath: string;
  /** Error for fields without a schema. */
  readonly withoutSchema: string;
  /** Whether there may be more than `maxSelectableFields`. */
  readonly anyNumber: boolean;
}

/** Returns all violations of selectable fields. */
export function selectableFieldViolations(
  { selectableFields, schema }: VersionParts,
  { path, schemaPath, withoutSchema, anyNumber }: SelectableFieldRules,
): readonly Violation[] {
  if (selectableFields === undefined) return [];
  if (schema === undefined) return [invalid(path, '', withoutSchema)];
  const unreadable = notStructural(schema);
  return [
    ...(unreadable === undefined ? [] : [invalid(schemaPath, '', unreadable)]),
    ...pathViolations(selectableFields, schema, path, { anyNumber }),
  ];
}

/** The maximum number of selectable fields of one version. */
export const maxSelectableFields = 8;

function pathViolations(
  fields: readonly { readonly jsonPath: string }[],
  schema: SchemaProps,
  path: string,
  { anyNumber }: { readonly anyNumber: boolean },
): readonly Violation[] {
  const seen = new Set<string>();
  const found: Violation[] = [];
  fields.forEach(({ jsonPath }, position) => {
    const at = child(index(path, position), 'jsonPath');
    if (!jsonPath) {
      found.push(required(at));
      return;
    }
    const followed = followPath(jsonPath, schema, { brackets: false });
    if (typeof followed === 'string') {
      found.push(invalid(at, jsonPath, `is an invalid path: ${followed}`));
      return;
    }
    if (followed.steps[0] === 'metadata') {
      found.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    }
    if (!['string', 'boolean', 'integer'].includes(followed.schema?.type ?? '')) {
      found.push(
        invalid(
          at,
          jsonPath,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        ),
      );
    }
    if (seen.has(followed.text)) found.push(duplicate(at, jsonPath));
    seen.add(followed.text);
  });
  if (seen.size > maxSelectableFields && !anyNumber) found.push(tooMany(path, seen.size, maxSelectableFields));
  return found;
}
