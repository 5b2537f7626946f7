import { goJson } from '../../api/go-text.js';
import type {
  CustomResourceColumnDefinition,
  CustomResourceSubresources,
} from '../../api/kinds/custom-resource-definition.js';
import { child, invalid, required, type Violation } from '../../api/violations.js';

/** Validation of a version, except for its schema and its selectable fields. */

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const notADotPath = 'must be a simple json path starting with .';

export function columnViolations(column: CustomResourceColumnDefinition, path: string): readonly Violation[] {
  const { name, type, format, jsonPath } = column;
  const oneOfTypes = `must be one of ${columnTypes.join()}`;
  return [
    ...(name ? [] : [required(child(path, 'name'))]),
    ...(type
      ? columnTypes.includes(type)
        ? []
        : [invalid(child(path, 'type'), type, oneOfTypes)]
      : [required(child(path, 'type'), oneOfTypes)]),
    ...(format && !columnFormats.includes(format)
      ? [invalid(child(path, 'format'), format, `must be one of ${columnFormats.join()}`)]
      : []),
    ...(jsonPath
      ? jsonPath.startsWith('.')
        ? []
        : [invalid(child(path, 'JSONPath'), jsonPath, notADotPath)]
      : [required(child(path, 'JSONPath'))]),
  ];
}

export function subresourceViolations(
  subresources: CustomResourceSubresources | undefined,
  path: string,
): readonly Violation[] {
  const scale = subresources?.scale;
  if (!scale) return [];
  const underOne = (
    name: string,
    value: string | undefined,
    roots: readonly string[],
    message: string,
  ): readonly Violation[] => {
    const at = child(path, 'scale', name);
    if (!value) return [required(at)];
    if (!value.startsWith('.')) return [invalid(at, value, notADotPath)];
    return roots.some((root) => value.startsWith(root)) ? [] : [invalid(at, value, message)];
  };
  return [
    ...underOne('specReplicasPath', scale.specReplicasPath, ['.spec.'], 'should be a json path under .spec'),
    ...underOne('statusReplicasPath', scale.statusReplicasPath, ['.status.'], 'should be a json path under .status'),
    ...(scale.labelSelectorPath
      ? underOne(
          'labelSelectorPath',
          scale.labelSelectorPath,
          ['.spec.', '.status.'],
          'should be a json path under either .spec or .status',
        )
      : []),
  ];
}

const longestWarning = 256;

export function deprecationWarningViolations(
  deprecated: boolean,
  warning: string | undefined,
  path: string,
): readonly Violation[] {
  if (warning === undefined) return [];
  // The value is a pointer in Go, which is printed as JSON.
  const wrong = (message: string): Violation => ({
    reason: 'FieldValueInvalid',
    field: path,
    body: `Invalid value: ${goJson(warning)}: ${message}`,
  });
  if (!deprecated) return [wrong('can only be set for deprecated versions')];
  const at = unprintableAt(warning);
  return [
    ...(Buffer.byteLength(warning) > longestWarning ? [wrong(`must be <= ${longestWarning} characters long`)] : []),
    ...(warning === '' ? [wrong('must not be an empty string')] : []),
    ...(at === undefined
      ? []
      : [wrong(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`)]),
  ];
}

/** Returns the byte index of the first character that Go does not print; undefined if there is none. */
function unprintableAt(text: string): number | undefined {
  let at = 0;
  for (const character of text) {
    if (character !== ' ' && !/^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character)) return at;
    at += Buffer.byteLength(character);
  }
  return undefined;
}
