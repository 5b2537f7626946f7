import { goJson } from '../api/go-text.js';
import { parseJson } from '../api/json-text.js';
import { groupVersion, type JsonObject } from '../api/object.js';
import { partialMetadataSchema } from '../resources/partial-metadata-schema.js';
import { statusSchema } from '../resources/status-schema.js';
import { encodeObject, encodeProtobufList, encodeWatchEvent } from '../schema/protobuf.js';
import type { Schema } from '../schema/schema.js';
import { stored } from './forms.js';
import type { Result } from './request.js';

/** Answers in protobuf, for clients that ask for nothing else. */
export function encodeAnswer(result: Exclude<Result, { type: 'watch' | 'text' | 'bytes' }>): Buffer {
  if (result.type === 'list') {
    const { definition, entries, resourceVersion, continue: token, remainingItemCount, shard } = result;
    return encodeProtobufList(definition.schema, {
      apiVersion: groupVersion(definition),
      kind: definition.listKind,
      metadata: {
        resourceVersion,
        ...(token === undefined ? {} : { continue: token }),
        ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
        ...(shard === undefined ? {} : { shardInfo: { selector: shard } }),
      },
      items: entries.map((entry) => stored(definition, entry) as unknown as JsonObject),
    });
  }
  if (result.type === 'entry')
    return encodeObject(result.definition.schema, stored(result.definition, result.entry) as unknown as JsonObject);
  const schema = result.definition?.schema ?? statusSchema;
  return encodeObject(schema, plain(result.object));
}

/** Bare metadata of one object or of many, made by a transform. */
export function encodePartial(value: JsonObject): Buffer {
  const { kind, apiVersion, metadata, items } = value;
  if (kind !== 'PartialObjectMetadataList') return encodeObject(partialMetadataSchema, value);
  return encodeProtobufList(partialMetadataSchema, {
    apiVersion: String(apiVersion),
    kind,
    metadata: metadata as JsonObject,
    items: (items ?? []) as readonly JsonObject[],
  });
}

/** A watch event; bookmarks and errors have an object too. `schema` is that of the object, Status unless given. */
export const encodeEvent = (type: string, schema: Schema | undefined, object: object): Buffer =>
  encodeWatchEvent(type, encodeObject(schema ?? statusSchema, plain(object)));

const plain = (object: object): JsonObject => parseJson(goJson(object)) as JsonObject;
