import type { AdmissionAttributes } from '../../admission/admission-step.js';
import { checkNamespace } from '../../admission/steps/namespace-exists.js';
import { isReason, noSuchResource } from '../../api/errors.js';
import { customResourceDefinitionsIn } from '../../api/kinds/custom-resource-definition.js';
import { type ApiObject, isObject, type ObjectKey, type ResourceType } from '../../api/object.js';
import { storageKey } from '../../registry/keys.js';
import { runInTurns } from '../../runtime/turn-taking.js';
import { type Entry, WriteConflict } from '../../store/store.js';
import type { Parts } from '../parts.js';
import type { WriteRequest } from './request.js';

/**
 * Checks again after a create that neither namespace nor definition is terminating: another server with the same store
 * may have deleted and emptied them between the last check and the commit. In that case the object is removed again. If
 * they are emptied only after this check, that removes the object.
 */
export async function undoIfTerminating(
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
    // Definitions may be large, and only the metadata matters here.
    const metadata = entry && (await runInTurns(entry.member('metadata')));
    if (!isObject(metadata) || metadata['deletionTimestamp'] !== undefined) throw noSuchResource();
  };
  try {
    await Promise.all([
      definition.origin === 'custom' ? checkDefinition() : undefined,
      definition.namespaced && attributes.key.namespace ? checkNamespace(objects, attributes) : undefined,
    ]);
  } catch (error) {
    // If the check itself fails, the object stays, as it would without the check.
    if (!isReason(error, 'NotFound') && !isReason(error, 'Forbidden')) return;
    await store.commit({ key, document: undefined, expect: revision }).catch((failure: unknown) => {
      // Another writer has changed or deleted it, and the emptying will handle it.
      if (!(failure instanceof WriteConflict)) throw failure;
    });
    throw error;
  }
}

/**
 * Throws if the definition was deleted while webhooks were called: an object that is created after the definition was
 * emptied would be left behind.
 */
export function checkStillDefined(
  { catalogue }: Parts,
  { definition, context }: WriteRequest,
  object: ApiObject,
): void {
  if (definition.origin === 'built-in') return;
  const now = catalogue.current().find(definition.group, definition.version, definition.plural);
  if (now?.namespaced !== definition.namespaced) throw noSuchResource();
  // The definition may be terminating by now, and then accepts no new objects.
  if (now !== definition) now.prepare?.(object, undefined, context);
}
