import { type ApiObject, keyOf, keyText, type ResourceType } from '../api/object.js';
import type { ReconcileResult, Runnable } from './controller.js';
import { defineController } from './define-controller.js';
import { deleteIfPresent } from './delete-if-present.js';

export interface CleanerSpec<T extends ApiObject> {
  readonly name: string;
  readonly for: ResourceType<T>;
  /** When an object may go, in milliseconds since the epoch; undefined: not as it is. */
  expiresAt(object: T): number | undefined;
  /** Objects that are written again and again may be needed again: only what is as it was judged goes. Default: no. */
  readonly unchanged?: boolean;
  /** Only apiVersion, kind and metadata are held in memory, and tell when. */
  readonly metadataOnly?: boolean;
  /** Logged of each that was deleted. */
  readonly message: string;
}

/** Deletes objects when they are due, each at its time and none that took its name. */
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
