import type { FacadeParts } from '../http/facade.js';
import type { KeyPair } from '../pki/certificate-authority.js';

/** An open port. */
export interface Listening {
  readonly url: string;
  /** host:port */
  readonly address: string;
  stop(graceMs: number): Promise<void>;
}

/** Opens the port. Fails with one sentence if it cannot be had. */
export async function openListener(
  parts: Omit<FacadeParts, 'stopping'>,
  serving: KeyPair,
  { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number },
): Promise<Listening> {
  const { Listener } = await import('../http/listener.js');
  const listener = new Listener(parts, serving);
  const bound = await listener.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(listenFailure(error, host, port), { cause: error });
  });
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return {
    url: `https://${reachable}:${bound}`,
    address: `${reachable}:${bound}`,
    stop: (graceMs) => listener.stop(graceMs),
  };
}

function listenFailure({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use by another program`;
  if (code === 'EACCES') return `port ${port} on ${host} may not be opened by this user`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${host} is not an address of this machine`;
  return `cannot listen on ${host}:${port}: ${message}`;
}
