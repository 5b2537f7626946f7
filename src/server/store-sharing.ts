import type { ServerOptions } from './options.js';

/** May other servers write to the store? Assumed of a store object that a program passes. */
export const mayBeShared = ({ store = 'memory:' }: Pick<ServerOptions, 'store'>): boolean =>
  typeof store === 'object' || store.startsWith('etcd:');
