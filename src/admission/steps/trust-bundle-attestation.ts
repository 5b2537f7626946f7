import { isDeepStrictEqual } from 'node:util';
import { forbidden } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import { type ClusterTrustBundle, ClusterTrustBundles } from '../../api/kinds/cluster-trust-bundle.js';
import type { ApiObject } from '../../api/object.js';
import type { AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';
import { isCertificateKind, type SignerPolicy } from '../certificate-writes.js';
import { maySpeakForSigner } from '../signer-permission.js';

/** Whoever writes a signer's bundle needs `attest` on that signer; the garbage collector's writes are free. */
export const trustBundleAttestation = ({ authorizer, domains }: SignerPolicy): AdmissionStep => ({
  name: 'ClusterTrustBundleAttest',

  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') &&
    attributes.subresource === undefined &&
    isCertificateKind(attributes, ClusterTrustBundles.kind, domains),

  async validate(attributes) {
    const { user, resource, object, previous } = attributes;
    const signerName = asBundle(object)?.spec?.signerName ?? '';
    if (signerName === '' || (object && previous && onlyOwnership(object, previous))) return;
    if (await maySpeakForSigner(authorizer, { user, verb: 'attest', signerName, group: resource.group })) return;
    throw forbidden(admissionSubject(attributes), `user not permitted to attest for signerName ${quote(signerName)}`);
  },
});

/** The object as what `handles` says it is. */
const asBundle = (object: ApiObject | undefined): ClusterTrustBundle | undefined =>
  object as ClusterTrustBundle | undefined;

/** Members of metadata that the garbage collector writes, and those that follow from any write. */
const ownership: ReadonlySet<string> = new Set(['ownerReferences', 'finalizers', 'managedFields', 'selfLink']);

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** Members that say something, by name. */
const told = (object: object | undefined): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(object ?? {}).filter(([name, value]) => !ownership.has(name) && !isEmpty(value)));

/** Do two versions differ in owners and finalizers at most? */
const onlyOwnership = (next: ApiObject, previous: ApiObject): boolean =>
  isDeepStrictEqual(told(next.metadata), told(previous.metadata)) &&
  isDeepStrictEqual(told(asBundle(next)?.spec), told(asBundle(previous)?.spec));
