import type { PublicKey } from './public-key.js';

/** An object of the API, by what tells it from all others in its namespace, or in the cluster. */
export interface NamedObject {
  readonly name: string;
  readonly uid: string;
}

/**
 * A request of a node for a certificate of a pod. If the request came from a node agent, the API server has checked the
 * names in it: the pod runs there as this account. Other clients that may create requests may name any pod and account.
 */
export interface PodSigningRequest {
  readonly signerName: string;
  /** Namespace of the pod and of the service account. */
  readonly namespace: string;
  readonly pod: NamedObject;
  readonly serviceAccount: NamedObject;
  readonly node: NamedObject;
  /** The key to be certified; its holder has proved to the API server that it is theirs. */
  readonly publicKey: PublicKey;
  /** What the author of the pod tells the signer; nobody has checked it. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Longest lifetime of the certificate, in seconds; the shortest is an hour. */
  readonly maxSeconds: number;
  /** UID of the PodCertificateRequest: the same request is the same UID, also after a crash. */
  readonly uid: string;
}

/** What a signer answers for a pod. Trouble that may pass is no answer: it is thrown, and the signer is asked again. */
export type PodSigningResult =
  /**
   * PEM: the certificate first, then intermediates, no root; valid from now, give or take five minutes, for an hour to
   * `maxSeconds`. `refreshAt`: when the node is to ask for the next one, in milliseconds since the epoch, ten minutes
   * from either end at least. Default: when two thirds of its life are over.
   */
  | { readonly issued: string; readonly refreshAt?: number }
  /** Becomes the condition Denied with this reason (CamelCase) and message. */
  | { readonly refused: string; readonly reason: string }
  /** Becomes the condition Failed: it was not refused, and will not succeed either. */
  | { readonly failed: string; readonly reason: string };

/** Reasons of refusals that nodes know: another sort of key would do; the signer does not understand an annotation. */
export const podRefusals = {
  key: 'UnsupportedKeyType',
  annotations: 'InvalidUnverifiedUserAnnotations',
} as const;

/** Whether it is a valid reason of a condition, in CamelCase. */
export const isConditionReason = (reason: unknown): reason is string =>
  typeof reason === 'string' && /^[A-Z][A-Za-z0-9]*$/.test(reason);

/** Validates the answer of a signer, which may come from untyped code. Throws an Error if it is not a result. */
export function podSigningResult(answer: unknown): PodSigningResult {
  const { issued, refreshAt, refused, failed, reason } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof issued === 'string' && issued !== '') {
    if (refreshAt === undefined) return { issued };
    if (typeof refreshAt === 'number' && Number.isFinite(refreshAt)) return { issued, refreshAt };
    throw new Error('"refreshAt" is not a time in milliseconds');
  }
  if (isConditionReason(reason)) {
    if (typeof refused === 'string') return { refused, reason };
    if (typeof failed === 'string') return { failed, reason };
  }
  throw new Error('the answer is neither "issued", nor "refused" or "failed" with a "reason" in CamelCase');
}
