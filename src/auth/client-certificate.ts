import type { Domains } from '../api/domains.js';
import type { UserInfo } from '../api/user.js';
import type { Clock } from '../runtime/clock.js';
import { AuthenticationError, type Authenticator } from './authenticator.js';
import { credentialExtra } from './credential-extra.js';
import { type PeerCertificate, PeerVerifier } from './peer-certificate.js';

/** Attribute of a subject that carries the uid. */
const uidAttribute = '1.3.6.1.4.1.57683.2';

/**
 * Who a client certificate names: the common name is the user, every organization a group. A connection without a
 * certificate, and a certificate without a common name, are nobody; one that does not verify is an error.
 */
export function clientCertificate(options: {
  /** PEM of the CAs whose certificates count now. */
  readonly bundle: () => string;
  readonly clock: Clock;
  readonly domains: Domains;
  /** Told how long the certificate of every request is still valid, whether it counts or not; negative: it was. */
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
