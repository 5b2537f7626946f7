import { CertificateLedgerEntries, type CertificateLedgerEntry } from '../api/kinds/certificate-ledger-entry.js';
import type { Client } from '../client/client.js';
import { eachListed } from '../client/each-listed.js';
import { connect } from '../client/remote-client.js';
import { type LedgerHead, verifyLedger } from '../pki/certificate-ledger.js';
import { type CertificateQuery, recordTable, selectRecords } from './issued-certificates.js';

export interface CertificatesFlags extends CertificateQuery {
  readonly kubeconfig?: string;
  readonly output: 'table' | 'json';
  readonly verify?: boolean;
  readonly noted?: LedgerHead;
}

/**
 * Implements `kedge certificates`: lists issued certificates from the ledger. Fails with an error of one sentence if
 * entries were changed or removed.
 */
export async function certificates(flags: CertificatesFlags): Promise<void> {
  const { kubeconfig, output, verify = false, noted, ...query } = flags;
  const client = await connect({ kubeconfig });
  try {
    const entries = await wholeLedger(client);
    if (verify) return sayVerdict(entries, noted);
    const now = Date.now();
    const records = selectRecords(
      entries.flatMap(({ spec }) => spec.records),
      query,
      now,
    );
    process.stdout.write(output === 'json' ? `${JSON.stringify(records, undefined, 2)}\n` : recordTable(records, now));
  } finally {
    client.close();
  }
}

async function wholeLedger(client: Client): Promise<readonly CertificateLedgerEntry[]> {
  const entries: CertificateLedgerEntry[] = [];
  for await (const entry of eachListed(client.resource(CertificateLedgerEntries))) entries.push(entry);
  return entries;
}

function sayVerdict(entries: readonly CertificateLedgerEntry[], noted: LedgerHead | undefined): void {
  const { first, head, records, problems } = verifyLedger(
    entries.map(({ metadata, spec }) => ({ name: metadata.name ?? '', spec })),
    noted,
  );
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0)
    throw new Error(`entries of the ledger were changed or removed (problems: ${problems.length})`);
  const end = head.sequence === 0 ? 'empty' : `${head.sequence}:${head.hash}`;
  process.stdout.write(
    `entries: ${entries.length}${first === 1 ? '' : ` from entry ${first} on`}, certificates: ${records}; ` +
      `nothing was changed or removed\nend: ${end}\n`,
  );
}
