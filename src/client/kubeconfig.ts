import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { isObject, type JsonObject } from '../api/object.js';
import { usableRootCertificates } from '../pki/root-certificates.js';
import type { Clock } from '../runtime/clock.js';
import { certificateFiles } from './certificate-files.js';
import { AccessError, type ClusterAccess, type CredentialSource, fixedCredentials } from './cluster-access.js';
import { type ExecPlugin, execCredentials } from './exec-credential.js';
import { tokenFile } from './token-file.js';

/** Reads kubeconfig files: YAML or JSON, several merged as kubectl merges them, everything but proxies. */

interface Named<T> {
  readonly name: string;
  readonly value: T;
  /** Directory of the file it stands in: relative paths start there. */
  readonly directory: string;
}

interface Cluster {
  readonly server?: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly 'proxy-url'?: string;
  readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[] | null | undefined;
}

interface User {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: ExecPlugin;
  readonly 'auth-provider'?: { readonly name?: string };
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
}

interface Context {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

interface Kubeconfig {
  readonly clusters: readonly Named<Cluster>[];
  readonly users: readonly Named<User>[];
  readonly contexts: readonly Named<Context>[];
  readonly currentContext: string;
  /** The text of the file that says which context is current; for what is left to another reader. */
  readonly text: string;
}

export interface KubeconfigOptions {
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  /** Default: the current one. */
  readonly context?: string | undefined;
}

/** The server and identity that kubeconfig files name. The first file that says something wins. Fails with AccessError. */
export async function accessFromFiles(paths: readonly string[], options: KubeconfigOptions): Promise<ClusterAccess> {
  const read = await Promise.all(paths.map(readFileIfThere));
  const files = read.flatMap((text, at) => (text === undefined ? [] : [{ text, path: paths[at] ?? '' }]));
  if (files.length === 0) throw new AccessError(`there is no kubeconfig at ${paths.join(' or ')}`);
  const configs = await Promise.all(files.map(({ text, path }) => parseKubeconfig(text, path)));
  return accessOf(merge(configs), options);
}

/** Like `accessFromFiles`, for a text; relative paths in it start at `directory`. */
export const accessFromText = async (
  text: string,
  options: KubeconfigOptions & { readonly directory?: string },
): Promise<ClusterAccess> =>
  accessOf(await parseKubeconfig(text, resolve(options.directory ?? '.', 'kubeconfig')), options);

/**
 * The users of a kubeconfig file, by name, and the one of its current context; for whoever is told who to be and not where.
 * What a user says is read when it is first asked for, and fails then. Fails with AccessError.
 */
export async function usersInFile(
  path: string,
  options: KubeconfigOptions,
): Promise<{ readonly byName: ReadonlyMap<string, CredentialSource>; readonly current: CredentialSource | undefined }> {
  const text = await readFileIfThere(path);
  if (text === undefined) throw new AccessError(`there is no kubeconfig at ${path}`);
  const config = await parseKubeconfig(text, path);
  const open = async (user: Named<User>): Promise<CredentialSource> => {
    const called = `user ${JSON.stringify(user.name)} of the kubeconfig ${path}`;
    if (user.value['auth-provider']) throw new AccessError(`${called}: auth-provider is not supported here`);
    if (Object.keys(impersonation(user.value)).length > 0)
      throw new AccessError(`${called}: to be somebody else (as) is not supported here`);
    return credentialsOf(user, { server: '' }, config, options);
  };
  // Of two of the same name the first counts, as everywhere here.
  const byName = new Map(config.users.map((user) => [user.name, openedLater(() => open(user))] as const).reverse());
  const context = config.contexts.find(({ name }) => name === config.currentContext);
  return { byName, current: byName.get(context?.value.user ?? '') };
}

/** A source that is opened when it is first asked, and again after a failure. */
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

async function readFileIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new AccessError(`cannot read the kubeconfig ${path}`, { cause });
  }
}

async function parseKubeconfig(text: string, path: string): Promise<Kubeconfig> {
  const config = await parse(text, path);
  const directory = dirname(resolve(path));
  const named = <T>(list: string, member: string): readonly Named<T>[] => {
    const items: unknown = config[list];
    return (Array.isArray(items) ? items : []).filter(isObject).flatMap((item) => {
      const { name, [member]: value } = item;
      return typeof name === 'string' && isObject(value) ? [{ name, value: value as T, directory }] : [];
    });
  };
  const current = config['current-context'];
  return {
    clusters: named<Cluster>('clusters', 'cluster'),
    users: named<User>('users', 'user'),
    contexts: named<Context>('contexts', 'context'),
    currentContext: typeof current === 'string' ? current : '',
    text,
  };
}

async function parse(text: string, path: string): Promise<JsonObject> {
  let value: unknown;
  try {
    const { readYaml } = await import('../api/yaml.js');
    ({ value } = await readYaml(text));
  } catch (cause) {
    throw new AccessError(`the kubeconfig ${path} is neither YAML nor JSON`, { cause });
  }
  if (!isObject(value)) throw new AccessError(`the kubeconfig ${path} is not an object`);
  return value;
}

const merge = (configs: readonly Kubeconfig[]): Kubeconfig => {
  const deciding = configs.find(({ currentContext }) => currentContext !== '') ?? configs[0];
  return {
    clusters: configs.flatMap(({ clusters }) => clusters),
    users: configs.flatMap(({ users }) => users),
    contexts: configs.flatMap(({ contexts }) => contexts),
    currentContext: deciding?.currentContext ?? '',
    text: deciding?.text ?? '',
  };
};

