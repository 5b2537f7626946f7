import { timestamp } from '../../api/time.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import type { CertificateAuthority } from '../certificate-authority.js';

/** Logs a warning if a CA, or one above it, is not valid yet, has expired, or expires soon. */
export function warnCaExpiry(
  { certificate, firstToEnd: { subject, notBefore, notAfter } }: CertificateAuthority,
  options: {
    readonly clock: Pick<Clock, 'now'>;
    readonly log: Logger;
    /** The location of the CA, as fields of the log. */
    readonly about: object;
    /**
     * The remaining lifetime from which to warn, in milliseconds. Default: a tenth of the lifetime of the first
     * certificate to expire.
     */
    readonly littleMs?: number | undefined;
  },
): void {
  const { clock, log, about, littleMs = (notAfter - notBefore) / 10 } = options;
  const leftMs = notAfter - clock.now();
  const isEarly = clock.now() < certificate.notBefore;
  if (leftMs >= littleMs && !isEarly) return;
  const fields = { ...about, ends: subject.commonName, notAfter: timestamp(notAfter) };
  const soon = leftMs > 0 ? 'a CA is about to expire' : 'a CA has expired: certificates that it signs are not valid';
  log.warn(fields, isEarly ? 'a CA is not valid yet, and neither are certificates that it signs' : soon);
}
