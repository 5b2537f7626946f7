import { compiledSize } from '../api/pattern-size.js';
import { compile, keptInstructions } from '../api/regular-expression.js';
import { compareText } from '../api/text-order.js';
import {
  appenderTo,
  child,
  forbiddenField,
  index,
  invalid,
  limitViolations,
  mapKey,
  required,
  type Violation,
} from '../api/violations.js';
import { everySchema, type SchemaProps } from './json-schema-props.js';
import { same } from './same.js';
import { completenessViolations } from './structural-completeness.js';

/**
 * Checks that schemas are structural (the basic rules of KEP-1979): every field has a type outside of logical junctors,
 * and the junctors only restrict what is declared outside of them. Texts and paths are those of kube-apiserver.
 */

const unsupported: readonly { readonly broken: (of: SchemaProps) => boolean; readonly name: string }[] = [
  { name: 'id', broken: (of) => of.id !== undefined },
  { name: 'schema', broken: (of) => of.schema !== undefined },
  { name: '$ref', broken: (of) => of.ref !== undefined && of.ref !== '' },
  { name: 'patternProperties', broken: (of) => (of.patternProperties?.size ?? 0) > 0 },
  { name: 'dependencies', broken: (of) => (of.dependencies?.size ?? 0) > 0 },
  { name: 'additionalItems', broken: (of) => of.additionalItems !== undefined },
  { name: 'definitions', broken: (of) => (of.definitions?.size ?? 0) > 0 },
];

