import type { Steps } from '../../api/steps.js';
import { child, forbiddenField, invalid, type Violation } from '../../api/violations.js';
import type { CheckMetadata } from '../../schema/embedded.js';
import type { SchemaProps } from '../../schema/json-schema-props.js';
import { notStructural, structuralViolations } from '../../schema/structural.js';
import { toSchema } from '../../schema/to-schema.js';
import { defaultViolations } from './default-rules.js';
import { expressionViolations } from './expression-rules.js';
import type { VersionParts } from './internal-spec.js';
import { checkKeywords } from './keyword-rules.js';
import { statusRootViolations } from './status-root.js';
import type { Waivers } from './waivers.js';

/** What one schema of a definition is validated with. */
export interface SchemaRules {
  /** Prefix of extensions in paths and texts. */
  readonly prefix: string;
  readonly waivers: Waivers;
  /** Validates metadata, for embedded resources in defaults. */
  readonly checkMetadata: CheckMetadata;
  /** Whether the status is a subresource. */
  readonly hasStatus: boolean;
  readonly mustBeStructural: boolean;
  /** Whether rules may exceed the limits of cost. */
  readonly anyCost: boolean;
}

/** Returns all violations in the schema of one version, or of all versions. */
export function* schemaViolations(
  { schema, tooDeep }: VersionParts,
  base: string,
  rules: SchemaRules,
): Steps<readonly Violation[]> {
  const path = child(base, 'openAPIV3Schema');
  if (tooDeep !== undefined) return [forbiddenField(path, tooDeep)];
  if (schema === undefined) return [];
  const { waivers, prefix, hasStatus, anyCost } = rules;
  const structure = yield* structureViolations(schema, path, rules);
  yield;
  const { violations: keywords, sites } = checkKeywords(schema, path, {
    prefix,
    validTypes: !waivers.anyType,
    atomicSets: !waivers.partialSetItems,
    mapListKeys: !waivers.mapListKeys,
  });
  const found = [
    ...(hasStatus ? statusRootViolations(schema, path) : []),
    ...(schema.nullable ? [forbiddenField(child(path, 'nullable'), 'nullable cannot be true at the root')] : []),
    ...structure.violations,
    ...keywords,
    ...(structure.sound ? yield* expressionViolations(sites, { path, prefix, anyCost }) : []),
  ];
  if (found.length === 0 && structure.unreadable !== undefined) return [invalid(path, '', structure.unreadable)];
  return found;
}

interface Structure {
  readonly violations: readonly Violation[];
  /** Why the schema cannot be structural at all; only reported if nothing else is wrong. */
  readonly unreadable?: string;
  /** Whether the schema is structural and its defaults are valid, so that expressions can be checked. */
  readonly sound: boolean;
}

function* structureViolations(schema: SchemaProps, path: string, rules: SchemaRules): Steps<Structure> {
  if (!rules.mustBeStructural) return { violations: [], sound: false };
  const unreadableBecause = notStructural(schema);
  if (unreadableBecause !== undefined) return { violations: [], unreadable: unreadableBecause, sound: false };
  const structural = structuralViolations(schema, path, rules.prefix);
  if (structural.length > 0) return { violations: structural, sound: false };
  yield;
  const defaults = yield* defaultViolations(toSchema(schema), path, {
    pruned: !rules.waivers.unprunedDefaults,
    checkMetadata: rules.checkMetadata,
  });
  return { violations: defaults, sound: defaults.length === 0 };
}
