import { type Condition, isTrue, sameConditions } from '../conditions.js';
import { defaultDomains, isWithinDomain } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** A request of a node for a certificate of a pod that runs there, answered by a signer without anybody's approval. */
export interface PodCertificateRequest extends ApiObject {
  readonly spec: PodCertificateRequestSpec;
  readonly status?: PodCertificateRequestStatus;
}

/** Cannot be changed. Pod, service account and node are checked for requests that node agents make. */
export interface PodCertificateRequestSpec {
  /** `domain/path` */
  readonly signerName?: string;
  readonly podName?: string;
  readonly podUID?: string;
  readonly serviceAccountName?: string;
  readonly serviceAccountUID?: string;
  readonly nodeName?: string;
  readonly nodeUID?: string;
  /** Longest lifetime of the certificate; the server fills in a day. */
  readonly maxExpirationSeconds?: number | null;
  /** Base64 of a PKCS#10 request in DER, whose key is certified; what else it says is nobody's concern. */
  readonly stubPKCS10Request?: string | null;
  /** In the place of the stub: base64 of the key in DER (SubjectPublicKeyInfo). */
  readonly pkixPublicKey?: string | null;
  /** Base64 of a signature by that key over the UID of the pod. */
  readonly proofOfPossession?: string | null;
  /** What the author of the pod tells the signer; nobody has checked it. */
  readonly unverifiedUserAnnotations?: Readonly<Record<string, string>>;
}

/** What became of the request (KEP-4317). Once it has ended it stays as it is. */
export interface PodCertificateRequestStatus {
  /** At most one: Issued, Denied or Failed. */
  readonly conditions?: readonly Condition[];
  /** PEM: the certificate, then intermediates. */
  readonly certificateChain?: string;
  /** When the certificate becomes valid; RFC 3339, as the other times. */
  readonly notBefore?: string | null;
  /** When the node is to ask for the next one. */
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
/** Lifetime of a pod's certificate where none is asked for, in seconds. */
export const defaultPodCertificateSeconds = day;

/** Seconds that a pod's certificate may live, at least and at most: signers of the signer domain have less room. */
export const podCertificateRange = (
  signerName: string,
  signerDomain: string = defaultDomains.signer,
): { readonly least: number; readonly most: number } => {
  const [domain = ''] = signerName.split('/', 1);
  return { least: 60 * 60, most: isWithinDomain(domain, signerDomain) ? day : 91 * day };
};

/** Conditions that end a request; it has one of them at most. */
export const podCertificateEndings = ['Issued', 'Denied', 'Failed'] as const;
/** How a request ends: with a certificate, refused, or failed. */
export type PodCertificateEnding = (typeof podCertificateEndings)[number];

/** How the request ended; undefined while it waits for its signer. */
export const podCertificateEnding = ({ status }: PodCertificateRequest): PodCertificateEnding | undefined =>
  podCertificateEndings.find((type) => isTrue(status?.conditions, type));

const texts = ['certificateChain', 'notBefore', 'beginRefreshAt', 'notAfter'] as const;

/** Do both statuses say the same? What is absent and what is empty count alike. */
export const sameOutcome = (
  a: PodCertificateRequestStatus | undefined,
  b: PodCertificateRequestStatus | undefined,
): boolean =>
  sameConditions(a?.conditions, b?.conditions) && texts.every((member) => (a?.[member] || '') === (b?.[member] || ''));
