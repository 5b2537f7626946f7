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

/** Why a request is approved or denied, as its condition says. */
export interface Verdict extends WriteOptions {
  /** For programs: one word in CamelCase. */
  readonly reason: string;
  /** For people: a sentence. */
  readonly message?: string;
}

/**
 * Approves a request, as `kubectl certificate approve` does. One that is approved stays as it is. If somebody else wrote it
 * since it was read, it is read and tried again, as what it asks for never changes. Answers it as it is now. Fails with
 * Conflict if it is denied, or another one has its name; with NotFound if it is gone; with Forbidden without the right to
 * update `certificatesigningrequests/approval`, and to `approve` for its signer.
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

/** As kubectl does. */
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
