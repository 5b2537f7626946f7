import {
  appenderTo,
  child,
  forbiddenField,
  index,
  invalid,
  mapKey,
  notSupported,
  type Violation,
} from '../../api/violations.js';
import type { SchemaProps } from '../../schema/json-schema-props.js';
import { metaFields } from '../../schema/prune.js';
import { hasKnownMapType, listTypeViolations, mapListKeyViolations, mapTypeViolations } from './list-type-rules.js';
import { ruleViolations } from './rule-form.js';

/** Validation of single keywords of a schema, at any depth. Texts, paths and order are kube-apiserver's. */

export interface KeywordRuleOptions {
  /** Prefix of extensions in paths and texts. */
  readonly prefix: string;
  /** Whether types must be those of OpenAPI. */
  readonly validTypes: boolean;
  /** Whether items of sets must be atomic. */
  readonly atomicSets: boolean;
  /** Whether keys of map lists must always be present, and neither they nor items of sets and map lists may be null. */
  readonly mapListKeys: boolean;
}

/** A node with rules in CEL that has no invalid keyword at or below it. */
export interface RuleSite {
  readonly schema: SchemaProps;
  /** Path of the node in error messages, without the name of the extension. */
  readonly path: string;
  /** The nodes above it, from the root of the schema down, each with how it leads to the next. */
  readonly above: readonly RuleAncestor[];
  /**
   * Path of the outermost node within which values cannot be correlated with stored ones; `oldSelf` cannot be used
   * there.
   */
  readonly uncorrelatable: string | undefined;
}
interface RuleAncestor {
  readonly schema: SchemaProps;
  readonly to: 'property' | 'items' | 'additionalProperties';
  readonly name?: string;
}

/** What a node's path from the root determines. */
interface NodeContext {
  readonly root: boolean;
  readonly insideMeta: boolean;
  /** Why defaults are forbidden here; undefined if they are allowed. */
  readonly noDefaults: string | undefined;
  readonly uncorrelatable: string | undefined;
  /** undefined inside `not`, `allOf` and the like, where rules are ignored. */
  readonly above: readonly RuleAncestor[] | undefined;
}

/** Returns all violations of keywords in a schema, and the nodes whose rules can be checked. */
export function checkKeywords(
  schema: SchemaProps,
  path: string,
  options: KeywordRuleOptions,
): { readonly violations: readonly Violation[]; readonly sites: readonly RuleSite[] } {
  const walk: Walk = { options, violations: [], sites: [] };
  visit(
    schema,
    path,
    { root: true, insideMeta: false, noDefaults: undefined, uncorrelatable: undefined, above: [] },
    walk,
  );
  return walk;
}

interface Walk {
  readonly options: KeywordRuleOptions;
  readonly violations: Violation[];
  readonly sites: RuleSite[];
}

