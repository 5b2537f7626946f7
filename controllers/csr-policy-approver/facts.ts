import { type CertificateSigningRequest, requestPem } from '../../src/api/kinds/certificate-signing-request.js';
import { type CertificateRequest, readCertificateRequest } from '../../src/pki/certificate-request.js';
import { unusualPart } from '../../src/pki/unusual-request.js';
import type { Placeholders } from './pattern.js';

/** The input of a policy's decision. */
export interface RequestFacts {
  readonly signerName: string;
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
  readonly request: CertificateRequest;
  /** What the request contains beyond the fields of `request`. */
  readonly unusual: string | undefined;
}

/** Reads the facts of a request. Throws PkiError for a malformed request. */
export function factsOf(csr: CertificateSigningRequest): RequestFacts {
  const { signerName = '', username = '', groups = [], usages = [], expirationSeconds } = csr.spec;
  const request = readCertificateRequest(requestPem(csr));
  return { signerName, username, groups, usages, expirationSeconds, request, unusual: unusualPart(request) };
}

const serviceAccount = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** Returns the values of the placeholders of patterns. */
export function substitutesOf({ username }: RequestFacts): Placeholders {
  const [, namespace, serviceaccount] = serviceAccount.exec(username) ?? [];
  if (namespace === undefined || serviceaccount === undefined) return { username };
  return { username, namespace, serviceaccount };
}
