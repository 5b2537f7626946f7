import { createSecureContext } from 'node:tls';
import { readPemCertificates } from '../pki/certificate.js';
import type { Logger } from '../runtime/logger.js';

/** The maximum size of the CA names in a handshake in bytes (RFC 8446 section 4.2.4). */
const namesBytes = 65_535;

/**
 * Returns a function that returns, in PEM, the CAs that are named in the TLS CertificateRequest: all client CAs, as in
 * kube-apiserver, or none if their names do not fit into a handshake or TLS cannot read them.
 */
export function acceptableCas(counting: () => string, log: Logger): () => string | undefined {
  let known: { readonly pem: string; readonly text: string | undefined } = { pem: '', text: undefined };
  return () => {
    const pem = counting();
    if (pem !== known.pem) known = { pem, text: sendable(pem, log) };
    return known.text;
  };
}

function sendable(pem: string, log: Logger): string | undefined {
  try {
    const names = readPemCertificates(pem).map(({ subjectDer }) => subjectDer.length + 2);
    if (names.reduce((sum, length) => sum + length, 0) > namesBytes) {
      log.warn({ cas: names.length }, 'TLS certificate requests list no CA names: there are too many CAs');
      return undefined;
    }
    if (names.length === 0) return undefined;
    createSecureContext({ ca: pem });
    return pem;
  } catch (error) {
    log.warn({ err: error }, 'TLS certificate requests list no CA names');
    return undefined;
  }
}
