import { type Checks, checkThat, integer, isNonEmptyString, nonEmptyString } from '../../api/checks.js';
import type { EtcdFiles } from './etcd-secrets.js';

/** The options of an etcd. Other programs may use the same etcd, and it may require authentication. */
export interface EtcdOptions extends EtcdFiles {
  /** The prefix of all keys of the store. Default `/kedge`. */
  readonly prefix?: string | undefined;
  /**
   * The interval in seconds, at most a day, at which etcd's history is compacted to the revision of one interval
   * before; 0 for never. Default 300.
   */
  readonly compactionSeconds?: number | undefined;
}

export const etcdDefaults = { prefix: '/kedge', compactionSeconds: 300 } as const;

/** The checks of each option by itself. */
export const etcdChecks: Checks<EtcdOptions> = {
  caFile: nonEmptyString,
  certificateFile: nonEmptyString,
  keyFile: nonEmptyString,
  user: nonEmptyString,
  passwordFile: nonEmptyString,
  prefix: checkThat(
    'a path that begins with / and does not end with /',
    (value) => isNonEmptyString(value) && /^(\/[^/\s]+)+$/.test(value),
  ),
  compactionSeconds: integer({ from: 0, to: 86_400 }),
};
