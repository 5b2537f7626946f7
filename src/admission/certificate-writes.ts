import type { Domains } from '../api/domains.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
} from '../api/kinds/certificate-signing-request.js';
import type { ApiObject } from '../api/object.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { AdmissionAttributes } from './admission-step.js';

/** The dependencies of the admission steps about certificates. */
export interface SignerPolicy {
  readonly authorizer: Authorizer;
  readonly domains: Domains;
}

/** Whether the request concerns this kind of the certificates group, in any version. */
export const isCertificateKind = ({ resource }: AdmissionAttributes, kind: string, domains: Domains): boolean =>
  resource.kind === kind && resource.group === `certificates.${domains.api}`;

/** Returns a test for an operation on a subresource (undefined: on the object itself) of CertificateSigningRequest. */
export const isRequestWrite =
  (operation: AdmissionAttributes['operation'], subresource: string | undefined, domains: Domains) =>
  (attributes: AdmissionAttributes): boolean =>
    attributes.operation === operation &&
    attributes.subresource === subresource &&
    isCertificateKind(attributes, CertificateSigningRequests.kind, domains);

/** Casts an object that `isRequestWrite` has checked. */
export const asCertificateRequest = (object: ApiObject | undefined): CertificateSigningRequest | undefined =>
  object as CertificateSigningRequest | undefined;
