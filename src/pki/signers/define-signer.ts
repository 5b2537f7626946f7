import { signerPatternViolations } from '../../api/signer-name.js';
import { type CertificateRequest, readCertificateRequest } from '../certificate-request.js';
import { type PodSigningRequest, type PodSigningResult, podRefusals } from '../pod-signing.js';
import type { Signer, SigningRequest, SigningResult } from '../signer.js';
import { defaultCertificateSeconds, minCertificateSeconds, minPodCertificateSeconds } from '../validity.js';

/** The specific parts of a signer; `defineSigner` does the rest. */
export interface SignerSpec {
  /** A signer name, or `domain/*` for every name of a domain. */
  readonly serves: string;
  /** Maximum lifetime in seconds, and the default when a request names none. Default: a year. */
  readonly maxSeconds?: number | undefined;
  /** The time limit of one request, in milliseconds, after which it is tried again. Default 30 s. */
  readonly timeoutMs?: number;
  /** Returns why a request is refused: a sentence, or a sentence with its own reason; undefined to accept it. */
  validate?(request: CertificateRequest, signing: SigningRequest): string | Refusal | undefined;
  /**
   * Returns PEM: the certificate first, then intermediates, no root; or a refusal. Throws for failures worth retrying.
   * `seconds` is the lifetime to grant. If absent, every CertificateSigningRequest is refused.
   */
  issue?(
    request: CertificateRequest,
    options: { readonly seconds: number; readonly signing: SigningRequest; readonly signal: AbortSignal },
  ): Promise<string | Refusal>;
  /** Issue certificates to pods as well, or only to pods. If absent, requests of nodes for these are ignored. */
  readonly pods?: PodSignerSpec;
  /** Returns the anchors, in PEM, that verify issued certificates. */
  trustAnchors?(): Promise<string>;
  /** Returns when the CA that signs now, or one above it, expires, in milliseconds since the epoch. */
  caNotAfter?(): Promise<number>;
  /** Releases resources. Called by the server that uses the signer when the server stops. */
  stop?(): Promise<void>;
}

/** The specific parts of a signer of pod certificates. */
export interface PodSignerSpec {
  /**
   * The names of the annotations that it understands; requests with others are denied, as nodes expect. Default: none.
   */
  readonly annotations?: readonly string[];
  /** Returns why a request is denied: a sentence, or a sentence with its own reason; undefined to accept it. */
  validate?(request: PodSigningRequest): string | Refusal | undefined;
  /**
   * Returns PEM: the certificate first, then intermediates, no root; or any other result. Throws for failures worth
   * retrying. `seconds` is the lifetime to grant, which the API server checks: `issueForPod` of a CA grants exactly
   * that.
   */
  issue(
    request: PodSigningRequest,
    options: { readonly seconds: number; readonly signal: AbortSignal },
  ): Promise<string | PodSigningResult>;
}

/** A refusal, with a reason in CamelCase. It sets the condition Failed, or Denied for requests of pods. */
export type Refusal = Extract<SigningResult, { readonly refused: string }>;

/** Returns the lifetime to grant: the requested one, at least ten minutes, at most (and by default) `maxSeconds`. */
export function grantedSeconds(requested: number | undefined, maxSeconds: number): number {
  if (requested === undefined || requested > maxSeconds) return maxSeconds;
  return Math.max(requested, minCertificateSeconds);
}

/**
 * Returns a signer from its specific parts: it parses requests and verifies their signatures, applies the rules before
 * the signer is called, limits lifetimes, and does not sign cancelled requests. Throws an Error for an invalid signer
 * name.
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
