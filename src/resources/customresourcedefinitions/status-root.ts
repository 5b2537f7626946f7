import { child, invalid, type Violation } from '../../api/violations.js';
import { internalForm } from '../../schema/internal-form.js';
import { keywords, type SchemaProps } from '../../schema/json-schema-props.js';

/** Keywords that may stand at the root beside a status subresource, as the message lists them. */
const besideStatus = [
  'Description',
  'Type',
  'Format',
  'Title',
  'Maximum',
  'ExclusiveMaximum',
  'Minimum',
  'ExclusiveMinimum',
  'MaxLength',
  'MinLength',
  'Pattern',
  'MaxItems',
  'MinItems',
  'UniqueItems',
  'MultipleOf',
  'Required',
  'Items',
  'Properties',
  'ExternalDocs',
  'Example',
  'XPreserveUnknownFields',
  'XValidations',
];

/** Validates the root of a schema beside a status subresource: all about the status must stand in `properties.status`. */
export function statusRootViolations(schema: SchemaProps, path: string): readonly Violation[] {
  for (const { member, go } of keywords) {
    if (schema[member] === undefined) continue;
    if (go === 'Type') {
      if (schema.type === 'object') continue;
      return [
        invalid(
          child(path, 'type'),
          schema.type,
          'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
        ),
      ];
    }
    if (!besideStatus.includes(go)) {
      return [
        invalid(
          path,
          internalForm(schema),
          `only [${besideStatus.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`,
        ),
      ];
    }
  }
  return [];
}
