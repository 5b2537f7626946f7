import { createHash } from 'node:crypto';
import type { LedgerRecord } from '../api/certificate-ledger.js';

const hour = 3_600_000;

/** Certificates of one signer at some moment. */
export interface Unexpired {
  /** How many there are. */
  readonly count: number;
  /** Those of them with less than a tenth of their life left that nobody renewed. */
  readonly overdue: number;
  /** When the first of those expires that nobody renewed, in milliseconds since the epoch, to the hour; undefined: there are none. */
  readonly first: number | undefined;
}

/** The certificate with the latest end among those that are renewals of each other. Milliseconds since the epoch. */
interface Newest {
  readonly notAfter: number;
  /** From then on a tenth of its life is left, at most: who renews certificates has done so before. */
  readonly dueAt: number;
}

/** Those that end within the same hour. */
interface Ending {
  /** Parts of fingerprints: a record may come twice. */
  readonly certificates: Set<string>;
  /** Who has none that ends later, with that certificate. */
  readonly holders: Map<string, Newest>;
}

/**
 * What is known of the certificates of one signer until they expire. One is renewed when there is another with a later end for
 * the same holder; docs/signers.md says what that is. Kept by the hour in which they end, so that many cost little to look at.
 */
export class UnexpiredCertificates {
  readonly #byHour = new Map<number, Ending>();
  readonly #newest = new Map<string, Newest>();
  /** A tenth of the longest life so far: whatever ends later than so long from now is not overdue. */
  #longestTenthMs = 0;

  add(record: LedgerRecord): void {
    const [notBefore, notAfter] = [Date.parse(record.notBefore), Date.parse(record.notAfter)];
    // Of records that older servers took, whatever was in them, one must not hide the others.
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

  /** What has not expired by then. Forgets the rest: time goes on. */
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

  #endingAt(time: number): Ending {
    const end = Math.floor(time / hour);
    const known = this.#byHour.get(end);
    if (known !== undefined) return known;
    const made: Ending = { certificates: new Set(), holders: new Map() };
    this.#byHour.set(end, made);
    return made;
  }
}

/** Enough of a hash, in a text of its own: a part of a longer one would keep that whole in memory. */
const shortened = (hash: Buffer): string => hash.toString('latin1', 0, 16);

/**
 * Whose certificate it is, as those know it who are shown it: signer, subject and names, in any order. Not who asked, since
 * another may ask for a renewal: of a node's certificates the first is asked for with a bootstrap token, the others by the node.
 * Only where there is neither subject nor name it is who asked.
 */
function holderOf({ signerName, subject = '', names = [], namesSha256 = '', requester }: LedgerRecord): string {
  const isNamed = subject !== '' || names.length > 0;
  const about = [signerName, isNamed ? '' : requester, subject, namesSha256, ...[...names].sort()];
  return shortened(createHash('sha256').update(JSON.stringify(about)).digest());
}
