import type { LedgerRecord } from '../../src/api/certificate-ledger.js';
import { findCondition } from '../../src/api/conditions.js';
import { isReason } from '../../src/api/errors.js';
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestStatus,
  CertificateSigningRequests,
} from '../../src/api/kinds/certificate-signing-request.js';
import { keyOf } from '../../src/api/object.js';
import { isSignerDomain } from '../../src/api/signer-name.js';
import { timestamp } from '../../src/api/time.js';
import type { Client } from '../../src/client/client.js';
import { manyAtATime } from '../../src/controller/concurrency.js';
import { type ReconcileContext, type Runnable, TerminalError } from '../../src/controller/controller.js';
import { readOrGiveUp, requestOutline } from '../../src/controller/csr.js';
import { defineController } from '../../src/controller/define-controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { ledgerRecord } from '../../src/pki/certificate-ledger.js';
import { type Signer, type SigningResult, signingResult } from '../../src/pki/signer.js';
import { within } from '../../src/runtime/abort.js';
import { problemWith } from './issued-check.js';
import { type CertificateLedger, ledgerWriter } from './ledger-writer.js';
import { isDue, signerFor, signingRequest } from './signing-request.js';

/** How asking a signer ended: a certificate was handed out, the signer refused for good, or it failed. */
export type SigningOutcome = 'issued' | 'refused' | 'error';

export interface CsrSignerOptions {
  readonly signers: readonly Signer[];
  /**
   * Record every certificate in the ledger before it is handed out; what cannot be recorded is not handed out. Needs a
   * server that has the kind CertificateLedgerEntry, and the right to get and create it. Default: no.
   */
  readonly ledger?: boolean;
  /** Told of every certificate that was handed out. */
  readonly onIssued?: (record: LedgerRecord) => void;
  /** Told how asking a signer ended, by what it serves; of one that failed each time, since it is asked again. */
  readonly onOutcome?: (serves: string, outcome: SigningOutcome) => void;
}

/**
 * Asks signers about approved requests and writes down what they answer: one controller per signer, so that a slow one
 * keeps nobody waiting. A signer is asked once for a request as long as this process lives, also if writing its
 * answer takes several tries; after a crash it is asked again with the same uid.
 */
