import type { Condition } from '../conditions.js';
import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/**
 * Request for an X.509 certificate. Making, approving and signing it are separate steps, for which different parties
 * can be responsible.
 */
export interface CertificateSigningRequest extends ApiObject {
  /** The requested certificate, and who requested it. Cannot be changed. */
  readonly spec: CertificateSigningRequestSpec;
  /** Decisions about the request, and the issued certificate. */
  readonly status?: CertificateSigningRequestStatus;
}

/** The requested certificate, and who requested it. Cannot be changed. */
export interface CertificateSigningRequestSpec {
  /** PKCS#10 certificate signing request (RFC 2986), as a PEM block of type CERTIFICATE REQUEST, in base64. */
  readonly request?: string | null;
  /** Qualified name of the requested signer, such as `example.com/clients`. Can be used in field selectors. */
  readonly signerName?: string;
  /** Requested lifetime of the certificate in seconds, at least 600. The signer may issue a different one. */
  readonly expirationSeconds?: number;
  /** Requested key usages of the certificate. */
  readonly usages?: readonly KeyUsage[];
  /** Username of the requester; set by the server. */
  readonly username?: string;
  /** UID of the requester; set by the server. */
  readonly uid?: string;
  /** Groups of the requester; set by the server. */
  readonly groups?: readonly string[];
  /** Extra attributes of the requester; set by the server. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Decisions about a request, and the issued certificate. */
export interface CertificateSigningRequestStatus {
  /**
   * Conditions of the request. Approved, Denied and Failed cannot be removed once set; Approved and Denied are set
   * through the `approval` subresource, others through `status`.
   */
  readonly conditions?: readonly CertificateSigningRequestCondition[];
  /** Issued certificate in PEM, followed by intermediates, in base64. Cannot be changed once set. */
  readonly certificate?: string;
}

/**
 * Decision about a request, or observation of its state. The types Approved, Denied and Failed cannot be removed once
 * set.
 */
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
/** One of `keyUsages`. The type allows other values; the server rejects them. */
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
/** Whether there is a condition Failed: the signer has permanently failed to issue the certificate. */
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
