import {
  child,
  forbiddenField,
  invalid,
  invalidOnce,
  mapKey,
  notSupported,
  required,
  type Violation,
  validateEach,
} from '../../api/violations.js';
import { internalForm } from '../../schema/internal-form.js';
import type { SchemaProps } from '../../schema/json-schema-props.js';

/** Validation of list types and map types, which determine how lists and maps are merged. */

/** Checks that `type` is the one that an extension requires. */
function wrongType(schema: SchemaProps, path: string, expected: string, extension: string): readonly Violation[] {
  if (schema.type === expected) return [];
  const message = `must be ${expected} if ${extension} is specified`;
  const at = child(path, 'type');
  return [schema.type === undefined ? required(at, message) : invalid(at, schema.type, message)];
}

const mapTypes = ['atomic', 'granular'];
/** Whether the map type is absent or known. */
export const hasKnownMapType = ({ mapType }: SchemaProps): boolean =>
  mapType === undefined || mapTypes.includes(mapType);

/** Validates a map type and the `type` beside it. */
export function mapTypeViolations(schema: SchemaProps, path: string, prefix: string): readonly Violation[] {
  const { mapType } = schema;
  const name = `${prefix}map-type`;
  if (mapType === undefined) return [];
  return [
    ...wrongType(schema, path, 'object', name),
    ...(hasKnownMapType(schema) ? [] : [notSupported(child(path, name), mapType, mapTypes)]),
  ];
}

/** Validates a list type and everything that it requires of the schema. `atomicSets`: items of sets must be atomic. */
export function listTypeViolations(
  schema: SchemaProps,
  path: string,
  { prefix, atomicSets }: { readonly prefix: string; readonly atomicSets: boolean },
): readonly Violation[] {
  const { listType, listMapKeys } = schema;
  const name = `${prefix}list-type`;
  const found: Violation[] = [];
  if (listType !== undefined && schema.type !== 'array') {
    found.push(...wrongType(schema, path, 'array', name));
  } else if (atomicSets) {
    found.push(...nonAtomicItems(schema, path, prefix));
  }
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType)) {
    found.push(notSupported(child(path, name), listType, ['atomic', 'set', 'map']));
  }
  if (listMapKeys?.length) {
    const message = `must be map if ${prefix}list-map-keys is non-empty`;
    if (listType === undefined) found.push(required(child(path, name), message));
    else if (listType !== 'map') found.push(invalid(child(path, name), listType, message));
  }
  if (listType !== 'map') return found;
  if (!listMapKeys?.length) {
    found.push(required(child(path, `${prefix}list-map-keys`), `must not be empty if ${name} is map`));
  }
  return [...found, ...mapItemViolations(schema, path, prefix)];
}

/** Checks that the items of a map list are objects that have its keys. */
function mapItemViolations(
  { items, listMapKeys = [] }: SchemaProps,
  path: string,
  prefix: string,
): readonly Violation[] {
  const at = child(path, 'items');
  const name = `${prefix}list-type`;
  if (items === undefined) return [required(at, `must have a schema if ${name} is map`)];
  if (items.schema === undefined) {
    const shown = { Schema: null, JSONSchemas: items.schemas?.map(internalForm) ?? null };
    return [invalid(at, shown, `must only have a single schema if ${name} is map`)];
  }
  const { type = '' } = items.schema;
  if (type !== 'object') return [invalid(child(at, 'type'), type, `must be object if parent array's ${name} is map`)];
  return keyViolations(items.schema, listMapKeys, path, prefix);
}

const isNonAtomicItem = ({ listType, items }: SchemaProps): 'list-type' | 'map-type' | undefined => {
  const item = listType === 'set' ? items?.schema : undefined;
  if (item?.type === 'array' && item.listType !== undefined && item.listType !== 'atomic') return 'list-type';
  return item?.type === 'object' && item.mapType !== 'atomic' ? 'map-type' : undefined;
};

/** Whether this is a set whose items could be changed in part. */
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
  return validateEach(keys, (key) => {
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

/**
 * Checks that keys of map lists are always present, and that neither they nor items of sets and map lists are nullable.
 */
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
