import { notAcceptable, untyped } from '../api/errors.js';
import { internalPackage } from '../api/go-print.js';
import { goJson } from '../api/go-text.js';
import { parseJsonInSteps } from '../api/json-text.js';
import { type ApiObject, groupVersion, type JsonObject, type ObjectMeta } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import { itemStart, orderedText, orderMembers } from '../schema/encode.js';
import {
  decodeEntryInSteps,
  decodeEntryMetadata,
  entryBytes,
  isLarge,
  isServedAsStored,
  prepareEntries,
} from './entry-codec.js';
import {
  builtInListMeta,
  compactJson,
  inBatches,
  type ListForm,
  listMeta,
  listText,
  prettyJson,
  wholeText,
  yamlForm,
} from './list-text.js';
import type { ListResult, ObjectResult, Representation } from './request.js';
import { partialObject, tableOf } from './tables.js';

/**
 * The bytes of a response, which are written in chunks. The chunks of a large response are created as they are
 * requested.
 */
export interface Body {
  readonly length: number;
  readonly chunks: Iterable<Buffer>;
}

/** Returns a body whose bytes exist already. */
export const bodyOf = (...chunks: readonly Buffer[]): Body => ({
  length: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
  chunks,
});

/** A result in the form that the caller accepts: the last step before the bytes are sent. */
export interface Represented {
  readonly code: number;
  readonly contentType: string;
  readonly body: Body;
}

const newline = Buffer.from('\n');
const types = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
} as const;

export function represent(result: ObjectResult, form: Representation, now: number): Represented | Promise<Represented> {
  const isPlain = form.mediaType === 'json' && !form.pretty && (form.as === undefined || isStatus(result));
  if (!isPlain) return reshaped(result, form, now);
  const plain = (): Represented => ({ code: codeOf(result), contentType: types.json, body: plainJson(result) });
  if (result.type !== 'list' || isServedAsStored(result.definition)) return plain();
  const { definition, entries } = result;
  const batches = inBatches(
    entries,
    (some) => some.forEach((entry) => void entryBytes(definition, entry)),
    (some) => prepareEntries(definition, some),
  );
  return batches.then(plain);
}

async function reshaped(result: ObjectResult, form: Representation, now: number): Promise<Represented> {
  const turns = new TurnTaking();
  const transforms = form.as !== undefined && !isStatus(result);
  const shape = (some: ObjectResult): Steps<JsonObject> => transformed(some, form, now) as Steps<JsonObject>;
  if (form.mediaType === 'protobuf') {
    const { encodeAnswer } = await import('./protobuf-answer.js');
    const bytes = await encodeAnswer(result, transforms ? shape : undefined);
    return { code: codeOf(result), contentType: types.protobuf, body: bodyOf(bytes) };
  }
  const texts = await formOf(form);
  const chunks =
    result.type === 'list'
      ? await listText(
          result,
          shape,
          texts,
          readsWhole(form) ? (some) => prepareEntries(result.definition, some) : undefined,
        )
      : [await oneText(shape(result), result.type === 'entry' && isLarge(result.entry), texts, turns)];
  return { code: codeOf(result), contentType: types[form.mediaType], body: bodyOf(...chunks) };
}

/** Whether a representation needs the whole object. If not, only the metadata is decoded. */
const readsWhole = ({ as }: Representation): boolean => as === undefined || as.kind === 'Table';

async function oneText(
  shape: Steps<JsonObject>,
  large: boolean,
  { frame }: ListForm,
  turns: TurnTaking,
): Promise<Buffer> {
  const object = await runInTurns(shape, turns);
  if (turns.isDue) await turns.next();
  return Buffer.from(await runInTurns(wholeText(frame(object, large)), turns));
}

async function formOf({ mediaType, pretty }: Representation): Promise<ListForm> {
  if (mediaType !== 'yaml') return pretty ? prettyJson : compactJson;
  const { writeYamlInSteps } = await import('../api/yaml-writer.js');
  return yamlForm(writeYamlInSteps);
}

const codeOf = (result: ObjectResult): number => (result.type === 'list' ? 200 : result.code);

/** Writes compact JSON without a transform, by copying the stored bytes. */
function plainJson(result: ObjectResult): Body {
  if (result.type === 'entry') return bodyOf(entryBytes(result.definition, result.entry), newline);
  if (result.type === 'list') return listBody(result);
  const { definition, object } = result;
  const text = definition === undefined ? goJson(object) : orderedText(definition, object as JsonObject);
  return bodyOf(Buffer.from(text), newline);
}

const isStatus = (result: ObjectResult): boolean => result.type === 'object' && result.definition === undefined;

const comma = 0x2c;
const openBrace = 0x7b;
const listEnd = Buffer.from(']}\n');

