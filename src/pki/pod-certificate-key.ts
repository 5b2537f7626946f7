import { readPublicKeyDer, readRequestDer, readUnverifiedDer } from './certificate-request.js';
import { PkiError } from './pki-error.js';
import type { PublicKey } from './public-key.js';
import { provesPossession } from './signature.js';

/** The key of a request for a pod's certificate, as the fields of its spec; all are base64 of DER. */
export interface PodKeyFields {
  /** A PKCS#10 request signed by its key. */
  readonly stubPKCS10Request?: string | null;
  /** A SubjectPublicKeyInfo, instead of a request. */
  readonly pkixPublicKey?: string | null;
}

const derOf = (base64: string | null | undefined): Buffer => Buffer.from(base64 ?? '', 'base64');

/** Returns the key to be certified, whether or not its holder has proved possession. Throws PkiError (`parse`). */
export const podCertificateKey = ({ stubPKCS10Request, pkixPublicKey }: PodKeyFields): PublicKey =>
  stubPKCS10Request ? readUnverifiedDer(derOf(stubPKCS10Request)).publicKey : readPublicKeyDer(derOf(pkixPublicKey));

/** Whether the stub is signed by its own key. `podCertificateKey` must have accepted it. */
export function isSignedByItsKey(stubPKCS10Request: string): boolean {
  try {
    readRequestDer(derOf(stubPKCS10Request));
    return true;
  } catch (error) {
    if (error instanceof PkiError) return false;
    throw error;
  }
}

/** Whether the proof is a signature by the key over the bytes of the pod's UID. */
export const provesPodKey = (
  key: PublicKey,
  { podUID, proof }: { readonly podUID: string; readonly proof: string },
): boolean => provesPossession({ data: Buffer.from(podUID), signature: derOf(proof) }, key);

/** Whether the key is for key agreement (X25519), which Go parses but which cannot sign a proof. */
export const isAgreementKey = (pkixPublicKey: string): boolean => {
  const der = derOf(pkixPublicKey);
  return der.length === x25519.length + 32 && der.subarray(0, x25519.length).equals(x25519);
};
const x25519 = Buffer.from('302a300506032b656e032100', 'hex');
