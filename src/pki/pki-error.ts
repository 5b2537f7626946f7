/** What kept a certificate or a request from being read, verified or issued. */
export type PkiProblem =
  /** Not the PEM block that is wanted. */
  | 'pem'
  /** The block holds something else, or a malformed one. */
  | 'parse'
  /** Well-formed, but the signature does not verify or is of a kind that is not verified. */
  | 'signature'
  /** A certificate and a private key that are no pair, or no CA at all. */
  | 'authority'
  /** The CA has expired. */
  | 'expired'
  /** Nothing that can be issued: unknown usages, no lifetime, a subject that cannot be written. */
  | 'unissuable';

/**
 * The only error this folder throws for what it is given. Messages of `pem`, `parse` and `signature` are those of Go's
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

/** A malformed certificate, in the words of crypto/x509. */
export const malformed = (what: string): PkiError => new PkiError('parse', `x509: ${what}`);
