import type { Clock } from '../runtime/clock.js';
import { AuthenticationError, type Authenticator } from './authenticator.js';
import { readExtraHeaders } from './extra-headers.js';
import { PeerVerifier } from './peer-certificate.js';
import { defaultProxyHeaders, type FrontProxyHeaders } from './proxy-headers.js';

/** The proxies that are trusted to identify the caller, and the headers in which they do. */
export interface FrontProxyOptions extends Partial<FrontProxyHeaders> {
  /**
   * Returns the CAs in PEM that issue the proxies' certificates. They must not be CAs of clients: otherwise every
   * client could claim to be any user.
   */
  readonly bundle: () => string;
  /** Common names that the certificate of a proxy may have; empty for any. */
  readonly allowedNames?: readonly string[];
  readonly clock: Clock;
}

/**
 * Authenticates callers by the headers of a proxy, which is authenticated by its certificate. Without a certificate, or
 * without the user header, the headers are ignored.
 */
export function frontProxy(options: FrontProxyOptions): Authenticator {
  const { allowedNames = [], ...given } = { ...defaultProxyHeaders, ...options };
  const usernameHeaders = lowerCase(given.usernameHeaders);
  const uidHeaders = lowerCase(given.uidHeaders);
  const groupHeaders = lowerCase(given.groupHeaders);
  const extraHeaderPrefixes = lowerCase(given.extraHeaderPrefixes);
  const verifier = new PeerVerifier(options);
  return {
    async authenticate(credentials) {
      if (credentials.certificates.length === 0) return undefined;
      const { commonName } = verifier.verify(credentials.certificates).certificate.subject;
      if (allowedNames.length > 0 && !allowedNames.includes(commonName)) {
        throw new AuthenticationError(`x509: subject with cn=${commonName} is not in the allowed list`);
      }
      const first = (names: readonly string[]): string | undefined =>
        names.map((name) => credentials.header(name)[0]).find((value) => value !== undefined && value !== '');
      const username = first(usernameHeaders);
      if (username === undefined) return undefined;
      const uid = first(uidHeaders);
      const extra = readExtraHeaders(credentials, ...extraHeaderPrefixes);
      return {
        user: {
          username,
          ...(uid === undefined ? {} : { uid }),
          groups: groupHeaders.flatMap((name) => credentials.header(name)).filter((value) => value !== ''),
          ...(Object.keys(extra).length > 0 ? { extra } : {}),
        },
      };
    },
  };
}

const lowerCase = (names: readonly string[]): readonly string[] => names.map((one) => one.toLowerCase());
