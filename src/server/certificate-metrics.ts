import type { LedgerRecord } from '../api/certificate-ledger.js';
import type { Domains } from '../api/domains.js';
import { CertificateLedgerEntries } from '../api/kinds/certificate-ledger-entry.js';
import type { CertificateSigningRequest } from '../api/kinds/certificate-signing-request.js';
import type { Client } from '../client/client.js';
import { eachListed } from '../client/each-listed.js';
import { readCertificates, readPemCertificates } from '../pki/certificate.js';
import { pemBlocks } from '../pki/pem.js';
import type { Signer } from '../pki/signer.js';
import type { Clock } from '../runtime/clock.js';
import type { Metrics } from '../runtime/metrics.js';

const hour = 3_600_000;
const pageSize = 200;

/**
 * Reports when certificates and CAs expire, by signer, in seconds since the epoch, so that alerts subtract `time()`.
 * Certificates issued before this server started are read from the ledger at the first scrape. Returns the callback to
 * invoke for each issued certificate.
 */
export function certificateMetrics(
  metrics: Metrics,
  given: { readonly signers: readonly Signer[]; readonly clock: Pick<Clock, 'now'>; readonly client: () => Client },
): (record: LedgerRecord) => void {
  const { signers, clock, client } = given;
  const ends = new Ends();
  let read: Promise<void> | undefined;
  const known = async (): Promise<readonly SignerEnds[]> => {
    read ??= readLedger(client(), (record) => ends.add(record));
    // A ledger that could not be read is read again at the next scrape.
    await read.catch((error: unknown) => {
      read = undefined;
      throw error;
    });
    return ends.after(clock.now());
  };

  metrics.measured(
    { name: 'kedge_certificates_valid', help: 'Certificates that have not expired.', labels: ['signer'] },
    async () => (await known()).map(({ signer, count }) => ({ labels: { signer }, value: count })),
  );
  metrics.measured(
    {
      name: 'kedge_certificate_expiration_timestamp_seconds',
      help: 'When the first of the certificates expires that have not, to the hour.',
      labels: ['signer'],
    },
    async () => (await known()).map(({ signer, first }) => ({ labels: { signer }, value: first / 1_000 })),
  );
  metrics.measured(
    {
      name: 'kedge_ca_expiration_timestamp_seconds',
      help: 'When the CA that signs now expires, or one above it.',
      labels: ['signer'],
    },
    async () => {
      const found = await Promise.all(signers.map(caEnd));
      return found.flatMap((one) => (one === undefined ? [] : [one]));
    },
  );
  return (record) => ends.add(record);
}

/**
 * Counts how often those who asked for a duration were issued a certificate, and how often one of that duration, by
 * well-known signer. Returns the callback to invoke for each update of a request.
 */
export function requestedDurations(
  metrics: Metrics,
  domains: Domains,
): (next: CertificateSigningRequest, previous: CertificateSigningRequest) => void {
  const requested = metrics.counter({
    name: 'apiserver_certificates_registry_csr_requested_duration_total',
    help: 'Certificates issued to those who asked for a duration.',
    labels: ['signerName'],
  });
  const honored = metrics.counter({
    name: 'apiserver_certificates_registry_csr_honored_duration_total',
    help: 'Certificates issued with the duration that was asked for.',
    labels: ['signerName'],
  });
  return ({ spec, status }, previous) => {
    const { signerName: signer = '', expirationSeconds: wanted } = spec;
    if (!status?.certificate || previous.status?.certificate || !wanted) return;
    const signerName = signer.startsWith(`${domains.signer}/`) ? signer : 'other';
    requested.add({ signerName });
    const [block] = pemBlocks(Buffer.from(status.certificate, 'base64'));
    const [issued] = block === undefined ? [] : readCertificates(block.bytes);
    if (issued !== undefined && isAbout((issued.notAfter - issued.notBefore) / 1_000, wanted))
      honored.add({ signerName });
  };
}

/** Signers date certificates back by minutes. */
const isAbout = (seconds: number, wanted: number): boolean => Math.abs(seconds - wanted) < 300 + wanted / 20;

async function readLedger(client: Client, take: (record: LedgerRecord) => void): Promise<void> {
  for await (const { spec } of eachListed(client.resource(CertificateLedgerEntries), { limit: pageSize }))
    for (const record of spec.records) take(record);
}

/** A signer that does not answer has no value. */
async function caEnd(signer: Signer) {
  try {
    const notAfter = await (signer.caNotAfter?.() ?? firstAnchorEnd(signer));
    return notAfter === undefined ? undefined : { labels: { signer: signer.serves }, value: notAfter / 1_000 };
  } catch {
    return undefined;
  }
}

const firstAnchorEnd = async (signer: Signer): Promise<number | undefined> =>
  readPemCertificates((await signer.trustAnchors?.()) ?? '')[0]?.notAfter;

interface SignerEnds {
  readonly signer: string;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly first: number;
}

/** Certificates by the hour in which they end, each once, by a part of its fingerprint. */
class Ends {
  readonly #bySigner = new Map<string, Map<number, Set<string>>>();

  add({ signerName, notAfter, sha256 }: LedgerRecord): void {
    const end = Math.floor(Date.parse(notAfter) / hour);
    // Of records that older servers took, whatever was in them, one must not hide the others.
    if (!sha256 || Number.isNaN(end)) return;
    const hours = this.#bySigner.get(signerName) ?? new Map<number, Set<string>>();
    this.#bySigner.set(signerName, hours);
    const ending = hours.get(end) ?? new Set();
    hours.set(end, ending.add(sha256.slice(0, 16)));
  }

  after(now: number): readonly SignerEnds[] {
    return [...this.#bySigner].flatMap(([signer, hours]) => {
      for (const end of hours.keys()) if ((end + 1) * hour <= now) hours.delete(end);
      if (hours.size === 0) return [];
      const count = [...hours.values()].reduce((sum, ending) => sum + ending.size, 0);
      return [{ signer, count, first: Math.min(...hours.keys()) * hour }];
    });
  }
}
