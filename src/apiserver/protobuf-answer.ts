import { goJson } from '../api/go-text.js';
import { parseJson } from '../api/json-text.js';
import { asJson, groupVersion, type JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { discoverySchemas } from '../resources/discovery-schemas.js';
import { partialMetadataSchema } from '../resources/partial-metadata-schema.js';
import { statusSchema } from '../resources/status-schema.js';
import { runInTurns } from '../runtime/turn-taking.js';
import {
  encodeEnvelope,
  encodeItems,
  encodeItemsInSteps,
  encodeListMeta,
  encodeObject,
  encodeObjectInSteps,
  encodeWatchEvent,
} from '../schema/protobuf.js';
import type { Schema } from '../schema/schema.js';
import type { Entry } from '../store/store.js';
import { decodeEntryInSteps, isLarge, prepareEntries } from './entry-codec.js';
import { builtInListMeta, inBatches } from './list-text.js';
import type { ListResult, ObjectResult } from './request.js';

/** Returns the metadata-only form of a result. */
type Shape = (result: ObjectResult) => Steps<JsonObject>;

/** Encodes an answer in protobuf. */
export async function encodeAnswer(result: ObjectResult, partial?: Shape): Promise<Buffer> {
  if (result.type === 'list') return encodeList(result, partial);
  if (result.type === 'entry') return runInTurns(encodeEntry(result.definition, result.entry, partial?.(result)));
  if (partial !== undefined) return encodeObject(partialMetadataSchema, await runInTurns(partial(result)));
  const object = plain(result.object);
  return encodeObject(result.definition?.schema ?? discoverySchemas.get(object['kind']) ?? statusSchema, object);
}

function* encodeEntry(
  definition: ResourceDefinition,
  entry: Entry,
  partial: Steps<JsonObject> | undefined,
): Steps<Buffer> {
  const object = yield* partial ?? decodeEntryInSteps(definition, entry);
  yield;
  const schema = partial === undefined ? definition.schema : partialMetadataSchema;
  return isLarge(entry)
    ? yield* encodeObjectInSteps(schema, object as JsonObject)
    : encodeObject(schema, object as JsonObject);
}

async function encodeList(result: ListResult, partial: Shape | undefined): Promise<Buffer> {
  const { definition } = result;
  const head = (partial && (await runInTurns(partial({ ...result, entries: [] })))) ?? {
    apiVersion: groupVersion(definition),
    kind: definition.listKind,
    metadata: builtInListMeta(result),
  };
  const items = await inBatches(
    result.entries,
    (entries) => runInTurns(encodeEntries({ ...result, entries }, partial)),
    partial === undefined ? (entries) => prepareEntries(definition, entries) : undefined,
  );
  const { apiVersion, kind, metadata } = head;
  const message = Buffer.concat([encodeListMeta(metadata as JsonObject), ...items]);
  return encodeEnvelope({ apiVersion: String(apiVersion), kind: String(kind) }, message);
}

function* encodeEntries(result: ListResult, partial: Shape | undefined): Steps<Buffer> {
  const { definition, entries } = result;
  const objects: JsonObject[] = [];
  if (partial !== undefined) objects.push(...((yield* partial(result))['items'] as readonly JsonObject[]));
  else for (const entry of entries) objects.push(asJson(yield* decodeEntryInSteps(definition, entry)));
  yield;
  const schema = partial === undefined ? definition.schema : partialMetadataSchema;
  return entries.some(isLarge) ? yield* encodeItemsInSteps(schema, objects) : encodeItems(schema, objects);
}

/** Encodes a watch event of a stored object; `partial` makes its metadata-only form. */
export function* encodeEventOf(
  type: string,
  definition: ResourceDefinition,
  entry: Entry,
  partial?: Steps<JsonObject>,
): Steps<Buffer> {
  return encodeWatchEvent(type, yield* encodeEntry(definition, entry, partial));
}

/** Encodes other watch events: bookmarks and errors have an object too. `schema` is that of the object, by default of Status. */
export const encodeEvent = (type: string, schema: Schema | undefined, object: object): Buffer =>
  encodeWatchEvent(type, encodeObject(schema ?? statusSchema, plain(object)));

const plain = (object: object): JsonObject => parseJson(goJson(object)) as JsonObject;
