import { timestamp } from '../../api/time.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import type { CertificateAuthority } from '../certificate-authority.js';

/** Logs a warning about a CA that is not valid yet, has expired, or expires soon, or whose issuer does. */
export function warnCaExpiry(
  { certificate, firstToEnd: { subject, notBefore, notAfter } }: CertificateAuthority,
  given: {
    readonly clock: Pick<Clock, 'now'>;
    readonly log: Logger;
    /** Where the CA is kept, as fields of the log. */
    readonly about: object;
    /** Milliseconds. Default: a tenth of the life of what ends first. */
    readonly littleMs?: number | undefined;
  },
): void {
  const { clock, log, about, littleMs = (notAfter - notBefore) / 10 } = given;
  const leftMs = notAfter - clock.now();
  const isEarly = clock.now() < certificate.notBefore;
  if (leftMs >= littleMs && !isEarly) return;
  const fields = { ...about, ends: subject.commonName, notAfter: timestamp(notAfter) };
  const soon = leftMs > 0 ? 'a CA is about to expire' : 'a CA has expired: certificates that it signs are not valid';
  log.warn(fields, isEarly ? 'a CA is not valid yet, and neither are certificates that it signs' : soon);
}
