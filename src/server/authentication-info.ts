import { isDeepStrictEqual } from 'node:util';
import type { ConfigMap } from '../api/kinds/config-map.js';
import type { FrontProxyHeaders } from '../auth/proxy-headers.js';
import type { Client } from '../client/client.js';
import { type Certificate, readPemCertificates } from '../pki/certificate.js';
import { encodePem } from '../pki/pem.js';
import { PkiError } from '../pki/pki-error.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { ensureConfigMap } from './ensure-config-map.js';

/** How this server authenticates callers, as far as the servers behind it need to know. */
export interface AuthenticationInfo {
  /** The CAs of client certificates in PEM. */
  readonly clientCa: string;
  readonly frontProxy?:
    | (FrontProxyHeaders & { readonly ca: string; readonly allowedNames: readonly string[] })
    | undefined;
}

/** The ConfigMap that servers behind this one read, with the role `extension-apiserver-authentication-reader`. */
export const authenticationInfoKey = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

type Data = NonNullable<ConfigMap['data']>;

/**
 * Returns the data of the ConfigMap with that of this server added. The data of other servers stays: certificates until
 * they expire. `now` is in milliseconds.
 */
export function withAuthenticationInfo(found: Data, { clientCa, frontProxy }: AuthenticationInfo, now: number): Data {
  const bundle = (key: string, own: string): Data => ({ [key]: unexpired([found[key] ?? '', own], now) });
  const list = (key: string, own: readonly string[]): Data => ({
    [key]: JSON.stringify([...new Set([...readList(found[key]), ...own])]),
  });
  const ofClients = { ...found, ...bundle('client-ca-file', clientCa) };
  if (frontProxy === undefined) return ofClients;
  return {
    ...ofClients,
    ...bundle('requestheader-client-ca-file', frontProxy.ca),
    ...list('requestheader-allowed-names', frontProxy.allowedNames),
    ...list('requestheader-username-headers', frontProxy.usernameHeaders),
    ...list('requestheader-uid-headers', frontProxy.uidHeaders),
    ...list('requestheader-group-headers', frontProxy.groupHeaders),
    ...list('requestheader-extra-headers-prefix', frontProxy.extraHeaderPrefixes),
  };
}

/** Returns the unexpired certificates, each once, in the order first seen. Unreadable ones are left out. */
function unexpired(texts: readonly string[], now: number): string {
  const blocks = texts
    .flatMap(certificatesIn)
    .filter(({ notAfter }) => notAfter > now)
    .map(({ der }) => encodePem('CERTIFICATE', der));
  return [...new Set(blocks)].join('');
}

function certificatesIn(pem: string): readonly Certificate[] {
  try {
    return readPemCertificates(pem);
  } catch (error) {
    if (error instanceof PkiError) return [];
    throw error;
  }
}

function readList(text: string | undefined): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/** Writes the ConfigMap now, and checks it every minute until the signal aborts. */
export async function publishAuthenticationInfo({
  client,
  info,
  found: tell,
  clock,
  log,
  signal,
}: {
  /** A client with the rights of the server itself. */
  readonly client: Client;
  readonly info: () => AuthenticationInfo;
  /** Called with the client CAs in the ConfigMap before this server adds its own. */
  readonly found: (clientCas: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const publish = (): Promise<void> =>
    ensureConfigMap(client, authenticationInfoKey, (found) => {
      tell(found['client-ca-file'] ?? '');
      const data = withAuthenticationInfo(found, info(), clock.now());
      return isDeepStrictEqual(data, found) ? undefined : data;
    });
  await publish();
  void (async () => {
    for (;;) {
      await clock.sleep(60_000, signal);
      if (signal.aborted) return;
      await publish().catch((err: unknown) => log.warn({ err }, 'could not publish the authentication configuration'));
    }
  })();
}
