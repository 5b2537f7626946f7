import type { HandlerParts } from '../http/handle-exchange.js';
import type { ListenerOptions } from '../http/listener.js';
import { certificateOf } from '../pki/ca-state.js';
import type { KeyPair } from '../pki/certificate-authority.js';
import { listenFailure } from '../runtime/listen-failure.js';
import type { Metrics } from '../runtime/metrics.js';
import { acceptableCas } from './acceptable-cas.js';
import type { Credentials, ListeningCredentials } from './credentials.js';
import { kubeconfigText } from './kubeconfig-text.js';
import { optionDefaults } from './option-defaults.js';
import type { Serving } from './serving-files.js';
import { reachableHost } from './serving-names.js';

/** An open port. */
export interface Listening {
  readonly url: string;
  /** The host:port at which others reach the server. */
  readonly address: string;
  /** A kubeconfig with the rights of an administrator, as YAML. It changes when its certificate is renewed. */
  readonly adminKubeconfig: string;
  stop(graceMs: number): Promise<void>;
}

export interface ListeningOptions extends Pick<ListenerOptions, 'http2' | 'limits' | 'onHandshakeFailed'> {
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** The port to listen on; a free one by default. */
  readonly port?: number;
  /** The names by which others reach the server, the preferred one first; by default its host, or this machine. */
  readonly servingNames?: readonly string[];
  /** Returns the CAs in PEM whose client certificates are accepted. */
  clientCas(): string;
  /** The metrics for the expiry of the serving certificate, which is not reported if they are absent. */
  readonly metrics?: Metrics | undefined;
  /** The signal that ends the renewal of certificates. */
  readonly signal: AbortSignal;
  /** Called whenever certificates were renewed. */
  readonly onRenewed?: ((renewed: { readonly adminKubeconfig: string }) => Promise<void>) | undefined;
}

/** How often certificates are checked, in milliseconds. They are renewed weeks before they expire. */
const lookEveryMs = 86_400_000;

/** Opens the port. Fails with an error of one sentence if it cannot be opened. */
export async function openListener(
  parts: Omit<HandlerParts, 'stopping'>,
  credentials: Credentials,
  {
    host = optionDefaults.host,
    port = 0,
    servingNames = [],
    clientCas,
    metrics,
    signal,
    onRenewed,
    ...options
  }: ListeningOptions,
): Promise<Listening> {
  const { Listener } = await import('../http/listener.js');
  let used = await credentials.forListening();
  const listener = new Listener(parts, {
    certificate: used.serving.certificate,
    key: used.serving.key,
    ...options,
    clientCas: acceptableCas(clientCas, parts.log),
  });
  const bound = await listener.listen({ host, port }).catch(async (error: NodeJS.ErrnoException) => {
    await listener.stop(0);
    throw listenFailure(error, host, port);
  });
  const reachable = reachableHost(host);
  const address = withPort(servingNames[0] ?? reachable, bound);
  const adminKubeconfig = (): string =>
    kubeconfigText({
      url: `https://${address}`,
      ca: used.serving.anchors,
      user: 'kubernetes-admin',
      credentials: used.admin,
    });
  metrics?.measured(
    {
      name: 'kedge_serving_certificate_expiration_timestamp_seconds',
      help: 'Expiry of the serving certificate, in seconds since 1970.',
    },
    async () => [{ labels: {}, value: certificateOf(used.serving).notAfter / 1_000 }],
  );
  void renewing(credentials, { ...parts, signal, first: used }, async (renewed) => {
    listener.setCertificate(renewed.serving);
    used = renewed;
    await onRenewed?.({ adminKubeconfig: adminKubeconfig() });
  });
  return {
    url: `https://${withPort(reachable, bound)}`,
    address,
    get adminKubeconfig() {
      return adminKubeconfig();
    },
    stop: (graceMs) => listener.stop(graceMs),
  };
}

const withPort = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * Passes on renewed certificates, retrying until they are accepted, and replaced serving certificates at once. Ends
 * with the signal.
 */
async function renewing(
  credentials: Credentials,
  {
    clock,
    log,
    signal,
    first,
  }: Pick<HandlerParts, 'clock' | 'log'> & {
    readonly signal: AbortSignal;
    readonly first: ListeningCredentials;
  },
  take: (renewed: ListeningCredentials) => Promise<void>,
): Promise<void> {
  let current = first;
  let { replaced } = first.serving;
  while (true) {
    await clock.sleep(lookEveryMs, replaced === undefined ? signal : AbortSignal.any([signal, replaced]));
    replaced = undefined;
    if (signal.aborted) return;
    credentials.warnOfCa();
    try {
      const found = await credentials.forListening();
      ({ replaced } = found.serving);
      if (isSameServing(found.serving, current.serving) && isSame(found.admin, current.admin)) continue;
      await take(found);
      current = found;
      log.info({}, 'renewed the certificates of the server or the administrator');
    } catch (error) {
      log.warn({ err: error }, 'could not renew the certificates of the server or the administrator');
    }
  }
}

const isSameServing = (one: Serving, other: Serving): boolean => one.anchors === other.anchors && isSame(one, other);

const isSame = (one: KeyPair, other: KeyPair): boolean =>
  one.certificate === other.certificate && one.key === other.key;
