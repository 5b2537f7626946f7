import { goTimeText } from '../api/time.js';
import { PkiError } from './pki-error.js';

/** How far certificates are backdated, for clients whose clocks are behind. */
export const backdateMs = 5 * 60_000;
/** From this lifetime on, the backdating counts as part of it and is not added to it. */
const longLifetimeMs = 8 * 3_600_000;

/** The minimum lifetime of certificates in seconds, as in Kubernetes; shorter requests are rounded up to it. */
export const minCertificateSeconds = 600;
/** The default lifetime of certificates, in seconds. */
export const defaultCertificateSeconds = 365 * 86_400;

/** How far pod certificates are backdated; the API server accepts five minutes, and some pass before it checks. */
const podBackdateMs = 2 * 60_000;
/** The minimum lifetime of pod certificates that the API server accepts, in seconds. */
export const minPodCertificateSeconds = 3_600;

export interface Validity {
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Returns the dates of a certificate that is requested at `now` with a lifetime. It never outlives the issuer. Throws
 * PkiError: `expired` if the issuer has expired, `unissuable` for a lifetime that is not a positive number.
 */
export function validity(options: {
  readonly now: number;
  readonly seconds: number;
  readonly issuerNotAfter: number;
}): Validity {
  const { now, seconds, issuerNotAfter } = options;
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
  const requested = lifetimeMs < longLifetimeMs ? now + lifetimeMs : now + lifetimeMs - backdateMs;
  return { notBefore, notAfter: Math.min(requested, issuerNotAfter) };
}

/**
 * Returns the dates of a pod's certificate: exactly the requested lifetime, unless the issuer expires before. Throws
 * PkiError (`expired`) if less than an hour would remain.
 */
export function podValidity({ now, seconds, issuerNotAfter }: Parameters<typeof validity>[0]): Validity {
  const notBefore = now - podBackdateMs;
  const notAfter = Math.min(notBefore + seconds * 1_000, issuerNotAfter);
  if (notAfter - notBefore < Math.min(minPodCertificateSeconds, seconds) * 1_000) {
    throw new PkiError('expired', `the signer ends in less than an hour: NotAfter=${goTimeText(issuerNotAfter)}`);
  }
  return { notBefore, notAfter };
}
