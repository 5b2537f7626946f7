import type { Condition } from '../conditions.js';
import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** A request for an X.509 certificate: made by anyone, approved by one party, issued by another. */
export interface CertificateSigningRequest extends ApiObject {
  readonly spec: CertificateSigningRequestSpec;
  readonly status?: CertificateSigningRequestStatus;
}

/** What is asked for, and who asks. Cannot be changed. */
export interface CertificateSigningRequestSpec {
  /** Base64 of a PEM block CERTIFICATE REQUEST (PKCS#10, RFC 2986). */
  readonly request?: string | null;
  /** `domain/path` */
  readonly signerName?: string;
  /** Lifetime asked for, in seconds; at least 600. */
  readonly expirationSeconds?: number;
  readonly usages?: readonly KeyUsage[];
  /** This and the rest say who made the request; the server fills them. */
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What became of the request. Approved and Denied are set through `approval`, the rest through `status`. */
export interface CertificateSigningRequestStatus {
  readonly conditions?: readonly CertificateSigningRequestCondition[];
  /** Base64 of PEM: the certificate, then intermediates. */
  readonly certificate?: string;
}

/** Approved, Denied or Failed, or a condition of somebody else; those three stay once they are set. */
export type CertificateSigningRequestCondition = Condition;

/** The usages a certificate can be asked for, in byte order. */
export const keyUsages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
] as const;
/** One of `keyUsages`; the server refuses others, and types do not. */
export type KeyUsage = (typeof keyUsages)[number] | (string & {});

/** The resource `certificatesigningrequests` of `certificates.k8s.io/v1`, cluster-scoped. */
export const CertificateSigningRequests = resourceType<CertificateSigningRequest>({
  group: `certificates.${defaultDomains.api}`,
  version: 'v1',
  plural: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
  shortNames: ['csr'],
});

/** Condition types that decide; each stays once set. */
export const requestDecisions = ['Approved', 'Denied', 'Failed'] as const;

const present = (csr: CertificateSigningRequest, type: (typeof requestDecisions)[number]): boolean =>
  (csr.status?.conditions ?? []).some((condition) => condition?.type === type);

/** Is there a condition Approved and none Denied? Their status is not looked at: the server allows only True. */
export const isApproved = (csr: CertificateSigningRequest): boolean =>
  present(csr, 'Approved') && !present(csr, 'Denied');
/** Is there a condition Denied? */
export const isDenied = (csr: CertificateSigningRequest): boolean => present(csr, 'Denied');
/** Is there a condition Failed: has its signer refused it for good? */
export const isFailed = (csr: CertificateSigningRequest): boolean => present(csr, 'Failed');
/** Is there a certificate? */
export const isIssued = (csr: CertificateSigningRequest): boolean => (csr.status?.certificate ?? '') !== '';

/** Nobody will do anything more about it: issued, denied or failed. */
export const isSettled = (csr: CertificateSigningRequest): boolean => isIssued(csr) || isDenied(csr) || isFailed(csr);

/** Nobody has approved or denied it, or issued anything. */
export const isUndecided = (csr: CertificateSigningRequest): boolean =>
  !isIssued(csr) && !isApproved(csr) && !isDenied(csr);

/** The PEM text of the request; empty if there is none. */
export const requestPem = (csr: CertificateSigningRequest): string =>
  Buffer.from(csr.spec?.request ?? '', 'base64').toString('latin1');

/** The PEM text of what was issued; undefined if nothing was. */
export const certificatePem = (csr: CertificateSigningRequest): string | undefined =>
  isIssued(csr) ? Buffer.from(csr.status?.certificate ?? '', 'base64').toString('latin1') : undefined;
