import type { AdmissionAttributes, WriteAttributes } from '../admission/admission-step.js';
import { checkNamespace } from '../admission/steps/namespace-exists.js';
import {
  alreadyExists,
  deadlineExceeded,
  invalidObject,
  isReason,
  nameNotGenerated,
  noSuchResource,
  notFound,
  staleWrite,
} from '../api/errors.js';
import { customResourceDefinitionsIn } from '../api/kinds/custom-resource-definition.js';
import { generatedName } from '../api/names.js';
import { type ApiObject, isObject, type ObjectKey, type ResourceType } from '../api/object.js';
import { resultOf } from '../api/steps.js';
import { recordUpdate, withoutIdleTimes } from '../apply/ownership.js';
import { checkLookedUp, storageKey } from '../registry/keys.js';
import { fillSystemFields, keepSystemFields, wipeSystemFields } from '../registry/metadata-rules.js';
import type { RequestContext, ResourceDefinition, SubresourceView } from '../registry/resource-definition.js';
import { inTurns, TurnTaking } from '../runtime/turn-taking.js';
import type { Emptied } from '../schema/decode.js';
import type { Document } from '../store/store.js';
import { type Entry, WriteConflict } from '../store/store.js';
import { withVersions } from './conversions.js';
import { tooLargeToStore } from './document-size.js';
import { asIfStored, encode, kept, readInTurns, ready, sameDocument } from './forms.js';
import {
  checkNoVersion,
  checkVersioned,
  dedupeOwners,
  inNamespace,
  readGivenVersion,
  subject,
  uidMismatch,
  versionMissing,
} from './given-object.js';
import { mutated } from './mutated.js';
import type { Parts } from './parts.js';
import { createViolations, updateViolations } from './write-violations.js';

/**
 * The write path. Every create, update, patch, apply, status and approval of every kind runs through `createObject` or
 * `updateObject`, whether it came over HTTP or from a controller in this process: change, own, admit, prepare, check,
 * admit again, commit; a lost race begins again with the fresh object. `admitAction` is the same for what is answered
 * and not stored.
 */
export interface WriteRequest {
  readonly definition: ResourceDefinition;
  /** The second door this write came through, if any. */
  readonly view?: SubresourceView<ApiObject> | undefined;
  readonly context: RequestContext;
  /** Who is recorded as managing the fields written. */
  readonly manager: string;
  /** Name of the subresource recorded with them. */
  readonly managedSubresource?: string | undefined;
  /** For admission: the options object of the request. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Does nobody wait for the answer any more? */
  abandoned(): boolean;
  /**
   * What those who validate see in place of the object, where the write came as another kind. Those who change objects
   * have seen it already.
   */
  readonly judgedAs?: { next(object: ApiObject): ApiObject; previous(object: ApiObject): ApiObject } | undefined;
}

/** What a write came to. */
export interface Written {
  readonly created: boolean;
  /** The committed entry; absent in a dry run or when the object was released. */
  readonly entry: Entry | undefined;
  readonly object: ApiObject;
}

/** Longest time of a write in milliseconds, whatever its caller would wait for. */
export const longestWriteMs = 34_000;
const nameAttempts = 8;

/** How an object comes to be created. */
export interface Creation {
  /** Its managedFields were computed already (apply). */
  readonly managed?: boolean;
  /**
   * A PUT or an apply found nothing to change there, and the version it names means nothing. The object is stored
   * there, whatever it is called in the end.
   */
  readonly byUpdate?: ObjectKey;
  /** Asked once the object is known to be one; throws if the caller may not. */
  readonly mayCreate?: Update['mayCreate'] | undefined;
}

