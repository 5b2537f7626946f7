import { signerPatternViolations } from '../../api/signer-name.js';
import { type CertificateRequest, readCertificateRequest } from '../certificate-request.js';
import { type PodSigningRequest, type PodSigningResult, podRefusals } from '../pod-signing.js';
import type { Signer, SigningRequest, SigningResult } from '../signer.js';
import { defaultCertificateSeconds, minCertificateSeconds, minPodCertificateSeconds } from '../validity.js';

/** What is special about a signer; `defineSigner` does the rest. */
export interface SignerSpec {
  /** One signer name, or every name under `domain/*`. */
  readonly serves: string;
  /** Maximum lifetime in seconds, and the default when a request names none. Default: a year. */
  readonly maxSeconds?: number | undefined;
  /** How long one request may take, in milliseconds, before it is tried again. Default 30 s. */
  readonly timeoutMs?: number;
  /** Why a request is refused: a sentence, or a sentence with its own reason. undefined accepts it. */
  validate?(request: CertificateRequest, signing: SigningRequest): string | Refusal | undefined;
  /**
   * PEM: the certificate first, then intermediates, no root; or a refusal. Throws for failures worth retrying.
   * `seconds` is the lifetime to grant. Absent: every CertificateSigningRequest is refused.
   */
  issue?(
    request: CertificateRequest,
    options: { readonly seconds: number; readonly signing: SigningRequest; readonly signal: AbortSignal },
  ): Promise<string | Refusal>;
  /** Issues certificates to pods as well, or only. Absent: requests of nodes for these are left alone. */
  readonly pods?: PodSignerSpec;
  /** PEM anchors that verify what it issues. */
  trustAnchors?(): Promise<string>;
  /** When the CA that signs now, or one above it, expires, in milliseconds since the epoch. */
  caNotAfter?(): Promise<number>;
  /** Gives up what it holds. Called by the server that it was given to, when that stops. */
  stop?(): Promise<void>;
}

/** What is special about a signer of certificates of pods. */
export interface PodSignerSpec {
  /** Names of the annotations that it understands; requests with others are denied, as nodes expect. Default: none. */
  readonly annotations?: readonly string[];
  /** Why a request is denied: a sentence, or a sentence with its own reason. undefined accepts it. */
  validate?(request: PodSigningRequest): string | Refusal | undefined;
  /**
   * PEM: the certificate first, then intermediates, no root; or any other result. Throws for failures worth retrying.
   * `seconds` is the lifetime to grant, which the API server checks: `issueForPod` of a CA keeps to it.
   */
  issue(
    request: PodSigningRequest,
    options: { readonly seconds: number; readonly signal: AbortSignal },
  ): Promise<string | PodSigningResult>;
}

/** A refusal: becomes the condition Failed, or Denied of a request for a pod, with a reason in CamelCase. */
export type Refusal = Extract<SigningResult, { readonly refused: string }>;

/** Lifetime granted: what was asked for, at least ten minutes, at most (and by default) `maxSeconds`. */
export function grantedSeconds(wanted: number | undefined, maxSeconds: number): number {
  if (wanted === undefined || wanted > maxSeconds) return maxSeconds;
  return Math.max(wanted, minCertificateSeconds);
}

/**
 * A signer from what is special about it: requests are read and their signatures verified, rules asked before the
 * signer is, lifetimes kept within bounds, cancelled requests not signed. Throws an Error for a name that is none.
 */
export function defineSigner(spec: SignerSpec): Signer {
  const { serves, maxSeconds = defaultCertificateSeconds } = spec;
  const [problem] = signerPatternViolations('serves', serves);
  if (problem !== undefined) throw new Error(`signer ${JSON.stringify(serves)}: ${problem.body}`);
  if (spec.issue === undefined && spec.pods === undefined)
    throw new Error(`signer ${JSON.stringify(serves)}: it has neither issue nor pods`);
  if (spec.pods !== undefined && maxSeconds < minPodCertificateSeconds)
    throw new Error(`signer ${JSON.stringify(serves)}: pod certificates must be valid for at least an hour`);
  return {
    serves,
    ...(spec.timeoutMs === undefined ? {} : { timeoutMs: spec.timeoutMs }),

    async sign(signing, signal) {
      signal.throwIfAborted();
      const request = readCertificateRequest(signing.request);
      if (spec.issue === undefined)
        return { refused: 'this signer issues certificates to pods only', reason: 'PodsOnly' };
      const refused = spec.validate?.(request, signing);
      if (refused !== undefined) return refusal(refused);
      const seconds = grantedSeconds(signing.expirationSeconds, maxSeconds);
      const issued = await spec.issue(request, { seconds, signing, signal });
      return typeof issued === 'string' ? { issued } : issued;
    },

    ...(spec.pods === undefined ? {} : { signPod: podSigning(spec.pods, maxSeconds) }),
    ...(spec.trustAnchors === undefined ? {} : { trustAnchors: spec.trustAnchors.bind(spec) }),
    ...(spec.caNotAfter === undefined ? {} : { caNotAfter: spec.caNotAfter.bind(spec) }),
    ...(spec.stop === undefined ? {} : { stop: spec.stop.bind(spec) }),
  };
}

const refusal = (refused: string | Refusal): Refusal =>
  typeof refused === 'string' ? { refused, reason: 'SignerValidationFailure' } : refused;

const podSigning =
  (spec: PodSignerSpec, maxSeconds: number): NonNullable<Signer['signPod']> =>
  async (request, signal) => {
    signal.throwIfAborted();
    const unknown = Object.keys(request.annotations).find((name) => !(spec.annotations ?? []).includes(name));
    if (unknown !== undefined) {
      return { refused: `this signer does not know the annotation ${unknown}`, reason: podRefusals.annotations };
    }
    const refused = spec.validate?.(request);
    if (refused !== undefined) return refusal(refused);
    const seconds = Math.min(request.maxSeconds, maxSeconds);
    const issued = await spec.issue(request, { seconds, signal });
    return typeof issued === 'string' ? { issued } : issued;
  };
