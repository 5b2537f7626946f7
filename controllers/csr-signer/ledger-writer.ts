import { setImmediate } from 'node:timers/promises';
import {
  type LedgerEntrySpec,
  type LedgerRecord,
  ledgerEntryName,
  ledgerLimits,
} from '../../src/api/certificate-ledger.js';
import { isReason } from '../../src/api/errors.js';
import { CertificateLedgerEntries } from '../../src/api/kinds/certificate-ledger-entry.js';
import { groupVersion } from '../../src/api/object.js';
import type { Client } from '../../src/client/client.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { emptyLedger, type LedgerHead, nextLedgerEntry } from '../../src/pki/certificate-ledger.js';

/** Where issued certificates are recorded. */
export interface CertificateLedger {
  /** Resolves once the record is kept for good. */
  append(record: LedgerRecord): Promise<void>;
}

/** Bytes of records in one entry, about. */
const maxEntryBytes = 400_000;
/** Another writer that is faster each time wins; this many times in a row means that something else is wrong. */
const tries = 100;

/**
 * Writes the ledger through a client. Records that come while an entry is being written go into the next one
 * together, so one writer at a time is no bottleneck. Another program may write the same ledger: whoever comes second
 * to a number looks for the end again. An entry may have been written although writing it failed; who asks again for
 * its records then gets them recorded once.
 */
export function ledgerWriter(client: Client): CertificateLedger {
  const resource = client.resource(CertificateLedgerEntries);
  let waiting: Waiting[] = [];
  let head: LedgerHead | undefined;
  /** What may have been written although that failed, by fingerprint: the entry it would come after. */
  const doubtful = new Map<string, LedgerHead>();
  let writing = false;

  const at = async (sequence: number): Promise<LedgerEntrySpec | undefined> =>
    (await resource.get({ name: ledgerEntryName(sequence) }))?.spec;

  /** The last entry. Numbers have no gaps, so it is found in as many steps as its number has bits. */
  const findHead = async (from: LedgerHead): Promise<LedgerHead> => {
    let last = from;
    let step = 1;
    for (let next = await at(last.sequence + step); next !== undefined; next = await at(last.sequence + step)) {
      last = next;
      step *= 2;
    }
    while (step > 1) {
      step /= 2;
      last = (await at(last.sequence + step)) ?? last;
    }
    return headOf(last);
  };

  /** Those that were not written after all, and the last entry; undefined if there is no doubt about any. */
  const resolved = async (
    records: readonly LedgerRecord[],
  ): Promise<{ readonly unwritten: readonly LedgerRecord[]; readonly last: LedgerHead } | undefined> => {
    const places = records.flatMap(({ sha256 }) => doubtful.get(sha256) ?? []);
    if (places.length === 0) return undefined;
    let last = places.reduce((first, place) => (place.sequence < first.sequence ? place : first));
    const written = new Set<string>();
    for (let next = await at(last.sequence + 1); next !== undefined; next = await at(last.sequence + 1)) {
      for (const { sha256 } of next.records) written.add(sha256);
      last = headOf(next);
    }
    for (const { sha256 } of records) if (written.has(sha256)) doubtful.delete(sha256);
    return { unwritten: records.filter(({ sha256 }) => !written.has(sha256)), last };
  };

  const write = async (wanted: readonly LedgerRecord[]): Promise<void> => {
    let known = head ?? emptyLedger;
    let records = wanted;
    for (let attempt = 1; ; attempt++) {
      const found = await resolved(records);
      if (found !== undefined) {
        records = found.unwritten;
        head = found.last;
        if (records.length === 0) return;
      }
      head ??= await findHead(known);
      known = head;
      const spec = nextLedgerEntry(head, records);
      try {
        await resource.create(
          {
            apiVersion: groupVersion(CertificateLedgerEntries),
            kind: CertificateLedgerEntries.kind,
            metadata: { name: ledgerEntryName(spec.sequence) },
            spec,
          },
          { fieldManager: fieldManagers.controllers },
        );
        head = { sequence: spec.sequence, hash: spec.hash };
        for (const { sha256 } of records) doubtful.delete(sha256);
        return;
      } catch (error) {
        head = undefined;
        const isTaken = isReason(error, 'AlreadyExists') || isReason(error, 'Conflict');
        if (!isTaken) for (const { sha256 } of records) if (!doubtful.has(sha256)) doubtful.set(sha256, known);
        if (attempt === tries || !isTaken) throw error;
      }
    }
  };

  const drain = async (): Promise<void> => {
    writing = true;
    // Those signed in the same turn of the event loop go together, also where writing takes no time.
    await setImmediate();
    while (waiting.length > 0) {
      const count = fitting(waiting);
      const batch = waiting.slice(0, count);
      waiting = waiting.slice(count);
      try {
        await write(batch.map(({ record }) => record));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    writing = false;
  };

  return {
    append: (record) =>
      new Promise((resolve, reject) => {
        waiting.push({ record, bytes: JSON.stringify(record).length, resolve, reject });
        if (!writing) void drain();
      }),
  };
}

const headOf = ({ sequence, hash }: LedgerHead): LedgerHead => ({ sequence, hash });

interface Waiting {
  readonly record: LedgerRecord;
  readonly bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** How many go into one entry; at least one. */
function fitting(waiting: readonly Waiting[]): number {
  let bytes = 0;
  const tooMany = waiting.findIndex((one, at) => {
    bytes += one.bytes;
    return at > 0 && (at >= ledgerLimits.records || bytes > maxEntryBytes);
  });
  return tooMany < 0 ? waiting.length : tooMany;
}
