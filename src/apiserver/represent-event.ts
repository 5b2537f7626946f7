import { ApiError, untyped } from '../api/errors.js';
import { goJson, goJsonInSteps } from '../api/go-text.js';
import { messageOf } from '../api/message-of.js';
import { type ApiObject, groupVersion, type JsonObject } from '../api/object.js';
import { runSync, type Steps } from '../api/steps.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { runInLaterTurns } from '../runtime/turn-taking.js';
import { orderMembers } from '../schema/encode.js';
import type { Entry } from '../store/store.js';
import { decodeEntryInSteps, decodeEntryMetadata, entryBytes, isLarge } from './entry-codec.js';
import { RecentCache } from './recent-cache.js';
import { tableMeta } from './represent.js';
import type { Representation, WatchItem } from './request.js';
import { partialObject, tableOf } from './tables.js';

/**
 * Encodes the events of a watch in the form that the caller accepts, in order. Returns undefined for an event without
 * such a form, at which the watch ends; a promise for a large object, which is encoded in turns with other work.
 */
export type EventEncoder = (item: WatchItem) => Buffer | undefined | Promise<Buffer>;

export async function eventEncoder(
  definition: ResourceDefinition,
  form: Representation,
  now: () => number,
): Promise<EventEncoder> {
  const encode = await encoderOf(definition, form, now);
  // An object has no list form, but an error is sent in any form.
  if (form.as?.kind !== 'PartialObjectMetadataList') return encode;
  return (item) => (item.type === 'ERROR' ? encode(item) : undefined);
}

async function encoderOf(
  definition: ResourceDefinition,
  form: Representation,
  now: () => number,
): Promise<EventEncoder> {
  const { as } = form;
  if (form.mediaType === 'protobuf') return protobufEvents(definition, as?.version);
  if (as === undefined) return plainEvents(definition);
  return as.kind === 'Table' ? tables(definition, form, as.version, now) : partialEvents(definition, as.version);
}

type ObjectlessItem = Extract<WatchItem, { type: 'BOOKMARK' | 'ERROR' }>;
type NonErrorItem = Exclude<WatchItem, { readonly type: 'ERROR' }>;
type MetaVersion = NonNullable<Representation['as']>['version'];

/** A form in which events are the same for all watchers, so that each is encoded once. */
interface SharedForm {
  readonly name: string;
  write(type: string, entry: Entry): Buffer | Promise<Buffer>;
  special(item: ObjectlessItem): Buffer;
}

interface EncodedEvent {
  readonly definition: ResourceDefinition;
  readonly form: string;
  readonly type: string;
  readonly bytes: Buffer | Promise<Buffer>;
}

/** The size of the encoded events that are cached for further watchers, in bytes. */
const cachedBytes = 16 * 1_048_576;
const encodedEvents = new RecentCache<Entry, readonly EncodedEvent[]>(cachedBytes);

const shared =
  (definition: ResourceDefinition, form: SharedForm): EventEncoder =>
  (item) =>
    'entry' in item ? sharedEvent(definition, form, item) : form.special(item);

function sharedEvent(
  definition: ResourceDefinition,
  { name: form, write }: Pick<SharedForm, 'name' | 'write'>,
  { type, entry }: Extract<WatchItem, { readonly entry: Entry }>,
): Buffer | Promise<Buffer> {
  const known = encodedEvents.get(entry) ?? [];
  for (const cached of known) {
    if (cached.definition === definition && cached.type === type && cached.form === form) return cached.bytes;
  }
  const bytes = write(type, entry);
  encodedEvents.set(
    entry,
    [...known, { definition, form, type, bytes }],
    bytes instanceof Promise ? entry.bytes.length : bytes.length,
  );
  return bytes;
}

const eventEnd = Buffer.from('}\n');

const plainEvents = (definition: ResourceDefinition): EventEncoder =>
  shared(definition, {
    name: 'json',
    write: (type, entry) =>
      Buffer.concat([Buffer.from(`{"type":"${type}","object":`), entryBytes(definition, entry), eventEnd]),
    special: (item) => line(item.type, specialObject(definition, item)),
  });

const partialEvents = (definition: ResourceDefinition, version: MetaVersion): EventEncoder =>
  shared(definition, {
    name: `json of ${version}`,
    write: (type, entry) => writeEntry(entry, partialLine(definition, type, entry, version)),
    special: (item) =>
      line(item.type, item.type === 'ERROR' ? statusOf(item.error) : partialMark(definition, item, version)),
  });

