import { trimSpace } from '../../api/go-text.js';
import {
  child,
  forbiddenField,
  index,
  invalid,
  invalidOnce,
  mapKey,
  notSupported,
  notSupportedWord,
  ofEach,
  required,
  type Violation,
} from '../../api/violations.js';
import { followPath } from '../../schema/field-path.js';
import { internalForm } from '../../schema/internal-form.js';
import { keywords, type SchemaProps } from '../../schema/json-schema-props.js';
import { metaFields } from '../../schema/prune.js';
import type { ValidationRule } from '../../schema/schema.js';
import { notStructural } from '../../schema/structural.js';

/** Rules about single keywords of a schema, at any depth. Texts, paths and order are kube-apiserver's. */

export interface SchemaRuleOptions {
  /** Prefix of extensions in paths and texts. */
  readonly prefix: string;
  /** Types must be OpenAPI's. */
  readonly validTypes: boolean;
  /** Items of sets must be atomic. */
  readonly atomicSets: boolean;
  /** Keys of map lists must be there and not null; items of sets and map lists must not be null. */
  readonly mapListKeys: boolean;
}

/** A node with rules in CEL, beneath and at which no keyword is wrong. */
export interface RuleSite {
  readonly schema: SchemaProps;
  /** Path of the node in error messages, without the name of the extension. */
  readonly path: string;
  /** The nodes above it, the root of the schema first, with how each leads to the next. */
  readonly above: readonly RuleAncestor[];
  /** Path of the outermost node within which values cannot be compared with stored ones; `oldSelf` has no meaning there. */
  readonly uncorrelatable: string | undefined;
}
interface RuleAncestor {
  readonly schema: SchemaProps;
  readonly to: 'property' | 'items' | 'additionalProperties';
  readonly name?: string;
}

/** What the way from the root to a node decides. */
interface Place {
  readonly root: boolean;
  readonly insideMeta: boolean;
  /** Why defaults are forbidden here, if they are. */
  readonly noDefaults: string | undefined;
  readonly uncorrelatable: string | undefined;
  /** undefined inside junctors, where rules are not looked at. */
  readonly above: readonly RuleAncestor[] | undefined;
}

/** Every keyword rule a schema breaks, and the nodes whose rules can be looked at. */
export function checkKeywords(
  schema: SchemaProps,
  path: string,
  options: SchemaRuleOptions,
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
  readonly options: SchemaRuleOptions;
  readonly violations: Violation[];
  readonly sites: RuleSite[];
}

function visit(schema: SchemaProps, path: string, place: Place, walk: Walk): void {
  const { options, violations } = walk;
  const before = violations.length;
  const add = (found: readonly Violation[]): void => {
    for (const violation of found) violations.push(violation);
  };
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
  add(mapTypeViolations(schema, path, options));
  add(listTypeViolations(schema, path, options));
  if (options.mapListKeys) add(mapListKeyViolations(schema, path, options.prefix));
  if (schema.validations) add(ruleViolations(schema, child(path, `${options.prefix}validations`)));
  if (schema.validations && place.above && violations.length === before) {
    walk.sites.push({ schema, path, above: place.above, uncorrelatable: place.uncorrelatable });
  }
}