function visit(schema: SchemaProps, path: string, place: NodeContext, walk: Walk): void {
  const { options, violations } = walk;
  const before = violations.length;
  const add = appenderTo(violations);
  add(unsupportedKeywords(schema, path, place, options));
  if (schema.uniqueItems) {
    violations.push(
      forbiddenField(
        child(path, 'uniqueItems'),
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  }
  visitInner(schema, path, place, walk);
  if (schema.preserveUnknownFields === false) {
    violations.push(
      invalid(child(path, `${options.prefix}preserve-unknown-fields`), false, 'must be true or undefined'),
    );
  }
  add(mapTypeViolations(schema, path, options.prefix));
  add(listTypeViolations(schema, path, options));
  if (options.mapListKeys) add(mapListKeyViolations(schema, path, options.prefix));
  if (schema.validations) add(ruleViolations(schema, child(path, `${options.prefix}validations`)));
  if (schema.validations && place.above && violations.length === before) {
    walk.sites.push({ schema, path, above: place.above, uncorrelatable: place.uncorrelatable });
  }
}

/** Visits the schemas within this one, in the order of kube-apiserver. */
function visitInner(schema: SchemaProps, path: string, place: NodeContext, walk: Walk): void {
  const { additionalProperties, properties, items } = schema;
  const { insideMeta, noDefaults, uncorrelatable } = place;
  const below = (to: RuleAncestor['to'], name?: string): NodeContext['above'] =>
    place.above && [...place.above, name === undefined ? { schema, to } : { schema, to, name }];
  if (additionalProperties) {
    const at = child(path, 'additionalProperties');
    if (properties?.size && (!additionalProperties.allows || additionalProperties.schema)) {
      walk.violations.push(forbiddenField(at, 'additionalProperties and properties are mutual exclusive'));
    }
    if (additionalProperties.schema) {
      const reason = insideMeta ? 'inside additionalProperties applying to object metadata' : noDefaults;
      const inside = {
        root: false,
        insideMeta,
        noDefaults: reason,
        uncorrelatable,
        above: below('additionalProperties'),
      };
      visit(additionalProperties.schema, at, inside, walk);
    }
  }
  for (const [name, property] of properties ?? []) {
    const isMeta = (place.root || schema.embeddedResource === true) && metaFields.has(name);
    visit(
      property,
      mapKey(child(path, 'properties'), name),
      {
        root: false,
        insideMeta: insideMeta || isMeta,
        noDefaults: isMeta && place.root ? `in top-level ${name}` : noDefaults,
        uncorrelatable: hasKnownMapType(schema) ? uncorrelatable : (uncorrelatable ?? path),
        above: below('property', name),
      },
      walk,
    );
  }
  const unruled: NodeContext = { root: false, insideMeta, noDefaults, uncorrelatable, above: undefined };
  if (schema.not) visit(schema.not, child(path, 'not'), unruled, walk);
  for (const word of ['allOf', 'oneOf', 'anyOf'] as const) {
    schema[word]?.forEach((branch, at) => {
      visit(branch, index(child(path, word), at), unruled, walk);
    });
  }
  for (const [name, definition] of schema.definitions ?? []) {
    visit(definition, mapKey(child(path, 'definitions'), name), unruled, walk);
  }
  if (items) {
    const inItems: NodeContext = {
      root: false,
      insideMeta,
      noDefaults,
      uncorrelatable: schema.listType === 'map' ? uncorrelatable : (uncorrelatable ?? path),
      above: below('items'),
    };
    if (items.schema) visit(items.schema, child(path, 'items'), inItems, walk);
    items.schemas?.forEach((item, at) => {
      visit(item, index(child(path, 'items'), at), inItems, walk);
    });
  }
  for (const [name, dependency] of schema.dependencies ?? []) {
    if (dependency.schema) visit(dependency.schema, mapKey(child(path, 'dependencies'), name), unruled, walk);
  }
}

/** Types that OpenAPI knows. */
export const schemaTypes = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

const unsupported: readonly { readonly name: string; readonly says: (of: SchemaProps) => boolean }[] = [
  { name: 'id', says: (of) => of.id !== undefined },
  { name: 'additionalItems', says: (of) => of.additionalItems !== undefined },
  { name: 'patternProperties', says: (of) => (of.patternProperties?.size ?? 0) > 0 },
  { name: 'definitions', says: (of) => (of.definitions?.size ?? 0) > 0 },
  { name: 'dependencies', says: (of) => of.dependencies !== undefined },
  { name: '$ref', says: (of) => of.ref !== undefined },
];

function unsupportedKeywords(
  schema: SchemaProps,
  path: string,
  { noDefaults, insideMeta }: NodeContext,
  { validTypes, prefix }: KeywordRuleOptions,
): readonly Violation[] {
  const { type } = schema;
  const found: Violation[] = [];
  if (validTypes && type !== undefined && !schemaTypes.includes(type)) {
    found.push(notSupported(child(path, 'type'), type, schemaTypes));
  }
  if (schema.default !== undefined && noDefaults !== undefined) {
    found.push(forbiddenField(child(path, 'default'), `must not be set ${noDefaults}`));
  }
  for (const { name, says } of unsupported) {
    if (says(schema)) found.push(forbiddenField(child(path, name), `${name} is not supported`));
  }
  if (type === 'null') {
    found.push(forbiddenField(child(path, 'type'), 'type cannot be set to null, use nullable as an alternative'));
  }
  if (schema.items?.schemas?.length) {
    found.push(forbiddenField(child(path, 'items'), 'items must be a schema object and not an array'));
  }
  if (insideMeta && schema.embeddedResource) {
    found.push(forbiddenField(child(path, `${prefix}embedded-resource`), 'must not be used inside of resource meta'));
  }
  return found;
}
