import type { Domains } from '../api/domains.js';
import type { UserInfo } from '../api/user.js';
import type { Clock } from '../runtime/clock.js';
import { AuthenticationError, type Authenticator } from './authenticator.js';
import { credentialExtra } from './credential-extra.js';
import { type PeerCertificate, PeerVerifier } from './peer-certificate.js';

/** The subject attribute that carries the uid. */
const uidAttribute = '1.3.6.1.4.1.57683.2';

/**
 * Authenticates by client certificates: the common name is the user, every organization a group. No certificate, or one
 * without a common name, authenticates nobody; one that does not verify is an error.
 */
export function clientCertificate(options: {
  /** PEM of the CAs whose certificates count now. */
  readonly bundle: () => string;
  readonly clock: Clock;
  readonly domains: Domains;
  /** Called with the remaining lifetime of the certificate of every request, accepted or not; negative if it has expired. */
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
