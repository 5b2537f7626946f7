import { type Clock, systemClock } from '../../runtime/clock.js';
import { type Logger, silentLogger } from '../../runtime/logger.js';
import { followFiles } from '../../runtime/text-source.js';
import { type CertificateAuthority, loadCertificateAuthority } from '../certificate-authority.js';
import { warnCaExpiry } from './ca-expiry.js';

/** Files in PEM of a CA certificate, with what is above it, and of its key. */
export interface CaFilesOptions {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** The files are followed until it aborts. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** A CA in two files that may be replaced at any time. */
export interface CaFiles {
  /** The newest pair that belonged together. */
  current(): CertificateAuthority;
}

/**
 * Opens a CA kept in files, and follows them: a pair that does not match leaves the one before. Fails if the files
 * cannot be read now or are no pair.
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
