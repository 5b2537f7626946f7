import { deadlineExceeded, invalidObject, notFound, staleWrite } from '../../api/errors.js';
import { type ApiObject, groupOf, type ObjectKey } from '../../api/object.js';
import { ignoreTimestampChanges } from '../../apply/ignore-timestamps.js';
import { checkLookupKey, storageKey } from '../../registry/keys.js';
import { keepSystemFields } from '../../registry/metadata-rules.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { runInTurns, TurnTaking } from '../../runtime/turn-taking.js';
import type { EmptyMembers } from '../../schema/decode.js';
import { type Document, type Entry, WriteConflict } from '../../store/store.js';
import {
  asAfterStorage,
  decodeEntryInTurns,
  encodeDocument,
  prepareEntries,
  sameDocument,
  storageForm,
} from '../entry-codec.js';
import type { Parts } from '../parts.js';
import { createObject } from './create.js';
import { tooLargeToStore } from './document-size.js';
import {
  checkVersioned,
  dedupeOwners,
  errorSubject,
  groupInErrors,
  inNamespace,
  readGivenVersion,
  uidMismatch,
  versionMissing,
} from './given-object.js';
import { runMutatingAdmission } from './mutating-admission.js';
import { recordOwnership } from './ownership.js';
import { answerOf, attributesOf, longestWriteMs, type WriteRequest, type WriteResult } from './request.js';
import { updateViolations } from './violations.js';

/** The new object of an update. `managed`: its managedFields are computed already. */
export interface ChangedObject extends EmptyMembers {
  readonly object: ApiObject;
  readonly managed: boolean;
}

/** How an update computes its new object. */
export interface Update {
  /**
   * Returns the new object, with the name of the URL, for the current one (undefined if there is none). Called again
   * with the new current object after a write conflict.
   */
  change(current: ApiObject | undefined): Promise<ChangedObject>;
  /**
   * Whether the uid in the body must be that of the object, as for PUT; otherwise the write is a conflict. For a patch,
   * a changed uid is invalid instead.
   */
  readonly checkUid: boolean;
  /** Whether to create the object if there is none. */
  readonly create: boolean;
  /** Called before an object is created; throws if the caller may not create. */
  mayCreate?(): Promise<void>;
}

/** Updates an object, or creates it if the kind or the type of patch allows that. */
export async function updateObject(
  parts: Parts,
  request: WriteRequest,
  key: ObjectKey,
  update: Update,
): Promise<WriteResult> {
  checkLookupKey(request.definition, key);
  const at = storageKey(request.definition, key);
  return parts.writeQueue.run(at, () => updateAt(parts, request, key, update, at));
}

