import type { Json } from '../api/object.js';
import type { Schema, WireFacts } from './schema.js';

/**
 * Builds the schemas of built-in kinds, so that a kind reads like its type declaration:
 *
 *     struct('v1.ConfigMap', {
 *       metadata: field(1, objectMeta),
 *       data: field(2, map(string()), { description: 'Text by key.' }),
 *     })
 *
 * Each takes further schema members as its last argument (`description`, `enum`, `default`, ...).
 */
type More = Omit<Schema, 'type' | 'wire' | 'properties' | 'items'>;

export const string = (more: More & { readonly go?: string } = {}): Schema => scalar('string', undefined, more);
/** `[]byte`: base64 in JSON, raw in protobuf. */
export const bytes = (more: More & { readonly go?: string } = {}): Schema =>
  scalar('string', 'byte', { go: '[]uint8', ...more });
export const integer32 = (more: More & { readonly go?: string } = {}): Schema => scalar('integer', 'int32', more);
export const integer64 = (more: More & { readonly go?: string } = {}): Schema => scalar('integer', 'int64', more);
export const double = (more: More & { readonly go?: string } = {}): Schema => scalar('number', 'double', more);
export const boolean = (more: More & { readonly go?: string } = {}): Schema => scalar('boolean', undefined, more);
/** `metav1.Time`: whole seconds. */
export const time = (more: More = {}): Schema => scalar('string', 'date-time', { go: 'v1.Time', ...more });
/** `metav1.MicroTime`: six fraction digits. */
export const microTime = (more: More = {}): Schema => scalar('string', 'micro-time', { go: 'v1.MicroTime', ...more });
export const intOrString = (more: More = {}): Schema => ({
  ...more,
  intOrString: true,
  format: 'int-or-string',
  wire: { go: 'intstr.IntOrString' },
});
/** `resource.Quantity`. */
export const quantity = (): Schema => scalar('string', 'quantity', { go: 'resource.Quantity' });
/** Any JSON value, carried in protobuf as a message with the JSON text in field 1 (RawExtension, FieldsV1, JSON). */
export const anyJson = (more: More & { readonly go?: string; readonly sorted?: true } = {}): Schema => {
  const { go = 'runtime.RawExtension', sorted, ...rest } = more;
  const wire = sorted === undefined ? { go } : { go, sorted };
  return { ...rest, preserveUnknownFields: true, format: 'raw-json', wire };
};

function scalar(
  type: NonNullable<Schema['type']>,
  format: string | undefined,
  more: More & { readonly go?: string },
): Schema {
  const { go, ...rest } = more;
  return { type, ...(format === undefined ? {} : { format }), ...rest, ...(go === undefined ? {} : { wire: { go } }) };
}

/** A list; atomic unless `listType` says otherwise. */
export const list = (items: Schema, more: More & { readonly go?: string } = {}): Schema => {
  const { go, ...rest } = more;
  return { type: 'array', items, ...rest, ...(go === undefined ? {} : { wire: { go } }) };
};

/** A list that is a message of its own in protobuf, its items in field 1: what `extra` maps to. */
export const extraValue = (): Schema => ({
  ...list(string()),
  wire: { go: 'v1.ExtraValue', wrapped: true },
});

/** A list whose items are told apart by `keys`, in server-side apply and (unless told otherwise) in strategic merge. */
export const listMap = (
  items: Schema,
  keys: readonly [string, ...string[]],
  more: More & { readonly go?: string } = {},
): Schema =>
  list(items, { listType: 'map', listMapKeys: keys, patchStrategy: 'merge', patchMergeKey: keys[0], ...more });

/** Members of one type under names of the user's choosing. */
export const map = (values: Schema, more: More & { readonly go?: string } = {}): Schema => {
  const { go, ...rest } = more;
  return { type: 'object', additionalProperties: values, ...rest, ...(go === undefined ? {} : { wire: { go } }) };
};

/** A message with named fields, in the order they are declared and written. */
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

/** A schema in the place of a field: its protobuf number, and what is special about it there. */
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

/** Like `field`, for a Go pointer: a zero value given is kept, a struct not given is left out. */
export const optional = (number: number, schema: Schema, more: Parameters<typeof field>[2] = {}): Schema =>
  field(number, schema, { presence: 'pointer', ...more });

/** Fields of a struct that Go embeds in another, whose fields JSON shows inline: for the place where it is embedded. */
export const embedded = (
  number: number,
  name: string,
  fields: Readonly<Record<string, Schema>>,
): Readonly<Record<string, Schema>> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, schema]) => [
      key,
      { ...schema, wire: { ...schema.wire, within: { number, struct: name } } },
    ]),
  );
