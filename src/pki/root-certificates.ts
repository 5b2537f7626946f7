import { X509Certificate } from 'node:crypto';
import { messageOf } from '../api/message-of.js';
import { type Certificate, readCertificate } from './certificate.js';
import { pemBlocks } from './pem.js';
import { PkiError } from './pki-error.js';

/** The maximum number of blocks that are read. */
const maxBlocks = 1_000;

/**
 * Reads CAs as Go's `AppendCertsFromPEM` does: certificates that can be parsed count; other types, and blocks with
 * headers, are skipped. Throws PkiError (`parse`) with the text of client-go if there is none.
 */
export function readRootCertificates(pem: Uint8Array | string): readonly Certificate[] {
  const certificates: Certificate[] = [];
  let problem: string | undefined;
  const blocks = pemBlocks(pem);
  let next = blocks.next();
  for (let seen = 0; !next.done && seen < maxBlocks; seen++, next = blocks.next()) {
    const { type, bytes, hasHeaders } = next.value;
    if (type !== 'CERTIFICATE' || hasHeaders) continue;
    try {
      certificates.push(readCertificate(bytes));
    } catch (error) {
      if (!(error instanceof PkiError)) throw error;
      problem ??= `failed to parse certificate: ${error.message}`;
    }
  }
  if (certificates.length > 0) return certificates;
  const hasRest = next.done === true && next.value > 0;
  problem ??= hasRest ? 'unable to parse bytes as PEM block' : 'no valid certificate authority data seen';
  throw new PkiError('parse', problem);
}

/**
 * Returns the same CAs in PEM for TLS, without those that OpenSSL, which makes the connections, cannot read although Go
 * can. Throws PkiError (`parse`).
 */
export function usableRootCertificates(pem: Uint8Array | string): string {
  let problem: unknown;
  const usable = readRootCertificates(pem).flatMap(({ der }) => {
    try {
      return [new X509Certificate(der).toString()];
    } catch (error) {
      problem = error;
      return [];
    }
  });
  if (usable.length > 0) return usable.join('');
  throw new PkiError('parse', messageOf(problem));
}
