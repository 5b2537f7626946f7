import { coversSigner } from '../api/signer-name.js';
import type { UserInfo } from '../api/user.js';
import { isConditionReason, type PodSigningRequest, type PodSigningResult } from './pod-signing.js';

/** Issues certificate chains for approved requests, or refuses them. */
export interface Signer {
  /** A signer name, or `domain/*` for every name of a domain. */
  readonly serves: string;
  /** The time limit of one request, in milliseconds, after which it is tried again. Default 30 s. */
  readonly timeoutMs?: number;
  /** Issues a certificate for a request. Throws only for failures worth retrying. */
  sign(request: SigningRequest, signal: AbortSignal): Promise<SigningResult>;
  /**
   * Issues a certificate for a pod that its node requests; absent if the signer does not issue any. These requests need
   * no approval. Throws only for failures worth retrying.
   */
  signPod?(request: PodSigningRequest, signal: AbortSignal): Promise<PodSigningResult>;
  /**
   * Returns the anchors, in PEM, that verify issued certificates; published as a ClusterTrustBundle, unless the signer
   * serves a whole domain.
   */
  trustAnchors?(): Promise<string>;
  /**
   * Returns when the CA that signs now, or one above it, expires, in milliseconds since the epoch; reported as a
   * metric. Default: the expiry of the first anchor.
   */
  caNotAfter?(): Promise<number>;
  /** Releases resources, such as a process. Called by the server that uses the signer when the server stops. */
  stop?(): Promise<void>;
}

/** An approved CertificateSigningRequest, as passed to its signer. */
export interface SigningRequest {
  readonly signerName: string;
  /** The PKCS#10 request in PEM; it is well-formed, and its signature has been verified. */
  readonly request: string;
  readonly usages: readonly string[];
  readonly requester: UserInfo;
  /** The requested lifetime; undefined leaves it to the signer. */
  readonly expirationSeconds: number | undefined;
  /** The UID of the CertificateSigningRequest: a repeated request has the same UID, also after a crash. */
  readonly uid: string;
}

/** A signer's answer. Failures that may pass are thrown instead, and the signer is called again. */
export type SigningResult =
  /** PEM: the certificate first, then intermediates, no root. */
  | { readonly issued: string }
  /** Sets the condition Failed with this reason (CamelCase) and message. */
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

/** Returns the signer for a name: one that serves exactly this name is preferred to one that serves its domain. */
export const signerFor = <S extends Pick<Signer, 'serves'>>(signers: readonly S[], signerName: string): S | undefined =>
  signers.find((signer) => signer.serves === signerName) ??
  signers.find(({ serves }) => coversSigner(serves, signerName));
