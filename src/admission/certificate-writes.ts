import type { Domains } from '../api/domains.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
} from '../api/kinds/certificate-signing-request.js';
import type { ApiObject } from '../api/object.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { AdmissionAttributes } from './admission-step.js';

/** What the steps about certificates are made of. */
export interface SignerPolicy {
  readonly authorizer: Authorizer;
  readonly domains: Domains;
}

/** Is it about this kind of the certificates group, in whatever version? */
export const isCertificateKind = ({ resource }: AdmissionAttributes, kind: string, domains: Domains): boolean =>
  resource.kind === kind && resource.group === `certificates.${domains.api}`;

/** Such a write to a subresource (undefined: to the object itself) of CertificateSigningRequest? */
export const isRequestWrite =
  (operation: AdmissionAttributes['operation'], subresource: string | undefined, domains: Domains) =>
  (attributes: AdmissionAttributes): boolean =>
    attributes.operation === operation &&
    attributes.subresource === subresource &&
    isCertificateKind(attributes, CertificateSigningRequests.kind, domains);

/** The object as what `isRequestWrite` says it is. */
export const asCertificateRequest = (object: ApiObject | undefined): CertificateSigningRequest | undefined =>
  object as CertificateSigningRequest | undefined;