/** Writes head, items separated by commas, and end. Items of built-in kinds carry no kind and apiVersion. */
function listBody(result: ListResult): Body {
  const { definition, entries } = result;
  const custom = definition.origin === 'custom';
  const head = Buffer.from(listHead(result));
  const end = custom
    ? Buffer.from(`],${goJson({ kind: definition.listKind, metadata: customListMeta(result) }).slice(1)}\n`)
    : listEnd;
  // The brace is skipped, because it is written again.
  const start = itemStart(definition);
  const items = entries.map((entry) => entryBytes(definition, entry));
  const commas = Math.max(0, items.length - 1);
  const length = items.reduce((sum, item) => sum + item.length - start + 1, head.length + end.length + commas);
  return { length, chunks: { [Symbol.iterator]: () => listChunks({ head, items, start, end }, length) } };
}

/** The size of a chunk. */
const chunkBytes = 65_536;

interface ListPieces {
  readonly head: Buffer;
  readonly items: readonly Buffer[];
  /** The position in an item at which its members begin. */
  readonly start: number;
  readonly end: Buffer;
}

/** Copies every item once, straight to its place. */
function* listChunks({ head, items, start, end }: ListPieces, length: number): Generator<Buffer, void> {
  let remaining = length;
  let out = Buffer.alloc(0);
  let at = 0;
  for (let position = -1; position <= items.length; position++) {
    const item = items[position];
    const frame = position < 0 ? head : end;
    const needed = item === undefined ? frame.length : item.length - start + (position > 0 ? 2 : 1);
    if (out.length - at < needed) {
      if (at > 0) yield out.subarray(0, at);
      remaining -= at;
      out = Buffer.allocUnsafeSlow(Math.min(Math.max(chunkBytes, needed), remaining));
      at = 0;
    }
    if (item === undefined) {
      at += frame.copy(out, at);
      continue;
    }
    if (position > 0) out[at++] = comma;
    out[at++] = openBrace;
    at += item.copy(out, at, start);
  }
  yield out.subarray(0, at);
}

function listHead(result: ListResult): string {
  const { definition } = result;
  const apiVersion = groupVersion(definition);
  if (definition.origin === 'custom') return `{"apiVersion":${goJson(apiVersion)},"items":[`;
  return `${goJson({ kind: definition.listKind, apiVersion, metadata: builtInListMeta(result) }).slice(0, -1)},"items":[`;
}

const customListMeta = ({ resourceVersion, continue: token, remainingItemCount }: ListResult): JsonObject => ({
  continue: token ?? '',
  ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  resourceVersion,
});

/** Returns the result as a value, transformed as requested. */
function* transformed(result: ObjectResult, form: Representation, now: number): Steps<unknown> {
  const { as } = form;
  if (isStatus(result) || as === undefined) return yield* plainValue(result);
  const isList = result.type === 'list';
  const { definition } = result as { readonly definition: ResourceDefinition };
  if (as.kind === 'Table') {
    const objects: ApiObject[] = [];
    if (!isList) objects.push(yield* objectOf(result));
    else for (const entry of result.entries) objects.push(yield* decodeEntryInSteps(definition, entry));
    const meta = isList ? listMeta(result) : tableMeta(objects[0]);
    return tableOf(definition, objects, {
      version: as.version,
      includeObject: form.includeObject ?? 'Metadata',
      metadata: meta,
      now,
      columns: true,
    });
  }
  const goType = (list: boolean): string =>
    definition.origin === 'custom'
      ? `*unstructured.Unstructured${list ? 'List' : ''}`
      : `*${internalPackage(definition.group)}.${definition.kind}${list ? 'List' : ''}`;
  if (as.kind === 'PartialObjectMetadataList') {
    if (!isList) {
      if (definition.origin === 'custom') throw untyped('content is not a list');
      throw notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(false)})`,
      );
    }
    const items: JsonObject[] = [];
    for (const entry of result.entries)
      items.push(partialObject(yield* decodeEntryMetadata(definition, entry), as.version));
    return {
      kind: 'PartialObjectMetadataList',
      apiVersion: `meta.k8s.io/${as.version}`,
      metadata: listMeta(result),
      items: items.length ? items : null,
    };
  }
  if (isList)
    throw notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (${goType(true)})`);
  return partialObject(yield* metadataOf(result), as.version);
}

/** Returns the metadata of a table of one object. */
export const tableMeta = (object: ApiObject | undefined): JsonObject =>
  object?.metadata.resourceVersion === undefined ? {} : { resourceVersion: object.metadata.resourceVersion };

function* objectOf(result: Exclude<ObjectResult, ListResult>): Steps<ApiObject> {
  return result.type === 'entry'
    ? yield* decodeEntryInSteps(result.definition, result.entry)
    : (result.object as ApiObject);
}

function* metadataOf(result: Exclude<ObjectResult, ListResult>): Steps<ObjectMeta> {
  if (result.type === 'entry') return yield* decodeEntryMetadata(result.definition, result.entry);
  return (result.object as ApiObject).metadata;
}

function* plainValue(result: ObjectResult): Steps<unknown> {
  if (result.type === 'entry')
    return yield* parseJsonInSteps(entryBytes(result.definition, result.entry).toString('utf8'));
  if (result.type === 'list') {
    return yield* parseJsonInSteps(Buffer.concat([...listBody(result).chunks]).toString('utf8'));
  }
  return result.definition === undefined ? result.object : orderMembers(result.definition, result.object as JsonObject);
}
