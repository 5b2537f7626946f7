import type { AdmissionAttributes } from '../../admission/admission-step.js';
import { conflict, notFound, type Status } from '../../api/errors.js';
import type { ApiObject } from '../../api/object.js';
import type { DeleteParameters, DeletionPolicy } from '../../api/options.js';
import { timestamp } from '../../api/time.js';
import { checkLookupKey, storageKey } from '../../registry/keys.js';
import type { RequestContext, ResourceDefinition } from '../../registry/resource-definition.js';
import { type Entry, WriteConflict } from '../../store/store.js';
import { decodeEntryInTurns } from '../entry-codec.js';
import type { Parts } from '../parts.js';
import type { Result } from '../request.js';
import { preconditionFailed } from '../write/given-object.js';
import { objectKeyOf } from '../write/request.js';
import { replaceStored, withVersion } from '../write/update.js';

/** The deletion of one object. */
export interface Deletion {
  readonly definition: ResourceDefinition;
  readonly parameters: DeleteParameters;
  /** The context of the request; its key identifies the object. */
  readonly context: RequestContext;
  /**
   * Set if the object was found in a collection that is being deleted. Another object with the same name is then not
   * deleted.
   */
  readonly found?: { readonly uid: string | undefined };
}

/**
 * Deletes an object at once if nothing holds it, and otherwise marks it. A marked object is removed with its last
 * finalizer.
 */
export async function deleteObject(parts: Parts, deletion: Deletion): Promise<Result> {
  const { definition, parameters, context, found } = deletion;
  const key = objectKeyOf(context);
  const attributes = (previous: ApiObject): AdmissionAttributes => ({
    operation: 'DELETE',
    resource: definition,
    subresource: undefined,
    key,
    object: undefined,
    previous,
    user: context.user,
    dryRun: parameters.dryRun,
    // A kind that is deleted in several steps always deletes exactly the object that was found.
    options: optionsOf(parameters, definition.deletion && previous.metadata.uid),
    warn: (text) => context.warn(text),
    annotate: context.annotate,
    caller: context.caller,
    ...(found === undefined ? {} : { isCollectionDelete: true }),
  });
  checkLookupKey(definition, key);
  for (;;) {
    const entry = await parts.store.get(storageKey(definition, key));
    if (entry === undefined) throw notFound({ ...definition, name: key.name });
    const previous = await decodeEntryInTurns(definition, entry);
    if (found?.uid !== undefined && previous.metadata.uid !== found.uid)
      throw notFound({ ...definition, name: key.name });
    checkPreconditions(definition, previous, parameters);
    if (!isHeld(definition, previous)) await parts.admission.admitDeletion(attributes(previous));
    try {
      return await deleteOnce(parts, deletion, entry, previous);
    } catch (error) {
      if (!(error instanceof WriteConflict)) throw error;
      // Another writer may change the object continually, and webhooks may be slow.
      context.caller?.signal.throwIfAborted();
    }
  }
}

/** Returns the options with their members in the order of Kubernetes. */
const optionsOf = (
  { gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy, givenDryRun: dryRun }: DeleteParameters,
  uid: string | undefined,
): Readonly<Record<string, unknown>> => ({
  gracePeriodSeconds,
  preconditions: uid === undefined ? preconditions : { uid, ...preconditions },
  orphanDependents,
  propagationPolicy,
  ...(dryRun.length > 0 ? { dryRun } : {}),
});

async function deleteOnce(
  parts: Parts,
  { definition, parameters, context }: Deletion,
  entry: Entry,
  previous: ApiObject,
): Promise<Result> {
  const marked = markDeleted(definition, previous, parameters, context);
  if (marked === undefined) {
    const last = parameters.dryRun
      ? entry
      : await parts.store.commit({ key: entry.key, document: undefined, expect: entry.revision });
    if (definition.returnsDeleted) return { type: 'entry', code: 200, definition, entry: last };
    return { type: 'object', code: 200, object: deleted(definition, previous) };
  }
  const code = parameters.orphanDependents === false ? 202 : 200;
  if (parameters.dryRun) return { type: 'object', code, definition, object: withVersion(marked, entry) };
  if (marked === previous) return { type: 'entry', code, definition, entry };
  return { type: 'entry', code, definition, entry: await replaceStored(parts, definition, entry, marked) };
}

/**
 * Whether the object is already terminating and held by its kind: another deletion changes nothing and skips admission.
 */
const isHeld = ({ deletion }: ResourceDefinition, object: ApiObject): boolean =>
  object.metadata.deletionTimestamp !== undefined && deletion?.held(object) === true;