function* partialLine(definition: ResourceDefinition, type: string, entry: Entry, version: MetaVersion): Steps<Buffer> {
  return yield* lineInSteps(type, yield* metadataOf(definition, entry, version), isLarge(entry));
}

async function protobufEvents(definition: ResourceDefinition, partial: MetaVersion | undefined): Promise<EventEncoder> {
  const [{ encodeEvent, encodeEventOf }, { partialMetadataSchema }] = await Promise.all([
    import('./protobuf-answer.js'),
    import('../resources/partial-metadata-schema.js'),
  ]);
  return shared(definition, {
    name: partial === undefined ? 'protobuf' : `protobuf of ${partial}`,
    write: (type, entry) => {
      const metadata = partial && metadataOf(definition, entry, partial);
      return writeEntry(entry, encodeEventOf(type, definition, entry, metadata));
    },
    special: (item) => {
      if (item.type === 'ERROR') return encodeEvent('ERROR', undefined, statusOf(item.error));
      return partial === undefined
        ? encodeEvent(item.type, definition.schema, specialObject(definition, item))
        : encodeEvent(item.type, partialMetadataSchema, partialMark(definition, item, partial));
    },
  });
}

/**
 * Returns the form of tables. They show ages in seconds, so that an event is the same for all watchers within a second.
 */
function tables(
  definition: ResourceDefinition,
  { includeObject = 'Metadata' }: Representation,
  version: MetaVersion,
  now: () => number,
): EventEncoder {
  let first = true;
  function* tableLine(item: NonErrorItem, columns: boolean): Steps<Buffer> {
    const object = yield* objectIn(definition, item);
    const table = tableOf(definition, [object], {
      version,
      includeObject,
      metadata: tableMeta(object),
      now: now(),
      columns,
      ...(item.type === 'BOOKMARK' ? { bookmark: true } : {}),
    });
    return yield* lineInSteps(item.type, table as JsonObject, 'entry' in item && isLarge(item.entry));
  }
  return (item) => {
    if (item.type === 'ERROR') return line('ERROR', statusOf(item.error));
    const columns = first;
    first = false;
    if (!('entry' in item)) return runSync(tableLine(item, columns));
    const name = `table of ${version} with ${includeObject}, ${columns ? 'columns' : 'rows'}, at ${Math.floor(now() / 1_000)}`;
    return sharedEvent(definition, { name, write: (_, entry) => writeEntry(entry, tableLine(item, columns)) }, item);
  };
}

/**
 * Encodes an entry. A large one is started in a later turn: watchers have many forms, and not even the first step for
 * each may delay the distribution of a change.
 */
const writeEntry = (entry: Entry, steps: Steps<Buffer>): Buffer | Promise<Buffer> =>
  isLarge(entry) ? runInLaterTurns(steps) : runSync(steps);

function* objectIn(definition: ResourceDefinition, item: NonErrorItem): Steps<ApiObject> {
  return 'entry' in item
    ? yield* decodeEntryInSteps(definition, item.entry)
    : (specialObject(definition, item) as ApiObject);
}

function* metadataOf(definition: ResourceDefinition, entry: Entry, version: MetaVersion): Steps<JsonObject> {
  return partialObject(yield* decodeEntryMetadata(definition, entry), version);
}

const partialMark = (definition: ResourceDefinition, item: ObjectlessItem, version: MetaVersion): JsonObject =>
  partialObject((specialObject(definition, item) as ApiObject).metadata, version);

const line = (type: string, object: unknown): Buffer => Buffer.from(`{"type":"${type}","object":${goJson(object)}}\n`);

function* lineInSteps(type: string, object: JsonObject, large: boolean): Steps<Buffer> {
  return large ? Buffer.from(`{"type":"${type}","object":${yield* goJsonInSteps(object)}}\n`) : line(type, object);
}

/** Returns the object of a bookmark or an error event. */
function specialObject(definition: ResourceDefinition, item: ObjectlessItem): object {
  if (item.type === 'ERROR') return statusOf(item.error);
  const bare = {
    kind: definition.kind,
    apiVersion: groupVersion(definition),
    metadata: {
      resourceVersion: item.resourceVersion,
      ...(item.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    },
  };
  return orderMembers(definition, bare);
}

/** Returns the Status of an error event. Errors other than ApiError become internal errors. */
function statusOf(error: unknown): object {
  const known = error instanceof ApiError ? error : untyped(messageOf(error));
  const status = known.toStatus();
  return status.reason === undefined ? { ...status, reason: 'InternalError' } : status;
}
