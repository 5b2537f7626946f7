import { goJson } from '../api/go-text.js';
import { parseJson } from '../api/json-text.js';
import { groupVersion, type JsonObject } from '../api/object.js';
import { discoverySchemas } from '../resources/discovery-schemas.js';
import { partialMetadataSchema } from '../resources/partial-metadata-schema.js';
import { statusSchema } from '../resources/status-schema.js';
import { encodeEnvelope, encodeItems, encodeListMeta, encodeObject, encodeWatchEvent } from '../schema/protobuf.js';
import type { Schema } from '../schema/schema.js';
import { ready, stored } from './forms.js';
import { inBatches } from './list-text.js';
import type { Bodied } from './represent.js';
import type { ListResult } from './request.js';

/** Answers in protobuf, for clients that ask for nothing else. `partial`: bare metadata, made by a transform. */
export async function encodeAnswer(result: Bodied, partial?: (result: Bodied) => JsonObject): Promise<Buffer> {
  if (result.type === 'list') return encodeList(result, partial);
  if (partial !== undefined) return encodeObject(partialMetadataSchema, partial(result));
  if (result.type === 'entry')
    return encodeObject(result.definition.schema, stored(result.definition, result.entry) as unknown as JsonObject);
  const object = plain(result.object);
  return encodeObject(result.definition?.schema ?? discoverySchemas.get(object['kind']) ?? statusSchema, object);
}

async function encodeList(result: ListResult, partial?: (result: ListResult) => JsonObject): Promise<Buffer> {
  const { definition, resourceVersion, continue: token, remainingItemCount, shard } = result;
  const head = partial?.({ ...result, entries: [] }) ?? {
    apiVersion: groupVersion(definition),
    kind: definition.listKind,
    metadata: {
      resourceVersion,
      ...(token === undefined ? {} : { continue: token }),
      ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
      ...(shard === undefined ? {} : { shardInfo: { selector: shard } }),
    },
  };
  const items =
    partial === undefined
      ? await inBatches(
          result.entries,
          (entries) =>
            encodeItems(
              definition.schema,
              entries.map((entry) => stored(definition, entry) as unknown as JsonObject),
            ),
          (entries) => ready(definition, entries),
        )
      : await inBatches(result.entries, (entries) =>
          encodeItems(partialMetadataSchema, partial({ ...result, entries })['items'] as readonly JsonObject[]),
        );
  const { apiVersion, kind, metadata } = head;
  const message = Buffer.concat([encodeListMeta(metadata as JsonObject), ...items]);
  return encodeEnvelope({ apiVersion: String(apiVersion), kind: String(kind) }, message);
}

/** A watch event; bookmarks and errors have an object too. `schema` is that of the object, Status unless given. */
export const encodeEvent = (type: string, schema: Schema | undefined, object: object): Buffer =>
  encodeWatchEvent(type, encodeObject(schema ?? statusSchema, plain(object)));

const plain = (object: object): JsonObject => parseJson(goJson(object)) as JsonObject;
