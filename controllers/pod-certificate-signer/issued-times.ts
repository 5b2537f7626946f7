import { podCertificateRange } from '../../src/api/kinds/pod-certificate-request.js';
import { type Certificate, readPemCertificates } from '../../src/pki/certificate.js';
import { issuedChainProblem } from '../../src/pki/issued-check.js';
import type { PodSigningRequest } from '../../src/pki/pod-signing.js';

const minute = 60_000;
/** The API server takes no certificate that began, or will, longer ago than this. */
const mostSkewMs = 5 * minute;
/** What is written later may come too late. */
const mostAgeMs = mostSkewMs - 10_000;
/** It takes no refresh nearer to an end of the certificate's life. */
const refreshMs = 10 * minute;

/** The times of a certificate that go into the status, in milliseconds since the epoch. */
export const issuedTimes = ({ notBefore, notAfter }: Certificate, refreshAt?: number) => ({
  notBefore,
  notAfter,
  beginRefreshAt: refreshAt ?? notBefore + ((notAfter - notBefore) * 2) / 3,
});

/** Whether an issued certificate may still be handed out. */
export const isStillNew = (issued: string, now: number): boolean =>
  now - (readPemCertificates(issued)[0]?.notBefore ?? 0) < mostAgeMs;

/** Why the API server would not take what a signer issued. */
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
