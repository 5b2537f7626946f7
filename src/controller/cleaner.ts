import { type ApiObject, keyOf, keyText, type ResourceType } from '../api/object.js';
import type { ReconcileResult, Runnable } from './controller.js';
import { defineController } from './define-controller.js';
import { deleteIfPresent } from './delete-if-present.js';

export interface CleanerSpec<T extends ApiObject> {
  readonly name: string;
  readonly for: ResourceType<T>;
  /**
   * Returns when the object is to be deleted, in milliseconds since the epoch; undefined for never in its current
   * state.
   */
  expiresAt(object: T): number | undefined;
  /**
   * Delete the object only in the state that was judged, because objects that are updated may be needed again. Default:
   * no.
   */
  readonly unchanged?: boolean;
  /** Hold only apiVersion, kind and metadata in memory, if these are enough for `expiresAt`. */
  readonly metadataOnly?: boolean;
  /** The log message for each deleted object. */
  readonly message: string;
}

/** Defines a controller that deletes objects when they expire, and never another object with the same name. */
export const defineCleaner = <T extends ApiObject>({
  name,
  for: type,
  expiresAt,
  unchanged = false,
  metadataOnly = false,
  message,
}: CleanerSpec<T>): Runnable =>
  defineController<T>({
    name,
    for: type,
    metadataOnly,
    dueAt: expiresAt,

    async reconcile(object, { client, clock, log }): Promise<ReconcileResult> {
      const at = expiresAt(object);
      if (at === undefined) return;
      const waitMs = at - clock.now();
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      if (await deleteIfPresent(client, type, object, { unchanged }))
        log.info({ object: keyText(keyOf(object)) }, message);
    },
  });
