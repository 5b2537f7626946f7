import type { ServerOptions } from './options.js';

/** Whether other servers may write to the store, which is assumed for a store that is passed as an object. */
export const mayBeShared = ({ store = 'memory:' }: Pick<ServerOptions, 'store'>): boolean =>
  typeof store === 'object' || store.startsWith('etcd:');
