import { isReason } from '../../src/api/errors.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  certificatePem,
} from '../../src/api/kinds/certificate-signing-request.js';
import { keyOf } from '../../src/api/object.js';
import type { Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { readCertificate } from '../../src/pki/certificate.js';
import { firstPemBlock } from '../../src/pki/pem.js';
import { defaultRetention, expiresAt, type RequestRetention } from './expiry.js';

/** Deletes requests that nobody needs any more: decided long ago, forgotten, or with an expired certificate. */
export const csrCleaner = ({
  retention = defaultRetention,
}: {
  readonly retention?: RequestRetention;
} = {}): Runnable =>
  defineController({
    name: 'csr-cleaner',
    for: CertificateSigningRequests,
    dueAt: (csr) => expiresAt(csr, notAfter(csr), retention),

    async reconcile(csr, { client, clock, log }) {
      const at = expiresAt(csr, notAfter(csr), retention);
      if (at === undefined) return;
      const waitMs = at - clock.now();
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const { uid, resourceVersion } = csr.metadata;
      try {
        await client.resource(CertificateSigningRequests).delete(keyOf(csr), {
          preconditions: { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
        });
      } catch (error) {
        if (!isReason(error, 'NotFound')) throw error;
        return;
      }
      log.info({ object: csr.metadata.name }, 'deleted a certificate request that is over');
    },
  });

/** End of the first certificate of the first PEM block; undefined if that is not one. */
function notAfter(csr: CertificateSigningRequest): number | undefined {
  const block = firstPemBlock(certificatePem(csr) ?? '');
  if (block === undefined) return undefined;
  try {
    return readCertificate(block.bytes).notAfter;
  } catch {
    return undefined;
  }
}
