import { type Clock, systemClock } from '../../runtime/clock.js';
import { type Logger, silentLogger } from '../../runtime/logger.js';
import { followFiles } from '../../runtime/text-source.js';
import { type CertificateAuthority, loadCertificateAuthority } from '../certificate-authority.js';
import { warnCaExpiry } from './ca-expiry.js';

/** The PEM files of a CA certificate, with those above it, and of its key. */
export interface CaFilesOptions {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Ends following the files. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** A CA in two files that may be replaced at any time. */
export interface CaFiles {
  /** Returns the latest certificate and key that matched. */
  current(): CertificateAuthority;
}

/**
 * Opens a CA kept in files, and follows them; if a certificate and key do not match, the previous ones stay in use.
 * Fails if the files cannot be read now or do not match.
 */
export async function openCaFiles(options: CaFilesOptions): Promise<CaFiles> {
  const { certificateFile, keyFile, clock = systemClock, log = silentLogger, signal } = options;
  let current: CertificateAuthority | undefined;
  const take = ([certificate = '', key = '']: readonly string[]): void => {
    current = loadCertificateAuthority({ certificate, key, clock });
    warnCaExpiry(current, { clock, log, about: { file: certificateFile } });
  };
  await followFiles([certificateFile, keyFile], take, { clock, log, signal });
  return {
    current() {
      if (current === undefined) throw new Error('the CA was not reloaded');
      return current;
    },
  };
}
