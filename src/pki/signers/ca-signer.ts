import { type Domains, defaultDomains } from '../../api/domains.js';
import type { CertificateAuthority, PodCertificateContents } from '../certificate-authority.js';
import type { CertificateRequest } from '../certificate-request.js';
import type { PodSigningRequest } from '../pod-signing.js';
import type { Signer, SigningRequest } from '../signer.js';
import { defineSigner, type PodSignerSpec } from './define-signer.js';
import { brokenSignerRule } from './well-known-rules.js';

/** What a signer serves, the CA that it issues with, and what it refuses. */
export interface CaSignerOptions {
  /** One signer name, or every name under `domain/*`. */
  readonly serves: string;
  /** Asked for every certificate, so that a CA can be replaced while running. */
  readonly authority: () => CertificateAuthority | Promise<CertificateAuthority>;
  /** PEM of what verifies certificates of this CA, past and future ones too. Default: the CA's own. */
  readonly anchors?: () => string | Promise<string>;
  /** Longest lifetime, and the one for who asks for none. Default: a year. */
  readonly maxSeconds?: number | undefined;
  /**
   * Says why a request is refused; undefined lets it pass. Default: the rules of the well-known signers, none for
   * others.
   */
  readonly validate?: (request: CertificateRequest, signing: SigningRequest) => string | undefined;
  /** Issues certificates to pods as well. Default: no. */
  readonly pods?: CaPodOptions;
  readonly domains?: Domains;
}

/** Certificates of pods from a CA that is at hand: for clients and servers alike. */
export interface CaPodOptions extends Pick<PodSignerSpec, 'annotations' | 'validate'> {
  /** Returns the names of the certificate. */
  names(request: PodSigningRequest): Omit<PodCertificateContents, 'publicKey'>;
}

/**
 * Signs with a CA that is at hand. Requests that break a rule are refused with the reason SignerValidationFailure;
 * what cannot be read, an expired CA and trouble with the CA are thrown, because trying again may help.
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
