import { largeJson } from '../api/json-pieces.js';
import { type ApiObject, asJson, isObject, type JsonObject, type ObjectMeta } from '../api/object.js';
import { DeferredWork, type Steps } from '../api/steps.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import { withoutEmpty } from '../schema/empty-members.js';
import { compileEncoder, type EncodedType } from '../schema/encode.js';
import { sizeOf, withRevision } from '../store/document.js';
import type { Document, Entry } from '../store/store.js';

/** Converts between stored bytes and objects of the version that a request uses. */

/** Caches of decoded and encoded entries of one definition. */
interface Readings {
  /** Objects that were converted in this process, held weakly. */
  readonly objects: WeakMap<Entry, WeakRef<ApiObject>>;
  /** Objects that a webhook converted. */
  readonly foreign: WeakMap<Entry, ApiObject>;
  readonly bytes: WeakMap<Entry, Buffer>;
  /** The conversions in progress. */
  readonly underWay: WeakMap<Entry, Promise<void>>;
}

const readings = new WeakMap<ResourceDefinition, Readings>();

function readingsOf(definition: ResourceDefinition): Readings {
  const known = readings.get(definition);
  if (known !== undefined) return known;
  const created = { objects: new WeakMap(), foreign: new WeakMap(), bytes: new WeakMap(), underWay: new WeakMap() };
  readings.set(definition, created);
  return created;
}

/** Whether the entry is so large that it is decoded in steps. */
export const isLarge = (entry: Entry): boolean => sizeOf(entry) >= largeJson;

/**
 * Decodes a stored object into the definition's version. The result must not be changed. If a webhook converts,
 * `prepareEntries` must have run.
 */
export function decodeEntry(definition: ResourceDefinition, entry: Entry): ApiObject {
  const { codec } = definition;
  if (codec === undefined) return entry.value as unknown as ApiObject;
  const known = readingsOf(definition);
  return readBefore(known, entry) ?? keepObject(known, entry, codec.read(entry.value as JsonObject));
}

/**
 * Like `decodeEntry`, in steps, for objects that may be large. If a webhook converts, `prepareEntries` must have run.
 */
export function* decodeEntryInSteps(definition: ResourceDefinition, entry: Entry): Steps<ApiObject> {
  if (!isLarge(entry)) return decodeEntry(definition, entry);
  const { codec } = definition;
  if (codec === undefined) return (yield* entry.read()) as unknown as ApiObject;
  const known = readingsOf(definition);
  const before = readBefore(known, entry);
  if (before !== undefined) return before;
  const value = (yield* entry.read()) as JsonObject;
  yield;
  return keepObject(known, entry, codec.read(value));
}

/**
 * Like `decodeEntry`, for any entry: converts it if needed, in turns with other work. Rejects with the error that is
 * returned to the caller.
 */
export async function decodeEntryInTurns(
  definition: ResourceDefinition,
  entry: Entry,
  turns = new TurnTaking(),
): Promise<ApiObject> {
  const preparation = prepareEntries(definition, [entry]);
  if (preparation !== undefined) await preparation;
  return isLarge(entry) ? runInTurns(decodeEntryInSteps(definition, entry), turns) : decodeEntry(definition, entry);
}

const readBefore = ({ foreign, objects }: Readings, entry: Entry): ApiObject | undefined =>
  foreign.get(entry) ?? objects.get(entry)?.deref();

function keepObject({ objects }: Readings, entry: Entry, object: ApiObject): ApiObject {
  objects.set(entry, new WeakRef(object));
  return object;
}

/** Returns the entry's JSON in the definition's version; encoded once for all callers. */
export function entryBytes(definition: ResourceDefinition, entry: Entry): Buffer {
  if (isServedAsStored(definition)) return entry.bytes;
  const known = readingsOf(definition);
  const before = known.bytes.get(entry);
  if (before !== undefined) return before;
  const { order, write } = compileEncoder(definition);
  return keepBytes(known, entry, write(order(decodeEntry(definition, entry))));
}

function keepBytes({ bytes }: Readings, entry: Entry, document: Document): Buffer {
  const encoded = withRevision(document, entry.revision);
  // Most entries are stored as they are served: these need not be kept twice.
  const cached = encoded.equals(entry.bytes) ? entry.bytes : encoded;
  bytes.set(entry, cached);
  return cached;
}

/** Decodes the metadata alone, and the whole object only if that is needed. */
export function* decodeEntryMetadata(definition: ResourceDefinition, entry: Entry): Steps<ObjectMeta> {
  const { codec } = definition;
  if (codec !== undefined && codec.readMetadata === undefined) return decodeEntry(definition, entry).metadata;
  const metadata = (yield* entry.member('metadata')) ?? null;
  if (!isObject(metadata)) return decodeEntry(definition, entry).metadata;
  return (codec?.readMetadata?.(metadata) ?? metadata) as ObjectMeta;
}

/** The limits of one conversion call: number of objects, and their size in bytes. */
const batch = { objects: 100, bytes: 1_048_576 };

type RemoteCodec = NonNullable<NonNullable<ResourceDefinition['codec']>['remote']>;

/**
 * Converts and encodes entries in advance, so that `decodeEntry` and `entryBytes` are fast: those that a webhook
 * converts between versions, and large ones that are served in another form than they are stored in. Returns undefined
 * in the usual case that there is nothing to do. Rejects with the error that is returned to the caller.
 */
