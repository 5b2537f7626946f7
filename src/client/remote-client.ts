import { access as accessFile, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Clock, systemClock } from '../runtime/clock.js';
import type { ClientOptions } from './client.js';
import { AccessError, type ClusterAccess } from './cluster-access.js';
import { httpClient, type RemoteClient } from './http-client.js';
import { accessFromFiles, accessFromText } from './kubeconfig.js';
import { tokenFile } from './token-file.js';

export type { RemoteClient } from './http-client.js';

/** Options that select the server and the identity. */
export interface ConnectOptions extends ClientOptions {
  /** A kubeconfig file. Default: those of KUBECONFIG, else ~/.kube/config, else the service account of the pod. */
  readonly kubeconfig?: string | undefined;
  /** The text of a kubeconfig, for example `server.adminKubeconfig` or from a Secret; takes precedence over files. */
  readonly kubeconfigText?: string | undefined;
  readonly context?: string | undefined;
  /** Product and version, for the server's logs; also the default field manager. Default `kedge`. */
  readonly userAgent?: string;
  readonly clock?: Clock;
  readonly env?: NodeJS.ProcessEnv;
}

/** Returns a client of a remote server. Sends nothing before the first call. Fails with AccessError. */
export async function connect(options: ConnectOptions = {}): Promise<RemoteClient> {
  const { clock, userAgent, onWarning, fieldValidation } = options;
  const access = await findAccess(options);
  return httpClient(access, { clock, onWarning, fieldValidation, ...(userAgent === undefined ? {} : { userAgent }) });
}

/** Returns the server and identity that `connect` would use. */
export async function findAccess(options: ConnectOptions = {}): Promise<ClusterAccess> {
  const { clock = systemClock, env = process.env, context, kubeconfig, kubeconfigText } = options;
  const reading = { clock, env, context };
  if (kubeconfigText !== undefined) return accessFromText(kubeconfigText, reading);
  if (kubeconfig !== undefined) return accessFromFiles([kubeconfig], reading);
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length > 0) return accessFromFiles(named, reading);
  const usual = join(env['HOME'] ?? homedir(), '.kube', 'config');
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined && !(await exists(usual))) return inCluster(env, clock);
  return accessFromFiles([usual], reading);
}

const exists = (path: string): Promise<boolean> =>
  accessFile(path).then(
    () => true,
    () => false,
  );

const accountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Returns the access of the service account of the pod that this process runs in. */
export async function inCluster(
  env: NodeJS.ProcessEnv,
  clock: Clock,
  directory = accountDirectory,
): Promise<ClusterAccess> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) throw new AccessError('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set');
  const read = (file: string): Promise<string> =>
    readFile(join(directory, file), 'utf8').catch((cause: unknown) => {
      throw new AccessError(`cannot read ${join(directory, file)}`, { cause });
    });
  const [ca, namespace] = await Promise.all([read('ca.crt'), read('namespace').catch(() => undefined)]);
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca,
    namespace: namespace?.trim(),
    credentials: tokenFile(join(directory, 'token'), clock),
  };
}
