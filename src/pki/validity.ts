import { goTimeText } from '../api/time.js';
import { PkiError } from './pki-error.js';

/** How far certificates reach into the past, for clients whose clocks are behind. */
export const backdateMs = 5 * 60_000;
/** From this lifetime on the backdating is taken out of it, and not added to it. */
const longLifetimeMs = 8 * 3_600_000;

/** Least lifetime of certificates in seconds, as in Kubernetes; shorter requests are rounded up to it. */
export const minCertificateSeconds = 600;
/** Default lifetime of certificates, in seconds. */
export const defaultCertificateSeconds = 365 * 86_400;

/** How far certificates of pods reach into the past; the API server takes five minutes, and some pass on the way to it. */
const podBackdateMs = 2 * 60_000;
/** Least lifetime of pod certificates that the API server accepts, in seconds. */
export const minPodCertificateSeconds = 3_600;

export interface Validity {
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Dates of a certificate asked for at `now` with a lifetime. Never beyond the issuer's end. Throws PkiError: `expired`
 * when the issuer has come to its end, `unissuable` for a lifetime that is no positive number.
 */
export function validity(given: {
  readonly now: number;
  readonly seconds: number;
  readonly issuerNotAfter: number;
}): Validity {
  const { now, seconds, issuerNotAfter } = given;
  if (!Number.isFinite(seconds) || seconds <= 0) throw new PkiError('unissuable', 'the lifetime is not positive');
  const lifetimeMs = seconds * 1_000;
  const notBefore = now - backdateMs;
  if (notBefore >= issuerNotAfter) {
    throw new PkiError('expired', `the signer has expired: NotAfter=${goTimeText(issuerNotAfter)}`);
  }
  if (now >= issuerNotAfter) {
    throw new PkiError(
      'expired',
      `refusing to sign a certificate that expired in the past: NotAfter=${goTimeText(issuerNotAfter)}`,
    );
  }
  const wanted = lifetimeMs < longLifetimeMs ? now + lifetimeMs : now + lifetimeMs - backdateMs;
  return { notBefore, notAfter: Math.min(wanted, issuerNotAfter) };
}

/**
 * Dates of a certificate of a pod: exactly as long as asked for, unless the issuer ends before. Throws PkiError
 * (`expired`) where that would be in less than an hour.
 */
export function podValidity({ now, seconds, issuerNotAfter }: Parameters<typeof validity>[0]): Validity {
  const notBefore = now - podBackdateMs;
  const notAfter = Math.min(notBefore + seconds * 1_000, issuerNotAfter);
  if (notAfter - notBefore < Math.min(minPodCertificateSeconds, seconds) * 1_000) {
    throw new PkiError('expired', `the signer ends in less than an hour: NotAfter=${goTimeText(issuerNotAfter)}`);
  }
  return { notBefore, notAfter };
}
