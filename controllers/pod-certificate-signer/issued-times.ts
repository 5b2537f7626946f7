import { podCertificateRange } from '../../src/api/kinds/pod-certificate-request.js';
import { type Certificate, readPemCertificates } from '../../src/pki/certificate.js';
import { issuedChainProblem } from '../../src/pki/issued-check.js';
import type { PodSigningRequest } from '../../src/pki/pod-signing.js';

const minute = 60_000;
/** The maximum distance of a certificate's beginning from now that the API server accepts. */
const mostSkewMs = 5 * minute;
/** The maximum age when a certificate is written; if it is older, it may exceed the limit on arrival. */
const mostAgeMs = mostSkewMs - 10_000;
/** The minimum distance of the refresh from either end of the certificate's lifetime that the API server accepts. */
const refreshMs = 10 * minute;

/** Returns the times of a certificate for the status, in milliseconds since the epoch. */
export const issuedTimes = ({ notBefore, notAfter }: Certificate, refreshAt?: number) => ({
  notBefore,
  notAfter,
  beginRefreshAt: refreshAt ?? notBefore + ((notAfter - notBefore) * 2) / 3,
});

/** Whether an issued certificate is recent enough to be written to the status. */
export const isStillNew = (issued: string, now: number): boolean =>
  now - (readPemCertificates(issued)[0]?.notBefore ?? 0) < mostAgeMs;

/** Returns why the API server would reject what a signer issued; undefined if it would not. */
export function problemWithPod(
  { issued, refreshAt }: { readonly issued: string; readonly refreshAt?: number },
  { publicKey, maxSeconds, signerName }: PodSigningRequest,
  now: number,
): string | undefined {
  const problem = issuedChainProblem(issued, publicKey);
  const [leaf] = problem === undefined ? readPemCertificates(issued) : [];
  if (leaf === undefined) return problem;
  const { notBefore, notAfter, beginRefreshAt } = issuedTimes(leaf, refreshAt);
  const seconds = (notAfter - notBefore) / 1_000;
  const { least } = podCertificateRange(signerName);
  if (Math.abs(notBefore - now) >= mostSkewMs)
    return 'the signer issued a certificate whose notBefore is not the current time';
  if (seconds < least || seconds > maxSeconds) {
    return `the signer issued a certificate for ${seconds} seconds, not for ${least} to ${maxSeconds}`;
  }
  return beginRefreshAt < notBefore + refreshMs || beginRefreshAt > notAfter - refreshMs
    ? "the signer's refresh time is within ten minutes of the certificate's notBefore or notAfter"
    : undefined;
}