/** Creates an object. By an update it fails with WriteConflict if there is something by now. */
export async function createObject(
  parts: Parts,
  request: WriteRequest,
  given: ApiObject,
  creation: Creation = {},
): Promise<Written> {
  const turns = new TurnTaking();
  const candidate = await admitted(parts, request, given, creation, turns);
  const { name, generateName } = candidate.object.metadata;
  const generates = !name && Boolean(generateName);
  for (let attempt = 1; ; attempt++) {
    const named = generates ? withName(candidate.object, nameFor(parts, request, candidate.object)) : candidate.object;
    try {
      return await createOnce(parts, request, { ...candidate, object: named }, creation, turns);
    } catch (error) {
      if (creation.byUpdate || !(error instanceof WriteConflict)) throw error;
      if (generates && attempt < nameAttempts) continue;
      const { definition } = request;
      const existing = subject(definition, named.metadata.name);
      const options = { terminating: isTerminating(error.actual) };
      if (!generateName) throw alreadyExists(existing, options);
      throw nameNotGenerated({ ...existing, group: groupInErrors(definition, definition.group) }, options);
    }
  }
}

function nameFor({ random }: Parts, { definition }: WriteRequest, { metadata }: ApiObject): string {
  const { namespace, generateName = '' } = metadata;
  return generatedName(generateName, random(storageKey(definition, { namespace, name: generateName })));
}

/** An object that is to be created. */
interface Candidate {
  /** Owned and changed by admission; without a name if one is generated. */
  readonly object: ApiObject;
  /** How admission saw it. */
  readonly attributes: AdmissionAttributes;
  answered(object: ApiObject): ApiObject;
  /** Fails if the caller, or admission, gave it a version that it may not have. */
  checkVersions(): void;
}

async function admitted(
  parts: Parts,
  request: WriteRequest,
  given: ApiObject,
  { managed = false, byUpdate }: Creation,
  turns: TurnTaking,
): Promise<Candidate> {
  const { definition, context } = request;
  const placed = inNamespace(definition, context, given);
  // Only what a POST says of itself is wiped, neither what others make of it nor what a PUT or an apply says.
  const wiped = byUpdate === undefined ? wipeSystemFields(placed) : placed;
  // In a dry run nothing gives the object a version, and what was sent comes back.
  const storable = context.dryRun ? (all: ApiObject): ApiObject => all : withoutUnstored;
  let sent = dedupeOwners(storable(wiped), context, 'request');
  if (!managed) sent = await own(request, undefined, sent, turns);
  if (turns.isDue) await turns.next();

  const attributes = attributesOf(request, 'CREATE', sent, undefined);
  const made = await mutated(parts, attributes);
  return {
    object: made === sent ? sent : dedupeOwners(storable(inNamespace(definition, context, made)), context, 'admission'),
    attributes,
    answered: answerOf(definition, managed || made !== sent),
    checkVersions() {
      const mayNameVersion = context.dryRun || byUpdate !== undefined;
      checkNoVersion(given, mayNameVersion);
      if (made.metadata.resourceVersion !== undefined) checkNoVersion(made, mayNameVersion);
    },
  };
}

/** Creates it under its name. Fails with WriteConflict if there is something of that name. */
async function createOnce(
  parts: Parts,
  request: WriteRequest,
  { object, attributes, answered, checkVersions }: Candidate,
  { byUpdate, mayCreate }: Creation,
  turns: TurnTaking,
): Promise<Written> {
  const { definition, context } = request;
  const key = storageKey(definition, byUpdate ?? keyFor(definition, object));
  const filled = fillSystemFields(object, {
    uid: parts.uuid(key),
    now: context.now,
    countsGenerations: definition.newGeneration !== undefined,
  });
  const next = definition.prepare?.(filled, undefined, context) ?? filled;
  if (turns.isDue) await turns.next();
  const violations = await inTurns(createViolations(request, next), turns);
  if (turns.isDue) await turns.next();
  if (violations.length) {
    const group = groupInErrors(definition, definition.group);
    throw invalidObject({ group, kind: next.kind, name: next.metadata.name }, violations);
  }
  for (const text of definition.warnings?.(next, undefined) ?? []) context.warn(text);
  if (turns.isDue) await turns.next();
  await mayCreate?.();
  const final = finalCreate(attributes, next);
  await parts.admission.validate(final);

  checkVersions();
  // In a dry run nothing is stored, in whatever version.
  const document = context.dryRun ? undefined : await encode(definition, next, turns);
  if (turns.isDue) await turns.next();
  const tooLarge = document && tooLargeToStore(document.bytes.length);
  if (tooLarge !== undefined) throw tooLarge;
  const isConverted = definition.codec?.elsewhere?.isStoredAs(next) === false;
  await parts.admission.beforeCreation({ ...final, isConverted });
  checkStillDefined(parts, request, filled);
  if (document === undefined) {
    const present = await parts.store.get(key);
    if (present !== undefined) throw new WriteConflict(key, present);
    return { created: true, entry: undefined, object: await asIfStored(definition, next) };
  }
  const entry = await parts.store.commit({ key, document, expect: 'absent' });
  if (parts.storeIsShared) await keepIfWanted(parts, request, final, entry);
  await ready(definition, [entry]);
  return { created: true, entry, object: answered(next) };
}

