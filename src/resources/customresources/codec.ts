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

/** Decoding of custom resources of one version from requests, and conversion from and to the store. */

export interface CodecParts {
  readonly group: string;
  readonly kind: string;
  /** The version that is served. */
  readonly version: string;
  readonly storageVersion: string;
  /** Returns the structural schema of a version; undefined if there is no such version. */
  schemaOf(version: string): Schema | undefined;
  /** Whether members without a schema are kept, as in old definitions. */
  readonly preserveUnknownFields: boolean;
  /** Set if a webhook converts between versions; otherwise only the apiVersion changes. */
  readonly convertRemotely?: RemoteConverter | undefined;
}

/** Converts an object to another version; `to` is an apiVersion. */
type Convert = (object: JsonObject, to: string) => JsonObject;

/** Conversion strategy None: only the apiVersion changes. */
export const convertNone: Convert = (object, to) =>
  object['apiVersion'] === to ? object : { ...object, apiVersion: to };

const nothing: Schema = {};

export function readerOf(parts: CodecParts): BodyReader<ApiObject> {
  return {
    decode: (body, { isGenerated }) => (isGenerated ? readGenerated(body, parts) : decodeCustom(body, parts)),
    pruned: (object) =>
      reshape(asJson(object), parts.schemaOf(parts.version) ?? nothing, parts) as unknown as ApiObject,
  };
}

export function codecOf(parts: CodecParts): Codec<ApiObject> {
  const { version, storageVersion, convertRemotely } = parts;
  const [served, stored] = [apiVersionOf(parts, version), apiVersionOf(parts, storageVersion)];
  const ofVersion = (apiVersion: Json | undefined): Schema =>
    parts.schemaOf(typeof apiVersion === 'string' ? shortVersion(apiVersion) : '') ?? nothing;
  /** Converts a stored object to the form of its version, with the defaults that the version has now. */
  const shaped = (object: JsonObject): JsonObject => {
    const schema = ofVersion(object['apiVersion']);
    // Exceeding the number of defaults is no error here, so that stored objects can be read whatever defaults their
    // definition has got since.
    return withGeneration(applyDefaults(reshape(object, schema, parts), schema, { left: maxDefaulted }));
  };
  // An object that was not converted needs no pruning: stored objects have been through `decode`.
  const readable = (object: JsonObject, converted: JsonObject): ApiObject =>
    (converted['apiVersion'] === object['apiVersion']
      ? converted
      : reshape(converted, ofVersion(served), parts)) as unknown as ApiObject;
  // A converted object has not been pruned by the schema of this version yet.
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
        const forms = objects.map(shaped);
        const converted = await ask(forms, served);
        return objects.map((object, at) => readable(object, converted[at] ?? object));
      },
      async store(object) {
        const [converted] = await ask([asJson(object)], stored);
        return storable(converted ?? asJson(object), { drop: false });
      },
    };
  }
}

/** Returns objects that need no conversion. Throws for others, which only the webhook can convert. */
const unchanged: Convert = (object, to) => {
  if (object['apiVersion'] === to) return object;
  throw new Error(`an object of ${String(object['apiVersion'])} was to be converted to ${to} first`);
};

const apiVersionOf = ({ group }: CodecParts, version: string): string => `${group}/${version}`;

/**
 * Decodes a body as sent, by the schema of the version that it names. A body of another kind is not pruned, and an
 * unknown version has an empty schema. Members that the schema does not name are dropped and reported, meaningless
 * nulls dropped, embedded resources coerced and defaults set. Throws DecodeError for unreadable metadata, BadRequest
 * for more defaults than an object may have.
 */
function* decodeCustom(body: JsonObject, parts: Omit<Reading, 'version'>): Steps<DecodedBody> {
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
 * Decodes an object that the server or a webhook made, not a client: unknown members and nulls are kept until it is
 * stored. Unreadable parts of its metadata are dropped.
 */
function* readGenerated(body: JsonObject, parts: Reading): Steps<DecodedBody> {
  const schema = parts.schemaOf(parts.version) ?? nothing;
  const metadata = readableMetadata(body['metadata'] ?? null);
  yield;
  return { object: withDefaults(body, { body, metadata, schema }), unknownFields: [] };
}

type Reading = Pick<CodecParts, 'group' | 'kind' | 'version' | 'schemaOf' | 'preserveUnknownFields'>;
interface DecodedBody {
  readonly object: ApiObject;
  readonly unknownFields: readonly string[];
}

function withDefaults(
  members: JsonObject,
  { body, metadata, schema }: { readonly body: JsonObject; readonly metadata: JsonObject; readonly schema: Schema },
): ApiObject {
  const { apiVersion, kind } = body;
  const budget = { left: maxDefaulted };
  const object = { ...members, apiVersion: apiVersion ?? '', kind: kind ?? '', metadata };
  const filled = applyDefaults(object, schema, budget);
  if (budget.left < 0) throw badRequest(`the defaults of the schema add more than ${maxDefaulted} values`);
  // `apiVersion`, `kind` and `metadata` have just been set.
  return filled as unknown as ApiObject;
}

/**
 * Drops members that the schema of the object's version does not name. Unreadable parts of embedded resources are
 * dropped as well; without `drop` they throw ApiError (500).
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

/** Returns the metadata with generation 1 for objects from before generations were counted. */
const generated = (metadata: JsonObject): JsonObject =>
  metadata['generation'] ? metadata : { ...metadata, generation: 1 };
