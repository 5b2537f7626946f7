import { type Condition, isTrue, sameConditions } from '../conditions.js';
import { defaultDomains, isWithinDomain } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** A node's request for a certificate of a pod running there, which a signer answers without approval. */
export interface PodCertificateRequest extends ApiObject {
  readonly spec: PodCertificateRequestSpec;
  readonly status?: PodCertificateRequestStatus;
}

/**
 * The requested certificate. Cannot be changed. In requests of node agents, pod, service account and node are verified.
 */
export interface PodCertificateRequestSpec {
  /** The signer's name, `domain/path`. */
  readonly signerName?: string;
  readonly podName?: string;
  readonly podUID?: string;
  readonly serviceAccountName?: string;
  readonly serviceAccountUID?: string;
  readonly nodeName?: string;
  readonly nodeUID?: string;
  /** The maximum lifetime of the certificate; the server defaults it to a day. */
  readonly maxExpirationSeconds?: number | null;
  /** A PKCS#10 request in base64 DER, of which only the key is used. */
  readonly stubPKCS10Request?: string | null;
  /** The key in base64 DER (SubjectPublicKeyInfo), instead of the stub. */
  readonly pkixPublicKey?: string | null;
  /** A signature in base64 by that key over the UID of the pod. */
  readonly proofOfPossession?: string | null;
  /** Annotations for the signer by the author of the pod; they are not verified. */
  readonly unverifiedUserAnnotations?: Readonly<Record<string, string>>;
}

/** The outcome of the request (KEP-4317). Does not change once the request has ended. */
export interface PodCertificateRequestStatus {
  /** At most one condition: Issued, Denied or Failed. */
  readonly conditions?: readonly Condition[];
  /** The certificate, then intermediates, as PEM. */
  readonly certificateChain?: string;
  /** The start of the certificate's validity; RFC 3339, as the other times. */
  readonly notBefore?: string | null;
  /** When the node should request the next certificate. */
  readonly beginRefreshAt?: string | null;
  readonly notAfter?: string | null;
}

/** The resource `podcertificaterequests` of `certificates.k8s.io/v1beta1`, namespaced. */
export const PodCertificateRequests = resourceType<PodCertificateRequest>({
  group: `certificates.${defaultDomains.api}`,
  version: 'v1beta1',
  plural: 'podcertificaterequests',
  kind: 'PodCertificateRequest',
  namespaced: true,
});

const day = 24 * 60 * 60;
/** The default lifetime of a pod's certificate, in seconds. */
export const defaultPodCertificateSeconds = day;

/**
 * Returns the minimum and maximum lifetime of a pod's certificate in seconds; the range is smaller for signers of the
 * signer domain.
 */
export const podCertificateRange = (
  signerName: string,
  signerDomain: string = defaultDomains.signer,
): { readonly least: number; readonly most: number } => {
  const [domain = ''] = signerName.split('/', 1);
  return { least: 60 * 60, most: isWithinDomain(domain, signerDomain) ? day : 91 * day };
};

/** The conditions that end a request, which has at most one of them. */
export const podCertificateEndings = ['Issued', 'Denied', 'Failed'] as const;
/** How a request ended: issued, denied, or failed. */
export type PodCertificateEnding = (typeof podCertificateEndings)[number];

/** Returns how the request ended; undefined while it waits for its signer. */
export const podCertificateEnding = ({ status }: PodCertificateRequest): PodCertificateEnding | undefined =>
  podCertificateEndings.find((type) => isTrue(status?.conditions, type));

const texts = ['certificateChain', 'notBefore', 'beginRefreshAt', 'notAfter'] as const;

/** Whether both statuses have the same outcome. Absent and empty members are equal. */
export const sameOutcome = (
  a: PodCertificateRequestStatus | undefined,
  b: PodCertificateRequestStatus | undefined,
): boolean =>
  sameConditions(a?.conditions, b?.conditions) && texts.every((member) => (a?.[member] || '') === (b?.[member] || ''));
