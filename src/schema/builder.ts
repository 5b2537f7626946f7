import type { Json } from '../api/object.js';
import type { Schema, WireFacts } from './schema.js';

/**
 * Builds the schemas of built-in kinds, so that a kind reads like its type declaration:
 *
 *     struct('v1.ConfigMap', {
 *       metadata: field(1, objectMeta),
 *       data: field(2, map(string()), { description: 'Text values by key.' }),
 *     })
 *
 * Some take further schema members as their last argument (`description`, `enum`, `default`, ...).
 */
type SchemaOptions = Omit<Schema, 'type' | 'wire' | 'properties' | 'items'> & { readonly go?: string };

const typed = (type: Schema, { go, ...more }: SchemaOptions = {}): Schema => ({
  ...type,
  ...more,
  ...(go === undefined ? {} : { wire: { go } }),
});

export const string = (more?: SchemaOptions): Schema => typed({ type: 'string' }, more);
/** A `[]byte`: base64 in JSON, raw bytes in protobuf. */
export const bytes = (): Schema => typed({ type: 'string', format: 'byte' }, { go: '[]uint8' });
export const integer32 = (): Schema => ({ type: 'integer', format: 'int32' });
export const integer64 = (): Schema => ({ type: 'integer', format: 'int64' });
export const double = (): Schema => ({ type: 'number', format: 'double' });
export const boolean = (): Schema => ({ type: 'boolean' });
/** A `metav1.Time`, with whole seconds. */
export const time = (): Schema => typed({ type: 'string', format: 'date-time' }, { go: 'v1.Time' });
/** A `metav1.MicroTime`, with six fraction digits. */
export const microTime = (): Schema => typed({ type: 'string', format: 'micro-time' }, { go: 'v1.MicroTime' });
export const intOrString = (): Schema =>
  typed({ intOrString: true, format: 'int-or-string' }, { go: 'intstr.IntOrString' });
/** A `resource.Quantity`. */
export const quantity = (): Schema => typed({ type: 'string', format: 'quantity' }, { go: 'resource.Quantity' });
/** Any JSON value. In protobuf it is a message with the JSON text in field 1 (RawExtension, FieldsV1, JSON). */
export const anyJson = (more: SchemaOptions & { readonly sorted?: true } = {}): Schema => {
  const { go = 'runtime.RawExtension', sorted, ...rest } = more;
  const wire = sorted === undefined ? { go } : { go, sorted };
  return { ...rest, preserveUnknownFields: true, format: 'raw-json', wire };
};

/** A list; atomic unless `listType` says otherwise. */
export const list = (items: Schema, more?: SchemaOptions): Schema => typed({ type: 'array', items }, more);

/** A list that is a message of its own in protobuf, with its items in field 1: the value type of `extra`. */
export const extraValue = (): Schema => ({
  ...list(string()),
  wire: { go: 'v1.ExtraValue', wrapped: true },
});

/** A list whose items are identified by `keys`, in server-side apply and, unless overridden, in strategic merge patch. */
export const listMap = (items: Schema, keys: readonly [string, ...string[]], more?: SchemaOptions): Schema =>
  list(items, { listType: 'map', listMapKeys: keys, patchStrategy: 'merge', patchMergeKey: keys[0], ...more });

/** An object with members of one type, under names that users choose. */
export const map = (values: Schema, more?: SchemaOptions): Schema =>
  typed({ type: 'object', additionalProperties: values }, more);

/** A message with named fields, in the order in which they are declared and written. */
export const struct = (
  go: string,
  fields: Readonly<Record<string, Schema>>,
  more: Omit<Schema, 'type' | 'properties' | 'wire'> & { readonly component?: string } = {},
): Schema => {
  const { component, ...rest } = more;
  return {
    type: 'object',
    properties: new Map(Object.entries(fields)),
    ...rest,
    wire: {
      go,
      ...(component === undefined ? {} : { component }),
      ...(more.description === undefined ? {} : { description: more.description }),
    },
  };
};

/**
 * Returns a builder for the structs of one Go package, which are named by its version in Go (`v1.ConfigMap`) and by its
 * full name in OpenAPI.
 */
export const structsOf =
  (component: string): typeof struct =>
  (name, fields, more) =>
    struct(`${component.slice(component.lastIndexOf('.') + 1)}.${name}`, fields, {
      ...more,
      component: `${component}.${name}`,
    });

/** A schema as a field of a struct: with its protobuf number, and the properties of the field. */
export const field = (
  number: number,
  schema: Schema,
  more: Partial<Omit<Schema, 'wire'>> & { readonly default?: Json } & Pick<
      WireFacts,
      'presence' | 'keepsEmpty' | 'fills' | 'writeOnly' | 'go'
    > = {},
): Schema => {
  const { presence, keepsEmpty, fills, writeOnly, go, ...rest } = more;
  return {
    ...schema,
    ...rest,
    wire: {
      ...schema.wire,
      number,
      ...(presence === undefined ? {} : { presence }),
      ...(keepsEmpty === undefined ? {} : { keepsEmpty }),
      ...(fills === undefined ? {} : { fills }),
      ...(writeOnly === undefined ? {} : { writeOnly }),
      ...(go === undefined ? {} : { go }),
    },
  };
};

/** Like `field`, for a Go pointer: a zero value that was sent is kept, an absent struct is left out. */
export const optional = (number: number, schema: Schema, more: Parameters<typeof field>[2] = {}): Schema =>
  field(number, schema, { presence: 'pointer', ...more });

/** The fields of a struct that Go embeds in another one. JSON shows them inline in the outer struct. */
export const embedded = (
  number: number,
  name: string,
  fields: Readonly<Record<string, Schema>>,
): Readonly<Record<string, Schema>> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, schema]) => {
      const inner = schema.wire?.within;
      const within = { number, struct: name, ...(inner === undefined ? {} : { within: inner }) };
      return [key, { ...schema, wire: { ...schema.wire, within } }];
    }),
  );
