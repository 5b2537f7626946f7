import type { Domains } from '../../api/domains.js';
import { forbidden } from '../../api/errors.js';
import { wellKnown } from '../../api/user.js';
import { wellKnownSigner } from '../../api/well-known-signers.js';
import { type CertificateRequest, readCertificateRequest } from '../../pki/certificate-request.js';
import { PkiError } from '../../pki/pki-error.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';
import { asCertificateRequest, isRequestWrite } from '../certificate-writes.js';

/** Refuses requests for a client certificate of the group system:masters, even from administrators. */
export const csrSubjectRestriction = ({ domains }: { readonly domains: Domains }): AdmissionStep => ({
  name: 'CertificateSubjectRestriction',

  handles: isRequestWrite('CREATE', undefined, domains),

  async validate(attributes) {
    const spec = asCertificateRequest(attributes.object)?.spec;
    const signerName = spec?.signerName ?? '';
    if (wellKnownSigner(signerName, domains) !== 'client') return;
    const request = readOrRefuse(attributes, spec?.request ?? '');
    if (!request.subject.organizations.includes(wellKnown.masters)) return;
    throw forbidden(
      admissionSubject(attributes),
      `use of ${signerName} signer with ${wellKnown.masters} group is not allowed`,
    );
  },
});

function readOrRefuse(attributes: AdmissionAttributes, request: string): CertificateRequest {
  try {
    return readCertificateRequest(Buffer.from(request, 'base64'));
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    throw forbidden(admissionSubject(attributes), `failed to parse CSR: ${error.message}`);
  }
}
