import { hasCondition } from '../../api/conditions.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '../../api/kinds/custom-resource-definition.js';
import { hasSchema, type SchemaProps } from '../../schema/json-schema-props.js';
import { prune } from '../../schema/prune.js';
import { same } from '../../schema/same.js';
import type { Schema } from '../../schema/schema.js';
import { notStructural, structuralViolations } from '../../schema/structural.js';
import { toSchema } from '../../schema/to-schema.js';
import { validateCaBundle } from './ca-bundle.js';
import { hasKnownReviewVersion } from './conversion-rules.js';
import { internalSpec, lacksSchema, type VersionParts } from './internal-spec.js';
import { schemaTypes } from './keyword-rules.js';
import { hasNonAtomicItems, mapListKeyViolations } from './list-type-rules.js';
import { maxSelectableFields } from './selectable-field-rules.js';

/** Rules that do not apply to an update because the stored definition already violates them. */
export interface Waivers {
  readonly anyType: boolean;
  readonly noSchema: boolean;
  readonly notStructural: boolean;
  readonly unprunedDefaults: boolean;
  readonly partialSetItems: boolean;
  readonly mapListKeys: boolean;
  readonly unknownReviewVersion: boolean;
  readonly anyCaBundle: boolean;
  /** The versions that may have any number of selectable fields; the empty string means all versions. */
  readonly anyNumberOfFields: readonly string[];
  /** Versions whose rules may exceed the limits of cost, because the schema is as it was stored. */
  readonly anyCost: ReadonlySet<string>;
}

export const nothingWaived: Waivers = {
  anyType: false,
  noSchema: false,
  notStructural: false,
  unprunedDefaults: false,
  partialSetItems: false,
  mapListKeys: false,
  unknownReviewVersion: false,
  anyCaBundle: true,
  anyNumberOfFields: [],
  anyCost: new Set(),
};

/** Returns the rules that do not apply to an update. `prefixes` are those of schema extensions. */
export function waiversOf(
  next: CustomResourceDefinition,
  previous: CustomResourceDefinition,
  prefixes: readonly string[],
): Waivers {
  const old = internalSpec(previous.spec, prefixes);
  const now = internalSpec(next.spec, prefixes);
  const prefix = prefixes[0] ?? '';
  const schemas = [old, ...old.versions].flatMap(({ schema }) => (schema ? [schema] : []));
  const somewhere = (test: (schema: SchemaProps) => boolean): boolean =>
    schemas.some((schema) => hasSchema(schema, test));
  const { clientConfig } = previous.spec.conversion?.webhook ?? {};
  const oldVersions = new Map(old.versions.map((version) => [version.name, version]));
  const unchangedFields = (parts: VersionParts | undefined, before: VersionParts | undefined): boolean =>
    (before?.selectableFields?.length ?? 0) > maxSelectableFields &&
    same(parts?.selectableFields, before?.selectableFields);
  return {
    anyType: somewhere(({ type }) => type !== undefined && !schemaTypes.includes(type)),
    noSchema: lacksSchema(old) && old.versions.some(lacksSchema),
    notStructural: schemas.some(
      (schema) => notStructural(schema) !== undefined || structuralViolations(schema, '', prefix).length > 0,
    ),
    unprunedDefaults: schemas.some(hasUnprunedDefaults),
    partialSetItems: somewhere(hasNonAtomicItems),
    mapListKeys: somewhere((schema) => mapListKeyViolations(schema, '', prefix).length > 0),
    unknownReviewVersion: !hasKnownReviewVersion(previous.spec.conversion),
    anyCaBundle:
      !hasCondition(previous, 'Established') ||
      (clientConfig?.caBundle ? validateCaBundle('', clientConfig.caBundle).length > 0 : false),
    anyNumberOfFields: [
      ...(unchangedFields(now, old) ? [''] : []),
      ...now.versions.flatMap((version) =>
        unchangedFields(version, oldVersions.get(version.name)) ? [version.name] : [],
      ),
    ],
    anyCost: unchangedVersions(next, previous),
  };
}

/** Returns the names of the versions whose schema is unchanged. */
function unchangedVersions(next: CustomResourceDefinition, previous: CustomResourceDefinition): ReadonlySet<string> {
  const existing = (name: string): CustomResourceDefinitionVersion | undefined => schemaHolder(previous, name);
  return new Set(
    (next.spec.versions ?? [])
      .filter(({ name, schema }) => existing(name) !== undefined && same(schema, existing(name)?.schema))
      .map(({ name }) => name),
  );
}

/**
 * Returns a version with the schema that a definition has for the name of a version. A schema that all versions share
 * counts as that of any name, even one that the definition does not have.
 */
function schemaHolder({ spec }: CustomResourceDefinition, name: string): CustomResourceDefinitionVersion | undefined {
  const [first, ...others] = spec.versions ?? [];
  if (others.every(({ schema }) => same(schema, first?.schema))) return first;
  return spec.versions.find((version) => version.name === name);
}

function hasUnprunedDefaults(schema: SchemaProps): boolean {
  if (notStructural(schema) !== undefined || structuralViolations(schema, '', '').length > 0) return false;
  const isUnpruned = (of: Schema): boolean =>
    (of.default !== undefined && !same(prune(of.default, of).value, of.default)) ||
    (of.items !== undefined && isUnpruned(of.items)) ||
    [...(of.properties?.values() ?? [])].some(isUnpruned);
  return hasSchema(schema, ({ default: value }) => value !== undefined) && isUnpruned(toSchema(schema));
}