function pick<T>(list: readonly Named<T>[], name: string | undefined, what: string): Named<T> {
  const found = list.find((item) => item.name === name);
  if (found === undefined) throw new AccessError(`the kubeconfig has no ${what} ${JSON.stringify(name ?? '')}`);
  return found;
}

async function accessOf(config: Kubeconfig, options: KubeconfigOptions): Promise<ClusterAccess> {
  const name = options.context ?? config.currentContext;
  if (name === '') throw new AccessError('the kubeconfig names no current-context');
  const context = pick(config.contexts, name, 'context').value;
  const { value: cluster, directory } = pick(config.clusters, context.cluster, 'cluster');
  if (!cluster.server) throw new AccessError(`cluster ${JSON.stringify(context.cluster)} names no server`);
  if (cluster['proxy-url']) throw new AccessError('proxy-url of a cluster is not supported');
  if (
    cluster['insecure-skip-tls-verify'] === true &&
    (cluster['certificate-authority-data'] || cluster['certificate-authority'])
  )
    throw new AccessError(
      `cluster ${JSON.stringify(context.cluster)}: insecure-skip-tls-verify and a certificate-authority exclude each other`,
    );
  const given = await inlineOrFile(
    cluster['certificate-authority-data'],
    cluster['certificate-authority'],
    directory,
    'certificate-authority',
  );
  const ca = given === undefined ? undefined : anchorsOf(given, context.cluster ?? '');
  const user = context.user ? pick(config.users, context.user, 'user') : undefined;
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
    throw new AccessError(`the certificate-authority of cluster ${JSON.stringify(cluster)} is no certificate`, {
      cause,
    });
  }
}

async function inlineOrFile(
  inline: string | undefined,
  path: string | undefined,
  directory: string,
  what: string,
): Promise<string | undefined> {
  if (inline) return Buffer.from(inline, 'base64').toString('utf8');
  if (!path) return undefined;
  const absolute = isAbsolute(path) ? path : resolve(directory, path);
  try {
    return await readFile(absolute, 'utf8');
  } catch (cause) {
    throw new AccessError(`cannot read ${what} ${absolute}`, { cause });
  }
}

/** What a cluster has for the plugins of its users: told to those that ask for the cluster (client.authentication.k8s.io). */
const execExtension = 'client.authentication.k8s.io/exec';

async function credentialsOf(
  { value: user, directory }: Named<User>,
  cluster: Pick<ClusterAccess, 'server' | 'ca' | 'insecure' | 'serverName'> & Pick<Cluster, 'extensions'>,
  kubeconfig: Kubeconfig,
  options: KubeconfigOptions,
): Promise<CredentialSource> {
  for (const name of ['token', 'tokenFile', 'username', 'password'] as const)
    if (user[name] !== undefined && user[name] !== null && typeof user[name] !== 'string')
      throw new AccessError(`the ${name} of a user of the kubeconfig is no text`);
  const tls = await certificateOf(user, directory, options.clock);
  if (user.tokenFile) {
    return together(tls, tokenFile(resolve(directory, user.tokenFile), options.clock, user.token));
  }
  if (user.token) return together(tls, fixedCredentials({ authorization: `Bearer ${user.token}` }));
  if (user.username !== undefined && user.password !== undefined) {
    const basic = Buffer.from(`${user.username}:${user.password}`).toString('base64');
    return together(tls, fixedCredentials({ authorization: `Basic ${basic}` }));
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
    return together(
      tls,
      execCredentials(user.exec, { clock: options.clock, env: options.env, cluster: info, directory }),
    );
  }
  if (user['auth-provider']) return fromOfficialClient(user['auth-provider'].name ?? '', kubeconfig, options);
  return tls;
}

/** The client certificate and key of a user, if there are any; from files they are read again. */
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

/** A source's credentials, with a TLS certificate that stands beside it. */
const together = (tls: CredentialSource, source: CredentialSource): CredentialSource => ({
  current: async () => ({ ...(await tls.current()), ...(await source.current()) }),
  refused: (presented) => [tls, source].map((one) => one.refused(presented)).includes(true),
});

/** Old ways of authentication are left to the official client, which is loaded for them alone. */
async function fromOfficialClient(
  provider: string,
  { text, currentContext }: Kubeconfig,
  { context }: KubeconfigOptions,
): Promise<CredentialSource> {
  const { KubeConfig } = await import('@kubernetes/client-node').catch((cause: unknown) => {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    const why = isMissing ? 'which is not installed' : `which cannot be loaded: ${String(cause)}`;
    throw new AccessError(
      `auth-provider ${provider} needs the package @kubernetes/client-node, ${why}; install one that runs here, or use an exec plugin`,
      { cause },
    );
  });
  const config = new KubeConfig();
  config.loadFromString(text);
  config.setCurrentContext(context ?? currentContext);
  return {
    async current() {
      const given: { headers?: Record<string, string | string[] | undefined> } = {};
      await config
        .applyToHTTPSOptions(given as Parameters<typeof config.applyToHTTPSOptions>[0])
        .catch((cause: unknown) => {
          throw new AccessError(`auth-provider ${provider} cannot be used`, { cause });
        });
      const authorization = given.headers?.['Authorization'];
      return typeof authorization === 'string' ? { authorization } : {};
    },
    refused: () => false,
  };
}

function impersonation(user: User): Readonly<Record<string, string | readonly string[]>> {
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
