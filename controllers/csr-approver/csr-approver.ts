import { type Domains, defaultDomains } from '../../src/api/domains.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  isIssued,
  requestPem,
} from '../../src/api/kinds/certificate-signing-request.js';
import { wellKnownSigner } from '../../src/api/well-known-signers.js';
import type { Client } from '../../src/client/client.js';
import { manyAtATime } from '../../src/controller/concurrency.js';
import { type ReconcileResult, type Runnable, TerminalError } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { type CertificateRequest, readCertificateRequest } from '../../src/pki/certificate-request.js';
import { PkiError } from '../../src/pki/pki-error.js';
import { requesterMay } from './access-review.js';
import { type Recognised, recognise } from './recognise.js';

/** A requester without the permission is asked about again, since somebody may grant it: ever less often. */
const askAgain = { leastMs: 200, mostMs: 1_000_000 };

/** Approves the requests of node clients whose requesters hold the permission for it. Never denies. */
export const csrApprover = ({ domains = defaultDomains }: { readonly domains?: Domains } = {}): Runnable =>
  defineController({
    name: 'csr-approver',
    for: CertificateSigningRequests,
    concurrency: manyAtATime,
    backoff: { baseMs: 200, capMs: 1_000_000 },
    when: (csr) => isUndecided(csr) && wellKnownSigner(csr.spec.signerName ?? '', domains) === 'node-client',

    async reconcile(csr, { client, clock, log }): Promise<ReconcileResult> {
      const kinds = recognise(csr, read(csr), domains);
      if (kinds.length === 0) return;
      for (const kind of kinds) {
        if (await requesterMay(client, csr, kind.permission, domains)) return approve(client, csr, kind);
      }
      log.debug({ object: csr.metadata.name, recognised: kinds.map(({ permission }) => permission) }, 'not permitted');
      const age = clock.now() - Date.parse(csr.metadata.creationTimestamp ?? '');
      return { requeueAfterMs: Math.min(askAgain.mostMs, Math.max(askAgain.leastMs, age || 0)) };
    },
  });

const isUndecided = (csr: CertificateSigningRequest): boolean =>
  !isIssued(csr) && !(csr.status?.conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied');

function read(csr: CertificateSigningRequest): CertificateRequest {
  try {
    return readCertificateRequest(requestPem(csr));
  } catch (error) {
    if (error instanceof PkiError) throw new TerminalError(`unable to parse csr: ${error.message}`, { cause: error });
    throw error;
  }
}

async function approve(client: Client, csr: CertificateSigningRequest, { message }: Recognised): Promise<void> {
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
  const conditions = [...(csr.status?.conditions ?? []), condition];
  await client
    .resource(CertificateSigningRequests)
    .subresource('approval')
    .update({ ...csr, status: { ...csr.status, conditions } }, { fieldManager: fieldManagers.controllers });
}