/** Returns the object with its deletion marked; undefined if nothing holds it. Pure. */
function markDeleted(
  definition: ResourceDefinition,
  object: ApiObject,
  sent: DeletionPolicy,
  context: RequestContext,
): ApiObject | undefined {
  const first = object.metadata.deletionTimestamp === undefined;
  const special = definition.deletion;
  if (isHeld(definition, object)) return object;
  const policy = (first ? special?.policy?.(sent) : undefined) ?? sent;
  const finalizers = collectorFinalizers(definition, object.metadata.finalizers ?? [], policy);
  const changedFinalizers = finalizers.join() !== (object.metadata.finalizers ?? []).join();
  const { finalizers: _old, ...bare } = object.metadata;
  const withFinalizers: ApiObject = changedFinalizers
    ? { ...object, metadata: { ...bare, ...(finalizers.length ? { finalizers } : {}) } }
    : object;
  if (!first) return finalizers.length > 0 ? withoutGrace(withFinalizers) : undefined;
  const { generation = 0 } = object.metadata;
  const timed: ApiObject = {
    ...withFinalizers,
    metadata: {
      ...withFinalizers.metadata,
      deletionTimestamp: timestamp(context.now),
      ...(special === undefined ? { deletionGracePeriodSeconds: 0 } : {}),
      // A generation that a caller has set is incremented even if the kind has no generations, unless it is too large
      // for a number.
      ...(generation > 0 && Number.isSafeInteger(generation) && special === undefined
        ? { generation: generation + 1 }
        : {}),
    },
  };
  // Objects of such kinds are never removed by the first request, even if nothing holds them.
  if (special !== undefined) return special.mark(timed, context);
  return finalizers.length > 0 ? timed : undefined;
}

/**
 * Returns the object with a grace period of 0: once only finalizers hold an object, there is nothing else to wait for.
 */
const withoutGrace = (object: ApiObject): ApiObject =>
  object.metadata.deletionGracePeriodSeconds === 0
    ? object
    : { ...object, metadata: { ...object.metadata, deletionGracePeriodSeconds: 0 } };

/**
 * Adds or removes the finalizers of the garbage collector as the propagation policy requires. Kinds that the collector
 * ignores get none, because it would never remove them.
 */
function collectorFinalizers(
  { garbageCollected }: ResourceDefinition,
  finalizers: readonly string[],
  { propagationPolicy, orphanDependents }: DeletionPolicy,
): readonly string[] {
  const isCollected = garbageCollected !== false;
  if (isCollected && propagationPolicy === undefined && orphanDependents === undefined) return finalizers;
  const orphan = isCollected && (propagationPolicy === 'Orphan' || orphanDependents === true);
  const foreground = isCollected && propagationPolicy === 'Foreground';
  const updated = [
    ...finalizers.filter((name) => name !== 'orphan' && name !== 'foregroundDeletion'),
    ...(orphan ? ['orphan'] : []),
    ...(foreground ? ['foregroundDeletion'] : []),
  ];
  const same = updated.length === finalizers.length && updated.every((name) => finalizers.includes(name));
  return same ? finalizers : updated;
}

function checkPreconditions(
  definition: ResourceDefinition,
  { metadata }: ApiObject,
  { preconditions }: DeleteParameters,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const wrong =
    uid !== undefined && uid !== metadata.uid
      ? preconditionText(definition, 'UID', uid, metadata.uid ?? '')
      : resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion
        ? preconditionText(definition, 'ResourceVersion', resourceVersion, metadata.resourceVersion ?? '')
        : undefined;
  if (wrong === undefined) return;
  if (definition.deletion !== undefined) throw conflict({ ...definition, name: metadata.name }, wrong);
  // Kubernetes returns the kind, of the storage version, instead of the plural here.
  const { group, kind } = { ...definition, ...definition.storedAs };
  throw conflict({ group, plural: kind, name: metadata.name }, wrong);
}

const preconditionText = (
  definition: ResourceDefinition,
  field: 'UID' | 'ResourceVersion',
  expected: string,
  actual: string,
): string => {
  if (definition.deletion !== undefined) return preconditionFailed(field, expected, actual);
  const happened = field === 'UID' ? 'deleted and then recreated' : 'modified';
  return `the ${field} in the precondition (${expected}) does not match the ${field} in record (${actual}). The object might have been ${happened}`;
};

/** Returns the Status of a completed deletion. */
const deleted = ({ group, plural }: ResourceDefinition, { metadata }: ApiObject): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: {
    ...(metadata.name ? { name: metadata.name } : {}),
    ...(group ? { group } : {}),
    kind: plural,
    ...(metadata.uid ? { uid: metadata.uid } : {}),
  },
});