/** The schemas within, in the order in which the server walks them. */
function visitInner(schema: SchemaProps, path: string, place: Place, walk: Walk): void {
  const { additionalProperties, properties, items } = schema;
  const { insideMeta, noDefaults, uncorrelatable } = place;
  const below = (to: RuleAncestor['to'], name?: string): Place['above'] =>
    place.above && [...place.above, name === undefined ? { schema, to } : { schema, to, name }];
  if (additionalProperties) {
    const at = child(path, 'additionalProperties');
    if (properties?.size && (!additionalProperties.allows || additionalProperties.schema)) {
      walk.violations.push(forbiddenField(at, 'additionalProperties and properties are mutual exclusive'));
    }
    if (additionalProperties.schema) {
      const why = insideMeta ? 'inside additionalProperties applying to object metadata' : noDefaults;
      const inside = { root: false, insideMeta, noDefaults: why, uncorrelatable, above: below('additionalProperties') };
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
  const unruled: Place = { root: false, insideMeta, noDefaults, uncorrelatable, above: undefined };
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
    const inItems: Place = {
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

/** Those that OpenAPI knows. */
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
  { noDefaults, insideMeta }: Place,
  { validTypes, prefix }: SchemaRuleOptions,
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

/** `type` must be what an extension is about. */
function wrongType(schema: SchemaProps, path: string, expected: string, extension: string): readonly Violation[] {
  if (schema.type === expected) return [];
  const why = `must be ${expected} if ${extension} is specified`;
  const at = child(path, 'type');
  return [schema.type === undefined ? required(at, why) : invalid(at, schema.type, why)];
}

const mapTypes = ['atomic', 'granular'];
const hasKnownMapType = ({ mapType }: SchemaProps): boolean => mapType === undefined || mapTypes.includes(mapType);

function mapTypeViolations(schema: SchemaProps, path: string, { prefix }: SchemaRuleOptions): readonly Violation[] {
  const { mapType } = schema;
  const name = `${prefix}map-type`;
  if (mapType === undefined) return [];
  return [
    ...wrongType(schema, path, 'object', name),
    ...(hasKnownMapType(schema) ? [] : [notSupported(child(path, name), mapType, mapTypes)]),
  ];
}

function listTypeViolations(schema: SchemaProps, path: string, options: SchemaRuleOptions): readonly Violation[] {
  const { listType, listMapKeys, items } = schema;
  const { prefix } = options;
  const name = `${prefix}list-type`;
  const found: Violation[] = [];
  if (listType !== undefined && schema.type !== 'array') {
    found.push(...wrongType(schema, path, 'array', name));
  } else if (options.atomicSets) {
    found.push(...nonAtomicItems(schema, path, prefix));
  }
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType)) {
    found.push(notSupported(child(path, name), listType, ['atomic', 'set', 'map']));
  }
  if (listMapKeys?.length) {
    const why = `must be map if ${prefix}list-map-keys is non-empty`;
    if (listType === undefined) found.push(required(child(path, name), why));
    else if (listType !== 'map') found.push(invalid(child(path, name), listType, why));
  }
  if (listType !== 'map') return found;
  if (!listMapKeys?.length) {
    found.push(required(child(path, `${prefix}list-map-keys`), `must not be empty if ${name} is map`));
  }
  if (items === undefined) found.push(required(child(path, 'items'), `must have a schema if ${name} is map`));
  else if (items.schema === undefined) {
    found.push(
      invalid(
        child(path, 'items'),
        { Schema: null, JSONSchemas: items.schemas?.map(internalForm) ?? null },
        `must only have a single schema if ${name} is map`,
      ),
    );
  } else if (items.schema.type !== 'object') {
    found.push(
      invalid(
        child(child(path, 'items'), 'type'),
        items.schema.type ?? '',
        `must be object if parent array's ${name} is map`,
      ),
    );
  } else found.push(...keyViolations(items.schema, listMapKeys ?? [], path, prefix));
  return found;
}

const isNonAtomicItem = ({ listType, items }: SchemaProps): 'list-type' | 'map-type' | undefined => {
  const item = listType === 'set' ? items?.schema : undefined;
  if (item?.type === 'array' && item.listType !== undefined && item.listType !== 'atomic') return 'list-type';
  return item?.type === 'object' && item.mapType !== 'atomic' ? 'map-type' : undefined;
};

/** Is this a set whose items could be changed in part? */
export const hasNonAtomicItems = (schema: SchemaProps): boolean => isNonAtomicItem(schema) !== undefined;

function nonAtomicItems(schema: SchemaProps, path: string, prefix: string): readonly Violation[] {
  const which = isNonAtomicItem(schema);
  if (which === undefined) return [];
  return [
    invalid(
      child(path, 'items', prefix + which),
      schema.items?.schema?.listType ?? null,
      `must be atomic as item of a list with ${prefix}list-type=set`,
    ),
  ];
}

function keyViolations(item: SchemaProps, keys: readonly string[], path: string, prefix: string): readonly Violation[] {
  const at = child(path, `${prefix}list-map-keys`);
  const wrong = invalidOnce(at, keys);
  const seen = new Set<string>();
  return ofEach(keys, (key) => {
    const found: Violation[] = [];
    const property = item.properties?.get(key);
    if (property === undefined) found.push(wrong('entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object') {
      found.push(
        invalid(
          child(mapKey(child(path, 'items', 'properties'), key), 'type'),
          item.type,
          `must be a scalar type if parent array's ${prefix}list-type is map`,
        ),
      );
    }
    if (seen.has(key)) found.push(wrong('must not contain duplicate entries'));
    seen.add(key);
    return found;
  });
}

/** Items of sets and map lists, and their keys, must be there. */
export function mapListKeyViolations(schema: SchemaProps, path: string, prefix: string): readonly Violation[] {
  const { listType } = schema;
  const item = schema.items?.schema;
  if (item === undefined || (listType !== 'set' && listType !== 'map')) return [];
  const found: Violation[] = [];
  const at = child(path, 'items');
  if (item.nullable) {
    found.push(forbiddenField(child(at, 'nullable'), `cannot be nullable when ${prefix}list-type is ${listType}`));
  }
  if (listType === 'set') return found;
  const inKeys = `this property is in ${prefix}list-map-keys, so it`;
  const mustBeThere = new Set(item.required);
  for (const key of schema.listMapKeys ?? []) {
    const property = item.properties?.get(key);
    if (property === undefined) continue;
    const propertyAt = mapKey(child(at, 'properties'), key);
    if (!mustBeThere.has(key) && property.default === undefined) {
      found.push(required(child(propertyAt, 'default'), `${inKeys} must have a default or be a required property`));
    }
    if (property.nullable) found.push(forbiddenField(child(propertyAt, 'nullable'), `${inKeys} cannot be nullable`));
  }
  return found;
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

/** What can be said of rules without compiling them. */
const ruleViolations = (schema: SchemaProps, path: string): readonly Violation[] =>
  (schema.validations ?? []).flatMap((rule, at) => [
    ...textViolations(rule, index(path, at)),
    ...(rule.reason !== undefined && !reasons.includes(rule.reason)
      ? [notSupportedWord(child(index(path, at), 'reason'), rule.reason, reasons)]
      : []),
    ...fieldPathViolations(rule, schema, child(index(path, at), 'fieldPath')),
  ]);

function textViolations(
  { rule, message = '', messageExpression = '' }: ValidationRule,
  path: string,
): readonly Violation[] {
  const found: Violation[] = [];
  const messageAt = child(path, 'message');
  if (trimSpace(rule) === '') found.push(required(child(path, 'rule'), 'rule is not specified'));
  else if (message !== '' && trimSpace(message) === '') {
    found.push(invalid(messageAt, message, 'must be non-empty if specified'));
  } else if (hasLineBreak(trimSpace(message))) {
    found.push(invalid(messageAt, message, 'must not contain line breaks'));
  } else if (hasLineBreak(trimSpace(rule)) && message === '') {
    found.push(required(messageAt, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && trimSpace(messageExpression) === '') {
    found.push(required(child(path, 'messageExpression'), 'messageExpression must be non-empty if specified'));
  }
  return found;
}

function fieldPathViolations(
  { fieldPath = '' }: ValidationRule,
  schema: SchemaProps,
  path: string,
): readonly Violation[] {
  if (fieldPath === '') return [];
  return [
    ...(trimSpace(fieldPath) === '' ? [invalid(path, fieldPath, 'must be non-empty if specified')] : []),
    ...(hasLineBreak(fieldPath) ? [invalid(path, fieldPath, 'must not contain line breaks')] : []),
    ...(notStructural(schema) === undefined && typeof followPath(fieldPath, schema, { brackets: true }) === 'string'
      ? [invalid(path, fieldPath, 'must be a valid path')]
      : []),
  ];
}

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

/** With the status subresource, `properties.status` must say everything there is to say about the status. */
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
