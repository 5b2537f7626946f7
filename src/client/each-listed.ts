import type { ApiObject } from '../api/object.js';
import type { ListOptions, ResourceClient } from './client.js';

/**
 * Yields the objects of a list one by one, with `limit` of them in memory at a time (default 500). Fails as `list`
 * does, also between pages.
 */
export async function* eachListed<T extends ApiObject>(
  resource: Pick<ResourceClient<T>, 'list'>,
  options: Omit<ListOptions, 'continue'> = {},
): AsyncGenerator<T> {
  let next: string | undefined;
  do {
    const page = await resource.list({ limit: 500, ...options, ...(next ? { continue: next } : {}) });
    yield* page.items;
    next = page.metadata.continue;
  } while (next);
}