/** Returns the first reason why a schema cannot be read as structural at all; undefined if there is none. */
export function notStructural(of: SchemaProps | undefined): string | undefined {
  if (of === undefined) return undefined;
  const word = unsupported.find(({ broken }) => broken(of));
  if (word !== undefined) return `OpenAPIV3Schema '${word.name}' is not supported`;
  for (const inner of [of.not, ...(of.allOf ?? []), ...(of.anyOf ?? []), ...(of.oneOf ?? [])]) {
    const problem = notStructural(inner);
    if (problem !== undefined) return problem;
  }
  if (of.preserveUnknownFields === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (of.items?.schemas?.length) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  for (const inner of [of.items?.schema, ...(of.properties?.values() ?? []), of.additionalProperties?.schema]) {
    const problem = notStructural(inner);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Returns a violation for every structural rule that a schema breaks, sorted by text. `prefix` is that of extensions in
 * paths and texts.
 */
export function structuralViolations(schema: SchemaProps, path: string, prefix: string): readonly Violation[] {
  if (patternsSize(schema) > keptInstructions) {
    return [forbiddenField(path, `patterns must not have more than ${keptInstructions} instructions together`)];
  }
  const found = [...invariants(schema, 'root', path, prefix), ...completenessViolations(schema, schema, path, path)];
  const text = ({ field, body }: Violation): string => `${field}: ${body}`;
  return limitViolations(found)
    .map((violation) => ({ violation, text: text(violation) }))
    .sort((a, b) => compareText(a.text, b.text))
    .map(({ violation }) => violation);
}

function patternsSize(schema: SchemaProps): number {
  const patterns = new Set<string>();
  everySchema(schema, ({ pattern }) => {
    if (pattern !== undefined) patterns.add(pattern);
  });
  return [...patterns].reduce((sum, pattern) => sum + compiledSize(pattern), 0);
}

type Level = 'root' | 'item' | 'field';
const withoutType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function invariants(of: SchemaProps, level: Level, path: string, prefix: string): readonly Violation[] {
  const { type = '', items, properties, additionalProperties, embeddedResource, preserveUnknownFields } = of;
  const found: Violation[] = [];
  const addAll = appenderTo(found);

  if (type === 'array' && items?.schema === undefined) found.push(required(child(path, 'items'), 'must be specified'));
  if (items?.schema) addAll(invariants(items.schema, 'item', child(path, 'items'), prefix));
  for (const [name, inner] of properties ?? []) {
    addAll(invariants(inner, 'field', mapKey(child(path, 'properties'), name), prefix));
  }
  if (additionalProperties) {
    const at = child(path, 'additionalProperties');
    if (level === 'root') found.push(forbiddenField(at, 'must not be used at the root'));
    if (additionalProperties.schema) addAll(invariants(additionalProperties.schema, 'field', at, prefix));
  }
  if (of.intOrString) {
    const message = `must be false if ${prefix}int-or-string is true`;
    if (preserveUnknownFields) found.push(invalid(child(path, `${prefix}preserve-unknown-fields`), true, message));
    if (embeddedResource) found.push(invalid(child(path, `${prefix}embedded-resource`), true, message));
  }
  addAll(
    junctors(of, path, prefix, {
      skipAnyOf: isIntOrString(of.anyOf),
      skipFirstAllOf: isIntOrString(of.allOf?.[0]?.anyOf),
    }),
  );

  if (embeddedResource && type !== 'object') {
    const message = `must be object if ${prefix}embedded-resource is true`;
    found.push(type === '' ? required(child(path, 'type'), message) : invalid(child(path, 'type'), type, message));
  } else if (type === '' && !of.intOrString && !preserveUnknownFields) {
    found.push(required(child(path, 'type'), withoutType[level]));
  }
  if (embeddedResource && additionalProperties) {
    found.push(
      forbiddenField(child(path, 'additionalProperties'), `must not be used if ${prefix}embedded-resource is set`),
    );
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    found.push(invalid(child(path, 'type'), type, 'must be object at the root'));
  }
  addAll(metadataInvariants(of, level, child(path, 'properties')));
  if (embeddedResource && !preserveUnknownFields && !properties?.size) {
    found.push(
      required(
        child(path, 'properties'),
        `must not be empty if ${prefix}embedded-resource is true without ${prefix}preserve-unknown-fields`,
      ),
    );
  }
  return found;
}

function metadataInvariants(of: SchemaProps, level: Level, path: string): readonly Violation[] {
  const found: Violation[] = [];
  const isResource = level === 'root' || of.embeddedResource === true;
  for (const name of ['kind', 'apiVersion']) {
    const inner = of.properties?.get(name);
    if (isResource && inner && inner.type !== 'string') {
      found.push(invalid(child(mapKey(path, name), 'type'), inner.type ?? '', 'must be string'));
    }
  }
  const metadata = of.properties?.get('metadata');
  if (metadata === undefined) return found;
  if (isResource && metadata.type !== 'object') {
    found.push(invalid(child(mapKey(path, 'metadata'), 'type'), metadata.type ?? '', 'must be object'));
  }
  if (level === 'root' && !restrictsNamesOnly(metadata)) {
    found.push(
      forbiddenField(
        mapKey(path, 'metadata'),
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    );
  }
  return found;
}

/** Whether the schema is `{type, default, properties: {name?, generateName?}}`. */
function restrictsNamesOnly(metadata: SchemaProps): boolean {
  const { type, default: _default, properties, ...rest } = metadata;
  const names = [...(properties?.keys() ?? [])];
  return Object.keys(rest).length === 0 && names.every((name) => name === 'name' || name === 'generateName');
}

const intOrString: readonly SchemaProps[] = [{ type: 'integer' }, { type: 'string' }];
/** Whether this is `anyOf: [{type: integer}, {type: string}]`, which is allowed beside int-or-string. */
const isIntOrString = (anyOf: readonly SchemaProps[] | undefined): boolean => same(anyOf, intOrString);

interface SkipOptions {
  readonly skipAnyOf: boolean;
  readonly skipFirstAllOf: boolean;
}

function junctors(of: SchemaProps, path: string, prefix: string, skip: SkipOptions): readonly Violation[] {
  const found: Violation[] = [];
  const add = appenderTo(found);
  if (!skip.skipAnyOf) {
    of.anyOf?.forEach((inner, at) => {
      add(nested(inner, index(child(path, 'anyOf'), at), prefix, false));
    });
  }
  of.allOf?.forEach((inner, at) => {
    add(nested(inner, index(child(path, 'allOf'), at), prefix, skip.skipFirstAllOf && at === 0));
  });
  of.oneOf?.forEach((inner, at) => {
    add(nested(inner, index(child(path, 'oneOf'), at), prefix, false));
  });
  if (of.not) add(nested(of.not, child(path, 'not'), prefix, false));
  if (of.pattern) {
    const { error } = compile(of.pattern);
    if (error !== undefined) {
      add([invalid(child(path, 'pattern'), of.pattern, `must be a valid regular expression, but isn't: ${error}`)]);
    }
  }
  return found;
}

const empty = 'must be empty to be structural';
const unset = 'must be undefined to be structural';
const off = 'must be false to be structural';

/** The keywords that are forbidden inside a junctor; extensions have the name without prefix. */
const forbiddenInside: readonly {
  readonly name: string;
  readonly extension?: true;
  readonly says: (of: SchemaProps) => boolean;
  readonly why: string;
}[] = [
  { name: 'type', says: (of) => of.type !== undefined, why: empty },
  {
    name: 'additionalProperties',
    says: ({ additionalProperties: more }) => more !== undefined && (more.allows || more.schema !== undefined),
    why: unset,
  },
  { name: 'default', says: (of) => of.default !== undefined, why: unset },
  { name: 'title', says: (of) => of.title !== undefined, why: empty },
  { name: 'description', says: (of) => of.description !== undefined, why: empty },
  { name: 'nullable', says: (of) => of.nullable === true, why: off },
  { name: 'preserve-unknown-fields', extension: true, says: (of) => of.preserveUnknownFields === true, why: off },
  { name: 'embedded-resource', extension: true, says: (of) => of.embeddedResource === true, why: off },
  { name: 'int-or-string', extension: true, says: (of) => of.intOrString === true, why: off },
  { name: 'list-map-keys', extension: true, says: (of) => of.listMapKeys !== undefined, why: empty },
  { name: 'list-type', extension: true, says: (of) => of.listType !== undefined, why: unset },
  { name: 'map-type', extension: true, says: (of) => of.mapType !== undefined, why: unset },
  { name: 'validations', extension: true, says: (of) => of.validations !== undefined, why: empty },
];

function nested(of: SchemaProps, path: string, prefix: string, skipAnyOf: boolean): readonly Violation[] {
  const found = [...junctors(of, path, prefix, { skipAnyOf, skipFirstAllOf: false })];
  const add = appenderTo(found);
  if (of.items?.schema) add(nested(of.items.schema, child(path, 'items'), prefix, false));
  for (const [name, inner] of of.properties ?? []) {
    add(nested(inner, mapKey(child(path, 'properties'), name), prefix, false));
  }
  for (const { name, extension, says, why } of forbiddenInside) {
    if (says(of)) found.push(forbiddenField(child(path, extension ? prefix + name : name), why));
  }
  if (of.properties?.has('metadata')) {
    found.push(
      forbiddenField(mapKey(child(path, 'properties'), 'metadata'), 'must not be specified in a nested context'),
    );
  }
  return found;
}
