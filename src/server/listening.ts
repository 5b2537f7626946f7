import type { FacadeParts } from '../http/facade.js';
import type { ListenerOptions } from '../http/listener.js';
import type { Credentials } from './credentials.js';
import { kubeconfigText } from './kubeconfig-text.js';

/** An open port. */
export interface Listening {
  readonly url: string;
  /** host:port */
  readonly address: string;
  /** A kubeconfig with administrator's rights, as YAML. */
  readonly adminKubeconfig: string;
  stop(graceMs: number): Promise<void>;
}

export interface ListeningOptions extends Pick<ListenerOptions, 'limits' | 'onHandshakeFailed'> {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
}

/** Opens the port. Fails with one sentence if it cannot be had. */
export async function openListener(
  parts: Omit<FacadeParts, 'stopping'>,
  credentials: Credentials,
  { host = '127.0.0.1', port = 0, ...options }: ListeningOptions,
): Promise<Listening> {
  const { Listener } = await import('../http/listener.js');
  const { serving, admin } = await credentials.forListening();
  const listener = new Listener(parts, { ...serving, ...options });
  const bound = await listener.listen({ host, port }).catch(async (error: NodeJS.ErrnoException) => {
    await listener.stop(0);
    throw new Error(listenFailure(error, host, port), { cause: error });
  });
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  const url = `https://${reachable}:${bound}`;
  return {
    url,
    address: `${reachable}:${bound}`,
    adminKubeconfig: kubeconfigText({ url, ca: credentials.ca.anchors, user: 'kubernetes-admin', credentials: admin }),
    stop: (graceMs) => listener.stop(graceMs),
  };
}

function listenFailure({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use by another program`;
  if (code === 'EACCES') return `port ${port} on ${host} may not be opened by this user`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${host} is not an address of this machine`;
  return `cannot listen on ${host}:${port}: ${message}`;
}
