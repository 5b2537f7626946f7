import type { Condition } from '../conditions.js';
import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** A request for an X.509 certificate, which can be made, approved and signed by different parties. */
export interface CertificateSigningRequest extends ApiObject {
  readonly spec: CertificateSigningRequestSpec;
  readonly status?: CertificateSigningRequestStatus;
}

/** The requested certificate and the requester. Cannot be changed. */
export interface CertificateSigningRequestSpec {
  /** The PEM block CERTIFICATE REQUEST in base64 (PKCS#10, RFC 2986). */
  readonly request?: string | null;
  /** The signer's name, `domain/path`. */
  readonly signerName?: string;
  /** The requested lifetime in seconds; at least 600. */
  readonly expirationSeconds?: number;
  readonly usages?: readonly KeyUsage[];
  /** The requester, as this and the following fields; filled in by the server. */
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The outcome of the request. Approved and Denied are set through `approval`, the rest through `status`. */
export interface CertificateSigningRequestStatus {
  readonly conditions?: readonly CertificateSigningRequestCondition[];
  /** The certificate, then intermediates: PEM in base64. */
  readonly certificate?: string;
}

/** Approved, Denied or Failed, which stay once they are set, or any other condition. */
export type CertificateSigningRequestCondition = Condition;

/** The usages that can be requested for a certificate, in byte order. */
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
/** One of `keyUsages`. The server refuses other values; the type allows them. */
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

/** The condition types that decide a request; each stays once set. */
export const requestDecisions = ['Approved', 'Denied', 'Failed'] as const;

const present = (csr: CertificateSigningRequest, type: (typeof requestDecisions)[number]): boolean =>
  (csr.status?.conditions ?? []).some((condition) => condition?.type === type);

/**
 * Whether there is a condition Approved and none Denied. Their status is not checked, because the server allows only
 * True.
 */
export const isApproved = (csr: CertificateSigningRequest): boolean =>
  present(csr, 'Approved') && !present(csr, 'Denied');
/** Whether there is a condition Denied. */
export const isDenied = (csr: CertificateSigningRequest): boolean => present(csr, 'Denied');
/** Whether there is a condition Failed: the signer has refused it permanently. */
export const isFailed = (csr: CertificateSigningRequest): boolean => present(csr, 'Failed');
/** Whether there is a certificate. */
export const isIssued = (csr: CertificateSigningRequest): boolean => (csr.status?.certificate ?? '') !== '';

/** Whether the request is final: issued, denied or failed. */
export const isSettled = (csr: CertificateSigningRequest): boolean => isIssued(csr) || isDenied(csr) || isFailed(csr);

/** Whether the request has been neither approved, denied nor issued. */
export const isUndecided = (csr: CertificateSigningRequest): boolean =>
  !isIssued(csr) && !isApproved(csr) && !isDenied(csr);

/** Returns the request as PEM; empty if there is none. */
export const requestPem = (csr: CertificateSigningRequest): string =>
  Buffer.from(csr.spec?.request ?? '', 'base64').toString('latin1');

/** Returns the issued certificate as PEM; undefined if there is none. */
export const certificatePem = (csr: CertificateSigningRequest): string | undefined =>
  isIssued(csr) ? Buffer.from(csr.status?.certificate ?? '', 'base64').toString('latin1') : undefined;
