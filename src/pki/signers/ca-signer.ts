import { type Domains, defaultDomains } from '../../api/domains.js';
import type { CertificateAuthority } from '../certificate-authority.js';
import { type CertificateRequest, readCertificateRequest } from '../certificate-request.js';
import type { Signer, SigningRequest } from '../signer.js';
import { brokenSignerRule } from './well-known-rules.js';

export interface CaSignerOptions {
  /** One signer name, or every name under `domain/*`. */
  readonly serves: string;
  /** Asked for every certificate, so that a CA can be replaced while running. */
  readonly authority: () => CertificateAuthority | Promise<CertificateAuthority>;
  /** Longest lifetime, and the one for who asks for none. Default: a year. */
  readonly maxSeconds?: number;
  /**
   * Says why a request is refused; undefined lets it pass. Default: the rules of the well-known signers, none for
   * others.
   */
  readonly validate?: (request: CertificateRequest, signing: SigningRequest) => string | undefined;
  readonly domains?: Domains;
}

const year = 365 * 86_400;
const shortest = 600;

/** Lifetime granted: what was asked for, at least ten minutes, at most (and by default) `maxSeconds`. */
export function grantedSeconds(wanted: number | undefined, maxSeconds: number): number {
  if (wanted === undefined || wanted > maxSeconds) return maxSeconds;
  return Math.max(wanted, shortest);
}

/**
 * Signs with a CA that is at hand. Requests that break a rule are refused with the reason SignerValidationFailure;
 * what cannot be read, an expired CA and trouble with the CA are thrown, because trying again may help.
 */
export function caSigner(options: CaSignerOptions): Signer {
  const { serves, authority, maxSeconds = year, domains = defaultDomains } = options;
  const validate =
    options.validate ??
    ((request: CertificateRequest, { signerName, usages }: SigningRequest) =>
      brokenSignerRule(signerName, { request, usages }, domains));

  return {
    serves,

    async sign(signing, signal) {
      signal.throwIfAborted();
      const request = readCertificateRequest(signing.request);
      const refused = validate(request, signing);
      if (refused !== undefined) return { refused, reason: 'SignerValidationFailure' };
      const ca = await authority();
      signal.throwIfAborted();
      const seconds = grantedSeconds(signing.expirationSeconds, maxSeconds);
      return { issued: await ca.issue(request, { seconds, usages: signing.usages }) };
    },

    trustAnchors: async () => (await authority()).anchors,
  };
}
