import type { CertificateOptions, FilesSource } from '../server/signing-options.js';
import type { Configuration } from './configuration-options.js';

/** Returns the server options for signers, approval and trust. */
export const certificatesOptions = ({
  signing,
  certificatePolicy,
  trust: { distribute, ...trust },
}: Pick<Configuration, 'signing' | 'certificatePolicy' | 'trust'>): CertificateOptions => ({
  signers: signing.signers,
  policy: certificatePolicy,
  ...(distribute ? { trust } : {}),
});

/** Returns the CA files for the well-known signers, if the configuration names them. */
export const signingCaFiles = ({
  certificateFile,
  keyFile,
}: {
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
}): FilesSource | undefined =>
  certificateFile === undefined || keyFile === undefined ? undefined : { certificateFile, keyFile };
