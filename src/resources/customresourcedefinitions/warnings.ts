import { quote } from '../../api/go-text.js';
import type { CustomResourceDefinition } from '../../api/kinds/custom-resource-definition.js';
import { isKnownFormat } from '../../api/string-formats.js';
import { everySchema, type SchemaProps } from '../../schema/json-schema-props.js';
import { internalSpec } from './internal-spec.js';

/** Returns warnings about formats that are new in a definition and not checked. */
export function crdWarnings(
  next: CustomResourceDefinition,
  previous: CustomResourceDefinition | undefined,
  prefixes: readonly string[],
): readonly string[] {
  const now = schemasOf(next, prefixes);
  const before = previous === undefined ? [] : schemasOf(previous, prefixes);
  const known = new Set(before.flatMap(unknownFormats));
  return now
    .flatMap(unknownFormats)
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${quote(format)}`);
}

function schemasOf(crd: CustomResourceDefinition, prefixes: readonly string[]): readonly SchemaProps[] {
  const spec = internalSpec(crd.spec, prefixes);
  return [spec, ...spec.versions].flatMap(({ schema }) => (schema ? [schema] : []));
}

function unknownFormats(schema: SchemaProps): readonly string[] {
  const found: string[] = [];
  everySchema(schema, ({ type = '', format }) => {
    if (format !== undefined && !isKnownFormat(type, format)) found.push(format);
  });
  return found;
}
