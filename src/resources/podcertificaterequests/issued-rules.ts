import { maxInt64, minInt64 } from '../../api/go-integers.js';
import {
  defaultPodCertificateSeconds,
  type PodCertificateRequestSpec,
  type PodCertificateRequestStatus,
} from '../../api/kinds/pod-certificate-request.js';
import { isMailAddress } from '../../api/mail-address.js';
import type { Steps } from '../../api/steps.js';
import { invalid, required, tooLong, type Violation } from '../../api/violations.js';
import { type Certificate, readCertificate } from '../../pki/certificate.js';
import { type PemBlock, pemBlocks } from '../../pki/pem.js';
import { PkiError } from '../../pki/pki-error.js';
import { podCertificateKey } from '../../pki/pod-certificate-key.js';

/**
 * Validation of issued certificates: a chain whose first certificate is for the requested key, and times that agree
 * with it.
 */

const chainPath = 'status.certificateChain';
const mostBytes = 100 * 1_024;
const minute = 60_000;
const hour = 60 * minute;
/** How far the certificate's start may be from the server's time, in milliseconds. */
const mostSkewMs = 5 * minute;
/** How long after its start, and before its end, a certificate must not be refreshed, in milliseconds. */
const refreshMs = 10 * minute;

/** Returns the first violation, or several of one sort. */
export function* issuedViolations(
  status: PodCertificateRequestStatus,
  spec: PodCertificateRequestSpec,
  now: number,
): Steps<readonly Violation[]> {
  const { certificateChain = '' } = status;
  if (Buffer.byteLength(certificateChain) > mostBytes) return [tooLong(chainPath, mostBytes)];
  const blocks = pemBlocks(certificateChain);
  const first = blocks.next();
  const wrong = (message: string): readonly Violation[] => [invalid(chainPath, certificateChain, message)];
  if (first.done) return wrong('issued certificate chain must contain at least one certificate');
  if (first.value.type !== 'CERTIFICATE') {
    return wrong('issued certificate chain must consist entirely of CERTIFICATE PEM blocks');
  }
  const leaf = certificateIn(first.value);
  if (leaf === undefined) return wrong('leaf certificate does not parse as valid X.509');
  yield;
  const names = nameViolations(leaf);
  if (!leaf.publicKey.spki.equals(podCertificateKey(spec).spki)) {
    return [...names, ...wrong('leaf certificate was not issued to the requested public key')];
  }
  const found = [...names, ...absentTimes(status)];
  if (found.length > 0) return found;
  const [mistimed] = timeViolations(status, leaf, {
    now,
    seconds: spec.maxExpirationSeconds ?? defaultPodCertificateSeconds,
  });
  if (mistimed !== undefined) return [mistimed];
  for (const block of blocks) {
    yield;
    // The misspelling is Kubernetes' own.
    if (block.type !== 'CERTIFICATE') {
      return wrong('issued certificate chain must consist entirely of CERTFICATE PEM blocks');
    }
    if (certificateIn(block) === undefined) return wrong('intermediate certificate does not parse as valid X.509');
  }
  return [];
}

function certificateIn({ bytes }: PemBlock): Certificate | undefined {
  try {
    return readCertificate(bytes);
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}

const nameViolations = ({ alternativeNames: { dnsNames, emailAddresses } }: Certificate): readonly Violation[] => [
  ...dnsNames.flatMap((name) => [
    ...(name === '' ? [invalid(chainPath, name, 'leaf certificate should not contain empty DNSName')] : []),
    ...(name.includes('..') ? [invalid(chainPath, name, "leaf certificate's DNSName should not contain '..'")] : []),
    ...(name.startsWith('.') || name.endsWith('.')
      ? [invalid(chainPath, name, "leaf certificate's DNSName should not start or end with '.'")]
      : []),
  ]),
  ...emailAddresses
    .filter((address) => !isMailAddress(address))
    .map((address) => invalid(chainPath, address, 'leaf certificate should not contain invalid EmailAddress')),
];

const absentTimes = ({ notBefore, notAfter, beginRefreshAt }: PodCertificateRequestStatus): readonly Violation[] => [
  ...(notBefore ? [] : [required('status.notBefore', 'must be present and consistent with the issued certificate')]),
  ...(notAfter ? [] : [required('status.notAfter', 'must be present and consistent with the issued certificate')]),
  ...(beginRefreshAt
    ? []
    : [required('status.beginRefreshAt', 'must be present and in the range [notbefore+10min, notafter-10min]')]),
];

/** Returns the violations of times in the order of the checks; only the first is reported. */
function timeViolations(
  { notBefore, notAfter, beginRefreshAt }: PodCertificateRequestStatus,
  leaf: Certificate,
  { now, seconds }: { readonly now: number; readonly seconds: number },
): readonly Violation[] {
  const refreshAt = Date.parse(beginRefreshAt ?? '');
  const lifetimeMs = leaf.notAfter - leaf.notBefore;
  const rules: readonly (readonly [holds: boolean, field: string, value: unknown, why: string])[] = [
    [
      Date.parse(notBefore ?? '') === leaf.notBefore,
      'status.notBefore',
      notBefore,
      'must be set to the NotBefore time encoded in the leaf certificate',
    ],
    [
      Math.abs(leaf.notBefore - now) < mostSkewMs,
      'status.notBefore',
      notBefore,
      "must be set to within 5 minutes of kube-apiserver's current time",
    ],
    [
      Date.parse(notAfter ?? '') === leaf.notAfter,
      'status.notAfter',
      notAfter,
      'must be set to the NotAfter time encoded in the leaf certificate',
    ],
    [lifetimeMs >= hour, chainPath, nanoseconds(lifetimeMs), 'leaf certificate lifetime must be >= 1 hour'],
    [
      lifetimeMs <= seconds * 1_000,
      chainPath,
      nanoseconds(lifetimeMs),
      `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${seconds})`,
    ],
    [
      refreshAt >= leaf.notBefore + refreshMs,
      'status.beginRefreshAt',
      beginRefreshAt,
      'must be at least 10 minutes after status.notBefore',
    ],
    [
      refreshAt <= leaf.notAfter - refreshMs,
      'status.beginRefreshAt',
      beginRefreshAt,
      'must be at least 10 minutes before status.notAfter',
    ],
  ];
  return rules.filter(([holds]) => !holds).map(([, field, value, message]) => invalid(field, value, message));
}

/** Returns a Go duration in nanoseconds, limited to the range of int64. */
function nanoseconds(milliseconds: number): bigint {
  const exact = BigInt(milliseconds) * 1_000_000n;
  return exact < minInt64 ? minInt64 : exact > maxInt64 ? maxInt64 : exact;
}
