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
 * Between the last look and the commit another server over the same store may have deleted and emptied a namespace or a
 * definition. Who empties one after this look finds the object; where that may have been before, the object is taken back.
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
    // Definitions may be large, and nothing else of one matters.
    const metadata = entry && (await runInTurns(entry.member('metadata')));
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
export function checkStillDefined(
  { catalogue }: Parts,
  { definition, context }: WriteRequest,
  object: ApiObject,
): void {
  if (definition.origin === 'built-in') return;
  const now = catalogue.current().find(definition.group, definition.version, definition.plural);
  if (now?.namespaced !== definition.namespaced) throw noSuchResource();
  // As it is now it may be going, and then takes nothing new.
  if (now !== definition) now.prepare?.(object, undefined, context);
}
