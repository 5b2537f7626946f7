import { badRequest, untyped } from '../../api/errors.js';
import { type ApiObject, asJson, isObject, type Json, type JsonObject, shortVersion } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import type { BodyReader, Codec } from '../../registry/resource-definition.js';
import { DecodeError } from '../../schema/decode-error.js';
import { applyDefaults, dropNulls, maxDefaulted } from '../../schema/default.js';
import { coerceEmbedded, decodeMetadata, readableMetadata } from '../../schema/embedded.js';
import { prune } from '../../schema/prune.js';
import type { Schema } from '../../schema/schema.js';
import type { RemoteConverter } from './conversion-review.js';

/** How custom resources of one version come in from callers, and in and out of the store. */

export interface CodecParts {
  readonly group: string;
  readonly kind: string;
  /** The version that callers speak. */
  readonly version: string;
  readonly storageVersion: string;
  /** The structural schema of a version; undefined if there is no such version. */
  schemaOf(version: string): Schema | undefined;
  /** Members without a schema stay (a definition of old). */
  readonly preserveUnknownFields: boolean;
  /** Present where versions are converted by somebody elsewhere; otherwise only the apiVersion changes. */
  readonly convertRemotely?: RemoteConverter | undefined;
}

/** Makes an object of another version; `to` is an apiVersion. */
type Convert = (object: JsonObject, to: string) => JsonObject;

/** Strategy None: only the apiVersion changes. */
export const convertNone: Convert = (object, to) =>
  object['apiVersion'] === to ? object : { ...object, apiVersion: to };

const nothing: Schema = {};

export function readerOf(parts: CodecParts): BodyReader<ApiObject> {
  return {
    decode: (body, { made }) => (made ? readMade(body, parts) : decodeCustom(body, parts)),
    pruned: (object) =>
      reshape(asJson(object), parts.schemaOf(parts.version) ?? nothing, parts) as unknown as ApiObject,
  };
}

export function codecOf(parts: CodecParts): Codec<ApiObject> {
  const { version, storageVersion, convertRemotely } = parts;
  const [served, stored] = [apiVersionOf(parts, version), apiVersionOf(parts, storageVersion)];
  const ofVersion = (apiVersion: Json | undefined): Schema =>
    parts.schemaOf(typeof apiVersion === 'string' ? shortVersion(apiVersion) : '') ?? nothing;
  /** As it is in the store, with the defaults its version has got since. */
  const shaped = (object: JsonObject): JsonObject => {
    const schema = ofVersion(object['apiVersion']);
    // Whatever defaults a definition has got since, what is stored can be read.
    return withGeneration(applyDefaults(reshape(object, schema, parts), schema, { left: maxDefaulted }));
  };
  // Stored objects have been through `decode`.
  const readable = (object: JsonObject, converted: JsonObject): ApiObject =>
    (converted['apiVersion'] === object['apiVersion']
      ? converted
      : reshape(converted, ofVersion(served), parts)) as unknown as ApiObject;
  // What comes in another version has not been looked at by this schema yet.
  const storable = (converted: JsonObject, { drop }: { readonly drop: boolean }): JsonObject =>
    reshape(converted, ofVersion(stored), parts, { drop });
  const convert = convertRemotely === undefined ? convertNone : unchanged;
  return {
    read: (object) => readable(object, convert(shaped(object), served)),
    store: (object) => storable(convert(asJson(object), stored), { drop: object.apiVersion === stored }),
    ...(convertRemotely === undefined ? { readMetadata: generated } : { remote: convertedElsewhere(convertRemotely) }),
  };

  function convertedElsewhere(ask: RemoteConverter): NonNullable<Codec<ApiObject>['remote']> {
    return {
      isForeign: (object) => object['apiVersion'] !== served,
      isStoredAs: (object) => object.apiVersion === stored,
      async read(objects) {
        const given = objects.map(shaped);
        const converted = await ask(given, served);
        return objects.map((object, at) => readable(object, converted[at] ?? object));
      },
      async store(object) {
        const [converted] = await ask([asJson(object)], stored);
        return storable(converted ?? asJson(object), { drop: false });
      },
    };
  }
}

/** For objects that need no conversion, where only somebody elsewhere could do one. */
const unchanged: Convert = (object, to) => {
  if (object['apiVersion'] === to) return object;
  throw new Error(`an object of ${String(object['apiVersion'])} was to be converted to ${to} first`);
};

