import { isReason } from '../../src/api/errors.js';
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestStatus,
  CertificateSigningRequests,
} from '../../src/api/kinds/certificate-signing-request.js';
import { keyOf } from '../../src/api/object.js';
import { timestamp } from '../../src/api/time.js';
import type { Client } from '../../src/client/client.js';
import { type ReconcileContext, type Runnable, TerminalError } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { PkiError } from '../../src/pki/pki-error.js';
import type { Signer, SigningRequest, SigningResult } from '../../src/pki/signer.js';
import { within } from '../../src/runtime/abort.js';
import { problemWith } from './issued-check.js';
import { isDue, signerFor, signingRequest } from './signing-request.js';

export interface CsrSignerOptions {
  readonly signers: readonly Signer[];
  /** How long a signer may take for one request before it is asked again. Default 30 s. */
  readonly signTimeoutMs?: number;
}

/**
 * Asks signers about approved requests and writes down what they answer: one controller per signer, so that a slow one
 * keeps nobody waiting. A signer is asked once for a request as long as this process lives, also if writing its
 * answer takes several tries; after a crash it is asked again with the same uid.
 */
export function csrSigners({ signers, signTimeoutMs = 30_000 }: CsrSignerOptions): readonly Runnable[] {
  const names = signers.map((signer) => signer.serves);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two signers serve ${twice}`);
  return signers.map((signer) => csrSigner(signer, signers, signTimeoutMs));
}

function csrSigner(signer: Signer, signers: readonly Signer[], signTimeoutMs: number): Runnable {
  const answers = new Map<string, SigningResult>();
  const isOurs = (csr: CertificateSigningRequest): boolean => signerFor(signers, csr.spec.signerName ?? '') === signer;
  const forget = (csr: CertificateSigningRequest): void => void answers.delete(csr.metadata.uid ?? '');

  const controller = defineController<CertificateSigningRequest>({
    name: 'csr-signer',
    for: CertificateSigningRequests,
    ...(signer.serves.endsWith('/*') ? {} : { fieldSelector: `spec.signerName=${signer.serves}` }),
    concurrency: 5,
    backoff: { baseMs: 200, capMs: 1_000_000 },
    when: (csr) => isOurs(csr) && isDue(csr),

    async reconcile(csr, context) {
      const uid = csr.metadata.uid ?? '';
      const answer = answers.get(uid) ?? (await ask(signer, csr, context, signTimeoutMs));
      answers.set(uid, answer);
      await write(context.client, csr, statusWith(answer, timestamp(context.clock.now())));
      answers.delete(uid);
    },
    deleted: async (last) => forget(last),
  });
  return {
    name: controller.name,
    run: (context) => controller.run({ ...context, log: context.log.child({ signer: signer.serves }) }),
  };
}

async function ask(
  signer: Signer,
  csr: CertificateSigningRequest,
  { clock, signal }: ReconcileContext,
  milliseconds: number,
): Promise<SigningResult> {
  const request = readRequest(csr);
  const answer = await within({ clock, milliseconds, signal }, (stop) => signer.sign(request, stop));
  const problem = 'issued' in answer ? problemWith(answer.issued, request) : undefined;
  if (problem !== undefined) throw new TerminalError(problem);
  return answer;
}

function readRequest(csr: CertificateSigningRequest): SigningRequest {
  try {
    return signingRequest(csr);
  } catch (error) {
    if (error instanceof PkiError) throw new TerminalError(`unable to parse csr: ${error.message}`, { cause: error });
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
async function write(client: Client, asked: CertificateSigningRequest, change: StatusChange): Promise<void> {
  const resource = client.resource(CertificateSigningRequests);
  let current: CertificateSigningRequest | undefined = asked;
  for (let attempt = 1; current !== undefined && isSame(asked, current) && isDue(current); attempt++) {
    try {
      const next = { ...current, status: change(current.status ?? {}) };
      await resource.subresource('status').update(next, { fieldManager: fieldManagers.controllers });
      return;
    } catch (error) {
      if (isReason(error, 'NotFound')) return;
      if (!isReason(error, 'Conflict') || attempt === writeTries) throw error;
      current = await resource.get(keyOf(asked));
    }
  }
}

const isSame = (a: CertificateSigningRequest, b: CertificateSigningRequest): boolean =>
  a.metadata.uid === b.metadata.uid;
