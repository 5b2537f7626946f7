import { coversSigner } from '../api/signer-name.js';
import type { UserInfo } from '../api/user.js';
import { isConditionReason, type PodSigningRequest, type PodSigningResult } from './pod-signing.js';

/** Turns an approved request into a certificate chain, or says why it will not. */
export interface Signer {
  /** One signer name, or every name under `domain/*`. */
  readonly serves: string;
  /** How long one request may take, in milliseconds, before it is tried again. Default 30 s. */
  readonly timeoutMs?: number;
  /** Throws only for failures worth retrying. */
  sign(request: SigningRequest, signal: AbortSignal): Promise<SigningResult>;
  /**
   * Issues a certificate for a pod at the request of its node; absent if the signer does not issue any. These requests
   * need no approval. Throws only for failures worth retrying.
   */
  signPod?(request: PodSigningRequest, signal: AbortSignal): Promise<PodSigningResult>;
  /** PEM anchors that verify what it issues; published as a ClusterTrustBundle, unless it serves a whole domain. */
  trustAnchors?(): Promise<string>;
  /**
   * When the CA that signs now, or one above it, expires, in milliseconds since the epoch; reported as a metric.
   * Default: the expiry of the first anchor.
   */
  caNotAfter?(): Promise<number>;
  /** Gives up what it holds, such as a process. Called by the server that it was given to, when that stops. */
  stop?(): Promise<void>;
}

/** An approved CertificateSigningRequest, as its signer gets it. */
export interface SigningRequest {
  readonly signerName: string;
  /** PEM of the PKCS#10 request; it is well-formed, and its signature has been verified. */
  readonly request: string;
  readonly usages: readonly string[];
  readonly requester: UserInfo;
  /** Requested lifetime; undefined leaves it to the signer. */
  readonly expirationSeconds: number | undefined;
  /** UID of the CertificateSigningRequest: the same request is the same UID, also after a crash. */
  readonly uid: string;
}

/** What a signer answers. Trouble that may pass is no answer: it is thrown, and the signer is asked again. */
export type SigningResult =
  /** PEM: the certificate first, then intermediates, no root. */
  | { readonly issued: string }
  /** Becomes the condition Failed with this reason (CamelCase) and message. */
  | { readonly refused: string; readonly reason: string };

/** Validates the answer of a signer, which may come from untyped code. Throws an Error if it is not a result. */
export function signingResult(answer: unknown): SigningResult {
  const { issued, refused, reason } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof issued === 'string' && issued !== '') return { issued };
  if (typeof refused === 'string' && isConditionReason(reason)) {
    return { refused, reason };
  }
  throw new Error('the answer is neither "issued" nor "refused" with a "reason" in CamelCase');
}

/** The signer for a name: one that serves exactly it before one that serves its domain. */
export const signerFor = <S extends Pick<Signer, 'serves'>>(signers: readonly S[], signerName: string): S | undefined =>
  signers.find((signer) => signer.serves === signerName) ??
  signers.find(({ serves }) => coversSigner(serves, signerName));
