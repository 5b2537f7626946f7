import { isSecure } from './etcd-client.js';
import type { EtcdFiles } from './etcd-secrets.js';
import type { EtcdStoreOptions } from './etcd-store.js';

/** How an etcd is used that others may use, too, and that may want to know who asks. */
export interface EtcdOptions extends EtcdFiles {
  /** What all keys of the store begin with. Default `/kedge`. */
  readonly prefix?: string | undefined;
  /** How often etcd's history is compacted to what it was a time before, in seconds, a day at most; 0: never. Default 300. */
  readonly compactionSeconds?: number | undefined;
}

/**
 * The options of a store on these members.
 * @throws Error that names an option, if it is of no use or lacks another
 */
export function etcdStoreOptions(
  endpoints: readonly string[],
  { prefix, compactionSeconds, ...secrets }: EtcdOptions,
): EtcdStoreOptions {
  checkSecrets(secrets, endpoints.some(isSecure));
  if (prefix !== undefined && !/^(\/[^/\s]+)+$/.test(prefix))
    throw new Error(`option etcd.prefix must begin with / and not end with it: ${prefix}`);
  if (compactionSeconds !== undefined && compactionSeconds > day)
    throw new Error(`option etcd.compactionSeconds must be at most ${day}: ${compactionSeconds}`);
  return {
    endpoints,
    secrets,
    ...(prefix === undefined ? {} : { prefix }),
    ...(compactionSeconds === undefined ? {} : { compactEveryMs: compactionSeconds * 1_000 }),
  };
}

const day = 86_400;
const together = [
  ['certificateFile', 'keyFile'],
  ['user', 'passwordFile'],
] as const;
const forTls = ['caFile', 'certificateFile'] as const;

function checkSecrets(secrets: EtcdFiles, secure: boolean): void {
  for (const [one, other] of together) {
    if ((secrets[one] === undefined) !== (secrets[other] === undefined))
      throw new Error(`options etcd.${one} and etcd.${other} go together`);
  }
  for (const name of forTls) {
    if (secrets[name] !== undefined && !secure)
      throw new Error(`option etcd.${name} is for members that TLS is spoken with: etcd:https://HOST:PORT`);
  }
}
