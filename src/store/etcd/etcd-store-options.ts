import { fields } from '../../api/checks.js';
import { isSecure } from './etcd-members.js';
import { type EtcdOptions, etcdChecks } from './etcd-options.js';
import type { EtcdFiles } from './etcd-secrets.js';
import type { EtcdStoreOptions } from './etcd-store.js';

/**
 * Returns the options of a store on these members.
 * @throws Error that names an option, if it is invalid or requires another one
 */
export function etcdStoreOptions(endpoints: readonly string[], options: EtcdOptions): EtcdStoreOptions {
  const problem = fields(etcdChecks)(options, 'etcd');
  if (problem !== undefined) throw new Error(`option ${problem.path} ${problem.wrong}`);
  const { prefix, compactionSeconds, ...secrets } = options;
  checkSecrets(secrets, endpoints.some(isSecure));
  return {
    endpoints,
    secrets,
    ...(prefix === undefined ? {} : { prefix }),
    ...(compactionSeconds === undefined ? {} : { compactEveryMs: compactionSeconds * 1_000 }),
  };
}

const pairedOptions = [
  ['certificateFile', 'keyFile'],
  ['user', 'passwordFile'],
] as const;
const forTls = ['caFile', 'certificateFile'] as const;

function checkSecrets(secrets: EtcdFiles, secure: boolean): void {
  for (const [one, other] of pairedOptions) {
    if ((secrets[one] === undefined) !== (secrets[other] === undefined))
      throw new Error(`options etcd.${one} and etcd.${other} go together`);
  }
  for (const name of forTls) {
    if (secrets[name] !== undefined && !secure)
      throw new Error(`option etcd.${name} requires TLS: etcd:https://HOST:PORT`);
  }
}
