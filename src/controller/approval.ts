import { conflict, isReason } from '../api/errors.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  isApproved,
  isDenied,
} from '../api/kinds/certificate-signing-request.js';
import { keyOf } from '../api/object.js';
import type { Client, WriteOptions } from '../client/client.js';
import { writeDecision } from './csr.js';

/** The reason and message of the condition that approves or denies a request. */
export interface Verdict extends WriteOptions {
  /** A machine-readable reason: one word in CamelCase. */
  readonly reason: string;
  /** A sentence for humans. */
  readonly message?: string;
}

/**
 * Approves a request, as `kubectl certificate approve` does; does nothing if it is approved already. If the request was
 * written since it was read, reads it and tries again, because its contents never change. Returns the current request.
 * Fails with Conflict if it is denied or another request has its name; with NotFound if it no longer exists; with
 * Forbidden without the right to update `certificatesigningrequests/approval`, and to `approve` for its signer.
 */
export const approve = (
  client: Client,
  csr: CertificateSigningRequest,
  verdict: Verdict,
): Promise<CertificateSigningRequest> => decide(client, csr, verdict, approval);

/** Denies a request, as `approve` approves it; fails with Conflict if it is approved. */
export const deny = (
  client: Client,
  csr: CertificateSigningRequest,
  verdict: Verdict,
): Promise<CertificateSigningRequest> => decide(client, csr, verdict, denial);

interface Kind {
  readonly type: 'Approved' | 'Denied';
  is(csr: CertificateSigningRequest): boolean;
  readonly opposite: { readonly type: string; is(csr: CertificateSigningRequest): boolean };
}
const approval: Kind = { type: 'Approved', is: isApproved, opposite: { type: 'Denied', is: isDenied } };
const denial: Kind = { type: 'Denied', is: isDenied, opposite: { type: 'Approved', is: isApproved } };

/** The same limit as in kubectl. */
const mostTries = 10;

async function decide(
  client: Client,
  csr: CertificateSigningRequest,
  { reason, message = '', ...options }: Verdict,
  { type, is, opposite }: Kind,
): Promise<CertificateSigningRequest> {
  const key = keyOf(csr);
  let latest = csr;
  for (let tries = 1; ; tries++) {
    if (is(latest)) return latest;
    if (opposite.is(latest))
      throw conflict({ ...CertificateSigningRequests, name: key.name }, `it is ${opposite.type} already`);
    try {
      return await writeDecision(client, latest, { type, reason, message }, options);
    } catch (error) {
      if (!isReason(error, 'Conflict') || tries >= mostTries) throw error;
      const found = await client.resource(CertificateSigningRequests).get(key);
      if (found?.metadata.uid !== csr.metadata.uid) throw error;
      latest = found as CertificateSigningRequest;
    }
  }
}
