import type { ServerOptions } from './options.js';

/** Whether other servers may write to the store. Assumed for a store object that a program passes. */
export const mayBeShared = ({ store = 'memory:' }: Pick<ServerOptions, 'store'>): boolean =>
  typeof store === 'object' || store.startsWith('etcd:');
