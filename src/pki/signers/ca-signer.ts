import { type Domains, defaultDomains } from '../../api/domains.js';
import type { CertificateAuthority, PodCertificateContents } from '../certificate-authority.js';
import type { CertificateRequest } from '../certificate-request.js';
import type { PodSigningRequest } from '../pod-signing.js';
import type { Signer, SigningRequest } from '../signer.js';
import { defineSigner, type PodSignerSpec } from './define-signer.js';
import { brokenSignerRule } from './well-known-rules.js';

/** The signer name, the CA that issues, and the rules of a signer. */
export interface CaSignerOptions {
  /** A signer name, or `domain/*` for every name of a domain. */
  readonly serves: string;
  /** Returns the CA. Called for every certificate, so that the CA can be replaced at run time. */
  readonly authority: () => CertificateAuthority | Promise<CertificateAuthority>;
  /**
   * Returns the certificates, in PEM, that verify those of this CA, past and future ones too. Default: the CA's own.
   */
  readonly anchors?: () => string | Promise<string>;
  /** The maximum lifetime, and the default if none is requested. Default: a year. */
  readonly maxSeconds?: number | undefined;
  /**
   * Returns why a request is refused; undefined to accept it. Default: the rules of the well-known signers, and none
   * for others.
   */
  readonly validate?: (request: CertificateRequest, signing: SigningRequest) => string | undefined;
  /** Issues certificates to pods as well. Default: no. */
  readonly pods?: CaPodOptions;
  readonly domains?: Domains;
}

/** Options of certificates for pods from a local CA; they are for clients and servers alike. */
export interface CaPodOptions extends Pick<PodSignerSpec, 'annotations' | 'validate'> {
  /** Returns the names of the certificate. */
  names(request: PodSigningRequest): Omit<PodCertificateContents, 'publicKey'>;
}

/**
 * Returns a signer with a local CA. Requests that break a rule are refused with the reason SignerValidationFailure;
 * unreadable requests, an expired CA and failures of the CA are thrown, because a retry may succeed.
 */
export function caSigner(options: CaSignerOptions): Signer {
  const { serves, authority, anchors, maxSeconds, pods, domains = defaultDomains } = options;
  return defineSigner({
    serves,
    maxSeconds,
    validate:
      options.validate ??
      ((request, { signerName, usages }) => brokenSignerRule(signerName, { request, usages }, domains)),

    async issue(request, { seconds, signing: { usages }, signal }) {
      const ca = await authority();
      signal.throwIfAborted();
      return ca.issue(request, { seconds, usages });
    },

    ...(pods === undefined ? {} : { pods: caPods(pods, authority) }),

    trustAnchors: async () => (anchors === undefined ? (await authority()).anchors : anchors()),
    caNotAfter: async () => (await authority()).firstToEnd.notAfter,
  });
}

const caPods = ({ names, ...rules }: CaPodOptions, authority: CaSignerOptions['authority']): PodSignerSpec => ({
  ...rules,
  async issue(request, { seconds, signal }) {
    const ca = await authority();
    signal.throwIfAborted();
    const { publicKey } = request;
    const transport = publicKey.kind === 'RSA' ? ['key encipherment'] : [];
    const usages = ['digital signature', ...transport, 'client auth', 'server auth'];
    return ca.issueForPod({ ...names(request), publicKey }, { seconds, usages });
  },
});