/**
 * Between the last look and the commit another server over the same store may have deleted and emptied a namespace or a
 * definition. Who empties one after this look finds the object; where that may have been before, the object is taken back.
 */
async function keepIfWanted(
  { store, domains }: Parts,
  { definition }: WriteRequest,
  attributes: AdmissionAttributes,
  { key, revision }: Entry,
): Promise<void> {
  const objects = {
    get: async <T extends ApiObject>(type: ResourceType<T>, of: ObjectKey) =>
      (await store.get(storageKey(type, of)))?.value as T | undefined,
  };
  const checkDefinition = async (): Promise<void> => {
    const name = `${definition.plural}.${definition.group}`;
    const entry = await store.get(storageKey(customResourceDefinitionsIn(domains.api), { name }));
    // Definitions may be large, and nothing else of one matters.
    const metadata = entry && (await inTurns(entry.member('metadata')));
    if (!isObject(metadata) || metadata['deletionTimestamp'] !== undefined) throw noSuchResource();
  };
  try {
    await Promise.all([
      definition.origin === 'custom' ? checkDefinition() : undefined,
      definition.namespaced && attributes.key.namespace ? checkNamespace(objects, attributes) : undefined,
    ]);
  } catch (error) {
    // If nobody can say, it stays, as it did before anybody looked.
    if (!isReason(error, 'NotFound') && !isReason(error, 'Forbidden')) return;
    await store.commit({ key, document: undefined, expect: revision }).catch((failure: unknown) => {
      // Somebody has changed or deleted it, and so whoever empties has to do with it.
      if (!(failure instanceof WriteConflict)) throw failure;
    });
    throw error;
  }
}

/**
 * Somebody outside may have been waited for: whoever emptied a definition that was deleted meanwhile would not see what
 * comes after it.
 */
function checkStillDefined({ catalogue }: Parts, { definition, context }: WriteRequest, object: ApiObject): void {
  if (definition.origin === 'built-in') return;
  const now = catalogue.current().find(definition.group, definition.version, definition.plural);
  if (now?.namespaced !== definition.namespaced) throw noSuchResource();
  // As it is now it may be going, and then takes nothing new.
  if (now !== definition) now.prepare?.(object, undefined, context);
}

/** Errors about what is in an object name a built-in kind as it is stored. */
const groupInErrors = ({ origin, storedAs }: ResourceDefinition, group: string): string =>
  origin === 'built-in' ? (storedAs?.group ?? group) : group;

/**
 * Admission of a request that is answered and not stored. `parent` is the kind it is put to, if any; `prepare` makes of
 * it what is judged and answered.
 */
export async function admitAction(
  parts: Parts,
  request: WriteRequest,
  given: ApiObject,
  parent?: ResourceDefinition,
  prepare?: (object: ApiObject) => Promise<ApiObject>,
): Promise<ApiObject> {
  // Of an object of its own the caller sets no system fields; a request put to another may name that one's uid.
  const sent = parent === undefined ? wipeSystemFields(given) : given;
  const placed = inNamespace(request.definition, request.context, sent);
  const owned = dedupeOwners(placed, request.context, 'request');
  const managed = await own(request, undefined, owned, new TurnTaking());
  const attributes = {
    ...attributesOf(request, 'CREATE', managed, undefined),
    ...(parent === undefined ? {} : { resource: parent }),
  };
  const admitted = await mutated(parts, attributes);
  const object = (await prepare?.(admitted)) ?? admitted;
  const { definition, context } = request;
  const violations = await inTurns(resultOf(definition.validate?.(object, undefined, context) ?? []));
  // Such a request is refused as a whole and without its kind.
  if (violations.length > 0) throw invalidObject({ group: definition.group, kind: '' }, violations);
  await parts.admission.validate({ ...attributes, object });
  return object;
}

