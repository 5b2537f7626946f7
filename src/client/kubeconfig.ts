import { resolve } from 'node:path';
import { usableRootCertificates } from '../pki/root-certificates.js';
import { displayPath } from '../runtime/display-path.js';
import { AccessError, type ClusterAccess, type CredentialSource, fixedCredentials } from './cluster-access.js';
import {
  findNamed,
  inlineOrFile,
  type Kubeconfig,
  type KubeconfigOptions,
  merge,
  type NamedEntry,
  parseKubeconfig,
  readFileIfExists,
  type User,
} from './kubeconfig-file.js';
import { credentialsOf, impersonation } from './kubeconfig-user.js';

/** Reads kubeconfig files: YAML or JSON, several merged as kubectl merges them. Proxies are not supported. */

/**
 * Returns the server and identity configured in kubeconfig files. If several files set something, the first one counts.
 * Fails with AccessError.
 */
export async function accessFromFiles(paths: readonly string[], options: KubeconfigOptions): Promise<ClusterAccess> {
  const read = await Promise.all(paths.map(readFileIfExists));
  const files = read.flatMap((text, at) => (text === undefined ? [] : [{ text, path: paths[at] ?? '' }]));
  if (files.length === 0) throw new AccessError(`no kubeconfig at ${paths.map(displayPath).join(' or ')}`);
  const configs = await Promise.all(files.map(({ text, path }) => parseKubeconfig(text, path)));
  return accessOf(merge(configs), options);
}

/** Like `accessFromFiles`, for a text; relative paths in it refer to `directory`. */
export const accessFromText = async (
  text: string,
  options: KubeconfigOptions & { readonly directory?: string },
): Promise<ClusterAccess> =>
  accessOf(await parseKubeconfig(text, resolve(options.directory ?? '.', 'kubeconfig')), options);

/**
 * Returns the users of a kubeconfig file by name, and the one of its current context; for callers that need credentials
 * but no server. The credentials of a user are opened when first needed, and fail then. Fails with AccessError.
 */
export async function usersInFile(
  path: string,
  options: KubeconfigOptions,
): Promise<{ readonly byName: ReadonlyMap<string, CredentialSource>; readonly current: CredentialSource | undefined }> {
  const text = await readFileIfExists(path);
  if (text === undefined) throw new AccessError(`no kubeconfig at ${displayPath(path)}`);
  const config = await parseKubeconfig(text, path);
  const open = async (user: NamedEntry<User>): Promise<CredentialSource> => {
    const called = `user ${JSON.stringify(user.name)} of the kubeconfig ${path}`;
    if (user.value['auth-provider']) throw new AccessError(`${called}: auth-provider is not supported here`);
    if (Object.keys(impersonation(user.value)).length > 0)
      throw new AccessError(`${called}: impersonation (as) is not supported here`);
    return credentialsOf(user, { server: '' }, config, options);
  };
  // The first of several users with the same name counts, as everywhere in kubeconfig files.
  const byName = new Map(config.users.map((user) => [user.name, openedLater(() => open(user))] as const).reverse());
  const context = config.contexts.find(({ name }) => name === config.currentContext);
  return { byName, current: byName.get(context?.value.user ?? '') };
}

/** Returns a source of credentials that is opened on first use, and again after a failure. */
function openedLater(open: () => Promise<CredentialSource>): CredentialSource {
  let opened: Promise<CredentialSource> | undefined;
  return {
    async current() {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return (await opened).current();
    },
    refused: () => false,
  };
}

async function accessOf(config: Kubeconfig, options: KubeconfigOptions): Promise<ClusterAccess> {
  const name = options.context ?? config.currentContext;
  if (name === '') throw new AccessError('the kubeconfig has no current-context');
  const context = findNamed(config.contexts, name, 'context').value;
  const { value: cluster, directory } = findNamed(config.clusters, context.cluster, 'cluster');
  if (!cluster.server) throw new AccessError(`cluster ${JSON.stringify(context.cluster)} has no server`);
  if (cluster['proxy-url']) throw new AccessError('proxy-url of a cluster is not supported');
  if (
    cluster['insecure-skip-tls-verify'] === true &&
    (cluster['certificate-authority-data'] || cluster['certificate-authority'])
  )
    throw new AccessError(
      `cluster ${JSON.stringify(context.cluster)}: insecure-skip-tls-verify and certificate-authority cannot be combined`,
    );
  const caText = await inlineOrFile(
    cluster['certificate-authority-data'],
    cluster['certificate-authority'],
    directory,
    'certificate-authority',
  );
  const ca = caText === undefined ? undefined : anchorsOf(caText, context.cluster ?? '');
  const user = context.user ? findNamed(config.users, context.user, 'user') : undefined;
  const access = {
    server: cluster.server,
    ca,
    insecure: cluster['insecure-skip-tls-verify'] === true,
    serverName: cluster['tls-server-name'],
    namespace: context.namespace,
  };
  return {
    ...access,
    headers: user === undefined ? {} : impersonation(user.value),
    credentials:
      user === undefined
        ? fixedCredentials({})
        : await credentialsOf(user, { ...access, extensions: cluster.extensions }, config, options),
  };
}

function anchorsOf(pem: string, cluster: string): string {
  try {
    return usableRootCertificates(pem);
  } catch (cause) {
    throw new AccessError(`the certificate-authority of cluster ${JSON.stringify(cluster)} is not a certificate`, {
      cause,
    });
  }
}
