import type { Clock } from '../../runtime/clock.js';
import {
  type AuthorityOptions,
  type CertificateAuthority,
  createCertificateAuthority,
} from '../certificate-authority.js';
import type { Signer } from '../signer.js';
import { type CaSignerOptions, caSigner } from './ca-signer.js';

/** What the signer serves, and the CA that is made for it. */
export type SelfSignedSignerOptions = Omit<CaSignerOptions, 'authority'> &
  Partial<AuthorityOptions> & { readonly clock?: Pick<Clock, 'now'> };

/**
 * For development: a signer with a CA of its own, made when first needed and gone with the process. Everybody who is
 * to trust its certificates gets its anchors from `trustAnchors`.
 */
export function selfSignedSigner(options: SelfSignedSignerOptions): Signer {
  let made: Promise<CertificateAuthority> | undefined;
  const authority = (): Promise<CertificateAuthority> => {
    made ??= createCertificateAuthority({
      ...options,
      commonName: options.commonName ?? `development CA of ${options.serves}`,
    });
    return made;
  };
  return caSigner({ ...options, authority });
}