/** `managed`: its managedFields are computed already. */
export interface Changed extends Emptied {
  readonly object: ApiObject;
  readonly managed: boolean;
}

/** How an update comes to its new object. */
export interface Update {
  /**
   * The object as the caller wants it, placed by the URL, made from what is there now (undefined: nothing). Called
   * again with the fresh object after a lost race.
   */
  change(current: ApiObject | undefined): Promise<Changed>;
  /** Of a PUT: the uid given must be that of the object. A patch that changes it is invalid instead. */
  readonly checkUid: boolean;
  /** Creates the object if there is none. */
  readonly create: boolean;
  /** Asked of an object that could be created; throws if the caller may not. */
  mayCreate?(): Promise<void>;
}

/** Updates an object, or creates it where the kind or the kind of patch allows that. */
export async function updateObject(
  parts: Parts,
  request: WriteRequest,
  key: ObjectKey,
  update: Update,
): Promise<Written> {
  checkLookedUp(request.definition, key);
  const at = storageKey(request.definition, key);
  return parts.writeTurns.take(at, () => updateAt(parts, request, key, update, at));
}

async function updateAt(
  parts: Parts,
  request: WriteRequest,
  key: ObjectKey,
  update: Update,
  at: string,
): Promise<Written> {
  const deadline = parts.clock.monotonic() + longestWriteMs;
  for (;;) {
    const entry = await parts.store.get(at);
    try {
      return entry === undefined
        ? await createByUpdate(parts, request, key, update)
        : await updateOnce(parts, request, key, update, entry);
    } catch (error) {
      if (!(error instanceof WriteConflict)) throw error;
      if (parts.clock.monotonic() >= deadline || request.abandoned()) {
        throw deadlineExceeded();
      }
    }
  }
}

const withName = (object: ApiObject, name: string): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, name },
});

/** The store gives versions, and keeps no links. */
function withoutUnstored(object: ApiObject): ApiObject {
  const { resourceVersion: _version, selfLink: _link, ...metadata } = object.metadata;
  return { ...object, metadata };
}

async function createByUpdate(parts: Parts, request: WriteRequest, key: ObjectKey, update: Update): Promise<Written> {
  const { definition } = request;
  if (!update.create || request.view !== undefined) throw notFound(subject(definition, key.name));
  const { object, managed } = await update.change(undefined);
  const { uid } = object.metadata;
  if (uid) throw uidMismatch(definition, key, request.context, [uid, '']);
  // One that is no version is refused, although there is nothing to compare it with.
  readGivenVersion(object);
  return createObject(parts, request, object, { managed, byUpdate: key, mayCreate: update.mayCreate });
}

