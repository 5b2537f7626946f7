import { forbidden } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import { type ClusterTrustBundle, ClusterTrustBundles } from '../../api/kinds/cluster-trust-bundle.js';
import type { ApiObject } from '../../api/object.js';
import type { AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';
import { isCertificateKind, type SignerPolicy } from '../certificate-writes.js';
import { changesOnlyCollectorFields } from '../escalation.js';
import { isAuthorizedForSigner } from '../signer-permission.js';

/**
 * Requires `attest` on the signer for writes of its ClusterTrustBundles. Writes of the garbage collector are exempt.
 */
export const trustBundleAttestation = ({ authorizer, domains }: SignerPolicy): AdmissionStep => ({
  name: 'ClusterTrustBundleAttest',

  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') &&
    attributes.subresource === undefined &&
    isCertificateKind(attributes, ClusterTrustBundles.kind, domains),

  async validate(attributes) {
    const { user, resource, object, previous } = attributes;
    const signerName = asBundle(object)?.spec?.signerName ?? '';
    if (signerName === '' || (object && changesOnlyCollectorFields(object, previous))) return;
    if (await isAuthorizedForSigner(authorizer, { user, verb: 'attest', signerName, group: resource.group })) return;
    throw forbidden(admissionSubject(attributes), `user not permitted to attest for signerName ${quote(signerName)}`);
  },
});

/** Casts an object that `handles` has checked. */
const asBundle = (object: ApiObject | undefined): ClusterTrustBundle | undefined =>
  object as ClusterTrustBundle | undefined;
