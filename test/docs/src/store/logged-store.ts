import type { Logger } from '../../../../src/runtime/logger.js';
import type { Store } from '../../../../src/store/store.js';

/** Another store, with a log line for every write it accepted. */
export const loggedStore = (store: Store, log: Logger): Store => ({
  get: (key) => store.get(key),
  scan: (prefix, options) => store.scan(prefix, options),
  async commit(write) {
    const entry = await store.commit(write);
    log.info({ key: entry.key, revision: String(entry.revision) }, 'committed');
    return entry;
  },
  changes: (prefix, after) => store.changes(prefix, after),
  revision: () => store.revision(),
  close: () => store.close(),
});
