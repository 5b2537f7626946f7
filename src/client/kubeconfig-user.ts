import { resolve } from 'node:path';
import type { Clock } from '../runtime/clock.js';
import { certificateFiles } from './certificate-files.js';
import { AccessError, type ClusterAccess, type CredentialSource, fixedCredentials } from './cluster-access.js';
import { execCredentials } from './exec-credential.js';
import {
  type Cluster,
  inlineOrFile,
  type Kubeconfig,
  type KubeconfigOptions,
  type NamedEntry,
  type User,
} from './kubeconfig-file.js';
import { tokenFile } from './token-file.js';

/** Credentials of the users in kubeconfig files. */

/**
 * The name of the cluster extension whose contents are passed to exec plugins with the cluster
 * (client.authentication.k8s.io).
 */
const execExtension = 'client.authentication.k8s.io/exec';

/** Opens the credentials of a kubeconfig user. Fails with AccessError. */
export async function credentialsOf(
  { value: user, directory }: NamedEntry<User>,
  cluster: Pick<ClusterAccess, 'server' | 'ca' | 'insecure' | 'serverName'> & Pick<Cluster, 'extensions'>,
  kubeconfig: Kubeconfig,
  options: KubeconfigOptions,
): Promise<CredentialSource> {
  for (const name of ['token', 'tokenFile', 'username', 'password'] as const)
    if (user[name] !== undefined && user[name] !== null && typeof user[name] !== 'string')
      throw new AccessError(`the ${name} of a user of the kubeconfig is not a string`);
  const tls = await certificateOf(user, directory, options.clock);
  if (user.tokenFile) {
    return combined(tls, tokenFile(resolve(directory, user.tokenFile), options.clock, user.token));
  }
  if (user.token) return combined(tls, fixedCredentials({ authorization: `Bearer ${user.token}` }));
  if (user.username !== undefined && user.password !== undefined) {
    const basic = Buffer.from(`${user.username}:${user.password}`).toString('base64');
    return combined(tls, fixedCredentials({ authorization: `Basic ${basic}` }));
  }
  if (user.exec) {
    const config = cluster.extensions?.find(({ name }) => name === execExtension)?.extension;
    const info = {
      server: cluster.server,
      ...(cluster.ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(cluster.ca).toString('base64') }),
      ...(cluster.insecure ? { 'insecure-skip-tls-verify': true } : {}),
      ...(cluster.serverName === undefined ? {} : { 'tls-server-name': cluster.serverName }),
      ...(config === undefined ? {} : { config }),
    };
    return combined(
      tls,
      execCredentials(user.exec, { clock: options.clock, env: options.env, cluster: info, directory }),
    );
  }
  if (user['auth-provider']) return fromOfficialClient(user['auth-provider'].name ?? '', kubeconfig, options);
  return tls;
}

/** Returns the client certificate and key of a user, if there are any. Files are read again when they change. */
async function certificateOf(user: User, directory: string, clock: Clock): Promise<CredentialSource> {
  const read = async () => {
    const certificate = await inlineOrFile(
      user['client-certificate-data'],
      user['client-certificate'],
      directory,
      'client-certificate',
    );
    const key = await inlineOrFile(user['client-key-data'], user['client-key'], directory, 'client-key');
    if (certificate !== undefined && key !== undefined) return { certificate, key };
    if (certificate === key) return undefined;
    throw new AccessError('a client certificate and its key must be given together');
  };
  const first = await read();
  if (first === undefined) return fixedCredentials({});
  const inFiles = !user['client-certificate-data'] && !user['client-key-data'];
  return inFiles ? certificateFiles(first, read, clock) : fixedCredentials(first);
}

/** Combines the credentials of two sources: a TLS certificate and another credential. */
const combined = (tls: CredentialSource, source: CredentialSource): CredentialSource => ({
  current: async () => ({ ...(await tls.current()), ...(await source.current()) }),
  refused: (presented) => [tls, source].map((one) => one.refused(presented)).includes(true),
});

/** Legacy authentication methods are handled by the official client, which is loaded only for them. */
async function fromOfficialClient(
  provider: string,
  { text, currentContext }: Kubeconfig,
  { context }: KubeconfigOptions,
): Promise<CredentialSource> {
  const { KubeConfig } = await import('@kubernetes/client-node').catch((cause: unknown) => {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    const detail = isMissing ? 'which is not installed' : `which cannot be loaded: ${String(cause)}`;
    throw new AccessError(
      `auth-provider ${provider} needs the package @kubernetes/client-node, ${detail}; install one that runs here, or use an exec plugin`,
      { cause },
    );
  });
  const config = new KubeConfig();
  config.loadFromString(text);
  config.setCurrentContext(context ?? currentContext);
  return {
    async current() {
      const options: { headers?: Record<string, string | string[] | undefined> } = {};
      await config
        .applyToHTTPSOptions(options as Parameters<typeof config.applyToHTTPSOptions>[0])
        .catch((cause: unknown) => {
          throw new AccessError(`auth-provider ${provider} cannot be used`, { cause });
        });
      const authorization = options.headers?.['Authorization'];
      return typeof authorization === 'string' ? { authorization } : {};
    },
    refused: () => false,
  };
}

/** Returns the impersonation headers of a kubeconfig user. */
export function impersonation(user: User): Readonly<Record<string, string | readonly string[]>> {
  const extra = Object.entries(user['as-user-extra'] ?? {}).map(
    ([name, values]): readonly [string, readonly string[]] => [`Impersonate-Extra-${encodeURIComponent(name)}`, values],
  );
  return {
    ...(user.as ? { 'Impersonate-User': user.as } : {}),
    ...(user['as-uid'] ? { 'Impersonate-Uid': user['as-uid'] } : {}),
    ...(user['as-groups']?.length ? { 'Impersonate-Group': user['as-groups'] } : {}),
    ...Object.fromEntries(extra),
  };
}
