import type { Domains } from '../api/domains.js';
import type { UserInfo } from '../api/user.js';
import type { Clock } from '../runtime/clock.js';
import { AuthenticationError, type Authenticator } from './authenticator.js';
import { credentialExtra } from './credential-extra.js';
import { type PeerCertificate, PeerVerifier } from './peer-certificate.js';

/** The OID of the subject attribute that contains the uid. */
const uidAttribute = '1.3.6.1.4.1.57683.2';

/**
 * Authenticates by client certificates: the common name is the username, and every organization is a group. Callers
 * without a certificate, or without a common name in it, are not authenticated; an invalid certificate is an error.
 */
export function clientCertificate(options: {
  /** Returns the CAs in PEM whose certificates are accepted now. */
  readonly bundle: () => string;
  readonly clock: Clock;
  readonly domains: Domains;
  /**
   * Called with the remaining lifetime of the certificate of every request, in seconds, whether or not it is accepted;
   * negative if it has expired.
   */
  readonly lifetimeLeft?: ((seconds: number) => void) | undefined;
}): Authenticator {
  const verifier = new PeerVerifier(options);
  return {
    async authenticate({ certificates }) {
      if (certificates.length === 0) return undefined;
      const user = userOf(verifier.verify(certificates), options.domains);
      return user === undefined ? undefined : { user };
    },
  };
}

function userOf({ certificate: { subject }, fingerprint }: PeerCertificate, domains: Domains): UserInfo | undefined {
  if (subject.commonName === '') return undefined;
  const uids = subject.attributes.filter(({ type }) => type === uidAttribute).map(({ value }) => value);
  const [uid] = uids;
  if (uids.length > 1) throw new AuthenticationError('expected 1 UID, but found multiple');
  if (uid === '') throw new AuthenticationError('UID cannot be an empty string');
  return {
    username: subject.commonName,
    ...(uid === undefined ? {} : { uid }),
    groups: subject.organizations,
    extra: { [credentialExtra(domains).credentialId]: [`X509SHA256=${fingerprint}`] },
  };
}
