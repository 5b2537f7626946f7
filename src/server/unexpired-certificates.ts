import { createHash } from 'node:crypto';
import type { LedgerRecord } from '../api/certificate-ledger.js';

const hour = 3_600_000;

/** The unexpired certificates of one signer at some moment. */
export interface Unexpired {
  /** The number of certificates. */
  readonly count: number;
  /** The number of certificates that have less than a tenth of their lifetime left and were not renewed. */
  readonly overdue: number;
  /**
   * The time at which the first certificate expires that was not renewed, in milliseconds since the epoch, rounded to
   * the hour; undefined if there is none.
   */
  readonly first: number | undefined;
}

/**
 * The certificate with the latest end among certificates that renew each other. Times are in milliseconds since the
 * epoch.
 */
interface Newest {
  readonly notAfter: number;
  /** The time from which on at most a tenth of its lifetime is left, so that it should have been renewed. */
  readonly dueAt: number;
}

/** The certificates that expire within the same hour. */
interface ExpiryHour {
  /** The beginnings of their fingerprints, because a record may come twice. */
  readonly certificates: Set<string>;
  /** The holders that have no certificate with a later end, each with the certificate. */
  readonly holders: Map<string, Newest>;
}

/**
 * The certificates of one signer that have not expired. A certificate is renewed when there is another with a later end
 * for the same holder; docs/signers.md defines the holder. Certificates are grouped by the hour in which they expire,
 * so that even many are cheap to examine.
 */
export class UnexpiredCertificates {
  readonly #byHour = new Map<number, ExpiryHour>();
  readonly #newest = new Map<string, Newest>();
  /** A tenth of the longest lifetime so far, in milliseconds. A certificate with more time left is not overdue. */
  #longestTenthMs = 0;

  add(record: LedgerRecord): void {
    const [notBefore, notAfter] = [Date.parse(record.notBefore), Date.parse(record.notAfter)];
    // Older servers did not validate records: a malformed one must not hide the others.
    if (!record.sha256 || Number.isNaN(notAfter) || Number.isNaN(notBefore)) return;
    this.#endingAt(notAfter).certificates.add(shortened(Buffer.from(record.sha256, 'latin1')));
    const holder = holderOf(record);
    const known = this.#newest.get(holder);
    if (known !== undefined && known.notAfter >= notAfter) return;
    if (known !== undefined) this.#endingAt(known.notAfter).holders.delete(holder);
    const tenthMs = (notAfter - notBefore) / 10;
    const newest = { notAfter, dueAt: notAfter - tenthMs };
    this.#newest.set(holder, newest);
    this.#endingAt(notAfter).holders.set(holder, newest);
    this.#longestTenthMs = Math.max(this.#longestTenthMs, tenthMs);
  }

  /** Returns the state at a time, and removes what has expired by then. */
  at(now: number): Unexpired {
    let [count, overdue] = [0, 0];
    let first: number | undefined;
    for (const [end, { certificates, holders }] of this.#byHour) {
      if ((end + 1) * hour <= now) {
        for (const holder of holders.keys()) this.#newest.delete(holder);
        this.#byHour.delete(end);
        continue;
      }
      count += certificates.size;
      if (holders.size === 0) continue;
      first = Math.min(first ?? Number.POSITIVE_INFINITY, end * hour);
      if (end * hour > now + this.#longestTenthMs) continue;
      for (const { dueAt, notAfter } of holders.values()) if (dueAt <= now && now < notAfter) overdue++;
    }
    return { count, overdue, first };
  }

  #endingAt(time: number): ExpiryHour {
    const end = Math.floor(time / hour);
    const known = this.#byHour.get(end);
    if (known !== undefined) return known;
    const created: ExpiryHour = { certificates: new Set(), holders: new Map() };
    this.#byHour.set(end, created);
    return created;
  }
}

/** Returns the beginning of a hash as a new string, because a slice would keep the longer string in memory. */
const shortened = (hash: Buffer): string => hash.toString('latin1', 0, 16);

/**
 * Returns the holder of a certificate as relying parties see it: signer, subject and names, in any order. The requester
 * is not part of it, because another may request the renewal: a node requests its first certificate with a bootstrap
 * token and later ones as itself. Only a certificate without subject and names is identified by its requester.
 */
function holderOf({ signerName, subject = '', names = [], namesSha256 = '', requester }: LedgerRecord): string {
  const isNamed = subject !== '' || names.length > 0;
  const identity = [signerName, isNamed ? '' : requester, subject, namesSha256, ...[...names].sort()];
  return shortened(createHash('sha256').update(JSON.stringify(identity)).digest());
}