async function updateAt(
  parts: Parts,
  request: WriteRequest,
  key: ObjectKey,
  update: Update,
  at: string,
): Promise<WriteResult> {
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

async function createByUpdate(
  parts: Parts,
  request: WriteRequest,
  key: ObjectKey,
  update: Update,
): Promise<WriteResult> {
  const { definition } = request;
  if (!update.create || request.view !== undefined) throw notFound(errorSubject(definition, key.name));
  const { object, managed } = await update.change(undefined);
  const { uid } = object.metadata;
  if (uid) throw uidMismatch(request, key, [uid, '']);
  // A malformed version is rejected even if there is nothing to compare it with.
  readGivenVersion(object);
  return createObject(parts, request, object, { managed, byUpdate: key, mayCreate: update.mayCreate });
}

async function updateOnce(
  parts: Parts,
  request: WriteRequest,
  key: ObjectKey,
  update: Update,
  entry: Entry,
): Promise<WriteResult> {
  const { definition, context, view, validatedAs = asIs } = request;
  const turns = new TurnTaking();
  const previous = await decodeEntryInTurns(definition, entry, turns);
  if (turns.isDue) await turns.next();
  const {
    object: sent,
    isGenerated,
    isAdmitted,
    emptyMembers,
  } = await admitted(parts, request, { key, update, previous }, turns);

  const version = readGivenVersion(sent);
  if (version === 0n && !definition.unconditionalUpdate) throw versionMissing(definition, key);
  if (version !== 0n && version !== entry.revision) throw staleWrite(errorSubject(definition, key.name));
  checkVersioned(sent);
  const placed = isAdmitted ? inNamespace(definition, context, sent) : sent;

  // Generic rules see the object as it was sent; the rules of the kind see it with the fields restored that writes to
  // this subresource may not change.
  const named = keepSystemFields(placed, previous, request);
  const prepared =
    view === undefined
      ? (definition.prepare?.(named, previous, context) ?? named)
      : view.prepare(named, previous, context);
  // The form that would be stored is compared with the stored one; admission still sees empty lists as they were sent.
  const storable = storageForm(definition, prepared);
  const next = view === undefined ? withGeneration(definition, storable, previous, emptyMembers) : storable;
  if (turns.isDue) await turns.next();
  const violations = await runInTurns(updateViolations(request, next, previous, emptyMembers), turns);
  if (turns.isDue) await turns.next();
  if (violations.length) {
    // The body may contain another group or kind, even on subresources that restore both.
    const group = groupInErrors(definition, groupOf(named.apiVersion));
    throw invalidObject({ group, kind: named.kind, name: next.metadata.name }, violations);
  }
  if (view === undefined) for (const text of definition.warnings?.(next, previous) ?? []) context.warn(text);
  // A write without a resourceVersion applies to the current one, which admission sees.
  const seen = next === prepared ? next : { ...prepared, metadata: next.metadata };
  const judged = validatedAs.next(version === 0n ? withVersion(seen, entry) : seen);
  await parts.admission.validate(attributesOf(request, 'UPDATE', judged, validatedAs.previous(previous)));

  if (!isReleased(definition, next, previous)) {
    return storeUpdated(parts, request, { entry, previous, next, isGenerated }, turns);
  }
  if (!request.dryRun) await parts.store.commit({ key: entry.key, document: undefined, expect: entry.revision });
  // Nothing was stored, and the object is returned as it was sent.
  return { created: false, entry: undefined, object: withVersion(seen, entry) };
}

/** An update after admission, before preparation and validation. */
interface AdmittedUpdate extends EmptyMembers {
  /** The object with field ownership recorded, and after admission. */
  readonly object: ApiObject;
  /** Whether admission has changed the object. */
  readonly isAdmitted: boolean;
  /** Whether apply or admission made the object. */
  readonly isGenerated: boolean;
}

async function admitted(
  parts: Parts,
  request: WriteRequest,
  { key, update, previous }: { readonly key: ObjectKey; readonly update: Update; readonly previous: ApiObject },
  turns: TurnTaking,
): Promise<AdmittedUpdate> {
  const { object, managed, emptyMembers } = await update.change(previous);
  if (turns.isDue) await turns.next();
  const givenUid = object.metadata.uid;
  if (update.checkUid && givenUid && givenUid !== previous.metadata.uid) {
    throw uidMismatch(request, key, [givenUid, previous.metadata.uid ?? '']);
  }
  const sent = managed ? object : await recordOwnership(request, previous, object, turns);
  if (turns.isDue) await turns.next();
  const next =
    request.validatedAs === undefined
      ? await runMutatingAdmission(parts, attributesOf(request, 'UPDATE', sent, previous))
      : sent;
  const isAdmitted = next !== sent;
  return {
    object: dedupeOwners(next, request.context, 'admission'),
    isAdmitted,
    isGenerated: managed || isAdmitted,
    // Admission sees, and returns, an object without its empty members.
    emptyMembers: isAdmitted ? undefined : emptyMembers,
  };
}

/** An update that has passed admission and validation. */
interface AgreedUpdate {
  readonly entry: Entry;
  readonly previous: ApiObject;
  readonly next: ApiObject;
  /** Whether apply or admission made the object. */
  readonly isGenerated: boolean;
}

async function storeUpdated(
  parts: Parts,
  { definition, dryRun }: WriteRequest,
  { entry, previous, next: agreed, isGenerated }: AgreedUpdate,
  turns: TurnTaking,
): Promise<WriteResult> {
  if (turns.isDue) await turns.next();
  // Managers whose values are unchanged have written nothing.
  const next = await runInTurns(ignoreTimestampChanges(previous, agreed), turns);
  const answered = answerOf(definition, isGenerated)(next);
  const document = await encodeDocument(definition, next, turns);
  if (turns.isDue) await turns.next();
  if (sameDocument(document, entry) && !parts.store.isStale?.(entry))
    return { created: false, entry, object: previous };
  if (dryRun) {
    return { created: false, entry: undefined, object: withVersion(await asAfterStorage(definition, next), entry) };
  }
  const tooLarge = tooLargeToStore(document.bytes.length, {
    bytes: entry.bytes.length,
    isTerminating: previous.metadata.deletionTimestamp !== undefined,
  });
  if (tooLarge !== undefined) throw tooLarge;
  const committed = await commitOver(parts, entry, document);
  await prepareEntries(definition, [committed]);
  definition.updated?.(next, previous);
  return { created: false, entry: committed, object: answered };
}

const commitOver = ({ store }: Parts, entry: Entry, document: Document): Promise<Entry> =>
  store.commit({ key: entry.key, document, expect: entry.revision });

/** Stores a change that deletion or a controller made, without admission and validation. */
export async function replaceStored(
  parts: Parts,
  definition: ResourceDefinition,
  entry: Entry,
  next: ApiObject,
): Promise<Entry> {
  const committed = await commitOver(parts, entry, await encodeDocument(definition, next));
  await prepareEntries(definition, [committed]);
  return committed;
}

function withGeneration(
  { newGeneration, generationOfEmpty }: ResourceDefinition,
  next: ApiObject,
  previous: ApiObject,
  emptied: EmptyMembers['emptyMembers'],
): ApiObject {
  if (newGeneration === undefined) return next;
  const isNew = generationOfEmpty !== undefined && emptied?.has(generationOfEmpty);
  if (!isNew && !newGeneration(next, previous)) return next;
  return { ...next, metadata: { ...next.metadata, generation: (previous.metadata.generation ?? 0) + 1 } };
}

/** Whether this write has removed what held a terminating object last. */
const isReleased = (definition: ResourceDefinition, next: ApiObject, previous: ApiObject): boolean =>
  previous.metadata.deletionTimestamp !== undefined &&
  (next.metadata.finalizers ?? []).length === 0 &&
  !(definition.deletion?.held(next) ?? false);

/** Returns the object with the resourceVersion of an entry. */
export const withVersion = (object: ApiObject, entry: Entry): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(entry.revision) },
});

const asIs = { next: (object: ApiObject) => object, previous: (object: ApiObject) => object };
