import { isDue } from '../../controllers/csr-signer/signing-request.js';
import { podRequestOutline } from '../../controllers/pod-certificate-signer/pod-signing-request.js';
import { findCondition } from '../api/conditions.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  isDenied,
} from '../api/kinds/certificate-signing-request.js';
import { PodCertificateRequests, podCertificateEnding } from '../api/kinds/pod-certificate-request.js';
import type { Client } from '../client/client.js';
import { type ObjectCacheOptions, openObjectCache } from '../client/object-cache.js';
import { requestOutline } from '../controller/csr.js';
import type { SigningOutcome } from '../controller/signing.js';
import { type Signer, signerFor } from '../pki/signer.js';
import { withTimeout } from '../runtime/abort.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Metrics } from '../runtime/metrics.js';

/** The part of a signer that labels metrics. Clients choose the signer names in requests and may write any name. */
type LabelledSigner = Pick<Signer, 'serves'>;

/** The label of all signers that are not configured. No signer has that name: names have a slash. */
const otherSigners = 'other';

/** Returns the metric label of a signer name: what its configured signer serves, or `other`. */
export const signerLabel = (signers: readonly LabelledSigner[], signerName: string): string =>
  signerFor(signers, signerName)?.serves ?? otherSigners;

const outcomes: readonly SigningOutcome[] = ['issued', 'refused', 'error'];

/**
 * Counts the outcomes of calls to these signers; the counters begin with 0. Returns the function to call for each call.
 */
export function signerRequests(
  metrics: Metrics,
  signers: readonly LabelledSigner[],
): (signer: string, result: SigningOutcome) => void {
  const total = metrics.counter({
    name: 'kedge_signer_requests_total',
    help: 'Calls to signers, by result: issued, refused, or an error that is retried.',
    labels: ['signer', 'result'],
  });
  // The counters exist from the start, so that an alert sees the first event as an increase.
  for (const { serves: signer } of signers) for (const result of outcomes) total.add({ signer, result }, 0);
  return (signer, result) => total.add({ signer, result });
}

/**
 * Counts requests that were denied, by a rule or a person. Returns the function to call for each update of a request.
 */
export function deniedRequests(
  metrics: Metrics,
  signers: readonly LabelledSigner[],
): (next: CertificateSigningRequest, previous: CertificateSigningRequest) => void {
  const total = metrics.counter({
    name: 'kedge_certificate_requests_denied_total',
    help: 'Denied certificate requests.',
    labels: ['signer'],
  });
  for (const { serves: signer } of signers) total.add({ signer }, 0);
  return (next, previous) => {
    if (isDenied(next) && !isDenied(previous)) total.add({ signer: signerLabel(signers, next.spec.signerName ?? '') });
  };
}

/** The time that the first scrape waits for the existing requests, in milliseconds. */
const patienceMs = 5_000;

/** The kinds of requests: for certificates, or of nodes for pods. */
export type RequestKind = 'certificates' | 'pods';

/**
 * Measures how many requests wait for their signer, configured or not, and since when the oldest of them waits:
 * requests that are approved and have no certificate yet, and requests for pods that are not settled. Requests are
 * followed from the first scrape on; of those that do not wait, little more than the name is kept.
 */
export function measureWaitingRequests(
  metrics: Metrics,
  signers: readonly LabelledSigner[],
  {
    client,
    clock,
    log,
    signal,
    kinds = ['certificates', 'pods'],
  }: {
    readonly client: () => Client;
    readonly clock: Clock;
    readonly log: Logger;
    readonly signal: AbortSignal;
    readonly kinds?: readonly RequestKind[];
  },
): void {
  let followed: readonly FollowedRequests[] | undefined;
  const bySigner = async (): Promise<ReadonlyMap<string, WaitingRequests>> => {
    followed ??= kinds.map((kind) => follow[kind](client(), { clock, log, signal }));
    const all = Promise.all(followed.map(({ synced }) => synced));
    await withTimeout({ clock, milliseconds: patienceMs, signals: [signal] }, () => all);
    const now = clock.now();
    const waiting = followed.flatMap((requests) => requests.waiting(now));
    return waitingBySigner(waiting, signers, now);
  };
  const measure = (name: string, help: string, of: (waiting: WaitingRequests) => number): void =>
    metrics.measured({ name, help, labels: ['signer'] }, async () =>
      [...(await bySigner())].map(([signer, waiting]) => ({ labels: { signer }, value: of(waiting) })),
    );
  measure(
    'kedge_signer_requests_waiting',
    'Certificate requests that wait for a certificate: approved ones, and those of pods.',
    ({ count }) => count,
  );
  measure(
    'kedge_signer_oldest_waiting_seconds',
    'Age of the oldest request that waits for a certificate in seconds; 0 if there is none.',
    ({ oldestMs }) => oldestMs / 1_000,
  );
}

type CacheOptions = Pick<ObjectCacheOptions, 'clock' | 'log' | 'signal'>;

interface FollowedRequests {
  readonly synced: Promise<void>;
  waiting(now: number): readonly { readonly signerName: string | undefined; readonly since: number }[];
}

const follow: Readonly<Record<RequestKind, (client: Client, options: CacheOptions) => FollowedRequests>> = {
  certificates(client, options) {
    const requests = openObjectCache(client, CertificateSigningRequests, { ...options, transform: outline });
    return {
      synced: requests.synced,
      waiting: (now) =>
        requests
          .list()
          .filter(isDue)
          .map((csr) => ({ signerName: csr.spec.signerName, since: approvedAt(csr, now) })),
    };
  },
  pods(client, options) {
    const requests = openObjectCache(client, PodCertificateRequests, { ...options, transform: podRequestOutline });
    return {
      synced: requests.synced,
      waiting: (now) =>
        requests
          .list()
          .filter((request) => podCertificateEnding(request) === undefined)
          .map(({ spec, metadata }) => ({
            signerName: spec.signerName,
            since: momentOf(metadata.creationTimestamp, now),
          })),
    };
  },
};

/** Requests that wait for one signer. */
interface WaitingRequests {
  readonly count: number;
  /** The time at which the first of them began to wait, in milliseconds since the epoch. */
  readonly oldestMs: number;
}

const nothing: WaitingRequests = { count: 0, oldestMs: 0 };

function waitingBySigner(
  waiting: ReturnType<FollowedRequests['waiting']>,
  signers: readonly LabelledSigner[],
  now: number,
): ReadonlyMap<string, WaitingRequests> {
  const found = new Map([...signers.map(({ serves }) => serves), otherSigners].map((signer) => [signer, nothing]));
  for (const { signerName = '', since } of waiting) {
    const signer = signerLabel(signers, signerName);
    const { count, oldestMs } = found.get(signer) ?? nothing;
    found.set(signer, { count: count + 1, oldestMs: Math.max(oldestMs, now - since) });
  }
  return found;
}

/**
 * Returns when a request was approved, by the server's clock unless the approver set the time; now, if there is none.
 */
function approvedAt({ status }: CertificateSigningRequest, now: number): number {
  const { lastTransitionTime, lastUpdateTime } = findCondition(status?.conditions, 'Approved') ?? {};
  return momentOf(lastTransitionTime ?? lastUpdateTime, now);
}

/** Parses a time into milliseconds since the epoch; now, if it is absent or malformed. */
function momentOf(time: string | null | undefined, now: number): number {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? now : at;
}

const outline = (csr: CertificateSigningRequest): CertificateSigningRequest =>
  isDue(csr) ? requestOutline(csr) : { ...requestOutline(csr), status: {} };
