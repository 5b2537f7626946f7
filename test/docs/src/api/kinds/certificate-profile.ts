import { type ApiObject, resourceType } from '../../../../../src/api/object.js';

/** What certificates of one sort may look like. */
export interface CertificateProfile extends ApiObject {
  readonly spec?: { readonly signerName?: string; readonly maxSeconds?: number };
}

export const CertificateProfiles = resourceType<CertificateProfile>({
  group: 'policy.example.com',
  version: 'v1',
  plural: 'certificateprofiles',
  kind: 'CertificateProfile',
  namespaced: false,
  shortNames: ['cprof'],
});
