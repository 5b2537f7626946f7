import { groupResource } from '../api/object.js';
import type { CacheObserver } from '../client/cache-health.js';
import type { ControllerMetrics } from './controller-metrics.js';

/** A resource that a controller watches, such as `teams.example.com`. */
export interface ControllerWatch {
  readonly controller: string;
  readonly resource: string;
}

/** The watches, of the controllers that a manager has started, that have not listed anything yet. */
export interface UnsyncedWatches {
  list(): readonly ControllerWatch[];
  /** Adds or removes a watch. */
  count(watch: ControllerWatch, change: 1 | -1): void;
}

export function unsyncedWatches(): UnsyncedWatches {
  const open = new Map<string, { readonly watch: ControllerWatch; readonly count: number }>();
  return {
    list: () => Array.from(open.values(), ({ watch }) => watch),
    count(watch, change) {
      const id = `${watch.controller} ${watch.resource}`;
      const count = (open.get(id)?.count ?? 0) + change;
      if (count > 0) open.set(id, { watch, count });
      else open.delete(id);
    },
  };
}

/** Returns the cache observer of a controller, which counts for its metrics and for `/readyz`. */
export const observerOf = (
  controller: string,
  options: { readonly unsynced?: UnsyncedWatches | undefined; readonly metrics?: ControllerMetrics | undefined },
): CacheObserver => ({
  syncing(type, change) {
    const resource = groupResource(type);
    options.unsynced?.count({ controller, resource }, change);
    // Creates the series with 0, so that scrapes see it before anything fails.
    if (change > 0) options.metrics?.watchFailing?.(controller, resource, 0);
  },
  failing: (type, change) => options.metrics?.watchFailing?.(controller, groupResource(type), change),
});
