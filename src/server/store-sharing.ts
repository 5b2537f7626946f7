import type { ServerOptions } from './options.js';

/** May other servers write to the store? Of one that a program gives nobody knows. */
export const mayBeShared = ({ store = 'memory:' }: Pick<ServerOptions, 'store'>): boolean =>
  typeof store === 'object' || store.startsWith('etcd:');
