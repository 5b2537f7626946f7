import { invalidObject } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import {
  type PodCertificateRequest,
  PodCertificateRequests,
  sameOutcome,
} from '../../api/kinds/pod-certificate-request.js';
import type { ApiObject } from '../../api/object.js';
import { forbiddenField } from '../../api/violations.js';
import type { AdmissionStep } from '../admission-step.js';
import { isCertificateKind, type SignerPolicy } from '../certificate-writes.js';
import { isAuthorizedForSigner } from '../signer-permission.js';

/**
 * Requires `sign` on the signer for setting the outcome of a PodCertificateRequest. In Kubernetes this is part of
 * validation.
 */
export const podCertificateSigningPermission = ({ authorizer, domains }: SignerPolicy): AdmissionStep => ({
  name: 'PodCertificateSigning',

  handles: (attributes) =>
    attributes.operation === 'UPDATE' &&
    attributes.subresource === 'status' &&
    isCertificateKind(attributes, PodCertificateRequests.kind, domains),

  async validate({ user, resource, object, previous }) {
    const [before, after] = [asPodRequest(previous), asPodRequest(object)];
    if (sameOutcome(before?.status, after?.status)) return;
    const signerName = before?.spec?.signerName ?? '';
    if (await isAuthorizedForSigner(authorizer, { user, verb: 'sign', signerName, group: resource.group })) return;
    throw invalidObject({ group: resource.group, kind: resource.kind, name: before?.metadata.name }, [
      forbiddenField(
        'spec.signerName',
        `User ${quote(user.username)} is not permitted to "sign" for signer ${quote(signerName)}`,
      ),
    ]);
  },
});

/** Casts an object that `handles` has checked. */
const asPodRequest = (object: ApiObject | undefined): PodCertificateRequest | undefined =>
  object as PodCertificateRequest | undefined;
