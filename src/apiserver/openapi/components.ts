import { defaultDomains } from '../../api/domains.js';
import { type Json, type JsonObject, setMember } from '../../api/object.js';
import { sortedNames } from '../../api/text-order.js';
import { goType, itemsOf, type WireShape, wireShape } from '../../schema/go-types.js';
import { omitsEmpty, presenceOf, zeroOf } from '../../schema/presence.js';
import type { Schema } from '../../schema/schema.js';
import { customSchema } from './custom-schema.js';
import type { Dialect } from './dialect.js';

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/**
 * The named schemas of a document. A reference to a component adds the component and everything that it refers to, so
 * that a document contains exactly the components that its paths need.
 */
export class Components {
  readonly dialect: Dialect;
  /** The group and version of the document; undefined unless it is that of built-in kinds. */
  readonly owner: GroupVersion | undefined;
  readonly #found = new Map<string, JsonObject>();

  constructor(dialect: Dialect, owner?: GroupVersion) {
    this.dialect = dialect;
    this.owner = owner;
  }

  /** Returns the components added so far, in the order of their names. */
  all(): JsonObject {
    const out: Record<string, Json> = {};
    for (const name of sortedNames(this.#found)) setMember(out, name, this.#found.get(name) ?? {});
    return out;
  }

  /** Adds a component unless it exists; `make` may refer to it. Returns its name. */
  add(name: string, make: () => JsonObject): string {
    if (!this.#found.has(name)) {
      this.#found.set(name, {});
      this.#found.set(name, make());
    }
    return name;
  }

  reference(name: string): JsonObject {
    return { $ref: this.dialect.schemas + name };
  }

  /** Returns a reference with further members, which OpenAPI 3 allows only around the reference. */
  describedReference(name: string, more: JsonObject): JsonObject {
    const reference = this.reference(name);
    if (Object.keys(more).length === 0) return reference;
    return this.dialect.version === 3 ? { allOf: [reference], ...more } : { ...reference, ...more };
  }

  /** Returns the name of the component of a built-in schema, and adds it; undefined if the schema is written in place. */
  nameOf(schema: Schema): string | undefined {
    const shape = wireShape(schema);
    const special = specials[shape]?.(schema);
    if (special !== undefined) {
      const { name, ...rest } = special;
      return this.add(name, () => ({ description: rest.description, ...rest[this.dialect.version] }));
    }
    const name = schema.wire?.component;
    if (name === undefined) return undefined;
    return this.add(name, () => (shape === 'struct' ? this.struct(schema) : ownDescription(schema)));
  }

  /** Returns a struct with all its members. */
  struct(schema: Schema, extensions: JsonObject = {}): JsonObject {
    const properties: Record<string, Json> = {};
    for (const [name, member] of schema.properties ?? []) setMember(properties, name, this.member(member));
    return {
      ...ownDescription(schema),
      ...(schema.properties?.size ? { properties } : {}),
      ...(schema.required?.length ? { required: schema.required } : {}),
      type: 'object',
      ...extensionsOf(schema),
      ...extensions,
    };
  }

  /** Returns a schema of a built-in kind as a member, item or value. */
  member(schema: Schema, isElement = false): JsonObject {
    const text = isElement ? {} : described(schema);
    const usual = this.dialect.version === 3 ? defaultOf(schema, isElement) : undefined;
    const more = { ...text, ...(usual === undefined ? {} : { default: usual }) };
    const name = this.nameOf(schema);
    if (name !== undefined) return this.describedReference(name, more);
    const shape = wireShape(schema);
    if (shape === 'struct') return { ...this.struct(schema), ...more };
    return { ...more, ...this.#inPlace(schema, shape), ...extensionsOf(schema) };
  }

  #inPlace(schema: Schema, shape: WireShape): JsonObject {
    if (shape === 'list') return { items: this.member(itemsOf(schema), true), type: 'array' };
    if (shape === 'map' && typeof schema.additionalProperties === 'object') {
      return { additionalProperties: this.member(schema.additionalProperties, true), type: 'object' };
    }
    if (shape === 'raw') return { type: 'object' };
    return {
      ...(schema.type === undefined ? {} : { type: schema.type }),
      ...(schema.format === undefined ? {} : { format: schema.format }),
      ...(schema.enum === undefined ? {} : { enum: schema.enum }),
    };
  }

  /** Returns the schema of a custom resource. Metadata in it refers to the component ObjectMeta. */
  custom(schema: Schema): JsonObject {
    return customSchema(schema, {
      dialect: this.dialect,
      prefix: extensionPrefix,
      metadata: (more) => this.metadata(more),
    });
  }

  /** Returns a reference to ObjectMeta, which must have been added. */
  metadata(more: JsonObject): JsonObject {
    return this.describedReference(objectMetaComponent, more);
  }
}

const objectMetaComponent = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
export const extensionPrefix = defaultDomains.extensions[0] ?? 'x-kubernetes-';

const described = ({ description }: Schema): JsonObject => (description === undefined ? {} : { description });
/** Returns the description of a struct itself, not that of the field that it was reached by. */
const ownDescription = (schema: Schema): JsonObject =>
  described(schema.wire?.description === undefined ? schema : { description: schema.wire.description });

/**
 * Returns the default that OpenAPI 3 shows: `{}` for structs, the zero value for members that are always written and
 * for elements of lists and maps, none for nullable schemas.
 */
function defaultOf(schema: Schema, isElement: boolean): Json | undefined {
  if (schema.default !== undefined) return schema.default;
  if (presenceOf(schema) === 'null') return undefined;
  const shape = wireShape(schema);
  const isPointer = presenceOf(schema) === 'pointer' && !isElement;
  if (shape === 'struct') return isPointer ? undefined : {};
  if (isPointer || (omitsEmpty(schema) && !isElement)) return undefined;
  return zeroed.has(shape) ? zeroOf(shape) : undefined;
}
const zeroed: ReadonlySet<WireShape> = new Set<WireShape>(['string', 'int32', 'int64', 'double', 'boolean']);

/** Returns the extensions that say how lists, maps and patches are merged. */
function extensionsOf(schema: Schema): JsonObject {
  const extension = (name: string, value: Json | undefined): JsonObject =>
    value === undefined ? {} : { [`${extensionPrefix}${name}`]: value };
  return {
    ...extension('list-map-keys', schema.listMapKeys),
    ...extension('list-type', schema.listType),
    ...extension('map-type', schema.mapType),
    ...extension('patch-merge-key', schema.patchMergeKey),
    ...extension('patch-strategy', schema.patchStrategy),
  };
}

interface RawType {
  readonly name: string;
  readonly description: string;
  readonly 2: JsonObject;
  readonly 3: JsonObject;
}
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
const inBothVersions = (schema: JsonObject): { readonly 2: JsonObject; readonly 3: JsonObject } => ({
  2: schema,
  3: schema,
});

const rawTypes: Readonly<Record<string, RawType>> = {
  'v1.FieldsV1': {
    name: `${meta}FieldsV1`,
    description:
      'Set of fields, as a tree: each member is the name of a field or list item and holds the set below it.',
    ...inBothVersions({ type: 'object' }),
  },
  'runtime.RawExtension': {
    name: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
    description: 'Any JSON object.',
    ...inBothVersions({ type: 'object' }),
  },
  'v1.JSON': {
    name: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
    description: 'Any JSON value.',
    ...inBothVersions({}),
  },
};

const time = { format: 'date-time', type: 'string' };
const time_: RawType = {
  name: `${meta}Time`,
  description: 'Time in RFC 3339 format, in whole seconds.',
  ...inBothVersions(time),
};
const microTime: RawType = {
  name: `${meta}MicroTime`,
  description: 'Time in RFC 3339 format, with microseconds.',
  ...inBothVersions(time),
};
const quantity: RawType = {
  name: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  description: 'Number with an optional unit suffix, such as 500m, 1.5 or 2Gi.',
  2: { type: 'string' },
  3: { oneOf: [{ type: 'string' }, { type: 'number' }] },
};
const intOrString: RawType = {
  name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  description: 'Integer or string.',
  2: { format: 'int-or-string', type: 'string' },
  3: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
};

/** The shapes that are components of their own. */
const specials: Partial<Record<WireShape, (schema: Schema) => RawType | undefined>> = {
  time: () => time_,
  'micro-time': () => microTime,
  quantity: () => quantity,
  'int-or-string': () => intOrString,
  raw: (schema) => rawTypes[goType(schema)],
};
