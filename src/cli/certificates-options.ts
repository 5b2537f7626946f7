import type { CertificateOptions } from '../server/signing-options.js';
import type { Configuration } from './configuration-options.js';

/** What the configuration says of signers, approval and trust. */
export const certificatesOptions = ({
  signing,
  certificatePolicy,
  trust: { distribute, ...trust },
}: Pick<Configuration, 'signing' | 'certificatePolicy' | 'trust'>): CertificateOptions => ({
  signers: signing.signers,
  policy: certificatePolicy,
  ...(distribute ? { trust } : {}),
});
