import { maxDepth } from '../api/json-text.js';
import { isList, isObject, type Json } from '../api/object.js';
import { oncePer } from '../api/once.js';
import { wireShape } from '../schema/go-types.js';
import { objectMeta, typeMeta } from '../schema/meta.js';
import { zeroOf } from '../schema/presence.js';
import type { Schema } from '../schema/schema.js';

/**
 * The properties of a schema that server-side apply needs: whether a value is replaced as a whole or in parts, and how
 * the parts are identified. A shape has several forms if the schema does not determine the type.
 */
export interface Shape {
  readonly scalar: ScalarKind | undefined;
  readonly list: ListShape | undefined;
  readonly map: MapShape | undefined;
}
export type ScalarKind = 'string' | 'numeric' | 'boolean' | 'untyped';
export type Form = 'map' | 'scalar' | 'list';

export interface ListShape {
  /** Items of `set` and `map` lists are identified one by one; an atomic list is one value. */
  readonly type: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
  /** The values of key fields that items leave out. */
  readonly keyDefaults: ReadonlyMap<string, Json>;
  readonly items: Shape;
}

export interface MapShape {
  readonly atomic: boolean;
  /** The members that the schema names. */
  readonly fields: ReadonlyMap<string, Shape>;
  /** The shape of all other members; undefined if there may be none. */
  readonly others: Shape | undefined;
  /** Whether there is no schema, so that the shapes of members are deduced from their values. */
  readonly deduced: boolean;
}

/**
 * The depth from which on values are treated as atomic, so that no object can exhaust the stack. No value that was
 * parsed from a text is deeper.
 */
export const maxShapeDepth = maxDepth;

const nothing: ReadonlyMap<string, never> = new Map<string, never>();

/** The shape of an atomic value of any type. */
const untypedShape: Shape = {
  scalar: 'untyped',
  get list(): ListShape {
    return { type: 'atomic', keys: [], keyDefaults: nothing, items: untypedShape };
  },
  get map(): MapShape {
    return { atomic: true, fields: nothing, others: untypedShape, deduced: false };
  },
};

/** The shape of a value without a schema: maps are merged by member, lists are atomic. */
const deducedShape: Shape = {
  scalar: 'untyped',
  list: untypedShape.list,
  get map(): MapShape {
    return deducedMap;
  },
};
const deducedMap: MapShape = { atomic: false, fields: nothing, others: deducedShape, deduced: true };

const scalarShapes = Object.fromEntries(
  (['string', 'numeric', 'boolean', 'untyped'] as const).map((scalar) => [
    scalar,
    { scalar, list: undefined, map: undefined },
  ]),
) as Record<ScalarKind, Shape>;

const shapeCaches = { strict: new WeakMap<Schema, Shape>(), preserving: new WeakMap<Schema, Shape>() };

/** Returns the shape of a whole object. Its metadata has the usual shape, whatever the schema says. */
export const shapeOfObject = oncePer((schema: Schema): Shape => {
  const { map } = shapeOf(schema, false);
  const fields = new Map(map?.fields ?? []);
  for (const [name, field] of Object.entries(typeMeta)) fields.set(name, shapeOf(field, false));
  fields.set('metadata', shapeOf(objectMeta, false));
  const bare = schema.properties === undefined && schema.additionalProperties === undefined;
  const others = map?.others ?? (bare ? deducedShape : undefined);
  const atomic = map?.atomic ?? false;
  return { scalar: undefined, list: undefined, map: { atomic, fields, others, deduced: false } };
});

/**
 * Returns the shape of a schema, which is cached. `preserving`: an enclosing schema preserves unknown fields, which
 * then holds here as well.
 */
function shapeOf(schema: Schema, preserving: boolean): Shape {
  const keeps = preserving || schema.preserveUnknownFields === true;
  const cache = keeps ? shapeCaches.preserving : shapeCaches.strict;
  const cached = cache.get(schema);
  if (cached !== undefined) return cached;
  const shape = makeShape(schema, keeps);
  cache.set(schema, shape);
  return shape;
}

function makeShape(schema: Schema, preserving: boolean): Shape {
  const { type, wire } = schema;
  if (wire?.go === 'runtime.RawExtension') return untypedShape;
  if (wire !== undefined && schema.intOrString) return scalarShapes.untyped;
  switch (type) {
    case 'string':
      return schema.format === undefined || schema.format === 'byte' ? scalarShapes.string : scalarShapes.untyped;
    case 'integer':
    case 'number':
      return scalarShapes.numeric;
    case 'boolean':
      return scalarShapes.boolean;
    case 'object':
      return new LazyShape(undefined, undefined, () => mapShape(schema, preserving));
    case 'array':
      return new LazyShape(undefined, () => listShape(schema, preserving), undefined);
    default:
      return new LazyShape(
        'untyped',
        () => listShape(schema, preserving),
        () => mapShape(schema, preserving),
      );
  }
}

