import { child, index, mapKey, required, type Violation } from '../api/violations.js';
import type { SchemaProps } from './json-schema-props.js';

const junctorNames = ['not', 'allOf', 'anyOf', 'oneOf'] as const;

/** Returns a violation for each field that junctors at the root of the schema name and the schema itself does not. */
export function completenessViolations(
  inside: SchemaProps,
  core: SchemaProps,
  corePath: string,
  insidePath: string,
): readonly Violation[] {
  const branches: readonly (readonly [SchemaProps, string])[] = [
    ...(inside.not ? [[inside.not, child(insidePath, 'not')] as const] : []),
    ...(['allOf', 'anyOf', 'oneOf'] as const).flatMap((word) =>
      (inside[word] ?? []).map((branch, at) => [branch, index(child(insidePath, word), at)] as const),
    ),
  ];
  return branches.flatMap(([branch, path]) => nestedCompleteness(branch, core, corePath, path));
}

function nestedCompleteness(
  inside: SchemaProps,
  core: SchemaProps | undefined,
  corePath: string,
  insidePath: string,
): readonly Violation[] {
  if (core === undefined) return [required(corePath, `because it is defined in ${insidePath}`)];
  if (!junctorNames.some((word) => inside[word] !== undefined) && !inside.items && !inside.properties) return [];
  const items = inside.items?.schema;
  return [
    ...completenessViolations(inside, core, corePath, insidePath),
    ...(items
      ? nestedCompleteness(items, core.items?.schema, child(corePath, 'items'), child(insidePath, 'items'))
      : []),
    ...[...(inside.properties ?? [])].flatMap(([name, inner]) =>
      nestedCompleteness(
        inner,
        core.properties?.get(name),
        mapKey(child(corePath, 'properties'), name),
        mapKey(child(insidePath, 'properties'), name),
      ),
    ),
  ];
}