async function updateOnce(
  parts: Parts,
  request: WriteRequest,
  key: ObjectKey,
  update: Update,
  entry: Entry,
): Promise<Written> {
  const { definition, context, view } = request;
  const turns = new TurnTaking();
  const previous = await readInTurns(definition, entry, turns);
  if (turns.isDue) await turns.next();
  const changed = await update.change(previous);
  if (turns.isDue) await turns.next();
  let next = changed.object;
  const givenUid = next.metadata.uid;
  if (update.checkUid && givenUid && givenUid !== previous.metadata.uid) {
    throw uidMismatch(definition, key, context, [givenUid, previous.metadata.uid ?? '']);
  }
  if (!changed.managed) next = await own(request, previous, next, turns);
  if (turns.isDue) await turns.next();
  const sent = next;
  if (request.judgedAs === undefined) next = await mutated(parts, attributesOf(request, 'UPDATE', sent, previous));
  const isAdmitted = next !== sent;
  next = dedupeOwners(next, context, 'admission');

  const version = readGivenVersion(next);
  if (version === 0n && !definition.unconditionalUpdate) throw versionMissing(definition, key);
  if (version !== 0n && version !== entry.revision) throw staleWrite(subject(definition, key.name));
  checkVersioned(next);
  if (isAdmitted) next = inNamespace(definition, context, next);

  // Generic rules see the object as sent; the kind's own see it with what this door may not change restored.
  next = keepSystemFields(next, previous, context);
  const { apiVersion, kind } = next;
  next =
    view === undefined
      ? (definition.prepare?.(next, previous, context) ?? next)
      : view.prepare(next, previous, context);
  // What would be stored is compared with what is; lists of nothing stay as they were sent for those who admit it.
  const whole = next;
  next = kept(definition, next);
  // Whoever admits it sees, and gives back, an object without what is empty.
  const emptied = isAdmitted ? undefined : changed.emptied;
  if (view === undefined) next = withGeneration(definition, next, previous, emptied);
  if (turns.isDue) await turns.next();
  const violations = await inTurns(updateViolations(request, next, previous, emptied), turns);
  if (turns.isDue) await turns.next();
  if (violations.length) {
    // The body may name another group or kind, even on subresources that restore both.
    const group = groupInErrors(definition, apiVersion.replace(/\/?[^/]*$/, ''));
    throw invalidObject({ group, kind, name: next.metadata.name }, violations);
  }
  if (view === undefined) for (const text of definition.warnings?.(next, previous) ?? []) context.warn(text);
  const { judgedAs = asIs } = request;
  // A write that names no version means the present one, and that is what admission sees.
  const admitted = next === whole ? next : { ...whole, metadata: next.metadata };
  const judged = judgedAs.next(version === 0n ? withVersion(admitted, entry) : admitted);
  await parts.admission.validate(attributesOf(request, 'UPDATE', judged, judgedAs.previous(previous)));

  if (!isReleased(definition, next, previous)) {
    return storeUpdated(parts, request, { entry, previous, next, made: changed.managed || isAdmitted }, turns);
  }
  if (!context.dryRun) await parts.store.commit({ key: entry.key, document: undefined, expect: entry.revision });
  // Nothing of it was stored, and it is answered as it was sent.
  return { created: false, entry: undefined, object: withVersion(admitted, entry) };
}

/** An update that everybody agrees to. */
interface AgreedUpdate {
  readonly entry: Entry;
  readonly previous: ApiObject;
  readonly next: ApiObject;
  /** By apply or by admission. */
  readonly made: boolean;
}

async function storeUpdated(
  parts: Parts,
  { definition, context }: WriteRequest,
  { entry, previous, next: agreed, made }: AgreedUpdate,
  turns: TurnTaking,
): Promise<Written> {
  if (turns.isDue) await turns.next();
  // Owners whose values came to nothing have written nothing.
  const next = await inTurns(withoutIdleTimes(previous, agreed), turns);
  const answered = answerOf(definition, made)(next);
  const document = await encode(definition, next, turns);
  if (turns.isDue) await turns.next();
  if (sameDocument(document, entry) && !parts.store.isStale?.(entry))
    return { created: false, entry, object: previous };
  if (context.dryRun) {
    return { created: false, entry: undefined, object: withVersion(await asIfStored(definition, next), entry) };
  }
  const tooLarge = tooLargeToStore(document.bytes.length, {
    bytes: entry.bytes.length,
    isTerminating: previous.metadata.deletionTimestamp !== undefined,
  });
  if (tooLarge !== undefined) throw tooLarge;
  const committed = await commitOver(parts, entry, document);
  await ready(definition, [committed]);
  definition.updated?.(next, previous);
  return { created: false, entry: committed, object: answered };
}

/** What is answered of an object: what apply or admission `made` is known in full until it is stored, and not after. */
const answerOf = ({ reader }: ResourceDefinition, made: boolean): ((object: ApiObject) => ApiObject) =>
  made && reader !== undefined ? reader.settled : (object) => object;