export function csrSigners(options: CsrSignerOptions): readonly Runnable[] {
  const { signers, ledger = false, onIssued, onOutcome } = options;
  const names = signers.map((signer) => signer.serves);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two signers serve ${twice}`);
  const ledgers = new WeakMap<Client, CertificateLedger>();
  const ledgerOf = (client: Client): CertificateLedger | undefined => {
    if (!ledger) return undefined;
    const made = ledgers.get(client) ?? ledgerWriter(client);
    ledgers.set(client, made);
    return made;
  };
  return signers.map((signer) => csrSigner(signer, { signers, ledgerOf, onIssued, onOutcome }));
}

interface Surroundings {
  readonly signers: readonly Signer[];
  ledgerOf(client: Client): CertificateLedger | undefined;
  readonly onIssued: CsrSignerOptions['onIssued'];
  readonly onOutcome: CsrSignerOptions['onOutcome'];
}

/** What a signer said, and whether the ledger knows. */
interface Answer {
  readonly result: SigningResult;
  readonly record: LedgerRecord | undefined;
  readonly isRecorded: boolean;
}

function csrSigner(signer: Signer, { signers, ledgerOf, onIssued, onOutcome }: Surroundings): Runnable {
  const answers = new Map<string, Answer>();
  const isOurs = (csr: CertificateSigningRequest): boolean => signerFor(signers, csr.spec.signerName ?? '') === signer;
  const tell = (outcome: SigningOutcome): void => onOutcome?.(signer.serves, outcome);
  const forget = (csr: CertificateSigningRequest): void => void answers.delete(csr.metadata.uid ?? '');

  const controller = defineController<CertificateSigningRequest>({
    name: 'csr-signer',
    for: CertificateSigningRequests,
    ...(isSignerDomain(signer.serves) ? {} : { fieldSelector: `spec.signerName=${signer.serves}` }),
    concurrency: manyAtATime,
    backoff: { baseMs: 200, capMs: 1_000_000 },
    transform: requestOutline,
    when: (csr) => isOurs(csr) && isDue(csr),

    async reconcile(csr, context) {
      const uid = csr.metadata.uid ?? '';
      const known = answers.get(uid);
      const result = known?.result ?? (await ask(signer, csr, context, () => tell('error')));
      const record = known?.record ?? recordOf(csr, result);
      answers.set(uid, { result, record, isRecorded: known?.isRecorded ?? false });
      const ledger = ledgerOf(context.client);
      if (ledger !== undefined && record !== undefined && !known?.isRecorded) {
        await ledger.append(record);
        answers.set(uid, { result, record, isRecorded: true });
      }
      const isWritten = await write(context.client, csr, statusWith(result, timestamp(context.clock.now())));
      answers.delete(uid);
      if (!isWritten) return;
      tell('issued' in result ? 'issued' : 'refused');
      if (record !== undefined) onIssued?.(record);
    },
    deleted: async (last) => forget(last),
  });
  // Not a controller to a manager, which has one of a name: there is one for each signer, and their lines name it.
  return {
    name: controller.name,
    run: (context) => controller.run({ ...context, log: context.log.child({ signer: signer.serves }) }),
  };
}

function recordOf(csr: CertificateSigningRequest, result: SigningResult): LedgerRecord | undefined {
  if (!('issued' in result)) return undefined;
  const { reason = '', message = '' } = findCondition(csr.status?.conditions, 'Approved') ?? {};
  return ledgerRecord(result.issued, {
    request: { name: csr.metadata.name ?? '', uid: csr.metadata.uid ?? '' },
    requester: csr.spec.username ?? '',
    approval: { reason, message },
    signerName: csr.spec.signerName ?? '',
  });
}

const usualTimeoutMs = 30_000;

/** What a signer says of a request. `failed`: told of a failure of the signer, before that is thrown. */
async function ask(
  signer: Signer,
  csr: CertificateSigningRequest,
  { clock, signal }: ReconcileContext,
  failed: () => void,
): Promise<SigningResult> {
  const { timeoutMs: milliseconds = usualTimeoutMs } = signer;
  const request = readOrGiveUp(csr, signingRequest);
  try {
    const answer = signingResult(
      await within({ clock, milliseconds, signals: [signal] }, (stop) => signer.sign(request, stop)),
    );
    const problem = 'issued' in answer ? problemWith(answer.issued, request) : undefined;
    if (problem !== undefined) throw new TerminalError(problem);
    return answer;
  } catch (error) {
    if (!signal.aborted) failed();
    throw error;
  }
}

type StatusChange = (status: CertificateSigningRequestStatus) => CertificateSigningRequestStatus;

const statusWith =
  (answer: SigningResult, now: string): StatusChange =>
  (status) => {
    if ('issued' in answer) return { ...status, certificate: Buffer.from(answer.issued).toString('base64') };
    const { reason, refused: message } = answer;
    const failed = { type: 'Failed', status: 'True', reason, message, lastUpdateTime: now };
    return { ...status, conditions: [...(status.conditions ?? []), failed] };
  };

const writeTries = 5;

/** Writes to the request that was asked about, and only while it is still due: somebody may have been faster. */
async function write(client: Client, asked: CertificateSigningRequest, change: StatusChange): Promise<boolean> {
  const resource = client.resource(CertificateSigningRequests);
  let current: CertificateSigningRequest | undefined = asked;
  for (let attempt = 1; current !== undefined && isSame(asked, current) && isDue(current); attempt++) {
    try {
      const next = { ...current, status: change(current.status ?? {}) };
      await resource.subresource('status').update(next, { fieldManager: fieldManagers.controllers });
      return true;
    } catch (error) {
      if (isReason(error, 'NotFound')) return false;
      if (!isReason(error, 'Conflict') || attempt === writeTries) throw error;
      current = await resource.get(keyOf(asked));
    }
  }
  return false;
}

const isSame = (a: CertificateSigningRequest, b: CertificateSigningRequest): boolean =>
  a.metadata.uid === b.metadata.uid;
