import type { AdmissionAttributes } from '../../admission/admission-step.js';
import { alreadyExists, invalidObject, nameNotGenerated } from '../../api/errors.js';
import { generatedName } from '../../api/names.js';
import type { ApiObject, ObjectKey } from '../../api/object.js';
import { storageKey } from '../../registry/keys.js';
import { fillSystemFields, wipeSystemFields } from '../../registry/metadata-rules.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { runInTurns, TurnTaking } from '../../runtime/turn-taking.js';
import { type Entry, WriteConflict } from '../../store/store.js';
import { asAfterStorage, encodeDocument, prepareEntries } from '../entry-codec.js';
import type { Parts } from '../parts.js';
import { tooLargeToStore } from './document-size.js';
import { checkNoVersion, dedupeOwners, errorSubject, groupInErrors, inNamespace } from './given-object.js';
import { runMutatingAdmission } from './mutating-admission.js';
import { recordOwnership } from './ownership.js';
import { answerOf, attributesOf, type WriteRequest, type WriteResult } from './request.js';
import { checkStillDefined, undoIfTerminating } from './terminating-check.js';
import { createViolations } from './violations.js';

const nameAttempts = 8;

/** How an object is created. */
export interface Creation {
  /** Whether managedFields are computed already (apply). */
  readonly managed?: boolean;
  /**
   * The key under which the object is stored, whatever its final name, if a PUT or an apply found no object to change.
   * A resourceVersion in the body is then ignored.
   */
  readonly byUpdate?: ObjectKey;
  /** Called once the object is known to be valid; throws if the caller may not create it. */
  readonly mayCreate?: (() => Promise<void>) | undefined;
}

/** Creates an object. A create by an update throws WriteConflict if the object exists by now. */
export async function createObject(
  parts: Parts,
  request: WriteRequest,
  submitted: ApiObject,
  creation: Creation = {},
): Promise<WriteResult> {
  const turns = new TurnTaking();
  const candidate = await admitted(parts, request, submitted, creation, turns);
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
      const existing = errorSubject(definition, named.metadata.name);
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

/** An object to be created. */
interface Candidate {
  /** The object with field ownership recorded and after admission; without a name if one is to be generated. */
  readonly object: ApiObject;
  /** The attributes that admission saw. */
  readonly attributes: AdmissionAttributes;
  answered(object: ApiObject): ApiObject;
  /** Throws if the caller or admission set a version that is not allowed. */
  checkVersions(): void;
}

async function admitted(
  parts: Parts,
  request: WriteRequest,
  submitted: ApiObject,
  { managed = false, byUpdate }: Creation,
  turns: TurnTaking,
): Promise<Candidate> {
  const { definition, context } = request;
  const placed = inNamespace(definition, context, submitted);
  // System fields are cleared only in the body of a POST, not in that of a PUT or an apply, and not in the result of
  // admission.
  const wiped = byUpdate === undefined ? wipeSystemFields(placed) : placed;
  // In a dry run nothing sets the resourceVersion, so that the one that was sent is returned.
  const storable = request.dryRun ? (all: ApiObject): ApiObject => all : withoutUnstored;
  let sent = dedupeOwners(storable(wiped), context, 'request');
  if (!managed) sent = await recordOwnership(request, undefined, sent, turns);
  if (turns.isDue) await turns.next();

  const attributes = attributesOf(request, 'CREATE', sent, undefined);
  const mutated = await runMutatingAdmission(parts, attributes);
  return {
    object:
      mutated === sent ? sent : dedupeOwners(storable(inNamespace(definition, context, mutated)), context, 'admission'),
    attributes,
    answered: answerOf(definition, managed || mutated !== sent),
    checkVersions() {
      const mayNameVersion = request.dryRun || byUpdate !== undefined;
      checkNoVersion(submitted, mayNameVersion);
      if (mutated.metadata.resourceVersion !== undefined) checkNoVersion(mutated, mayNameVersion);
    },
  };
}

/** Creates the object under its name. Throws WriteConflict if the name exists. */
async function createOnce(
  parts: Parts,
  request: WriteRequest,
  { object, attributes, answered, checkVersions }: Candidate,
  { byUpdate, mayCreate }: Creation,
  turns: TurnTaking,
): Promise<WriteResult> {
  const { definition, context } = request;
  const key = storageKey(definition, byUpdate ?? keyFor(definition, object));
  const filled = fillSystemFields(object, {
    uid: parts.uuid(key),
    now: context.now,
    countsGenerations: definition.newGeneration !== undefined,
  });
  const next = definition.prepare?.(filled, undefined, context) ?? filled;
  if (turns.isDue) await turns.next();
  const violations = await runInTurns(createViolations(request, next), turns);
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
  // In a dry run nothing is encoded for storage.
  const document = request.dryRun ? undefined : await encodeDocument(definition, next, turns);
  if (turns.isDue) await turns.next();
  const tooLarge = document && tooLargeToStore(document.bytes.length);
  if (tooLarge !== undefined) throw tooLarge;
  const isConverted = definition.codec?.remote?.isStoredAs(next) === false;
  await parts.admission.beforeCreation({ ...final, isConverted });
  checkStillDefined(parts, request, filled);
  if (document === undefined) {
    const present = await parts.store.get(key);
    if (present !== undefined) throw new WriteConflict(key, present);
    return { created: true, entry: undefined, object: await asAfterStorage(definition, next) };
  }
  const entry = await parts.store.commit({ key, document, expect: 'absent' });
  if (parts.storeIsShared) await undoIfTerminating(parts, request, final, entry);
  await prepareEntries(definition, [entry]);
  return { created: true, entry, object: answered(next) };
}

const withName = (object: ApiObject, name: string): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, name },
});

/**
 * Returns the object without the fields that are not stored: the store sets resourceVersion, and selfLink is not kept.
 */
function withoutUnstored(object: ApiObject): ApiObject {
  const { resourceVersion: _version, selfLink: _link, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Returns the attributes for validating admission, with the object that will be stored and its generated name. */
const finalCreate = (attributes: AdmissionAttributes, object: ApiObject): AdmissionAttributes => ({
  ...attributes,
  ...(attributes.key.name === ''
    ? { key: { ...attributes.key, name: object.metadata.name ?? '' }, isNameGenerated: true }
    : {}),
  object,
});

const keyFor = (definition: ResourceDefinition, { metadata }: ApiObject): ObjectKey => ({
  namespace: definition.namespaced ? metadata.namespace : undefined,
  name: metadata.name ?? '',
});

const isTerminating = (entry: Entry | undefined): boolean =>
  (entry?.value as ApiObject | undefined)?.metadata.deletionTimestamp !== undefined;
