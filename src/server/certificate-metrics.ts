import type { LedgerRecord } from '../api/certificate-ledger.js';
import type { Domains } from '../api/domains.js';
import { CertificateLedgerEntries } from '../api/kinds/certificate-ledger-entry.js';
import type { CertificateSigningRequest } from '../api/kinds/certificate-signing-request.js';
import type { Client } from '../client/client.js';
import { eachListed } from '../client/each-listed.js';
import { readCertificates, readPemCertificates } from '../pki/certificate.js';
import { pemBlocks } from '../pki/pem.js';
import type { Signer } from '../pki/signer.js';
import { withTimeout } from '../runtime/abort.js';
import type { Clock } from '../runtime/clock.js';
import type { Metrics } from '../runtime/metrics.js';
import { signerLabel } from './signer-metrics.js';
import { type Unexpired, UnexpiredCertificates } from './unexpired-certificates.js';

const pageSize = 200;
/** The time that a scrape waits for a signer, in milliseconds. */
const patienceMs = 5_000;

/**
 * Reports certificates that were not renewed, by signer. Times are in seconds since the epoch, so that alerts subtract
 * `time()`. Certificates that were issued before this server started are read from the ledger at the first scrape.
 * Returns the function to call for each issued certificate.
 */
export function certificateMetrics(
  metrics: Metrics,
  options: { readonly signers: readonly Signer[]; readonly clock: Pick<Clock, 'now'>; readonly client: () => Client },
): (record: LedgerRecord) => void {
  const { signers, clock, client } = options;
  const bySigner = new Map(signers.map(({ serves }) => [serves, new UnexpiredCertificates()]));
  const take = (record: LedgerRecord): void => {
    const signer = signerLabel(signers, record.signerName);
    const certificates = bySigner.get(signer) ?? new UnexpiredCertificates();
    bySigner.set(signer, certificates);
    certificates.add(record);
  };
  let read: Promise<void> | undefined;
  const measure = (name: string, help: string, of: (one: Unexpired) => number | undefined): void =>
    metrics.measured({ name, help, labels: ['signer'] }, async () => {
      read ??= readLedger(client(), take);
      // A ledger that could not be read is read again at the next scrape.
      await read.catch((error: unknown) => {
        read = undefined;
        throw error;
      });
      return [...bySigner].flatMap(([signer, certificates]) => {
        const value = of(certificates.at(clock.now()));
        return value === undefined ? [] : [{ labels: { signer }, value }];
      });
    });

  measure('kedge_certificates_valid', 'Issued certificates that have not expired.', ({ count }) => count);
  measure(
    'kedge_certificates_overdue',
    'Issued certificates with less than a tenth of their lifetime left that have not been renewed.',
    ({ overdue }) => overdue,
  );
  measure(
    'kedge_certificate_expiration_timestamp_seconds',
    'Expiry of the earliest certificate that has not been renewed in seconds since 1970, rounded to the hour.',
    ({ first }) => first && first / 1_000,
  );
  return take;
}

/** Reports when CAs expire, by signer, in seconds since the epoch. */
export function measureCaEnds(metrics: Metrics, signers: readonly Signer[], clock: Clock): void {
  metrics.measured(
    {
      name: 'kedge_ca_expiration_timestamp_seconds',
      help: 'Earliest expiry in the chain of the signing CA, in seconds since 1970.',
      labels: ['signer'],
    },
    async () => {
      const found = await Promise.all(signers.map((signer) => caEnd(signer, clock)));
      return found.flatMap((one) => (one === undefined ? [] : [one]));
    },
  );
}

/**
 * Counts issued certificates whose requests named a duration, and how many of them have that duration, by well-known
 * signer. Returns the function to call for each update of a request.
 */
export function requestedDurations(
  metrics: Metrics,
  domains: Domains,
): (next: CertificateSigningRequest, previous: CertificateSigningRequest) => void {
  const requested = metrics.counter({
    name: 'apiserver_certificates_registry_csr_requested_duration_total',
    help: 'Certificates issued for requests with a duration.',
    labels: ['signerName'],
  });
  const honored = metrics.counter({
    name: 'apiserver_certificates_registry_csr_honored_duration_total',
    help: 'Certificates issued with the requested duration.',
    labels: ['signerName'],
  });
  return ({ spec, status }, previous) => {
    const { signerName: signer = '', expirationSeconds: requestedSeconds } = spec;
    if (!status?.certificate || previous.status?.certificate || !requestedSeconds) return;
    const signerName = signer.startsWith(`${domains.signer}/`) ? signer : 'other';
    requested.add({ signerName });
    const [block] = pemBlocks(Buffer.from(status.certificate, 'base64'));
    const [issued] = block === undefined ? [] : readCertificates(block.bytes);
    if (issued !== undefined && isAbout((issued.notAfter - issued.notBefore) / 1_000, requestedSeconds))
      honored.add({ signerName });
  };
}

/** Whether a lifetime is about the requested one: signers date certificates back by minutes. */
const isAbout = (seconds: number, requested: number): boolean => Math.abs(seconds - requested) < 300 + requested / 20;

async function readLedger(client: Client, take: (record: LedgerRecord) => void): Promise<void> {
  for await (const { spec } of eachListed(client.resource(CertificateLedgerEntries), { limit: pageSize }))
    for (const record of spec.records) take(record);
}

/** Returns when the CA of a signer expires; a signer that does not answer has no value. */
async function caEnd(signer: Signer, clock: Clock) {
  const firstEnd = async (): Promise<number | undefined> => signer.caNotAfter?.() ?? firstAnchorEnd(signer);
  try {
    const notAfter = await withTimeout({ clock, milliseconds: patienceMs, signals: [] }, firstEnd);
    return notAfter === undefined ? undefined : { labels: { signer: signer.serves }, value: notAfter / 1_000 };
  } catch {
    return undefined;
  }
}

const firstAnchorEnd = async (signer: Signer): Promise<number | undefined> =>
  readPemCertificates((await signer.trustAnchors?.()) ?? '')[0]?.notAfter;
