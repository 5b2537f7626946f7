import type { PublicKey } from './public-key.js';

/** The name and UID of an object of the API, which identify it in its namespace, or in the cluster. */
export interface NamedObject {
  readonly name: string;
  readonly uid: string;
}

/**
 * A node's request for a certificate of a pod. If it came from a node agent, the API server has checked the names in
 * it: the pod runs there as this account. Other clients that may create requests may name any pod and account.
 */
export interface PodSigningRequest {
  readonly signerName: string;
  /** The namespace of the pod and of the service account. */
  readonly namespace: string;
  readonly pod: NamedObject;
  readonly serviceAccount: NamedObject;
  readonly node: NamedObject;
  /** The key to be certified; its holder has proved possession to the API server. */
  readonly publicKey: PublicKey;
  /** The annotations with which the pod's author configures the signer; they have not been checked. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The maximum lifetime of the certificate, in seconds; the minimum is an hour. */
  readonly maxSeconds: number;
  /** The UID of the PodCertificateRequest: a repeated request has the same UID, also after a crash. */
  readonly uid: string;
}

/** A signer's answer for a pod. Failures that may pass are thrown instead, and the signer is called again. */
export type PodSigningResult =
  /**
   * PEM: the certificate first, then intermediates, no root; valid from now, with a tolerance of five minutes, for an
   * hour to `maxSeconds`. `refreshAt` is when the node is to request the next one, in milliseconds since the epoch, at
   * least ten minutes from either end. Default: after two thirds of its lifetime.
   */
  | { readonly issued: string; readonly refreshAt?: number }
  /** Sets the condition Denied with this reason (CamelCase) and message. */
  | { readonly refused: string; readonly reason: string }
  /** Sets the condition Failed: the request was not denied, but will not succeed either. */
  | { readonly failed: string; readonly reason: string };

/**
 * Reasons of denials that nodes know: another type of key would be accepted; the signer does not understand an
 * annotation.
 */
export const podRefusals = {
  key: 'UnsupportedKeyType',
  annotations: 'InvalidUnverifiedUserAnnotations',
} as const;

/** Whether a value is a valid reason of a condition, in CamelCase. */
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
