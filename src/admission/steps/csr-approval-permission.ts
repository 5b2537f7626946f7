import { forbidden } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import type { AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';
import { asCertificateRequest, isRequestWrite, type SignerPolicy } from '../certificate-writes.js';
import { isAuthorizedForSigner } from '../signer-permission.js';

/** Requires `approve` on the signer of the request for every write to `/approval`. */
export const csrApprovalPermission = ({ authorizer, domains }: SignerPolicy): AdmissionStep => ({
  name: 'CertificateApproval',

  handles: isRequestWrite('UPDATE', 'approval', domains),

  async validate(attributes) {
    const { user, previous, resource } = attributes;
    const signerName = asCertificateRequest(previous)?.spec?.signerName ?? '';
    if (await isAuthorizedForSigner(authorizer, { user, verb: 'approve', signerName, group: resource.group })) return;
    throw forbidden(
      admissionSubject(attributes),
      `user not permitted to approve requests with signerName ${quote(signerName)}`,
    );
  },
});
