import { isDue } from '../../controllers/csr-signer/signing-request.js';
import { findCondition } from '../api/conditions.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  isDenied,
} from '../api/kinds/certificate-signing-request.js';
import type { Client } from '../client/client.js';
import { type ObjectCache, openObjectCache } from '../client/object-cache.js';
import { requestOutline } from '../controller/csr.js';
import type { SigningOutcome } from '../controller/signing.js';
import { type Signer, signerFor } from '../pki/signer.js';
import { within } from '../runtime/abort.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Metrics } from '../runtime/metrics.js';

/** What is known of signers to name them in metrics: clients choose the names in requests, and may write any. */
type Named = Pick<Signer, 'serves'>;

/** The label of all signers that are not configured. No signer has that name: names have a slash. */
export const otherSigners = 'other';

/** What the signer of a name is called in metrics: what it serves, or `other` if none is configured. */
export const signerLabel = (signers: readonly Named[], signerName: string): string =>
  signerFor(signers, signerName)?.serves ?? otherSigners;

const outcomes: readonly SigningOutcome[] = ['issued', 'refused', 'error'];

/** Counts how asking these signers ended, each from 0. Returns the callback to invoke for each time. */
export function signerRequests(
  metrics: Metrics,
  signers: readonly Named[],
): (signer: string, result: SigningOutcome) => void {
  const total = metrics.counter({
    name: 'kedge_signer_requests_total',
    help: 'How asking signers about requests ended: issued, refused for good, or an error.',
    labels: ['signer', 'result'],
  });
  // From the start, so that an alert sees the first as an increase.
  for (const { serves: signer } of signers) for (const result of outcomes) total.add({ signer, result }, 0);
  return (signer, result) => total.add({ signer, result });
}

/** Counts requests that were denied, by a rule or a person. Returns the callback to invoke for each update of a request. */
export function deniedRequests(
  metrics: Metrics,
  signers: readonly Named[],
): (next: CertificateSigningRequest, previous: CertificateSigningRequest) => void {
  const total = metrics.counter({
    name: 'kedge_certificate_requests_denied_total',
    help: 'Requests that a rule or a person denied.',
    labels: ['signer'],
  });
  for (const { serves: signer } of signers) total.add({ signer }, 0);
  return (next, previous) => {
    if (isDenied(next) && !isDenied(previous)) total.add({ signer: signerLabel(signers, next.spec.signerName ?? '') });
  };
}

/** How long the first scrape waits for the requests there are. */
const patienceMs = 5_000;

/**
 * Measures how many requests are approved and have no certificate yet, and since when the oldest of them is, whoever is to
 * sign them. Requests are followed from the first scrape on; of those that nobody waits for, little more than the name is kept.
 */
export function measureWaitingRequests(
  metrics: Metrics,
  signers: readonly Named[],
  given: { readonly client: () => Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): void {
  const { client, clock, log, signal } = given;
  let requests: ObjectCache<CertificateSigningRequest> | undefined;
  const bySigner = async (): Promise<ReadonlyMap<string, Waiting>> => {
    requests ??= openObjectCache(client(), CertificateSigningRequests, { clock, log, signal, transform: outline });
    const { synced } = requests;
    await within({ clock, milliseconds: patienceMs, signals: [signal] }, () => synced);
    return waitingBySigner(requests.list(), signers, clock.now());
  };
  const measure = (name: string, help: string, of: (waiting: Waiting) => number): void =>
    metrics.measured({ name, help, labels: ['signer'] }, async () =>
      [...(await bySigner())].map(([signer, waiting]) => ({ labels: { signer }, value: of(waiting) })),
    );
  measure(
    'kedge_signer_requests_waiting',
    'Requests that are approved and have no certificate yet.',
    ({ count }) => count,
  );
  measure(
    'kedge_signer_oldest_waiting_seconds',
    'How long ago the oldest request was approved that has no certificate yet; 0 if there is none.',
    ({ oldestMs }) => oldestMs / 1_000,
  );
}

/** Requests that wait for one signer. */
interface Waiting {
  readonly count: number;
  /** Milliseconds since the first of them was approved. */
  readonly oldestMs: number;
}

const nothing: Waiting = { count: 0, oldestMs: 0 };

function waitingBySigner(
  requests: readonly CertificateSigningRequest[],
  signers: readonly Named[],
  now: number,
): ReadonlyMap<string, Waiting> {
  const found = new Map([...signers.map(({ serves }) => serves), otherSigners].map((signer) => [signer, nothing]));
  for (const csr of requests) {
    if (!isDue(csr)) continue;
    const signer = signerLabel(signers, csr.spec.signerName ?? '');
    const { count, oldestMs } = found.get(signer) ?? nothing;
    found.set(signer, { count: count + 1, oldestMs: Math.max(oldestMs, now - approvedAt(csr, now)) });
  }
  return found;
}

/** By the server's clock where the approver left that to it; now, if nothing readable is told. */
function approvedAt({ status }: CertificateSigningRequest, now: number): number {
  const { lastTransitionTime, lastUpdateTime } = findCondition(status?.conditions, 'Approved') ?? {};
  const at = Date.parse(lastTransitionTime ?? lastUpdateTime ?? '');
  return Number.isNaN(at) ? now : at;
}

const outline = (csr: CertificateSigningRequest): CertificateSigningRequest =>
  isDue(csr) ? requestOutline(csr) : { ...requestOutline(csr), status: {} };
