import type { PodSigningRequest } from '../pod-signing.js';

/** Returns the SPIFFE ID of the account that a pod runs as: `spiffe://<trust domain>/ns/<namespace>/sa/<account>`. */
export const spiffeId = (
  trustDomain: string,
  { namespace, serviceAccount }: Pick<PodSigningRequest, 'namespace' | 'serviceAccount'>,
): string => `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount.name}`;

/** Whether the text is a SPIFFE trust domain (SPIFFE-ID, 2.1). */
export const isTrustDomain = (text: string): boolean => text.length <= 255 && /^[a-z0-9._-]+$/.test(text);
