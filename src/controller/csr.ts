import {
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  CertificateSigningRequests,
} from '../api/kinds/certificate-signing-request.js';
import type { Client, WriteOptions } from '../client/client.js';
import { PkiError } from '../pki/pki-error.js';
import { TerminalError } from './controller.js';
import { fieldManagers } from './field-manager.js';

/** Reduces a request, for memory, to the fields that decide whether there is something to do for it. */
export const requestOutline = ({
  apiVersion,
  kind,
  metadata: { name = '', uid = '', resourceVersion = '' },
  spec,
  status,
}: CertificateSigningRequest): CertificateSigningRequest => ({
  apiVersion,
  kind,
  metadata: { name, uid, resourceVersion },
  spec: { request: '', signerName: spec.signerName ?? '' },
  status: { conditions: status?.conditions ?? [], certificate: status?.certificate ? 'issued' : '' },
});

/** Returns `read(csr)`. Throws TerminalError if the request cannot be read, because it never changes. */
export function readOrGiveUp<R>(csr: CertificateSigningRequest, read: (csr: CertificateSigningRequest) => R): R {
  try {
    return read(csr);
  } catch (error) {
    if (error instanceof PkiError) throw new TerminalError(`unable to parse csr: ${error.message}`, { cause: error });
    throw error;
  }
}

/** The condition that approves or denies a request, without its timestamps. */
export type Decision = Pick<CertificateSigningRequestCondition, 'type' | 'reason' | 'message'>;

/** Adds a decision to a request. Fails with Conflict if the request was written since it was read. */
export async function decideRequest(client: Client, csr: CertificateSigningRequest, decision: Decision): Promise<void> {
  await writeDecision(client, csr, decision, { fieldManager: fieldManagers.controllers });
}

/** Like `decideRequest`; returns the updated request. */
export const writeDecision = (
  client: Client,
  csr: CertificateSigningRequest,
  decision: Decision,
  options: WriteOptions,
): Promise<CertificateSigningRequest> => {
  const conditions = [...(csr.status?.conditions ?? []), { ...decision, status: 'True' }];
  const decided = { ...csr, status: { ...csr.status, conditions } };
  return client.resource(CertificateSigningRequests).subresource('approval').update(decided, options);
};