const commitOver = ({ store }: Parts, entry: Entry, document: Document): Promise<Entry> =>
  store.commit({ key: entry.key, document, expect: entry.revision });

/** Marks or removes what a deletion or a controller changes by itself, past admission and validation. */
export async function replaceStored(
  parts: Parts,
  definition: ResourceDefinition,
  entry: Entry,
  next: ApiObject,
): Promise<Entry> {
  const committed = await commitOver(parts, entry, await encode(definition, next));
  await ready(definition, [committed]);
  return committed;
}

const keyFor = (definition: ResourceDefinition, { metadata }: ApiObject): ObjectKey => ({
  namespace: definition.namespaced ? metadata.namespace : undefined,
  name: metadata.name ?? '',
});

/** Books the fields this write changes to its manager. */
function own(
  request: WriteRequest,
  live: ApiObject | undefined,
  next: ApiObject,
  turns: TurnTaking,
): Promise<ApiObject> {
  const { definition, view, context } = request;
  // A status that was sent as another kind has nothing to be compared with.
  if (live !== undefined && next.kind !== live.kind) return Promise.resolve(unowned(next));
  const owned = withVersions(definition, (versions) => {
    const steps = recordUpdate({
      live,
      next,
      schema: definition.schema,
      manager: request.manager,
      apiVersion: next.apiVersion,
      subresource: request.managedSubresource,
      now: context.now,
      resetFields: (view === undefined ? definition.resetFields : view.resetFields) ?? [],
      versions,
    });
    return inTurns(steps, turns);
  });
  if (definition.versions?.elsewhere === undefined) return owned;
  // Ownership cannot be expressed in a version that the object cannot be converted to: all entries are dropped.
  return owned.catch(() => unowned(next));
}

function unowned(object: ApiObject): ApiObject {
  const { managedFields: _managed, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function withGeneration(
  { newGeneration, generationOfEmpty }: ResourceDefinition,
  next: ApiObject,
  previous: ApiObject,
  emptied: Emptied['emptied'],
): ApiObject {
  if (newGeneration === undefined) return next;
  const isNew = generationOfEmpty !== undefined && emptied?.has(generationOfEmpty);
  if (!isNew && !newGeneration(next, previous)) return next;
  return { ...next, metadata: { ...next.metadata, generation: (previous.metadata.generation ?? 0) + 1 } };
}

/** Did this write remove the last thing that held a terminating object? */
const isReleased = (definition: ResourceDefinition, next: ApiObject, previous: ApiObject): boolean =>
  previous.metadata.deletionTimestamp !== undefined &&
  (next.metadata.finalizers ?? []).length === 0 &&
  !(definition.deletion?.held(next) ?? false);

const isTerminating = (entry: Entry | undefined): boolean =>
  (entry?.value as ApiObject | undefined)?.metadata.deletionTimestamp !== undefined;

/** The object as it is read at the version of an entry. */
export const withVersion = (object: ApiObject, entry: Entry): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(entry.revision) },
});

export function attributesOf(
  { definition, context, options }: WriteRequest,
  operation: AdmissionAttributes['operation'],
  object: ApiObject,
  previous: ApiObject | undefined,
): WriteAttributes {
  return {
    operation,
    resource: definition,
    subresource: context.subresource,
    key: { namespace: context.key.namespace, name: context.key.name ?? object.metadata.name ?? '' },
    object,
    previous,
    user: context.user,
    dryRun: context.dryRun,
    options,
    warn: (text) => context.warn(text),
    annotate: context.annotate,
    caller: context.caller,
    urlName: context.key.name,
  };
}

const asIs = { next: (object: ApiObject) => object, previous: (object: ApiObject) => object };

/** A create as those see it who judge what will be stored. A name that was generated is known by now. */
const finalCreate = (attributes: AdmissionAttributes, object: ApiObject): AdmissionAttributes => ({
  ...attributes,
  ...(attributes.key.name === '' ? { key: { ...attributes.key, name: object.metadata.name ?? '' } } : {}),
  object,
});
