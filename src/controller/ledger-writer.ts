import { setImmediate } from 'node:timers/promises';
import { type LedgerEntrySpec, type LedgerRecord, ledgerEntryName, ledgerLimits } from '../api/certificate-ledger.js';
import { isReason } from '../api/errors.js';
import { CertificateLedgerEntries, type CertificateLedgerEntry } from '../api/kinds/certificate-ledger-entry.js';
import { groupVersion } from '../api/object.js';
import type { Client, ResourceClient } from '../client/client.js';
import { emptyLedger, type LedgerHead, nextLedgerEntry } from '../pki/certificate-ledger.js';
import { fieldManagers } from './field-manager.js';

/** The record of issued certificates. */
export interface CertificateLedger {
  /** Resolves once the record is stored durably. */
  append(record: LedgerRecord): Promise<void>;
}

/** The approximate maximum size of the records in one entry, in bytes. */
const maxEntryBytes = 400_000;
/**
 * The maximum number of attempts. Another writer may be faster several times; this many times in a row, something else
 * is wrong.
 */
const tries = 100;

/**
 * Writes the ledger through a client. Records that arrive while an entry is being written go into the next one
 * together, so a single writer is not a bottleneck. Several programs may write the same ledger: if a sequence number is
 * taken, the writer looks for the end again. An entry may have been written although the request failed; if its records
 * are appended again, they are still recorded only once.
 */
export function ledgerWriter(client: Client): CertificateLedger {
  const ledger = new Ledger(client);
  const batches = new Batches((records) => ledger.write(records));
  return { append: (record) => batches.add(record) };
}

/** Collects records that arrive while an entry is being written. */
class Batches {
  readonly #write: (records: readonly LedgerRecord[]) => Promise<void>;
  #waiting: QueuedRecord[] = [];
  #isWriting = false;

  constructor(write: (records: readonly LedgerRecord[]) => Promise<void>) {
    this.#write = write;
  }

  /** Settles as the write of the record's batch does. */
  add(record: LedgerRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, bytes: JSON.stringify(record).length, resolve, reject });
      if (!this.#isWriting) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#isWriting = true;
    // Records of the same turn of the event loop form one batch, even if writing takes no time.
    await setImmediate();
    while (this.#waiting.length > 0) {
      const count = fitting(this.#waiting);
      const batch = this.#waiting.slice(0, count);
      this.#waiting = this.#waiting.slice(count);
      try {
        await this.#write(batch.map(({ record }) => record));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isWriting = false;
  }
}

/** One writer's knowledge of the ledger. Writes one entry at a time. */
class Ledger {
  readonly #resource: ResourceClient<CertificateLedgerEntry>;
  /** The last entry; undefined if it is unknown. */
  #head: LedgerHead | undefined;
  /**
   * The records whose write failed but may have been executed, by fingerprint, with the entry that theirs would follow.
   */
  readonly #doubtful = new Map<string, LedgerHead>();

  constructor(client: Client) {
    this.#resource = client.resource(CertificateLedgerEntries);
  }

  /** Writes an entry with those of the records that are not in the ledger yet. */
  async write(added: readonly LedgerRecord[]): Promise<void> {
    let known = this.#head ?? emptyLedger;
    let records = added;
    for (let attempt = 1; ; attempt++) {
      const found = await this.#resolved(records);
      if (found !== undefined) {
        records = found.unwritten;
        this.#head = found.last;
        if (records.length === 0) return;
      }
      this.#head ??= await this.#findHead(known);
      known = this.#head;
      const spec = nextLedgerEntry(this.#head, records);
      try {
        await this.#resource.create(
          {
            apiVersion: groupVersion(CertificateLedgerEntries),
            kind: CertificateLedgerEntries.kind,
            metadata: { name: ledgerEntryName(spec.sequence) },
            spec,
          },
          { fieldManager: fieldManagers.controllers },
        );
        this.#head = headOf(spec);
        for (const { sha256 } of records) this.#doubtful.delete(sha256);
        return;
      } catch (error) {
        this.#head = undefined;
        const isTaken = isReason(error, 'AlreadyExists') || isReason(error, 'Conflict');
        if (!isTaken) this.#doubt(records, known);
        if (attempt === tries || !isTaken) throw error;
      }
    }
  }

  #doubt(records: readonly LedgerRecord[], after: LedgerHead): void {
    for (const { sha256 } of records) if (!this.#doubtful.has(sha256)) this.#doubtful.set(sha256, after);
  }

  async #first(): Promise<LedgerEntrySpec | undefined> {
    const { items } = await this.#resource.list({ limit: 1 });
    return items[0]?.spec;
  }

  async #at(sequence: number): Promise<LedgerEntrySpec | undefined> {
    if (sequence === emptyLedger.sequence) return undefined;
    return (await this.#resource.get({ name: ledgerEntryName(sequence) }))?.spec;
  }

  /**
   * Finds the last entry from a known one on, or from the first one if that has been removed. Sequence numbers have no
   * gaps, so the number of requests is logarithmic.
   */
  async #findHead(known: LedgerHead): Promise<LedgerHead> {
    let last: LedgerHead = (await this.#at(known.sequence)) ?? (await this.#first()) ?? emptyLedger;
    let step = 1;
    for (
      let next = await this.#at(last.sequence + step);
      next !== undefined;
      next = await this.#at(last.sequence + step)
    ) {
      last = next;
      step *= 2;
    }
    while (step > 1) {
      step /= 2;
      last = (await this.#at(last.sequence + step)) ?? last;
    }
    return headOf(last);
  }

  /** Returns the records that were not written after all, and the last entry; undefined if no record is in doubt. */
  async #resolved(
    records: readonly LedgerRecord[],
  ): Promise<{ readonly unwritten: readonly LedgerRecord[]; readonly last: LedgerHead } | undefined> {
    const places = records.flatMap(({ sha256 }) => this.#doubtful.get(sha256) ?? []);
    if (places.length === 0) return undefined;
    let last = places.reduce((first, place) => (place.sequence < first.sequence ? place : first));
    const written = new Set<string>();
    for (let next = await this.#at(last.sequence + 1); next !== undefined; next = await this.#at(last.sequence + 1)) {
      for (const { sha256 } of next.records) written.add(sha256);
      last = headOf(next);
    }
    for (const { sha256 } of records) if (written.has(sha256)) this.#doubtful.delete(sha256);
    return { unwritten: records.filter(({ sha256 }) => !written.has(sha256)), last };
  }
}

const headOf = ({ sequence, hash }: LedgerHead): LedgerHead => ({ sequence, hash });

interface QueuedRecord {
  readonly record: LedgerRecord;
  readonly bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** Returns how many records fit into one entry; at least one. */
function fitting(waiting: readonly QueuedRecord[]): number {
  let bytes = 0;
  const tooMany = waiting.findIndex((one, at) => {
    bytes += one.bytes;
    return at > 0 && (at >= ledgerLimits.records || bytes > maxEntryBytes);
  });
  return tooMany < 0 ? waiting.length : tooMany;
}
