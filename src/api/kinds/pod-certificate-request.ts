import { type Condition, isTrue, sameConditions } from '../conditions.js';
import { defaultDomains, isWithinDomain } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/**
 * Request of a node for a certificate that identifies a pod running on it, to be issued by a signer without approval
 * (KEP-4317).
 */
export interface PodCertificateRequest extends ApiObject {
  /** The requested certificate. Cannot be changed. */
  readonly spec: PodCertificateRequestSpec;
  /** Outcome of the request, and the issued certificate. */
  readonly status?: PodCertificateRequestStatus;
}

/**
 * Public key to be certified, and the pod that it belongs to. Cannot be changed. In requests of kubelets, the server
 * has verified the pod, its service account and its node.
 */
export interface PodCertificateRequestSpec {
  /** Qualified name of the requested signer, such as `example.com/pods`. Can be used in field selectors. */
  readonly signerName?: string;
  /** Name of the pod that the certificate is for. Can be used in field selectors. */
  readonly podName?: string;
  /** UID of the pod. */
  readonly podUID?: string;
  /** Name of the service account that the pod runs as. */
  readonly serviceAccountName?: string;
  /** UID of the service account. */
  readonly serviceAccountUID?: string;
  /** Name of the node that the pod runs on. Can be used in field selectors. */
  readonly nodeName?: string;
  /** UID of the node. */
  readonly nodeUID?: string;
  /**
   * Maximum lifetime in seconds, 3600 to 7862400 (91 days; 86400 for signers of the signer domain); 86400 by default.
   * Signers may issue shorter ones.
   */
  readonly maxExpirationSeconds?: number | null;
  /**
   * PKCS#10 request in DER, in base64, signed by the key to be certified; only its public key is used. RSA (3072 or
   * 4096 bits), P-256, P-384, P-521 or Ed25519.
   */
  readonly stubPKCS10Request?: string | null;
  /** Public key to be certified (SubjectPublicKeyInfo in DER), in base64. Deprecated: use `stubPKCS10Request`. */
  readonly pkixPublicKey?: string | null;
  /**
   * Signature over the UID of the pod, made with the key of `pkixPublicKey`, in base64. Deprecated: use
   * `stubPKCS10Request`.
   */
  readonly proofOfPossession?: string | null;
  /** Information from the pod's author for the signer, under domain-prefixed keys. Not verified by anyone. */
  readonly unverifiedUserAnnotations?: Readonly<Record<string, string>>;
}

/** Outcome of a request, and the issued certificate. Cannot be changed once the request is issued, denied or failed. */
export interface PodCertificateRequestStatus {
  /** Outcome of the request: at most one of Issued, Denied and Failed, with status True. */
  readonly conditions?: readonly Condition[];
  /** Issued certificate in PEM, followed by intermediates. Cannot be changed once set. */
  readonly certificateChain?: string;
  /** Start of the validity period in RFC 3339; must equal `notBefore` of the certificate. */
  readonly notBefore?: string | null;
  /** Time from which the kubelet should request the next certificate, in RFC 3339. */
  readonly beginRefreshAt?: string | null;
  /** End of the validity period in RFC 3339; must equal `notAfter` of the certificate. */
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
 * Returns the minimum and maximum lifetime of a pod certificate in seconds; the maximum is smaller for signers of the
 * signer domain.
 */
export const podCertificateRange = (
  signerName: string,
  signerDomain: string = defaultDomains.signer,
): { readonly least: number; readonly most: number } => {
  const [domain = ''] = signerName.split('/', 1);
  return { least: 60 * 60, most: isWithinDomain(domain, signerDomain) ? day : 91 * day };
};

/** The types of conditions that end a request, which has at most one of them. */
export const podCertificateEndings = ['Issued', 'Denied', 'Failed'] as const;
/** Outcome of a request that has ended. */
export type PodCertificateEnding = (typeof podCertificateEndings)[number];

/** Returns the outcome of a request; undefined while it waits for its signer. */
export const podCertificateEnding = ({ status }: PodCertificateRequest): PodCertificateEnding | undefined =>
  podCertificateEndings.find((type) => isTrue(status?.conditions, type));

const texts = ['certificateChain', 'notBefore', 'beginRefreshAt', 'notAfter'] as const;

/** Whether two statuses have the same outcome. Absent and empty members are equal. */
export const sameOutcome = (
  a: PodCertificateRequestStatus | undefined,
  b: PodCertificateRequestStatus | undefined,
): boolean =>
  sameConditions(a?.conditions, b?.conditions) && texts.every((member) => (a?.[member] || '') === (b?.[member] || ''));
