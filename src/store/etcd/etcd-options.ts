import { type Checks, checkThat, integer, isNonEmptyString, nonEmptyString } from '../../api/checks.js';
import type { EtcdFiles } from './etcd-secrets.js';

/** How an etcd is used that others may use, too, and that may want to know who asks. */
export interface EtcdOptions extends EtcdFiles {
  /** What all keys of the store begin with. Default `/kedge`. */
  readonly prefix?: string | undefined;
  /** How often etcd's history is compacted to what it was a time before, in seconds, a day at most; 0: never. Default 300. */
  readonly compactionSeconds?: number | undefined;
}

export const etcdDefaults = { prefix: '/kedge', compactionSeconds: 300 } as const;

/** Checks of each single option. */
export const etcdChecks: Checks<EtcdOptions> = {
  caFile: nonEmptyString,
  certificateFile: nonEmptyString,
  keyFile: nonEmptyString,
  user: nonEmptyString,
  passwordFile: nonEmptyString,
  prefix: checkThat(
    'a path that begins with / and does not end with it',
    (value) => isNonEmptyString(value) && /^(\/[^/\s]+)+$/.test(value),
  ),
  compactionSeconds: integer({ from: 0, to: 86_400 }),
};
