import type { UserInfo } from '../api/user.js';

/** Turns an approved request into a certificate chain, or says why it will not. */
export interface Signer {
  /** One signer name, or every name under `domain/*`. */
  readonly serves: string;
  /** How long it may take for one request, in milliseconds, before it is asked again. Default 30 s. */
  readonly timeoutMs?: number;
  /** Throws only for trouble worth retrying. */
  sign(request: SigningRequest, signal: AbortSignal): Promise<SigningResult>;
  /** PEM anchors that verify what it issues; published as a ClusterTrustBundle, unless it serves a whole domain. */
  trustAnchors?(): Promise<string>;
  /**
   * When the CA that signs now ends, or one above it, in milliseconds since the epoch; told as a metric. Default: the end
   * of the first anchor.
   */
  caNotAfter?(): Promise<number>;
  /** Gives up what it holds, such as a process. Called by the server that it was given to, when that stops. */
  stop?(): Promise<void>;
}

export interface SigningRequest {
  readonly signerName: string;
  /** PEM of the PKCS#10 request, which could be read and whose own signature was verified. */
  readonly request: string;
  readonly usages: readonly string[];
  readonly requester: UserInfo;
  /** Lifetime asked for; undefined leaves it to the signer. */
  readonly expirationSeconds: number | undefined;
  /** UID of the CertificateSigningRequest: the same request is the same UID, also after a crash. */
  readonly uid: string;
}

export type SigningResult =
  /** PEM: the certificate first, then intermediates, no root. */
  | { readonly issued: string }
  /** Becomes the condition Failed with this reason (CamelCase) and message. */
  | { readonly refused: string; readonly reason: string };

/** What a signer answered, which may be written in anything. Throws an Error if that is no result. */
export function signingResult(answer: unknown): SigningResult {
  const { issued, refused, reason } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof issued === 'string' && issued !== '') return { issued };
  if (typeof refused === 'string' && typeof reason === 'string' && /^[A-Z][A-Za-z0-9]*$/.test(reason)) {
    return { refused, reason };
  }
  throw new Error('the answer is neither "issued" nor "refused" with a "reason" in CamelCase');
}