const apiVersionOf = ({ group }: CodecParts, version: string): string => `${group}/${version}`;

/**
 * A body as sent, by the schema of the version that it says; one of another kind is left alone, and of a version that
 * there is not nothing is known. Members that the schema does not name are dropped and reported, nulls that mean nothing
 * too, embedded resources are brought into shape, defaults are filled in. Throws DecodeError for metadata that cannot be
 * read, BadRequest for more defaults than an object may have.
 */
function* decodeCustom(body: JsonObject, parts: Omit<Reading, 'version'>): Steps<Read> {
  const { apiVersion, kind } = body;
  const [version, group = ''] = typeof apiVersion === 'string' ? apiVersion.split('/').toReversed() : [''];
  const isOurs = kind === parts.kind && group === parts.group;
  const schema = (isOurs ? parts.schemaOf(version ?? '') : undefined) ?? nothing;
  const keepsAll = parts.preserveUnknownFields || !isOurs;
  const meta = decodeMetadata(body['metadata'] ?? null);
  const { value: pruned, unknownFields } = keepsAll
    ? { value: body, unknownFields: [] }
    : prune(body, schema, { resource: true });
  yield;
  const shaped = keepsAll ? pruned : dropNulls(pruned, schema);
  yield;
  const { value: coerced, unknownFields: inEmbedded, refused } = coerceEmbedded(shaped, schema);
  if (refused !== undefined) throw new DecodeError(`${refused.field}: ${refused.body}`);
  yield;
  return {
    object: withDefaults(isObject(coerced) ? coerced : {}, { body, metadata: meta.metadata, schema }),
    unknownFields: [...meta.unknownFields, ...unknownFields, ...inEmbedded],
  };
}

/**
 * What the server or a webhook made, rather than read: it keeps what its schema does not know, and nulls, until it is
 * stored. Of its metadata there is what can be read.
 */
function* readMade(body: JsonObject, parts: Reading): Steps<Read> {
  const schema = parts.schemaOf(parts.version) ?? nothing;
  const metadata = readableMetadata(body['metadata'] ?? null);
  yield;
  return { object: withDefaults(body, { body, metadata, schema }), unknownFields: [] };
}

type Reading = Pick<CodecParts, 'group' | 'kind' | 'version' | 'schemaOf' | 'preserveUnknownFields'>;
interface Read {
  readonly object: ApiObject;
  readonly unknownFields: readonly string[];
}

function withDefaults(
  members: JsonObject,
  { body, metadata, schema }: { readonly body: JsonObject; readonly metadata: JsonObject; readonly schema: Schema },
): ApiObject {
  const { apiVersion, kind } = body;
  const room = { left: maxDefaulted };
  const object = { ...members, apiVersion: apiVersion ?? '', kind: kind ?? '', metadata };
  const filled = applyDefaults(object, schema, room);
  if (room.left < 0) throw badRequest(`the defaults of the schema add more than ${maxDefaulted} values`);
  // `apiVersion`, `kind` and `metadata` have just been set.
  return filled as unknown as ApiObject;
}

/**
 * Drops what the schema of its version does not name. What cannot be read of embedded resources is dropped as well, or
 * without `drop` refused: throws ApiError (500).
 */
function reshape(
  object: JsonObject,
  schema: Schema,
  { preserveUnknownFields }: CodecParts,
  { drop }: { readonly drop: boolean } = { drop: true },
): JsonObject {
  const pruned = preserveUnknownFields ? object : dropNulls(prune(object, schema, { resource: true }).value, schema);
  const { value, refused } = coerceEmbedded(pruned, schema, { drop });
  if (refused !== undefined) throw untyped(`${refused.field}: ${refused.body}`);
  const shaped = isObject(value) ? value : pruned;
  const { apiVersion, kind, metadata } = object;
  if (shaped['apiVersion'] === apiVersion && shaped['kind'] === kind && shaped['metadata'] === metadata) return shaped;
  return { ...shaped, apiVersion: apiVersion ?? '', kind: kind ?? '', metadata: metadata ?? {} };
}

function withGeneration(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isObject(metadata)) return object;
  const counted = generated(metadata);
  return counted === metadata ? object : { ...object, metadata: counted };
}

/** Objects from before generations were counted are of the first one. */
const generated = (metadata: JsonObject): JsonObject =>
  metadata['generation'] ? metadata : { ...metadata, generation: 1 };
