import type { ConnectionOptions } from 'node:tls';
import { nameMismatch, sniName } from './server-name.js';

/**
 * Returns the TLS options that verify a server as Go's clients do: every certificate of the CA bundle is a trust anchor,
 * even if it is not self-signed, and the common name of the server's certificate does not count.
 */
export const serverVerification = ({
  ca,
  serverName,
}: {
  /** The CAs in PEM. Default: those that Node.js trusts. */
  readonly ca?: string | undefined;
  /** The DNS name or IP address (without brackets) that the certificate must name, if not the host's. */
  readonly serverName?: string | undefined;
}): Pick<ConnectionOptions, 'ca' | 'allowPartialTrustChain' | 'servername' | 'checkServerIdentity'> => ({
  ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
  ...(serverName === undefined ? {} : { servername: sniName(serverName) }),
  checkServerIdentity: (host, certificate) => nameMismatch(serverName ?? host, certificate),
});
