import type { Clock } from '../../runtime/clock.js';
import {
  type AuthorityOptions,
  type CertificateAuthority,
  createCertificateAuthority,
} from '../certificate-authority.js';
import type { Signer } from '../signer.js';
import { type CaSignerOptions, caSigner } from './ca-signer.js';

/** The signer name, and the CA that is created for it. */
export type SelfSignedSignerOptions = Omit<CaSignerOptions, 'authority'> &
  Partial<AuthorityOptions> & { readonly clock?: Pick<Clock, 'now'> };

/**
 * Returns a signer for development, with its own CA that is created on first use and lost with the process. Clients get
 * its anchors from `trustAnchors`.
 */
export function selfSignedSigner(options: SelfSignedSignerOptions): Signer {
  let created: Promise<CertificateAuthority> | undefined;
  const authority = (): Promise<CertificateAuthority> => {
    created ??= createCertificateAuthority({
      ...options,
      commonName: options.commonName ?? `development CA of ${options.serves}`,
    });
    return created;
  };
  return caSigner({ ...options, authority });
}
