import { resolve } from 'node:path';
import { member } from '../api/object.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Encryption } from './encryption/encryption.js';
import type { EtcdOptions } from './etcd/etcd-options.js';
import type { Revision, Store } from './store.js';
import { StoreUnavailable } from './store-unavailable.js';

/** The options of a store besides its address. */
export interface OpenStoreOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Options for `etcd:`. */
  readonly etcd?: EtcdOptions | undefined;
  /** The encryption of documents on disk or in etcd. Default: none. */
  readonly encryption?: Encryption;
  /** In a new store, revisions begin after this one. Default 0. */
  readonly after?: Revision;
  /** Fail if the directory or prefix holds no store, instead of creating one. */
  readonly mustExist?: boolean;
}

/**
 * The functions that open a store, by the scheme of the address (before the first colon). Their code is loaded on first
 * use.
 */
const schemes: Readonly<Record<string, (location: string, options: OpenStoreOptions) => Promise<Store>>> = {
  async memory(location, options) {
    if (location !== '') throw invalidAddress(`memory:${location}`, 'memory: takes no argument');
    const { MemoryStore } = await import('./memory/memory-store.js');
    return new MemoryStore(options);
  },
  async level(location, options) {
    if (location === '') throw invalidAddress('level:', 'level: needs a directory');
    const { openLevelStore } = await import('./level/level-store.js');
    return openLevelStore(resolve(location), options);
  },
  async etcd(location, { etcd = {}, ...options }) {
    const endpoints = location.split(',').map((endpoint) => endpoint.replace(/^http:\/\//, ''));
    if (!endpoints.every(isEndpoint))
      throw invalidAddress(`etcd:${location}`, 'etcd: needs [https://]HOST:PORT, or several of them, comma-separated');
    const [{ etcdStoreOptions }, { openEtcdStore }] = await Promise.all([
      import('./etcd/etcd-store-options.js'),
      import('./etcd/open-etcd-store.js'),
    ]);
    return openEtcdStore({ ...options, ...etcdStoreOptions(endpoints, etcd) });
  },
};

/**
 * Opens the store at an address: `memory:`, `level:DIRECTORY` or `etcd:[https://]HOST:PORT,...`.
 * @throws StoreUnavailable if the address is invalid or the store there cannot be opened
 */
export async function openStore(address: string, options: OpenStoreOptions): Promise<Store> {
  const colon = address.indexOf(':');
  const scheme = address.slice(0, Math.max(colon, 0));
  const open = member(schemes, scheme);
  if (open === undefined) {
    throw invalidAddress(
      address,
      `an address must be one of ${Object.keys(schemes)
        .map((name) => `${name}:`)
        .join(', ')}`,
    );
  }
  const { prefix: _, compactionSeconds: __, ...secrets } = options.etcd ?? {};
  const etcdOptions = Object.entries(secrets).flatMap(([name, value]) => (value === undefined ? [] : [`etcd.${name}`]));
  if (scheme !== 'etcd' && etcdOptions.length > 0)
    throw invalidAddress(address, `the options ${etcdOptions.join(', ')} are for etcd only`);
  return open(address.slice(colon + 1), options);
}

const invalidAddress = (address: string, problem: string): StoreUnavailable =>
  new StoreUnavailable(`the store address ${JSON.stringify(address)} is not valid: ${problem}`);

/** Whether a text is a host name, IPv4 address or bracketed IPv6 address, and a port, with or without `https://`. */
function isEndpoint(text: string): boolean {
  const [, port] = /^(?:https:\/\/)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
}
