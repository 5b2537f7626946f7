import { sameConditions } from '../../api/conditions.js';
import { forbidden } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import type { AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';
import { asCertificateRequest, isRequestWrite, type SignerPolicy } from '../certificate-writes.js';
import { isAuthorizedForSigner } from '../signer-permission.js';

/** Requires `sign` on the signer of the request for changes of the certificate or the conditions through `/status`. */
export const csrSigningPermission = ({ authorizer, domains }: SignerPolicy): AdmissionStep => ({
  name: 'CertificateSigning',

  handles: isRequestWrite('UPDATE', 'status', domains),

  async validate(attributes) {
    const { user, resource } = attributes;
    const [before, after] = [asCertificateRequest(attributes.previous), asCertificateRequest(attributes.object)];
    // An empty certificate differs from an absent one here.
    const sameCertificate = before?.status?.certificate === after?.status?.certificate;
    if (sameCertificate && sameConditions(before?.status?.conditions, after?.status?.conditions)) return;
    const signerName = before?.spec?.signerName ?? '';
    if (await isAuthorizedForSigner(authorizer, { user, verb: 'sign', signerName, group: resource.group })) return;
    throw forbidden(
      admissionSubject(attributes),
      `user not permitted to sign requests with signerName ${quote(signerName)}`,
    );
  },
});
