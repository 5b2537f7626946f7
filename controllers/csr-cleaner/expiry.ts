import type { Condition } from '../../src/api/conditions.js';
import { type CertificateSigningRequest, isIssued } from '../../src/api/kinds/certificate-signing-request.js';

/** How long CertificateSigningRequests stay, in milliseconds. */
export interface RequestRetention {
  /** How long issued, denied and failed requests stay after that was decided. */
  readonly decidedMs: number;
  /** How long a request stays that nobody said anything about, and an approved one that no signer answered. */
  readonly undecidedMs: number;
  /** No request goes sooner than this after it was made, whatever times stand in it. */
  readonly leastMs: number;
}

const hour = 60 * 60 * 1_000;
export const defaultRetention: RequestRetention = { decidedMs: hour, undecidedMs: 24 * hour, leastMs: hour };

/**
 * When a request may go, in milliseconds since the epoch; undefined if never: those whose times are missing stay.
 * `notAfter` is the end of the certificate that was issued, if there is one.
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
    ...decided.map((condition) => later(updatedAt(condition), decidedMs)),
    ...approved.map((condition) => later(updatedAt(condition), approvedMs)),
    conditions.length === 0 ? later(milliseconds(csr.metadata.creationTimestamp), undecidedMs) : undefined,
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

/** Strictly later than the age allows. */
const later = (time: number | undefined, age: number): number | undefined =>
  time === undefined ? undefined : time + age + 1;