export function prepareEntries(definition: ResourceDefinition, entries: readonly Entry[]): Promise<void> | undefined {
  const { codec } = definition;
  if (codec === undefined) return undefined;
  const known = readingsOf(definition);
  const { remote } = codec;
  const isForeign = (entry: Entry): boolean =>
    remote !== undefined && readBefore(known, entry) === undefined && remote.isForeign(entry.value as JsonObject);
  const slow = entries.filter((entry) => (isLarge(entry) && !known.bytes.has(entry)) || isForeign(entry));
  if (slow.length === 0) return undefined;
  // Several callers may wait for the same entry.
  const others = slow.map((entry) => known.underWay.get(entry)).filter((one) => one !== undefined);
  const own = slow.filter((entry) => !known.underWay.has(entry));
  if (own.length === 0) return Promise.all(others).then(nothing);
  const work = makeReady(definition, own, remote && { remote, foreign: own.filter(isForeign) }).finally(() => {
    for (const entry of own) known.underWay.delete(entry);
  });
  for (const entry of own) known.underWay.set(entry, work);
  return Promise.all([work, ...others]).then(nothing);
}

const nothing = (): void => {};

async function makeReady(
  definition: ResourceDefinition,
  entries: readonly Entry[],
  conversion: { readonly remote: RemoteCodec; readonly foreign: readonly Entry[] } | undefined,
): Promise<void> {
  if (conversion !== undefined) {
    await convertAll(conversion.remote, readingsOf(definition).foreign, conversion.foreign);
  }
  const turns = new TurnTaking();
  for (const entry of entries) if (isLarge(entry)) await runInTurns(makeBytes(definition, entry), turns);
}

function* makeBytes(definition: ResourceDefinition, entry: Entry): Steps<void> {
  const object = yield* decodeEntryInSteps(definition, entry);
  yield;
  const { order, writeInSteps } = compileEncoder(definition);
  const later = new DeferredWork();
  const ordered = order(object, later);
  yield* later.rest();
  yield;
  keepBytes(readingsOf(definition), entry, yield* writeInSteps(ordered));
}

async function convertAll(
  remote: RemoteCodec,
  known: WeakMap<Entry, ApiObject>,
  entries: readonly Entry[],
): Promise<void> {
  for (let begin = 0; begin < entries.length; ) {
    let end = begin;
    for (let bytes = 0; end < entries.length && end - begin < batch.objects && bytes < batch.bytes; end++) {
      bytes += entries[end]?.bytes.length ?? 0;
    }
    const some = entries.slice(begin, end);
    const objects = await remote.read(some.map(({ value }) => value as JsonObject));
    for (const [at, entry] of some.entries()) {
      const object = objects[at];
      if (object !== undefined) known.set(entry, object);
    }
    begin = end;
  }
}

const storageTypes = new WeakMap<ResourceDefinition, EncodedType>();

/** Returns the type that objects are stored as, which differs from the served one for some kinds. */
function storageType(definition: ResourceDefinition): EncodedType {
  if (definition.storedAs === undefined) return definition;
  const known = storageTypes.get(definition) ?? { ...definition, ...definition.storedAs };
  storageTypes.set(definition, known);
  return known;
}

/** Returns the form in which an object is stored. */
export const storageForm = ({ origin, storedAsJson, schema }: ResourceDefinition, object: ApiObject): ApiObject =>
  origin === 'custom' || storedAsJson === true
    ? object
    : (withoutEmpty(schema, asJson(object)) as unknown as ApiObject);

/**
 * Encodes an object for storage, with a gap for its resourceVersion, in turns with other work. Rejects with the error
 * that is returned to the caller.
 */
export function encodeDocument(
  definition: ResourceDefinition,
  input: ApiObject,
  turns = new TurnTaking(),
): Document | Promise<Document> {
  const { codec } = definition;
  const object = storageForm(definition, input);
  const { order, write, writeInSteps } = compileEncoder(storageType(definition));
  const written = (form: object): Document | Promise<Document> => {
    const later = new DeferredWork();
    const ordered = order(form, later);
    // If ordering takes long, writing does, too.
    if (!turns.isDue && later.isEmpty) return write(ordered);
    return turns
      .next()
      .then(() => runInTurns(later.rest(), turns))
      .then(() => runInTurns(writeInSteps(ordered), turns));
  };
  if (codec === undefined) return written(object);
  if (codec.remote === undefined || codec.remote.isStoredAs(object)) return written(codec.store(object));
  return codec.remote.store(object).then(written);
}

/**
 * Returns the object as it is after a round trip through the store. Rejects with the error that is returned to the
 * caller.
 */
export function asAfterStorage(definition: ResourceDefinition, input: ApiObject): ApiObject | Promise<ApiObject> {
  const { codec } = definition;
  const object = storageForm(definition, input);
  if (codec === undefined) return object;
  const { remote } = codec;
  if (remote === undefined || remote.isStoredAs(object)) return codec.read(codec.store(object));
  return remote
    .store(object)
    .then((form) => remote.read([form]))
    .then(([read]) => read ?? object);
}

/** Whether storing the document would change nothing. */
export function sameDocument(document: Document, entry: Entry): boolean {
  const { bytes, revisionAt } = entry;
  if (document.revisionAt !== revisionAt) return false;
  if (revisionAt < 0) return document.bytes.equals(bytes);
  const digits = String(entry.revision).length;
  return (
    document.bytes.length + digits === bytes.length &&
    document.bytes.compare(bytes, 0, revisionAt, 0, revisionAt) === 0 &&
    document.bytes.compare(bytes, revisionAt + digits, bytes.length, revisionAt) === 0
  );
}

/** Whether stored bytes can be sent to a caller of this version as they are. */
export const isServedAsStored = (definition: ResourceDefinition): boolean => definition.codec === undefined;
