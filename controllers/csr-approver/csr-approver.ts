import { type Domains, defaultDomains } from '../../src/api/domains.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  isUndecided,
  requestPem,
} from '../../src/api/kinds/certificate-signing-request.js';
import { wellKnownSigner } from '../../src/api/well-known-signers.js';
import { highConcurrency } from '../../src/controller/concurrency.js';
import type { ReconcileResult, Runnable } from '../../src/controller/controller.js';
import { decideRequest, readOrGiveUp, requestOutline } from '../../src/controller/csr.js';
import { defineController } from '../../src/controller/define-controller.js';
import { type CertificateRequest, readCertificateRequest } from '../../src/pki/certificate-request.js';
import { requesterMay } from './access-review.js';
import { recognise } from './recognise.js';

const readRequest = (csr: CertificateSigningRequest): CertificateRequest => readCertificateRequest(requestPem(csr));

/**
 * The intervals at which the permission of a requester without it is checked again, because it may be granted later.
 */
const askAgain = { leastMs: 200, mostMs: 1_000_000 };

/** Approves the requests of node clients whose requesters hold the permission for it. Never denies. */
export const csrApprover = ({ domains = defaultDomains }: { readonly domains?: Domains } = {}): Runnable =>
  defineController({
    name: 'csr-approver',
    for: CertificateSigningRequests,
    concurrency: highConcurrency,
    backoff: { baseMs: 200, capMs: 1_000_000 },
    transform: requestOutline,
    when: (csr) => isUndecided(csr) && wellKnownSigner(csr.spec.signerName ?? '', domains) === 'node-client',

    async reconcile(csr, { client, clock, log }): Promise<ReconcileResult> {
      const kinds = recognise(csr, readOrGiveUp(csr, readRequest), domains);
      if (kinds.length === 0) return;
      for (const kind of kinds) {
        if (!(await requesterMay(client, csr, kind.permission, domains))) continue;
        await decideRequest(client, csr, { type: 'Approved', reason: 'AutoApproved', message: kind.message });
        log.info({ object: csr.metadata.name, requester: csr.spec.username }, 'request approved');
        return;
      }
      log.debug({ object: csr.metadata.name, recognised: kinds.map(({ permission }) => permission) }, 'not permitted');
      const age = clock.now() - Date.parse(csr.metadata.creationTimestamp ?? '');
      return { requeueAfterMs: Math.min(askAgain.mostMs, Math.max(askAgain.leastMs, age || 0)) };
    },
  });