/**
 * A shape whose list and map forms are created when they are first needed: schemas are large, and objects use little of
 * them.
 */
class LazyShape implements Shape {
  readonly scalar: ScalarKind | undefined;
  #makeList: (() => ListShape) | undefined;
  #makeMap: (() => MapShape) | undefined;
  #list: ListShape | undefined;
  #map: MapShape | undefined;

  constructor(scalar: ScalarKind | undefined, list: (() => ListShape) | undefined, map: (() => MapShape) | undefined) {
    this.scalar = scalar;
    this.#makeList = list;
    this.#makeMap = map;
  }

  get list(): ListShape | undefined {
    if (this.#list === undefined && this.#makeList !== undefined) this.#list = this.#makeList();
    return this.#list;
  }

  get map(): MapShape | undefined {
    if (this.#map === undefined && this.#makeMap !== undefined) this.#map = this.#makeMap();
    return this.#map;
  }
}

function mapShape(schema: Schema, preserving: boolean): MapShape {
  const { properties, additionalProperties } = schema;
  const fields = new Map<string, Shape>();
  for (const [name, field] of properties ?? []) fields.set(name, shapeOf(field, preserving));
  if (schema.embeddedResource) {
    for (const [name, field] of Object.entries(typeMeta)) fields.set(name, shapeOf(field, false));
    fields.set('metadata', shapeOf(objectMeta, false));
  }
  const others = shapeOfOthers(additionalProperties, preserving || fields.size === 0, preserving);
  return {
    atomic: schema.mapType === 'atomic',
    fields,
    others,
    deduced: fields.size === 0 && (others === deducedShape || others?.scalar === 'untyped'),
  };
}

function shapeOfOthers(
  additional: Schema['additionalProperties'],
  openByDefault: boolean,
  preserving: boolean,
): Shape | undefined {
  if (additional === undefined) return openByDefault ? deducedShape : undefined;
  if (typeof additional === 'object') return shapeOf(additional, preserving);
  return additional ? deducedShape : undefined;
}

function listShape(schema: Schema, preserving: boolean): ListShape {
  const items = schema.items === undefined ? untypedShape : shapeOf(schema.items, preserving);
  const { type, keys } = listIdentity(schema);
  return { type, keys, keyDefaults: type === 'map' ? keyDefaults(schema.items, keys) : nothing, items };
}

/**
 * Returns the type and the keys of a list. Without a list type, they follow from the strategic merge strategy and key.
 */
function listIdentity(schema: Schema): { readonly type: ListShape['type']; readonly keys: readonly string[] } {
  if (schema.listType === 'map') return { type: 'map', keys: schema.listMapKeys ?? [] };
  if (schema.listType !== undefined) return { type: schema.listType, keys: [] };
  const merged = schema.patchStrategy === 'merge' || schema.patchStrategy === 'merge,retainKeys';
  if (!merged) return { type: 'atomic', keys: [] };
  return schema.patchMergeKey === undefined ? { type: 'set', keys: [] } : { type: 'map', keys: [schema.patchMergeKey] };
}

/** Returns the default values of key fields. Go fields that are always written default to their zero value. */
function keyDefaults(items: Schema | undefined, keys: readonly string[]): ReadonlyMap<string, Json> {
  const defaults = new Map<string, Json>();
  for (const key of keys) {
    const field = items?.properties?.get(key);
    const zero = field?.wire?.presence === 'always' ? zeroOf(wireShape(field)) : undefined;
    const value = field?.default ?? zero;
    if (value !== undefined && value !== null) defaults.set(key, value);
  }
  return defaults;
}

/**
 * Returns the form of a shape that a value has; for null, or a value that fits no form, the first form of the shape.
 */
export function formOf(shape: Shape, value: Json | undefined): Form {
  const exact = exactForm(shape, value);
  if (exact !== undefined) return exact;
  if (shape.map !== undefined) return 'map';
  return shape.scalar !== undefined ? 'scalar' : 'list';
}

/** Returns the form that a value has; undefined for null and for a value that the shape does not allow. */
export function exactForm(shape: Shape, value: Json | undefined): Form | undefined {
  if (value === undefined || value === null) return undefined;
  if (isList(value)) return shape.list === undefined ? undefined : 'list';
  if (isObject(value)) return shape.map === undefined ? undefined : 'map';
  return shape.scalar === undefined ? undefined : 'scalar';
}

export const shapeOfMember = (map: MapShape, name: string): Shape => map.fields.get(name) ?? map.others ?? untypedShape;
