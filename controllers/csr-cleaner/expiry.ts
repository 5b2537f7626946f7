import type { Condition } from '../../src/api/conditions.js';
import { type CertificateSigningRequest, isIssued } from '../../src/api/kinds/certificate-signing-request.js';

/** How long CertificateSigningRequests are kept, in milliseconds. */
export interface RequestRetention {
  /** How long issued, denied and failed requests are kept after the decision. */
  readonly decidedMs: number;
  /** How long requests without a decision are kept, and approved ones without an answer from a signer. */
  readonly undecidedMs: number;
  /** The minimum time that a request is kept after its creation, whatever times it contains. */
  readonly leastMs: number;
}

const hour = 60 * 60 * 1_000;
export const defaultRetention: RequestRetention = { decidedMs: hour, undecidedMs: 24 * hour, leastMs: hour };

/**
 * Returns when a request is to be deleted, in milliseconds since the epoch; undefined for never, which includes
 * requests without times. `notAfter` is the end of the issued certificate, if there is one.
 */
export function expiresAt(
  csr: CertificateSigningRequest,
  notAfter: number | undefined,
  { decidedMs, undecidedMs, leastMs }: RequestRetention = defaultRetention,
): number | undefined {
  const conditions = csr.status?.conditions ?? [];
  const decided = conditions.filter(({ type }) => type === 'Denied' || type === 'Failed');
  const approved = conditions.filter(({ type }) => type === 'Approved');
  const approvedMs = isIssued(csr) ? decidedMs : undecidedMs;
  const times = [
    ...decided.map((condition) => expiryOf(updatedAt(condition), decidedMs)),
    ...approved.map((condition) => expiryOf(updatedAt(condition), approvedMs)),
    conditions.length === 0 ? expiryOf(milliseconds(csr.metadata.creationTimestamp), undecidedMs) : undefined,
    approved.length > 0 ? notAfter : undefined,
  ].filter((time) => time !== undefined);
  if (times.length === 0) return undefined;
  return Math.max(Math.min(...times), (milliseconds(csr.metadata.creationTimestamp) ?? 0) + leastMs);
}

const updatedAt = ({ lastUpdateTime }: Condition): number | undefined => milliseconds(lastUpdateTime ?? undefined);

function milliseconds(time: string | undefined): number | undefined {
  const parsed = Date.parse(time ?? '');
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** Returns a time that is strictly later than the age permits. */
const expiryOf = (time: number | undefined, age: number): number | undefined =>
  time === undefined ? undefined : time + age + 1;
