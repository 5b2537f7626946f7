/** The reason why a certificate or a request could not be read, verified or issued. */
export type PkiProblem =
  /** It is not the expected PEM block. */
  | 'pem'
  /** The block contains something else, or is malformed. */
  | 'parse'
  /** It is well-formed, but the signature does not verify or its algorithm is not supported. */
  | 'signature'
  /** A certificate and a private key do not match, or the certificate is not that of a CA. */
  | 'authority'
  /** The CA has expired. */
  | 'expired'
  /** It cannot be issued: unknown usages, no lifetime, a subject that cannot be encoded. */
  | 'unissuable';

/**
 * The only error this folder throws for invalid input. Messages of `pem`, `parse` and `signature` are those of Go's
 * crypto/x509 and encoding/asn1, because kube-apiserver passes them on to clients.
 */
export class PkiError extends Error {
  override readonly name = 'PkiError';
  readonly problem: PkiProblem;

  constructor(problem: PkiProblem, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.problem = problem;
  }
}

/** Returns the error for a malformed certificate, with the text of crypto/x509. */
export const malformed = (detail: string): PkiError => new PkiError('parse', `x509: ${detail}`);
