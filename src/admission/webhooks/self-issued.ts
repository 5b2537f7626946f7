import { once } from 'node:events';
import { connect } from 'node:tls';
import type { ClientCredentials } from '../../client/cluster-access.js';
import { sniName } from '../../client/server-name.js';
import { type Certificate, readCertificate, readPemCertificates } from '../../pki/certificate.js';
import { verifyChain } from '../../pki/certificate-chain.js';
import { oids } from '../../pki/oids.js';
import { PkiError } from '../../pki/pki-error.js';
import type { WebhookAddress } from './target.js';

/**
 * Supports servers whose certificate has equal subject and issuer (both may be empty) and no key identifiers. OpenSSL
 * considers such a certificate self-signed and looks no further; Go, like this module, looks for an issuer among the
 * anchors.
 */

export interface VerifiedCertificate {
  /** The certificate of the server in PEM. */
  readonly certificate: string;
  /** The end of the validity of its chain, in milliseconds since the epoch. */
  readonly validUntil: number;
}

/** Whether OpenSSL rejected a certificate because it looks self-signed. */
export const looksSelfSigned = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'DEPTH_ZERO_SELF_SIGNED_CERT';

/**
 * Returns the certificate of the server if one of the anchors has issued it; its names are not checked. Nothing but the
 * handshake is sent. Rejects with the error of the connection or the reason of the signal.
 */
export async function verifySelfIssued(
  anchors: string,
  options: {
    readonly address: WebhookAddress;
    readonly serverName: string;
    readonly shown: ClientCredentials;
    /** The current time in milliseconds since the epoch. */
    readonly now: number;
    readonly signal: AbortSignal;
  },
): Promise<VerifiedCertificate | undefined> {
  const { address, serverName, shown, now, signal } = options;
  const socket = connect({
    ...address,
    servername: sniName(serverName),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: false,
    ...(shown.certificate === undefined ? {} : { cert: shown.certificate, key: shown.key }),
  });
  try {
    await once(socket, 'secureConnect', { signal });
    const certificate = socket.getPeerX509Certificate();
    const leaf = certificate && read(certificate.raw);
    if (leaf === undefined) return undefined;
    const verdict = verifyChain(leaf, {
      intermediates: [],
      anchors: readPemCertificates(anchors),
      usage: oids.serverAuth,
      now,
    });
    return 'refused' in verdict
      ? undefined
      : { certificate: certificate?.toString() ?? '', validUntil: verdict.validUntil };
  } finally {
    socket.destroy();
  }
}

/** Parses an untrusted certificate; undefined if it is malformed. */
function read(der: Buffer): Certificate | undefined {
  try {
    return readCertificate(der);
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}
