import type { ApiObject } from '../api/object.js';
import type { ObjectCacheOptions } from '../client/object-cache.js';
import type { ReconcileContext } from './controller.js';
import type { Selectors } from './selected.js';

/** What is watched of a kind, and held in memory. */
export interface Watch<T extends ApiObject> extends Selectors {
  readonly metadataOnly?: boolean;
  transform?(object: T): T;
}

/** The options of a cache for that, until the controller is to stop. */
export const watchOf = <T extends ApiObject>(
  { namespace, labelSelector, fieldSelector, metadataOnly, transform }: Watch<T>,
  { signal, clock, log, cacheObserver }: ReconcileContext,
): ObjectCacheOptions<T> => ({
  signal,
  clock,
  log,
  cacheObserver,
  namespace,
  labelSelector,
  fieldSelector,
  metadataOnly,
  transform,
});
