import { createHash } from 'node:crypto';
import { compareText } from '../../src/api/text-order.js';
import { type Certificate, readCertificate } from '../../src/pki/certificate.js';
import { encodeCertificates, pemBlocks } from '../../src/pki/pem.js';
import { PkiError } from '../../src/pki/pki-error.js';

/** The PEM of a source, and where it came from. */
export interface SourcePem {
  /** For people: `configMap default/roots`. */
  readonly from: string;
  readonly pem: string;
}

/** A certificate that is not passed on. */
export interface DroppedCertificate {
  readonly from: string;
  /** Common name, or what stands for it. */
  readonly subject: string;
  readonly why: 'expired' | 'not a CA';
}

export interface CombinedBundle {
  /** PEM: each anchor once, by subject, then by fingerprint; nothing else. */
  readonly bundle: string;
  readonly dropped: readonly DroppedCertificate[];
}

/** A source holds something that must not be passed on; the message names the source and never what it holds. */
export class UnfitSource extends Error {
  override readonly name = 'UnfitSource';
}

/** No target takes more: neither a ClusterTrustBundle nor a ConfigMap. */
const maxBytes = 1_048_576;

/**
 * Makes one bundle of several. A block that is no certificate, with headers, or unreadable makes the whole fail, so
 * that no key leaks through a bundle and no anchor vanishes by a typing error, and so does a bundle of more than 1 MiB;
 * expired certificates and those that are no CA are dropped.
 */
export function combineAnchors(sources: readonly SourcePem[], now: number): CombinedBundle {
  const anchors = new Map<string, Certificate>();
  const dropped: DroppedCertificate[] = [];
  for (const { from, pem } of sources) {
    for (const certificate of certificatesOf(from, pem)) {
      const why = certificate.notAfter <= now ? 'expired' : certificate.isCA ? undefined : 'not a CA';
      if (why === undefined) anchors.set(fingerprint(certificate), certificate);
      else dropped.push({ from, subject: nameOf(certificate), why });
    }
  }
  const ordered = [...anchors].sort(
    ([a, one], [b, other]) => compareText(nameOf(one), nameOf(other)) || compareText(a, b),
  );
  const bundle = encodeCertificates(ordered.map(([, { der }]) => der));
  if (bundle.length > maxBytes) throw new UnfitSource('the anchors are larger than 1 MiB in total');
  return { bundle, dropped };
}

const fingerprint = ({ der }: Certificate): string => createHash('sha256').update(der).digest('hex');

const nameOf = ({ subject, serial }: Certificate): string =>
  subject.commonName || subject.organizationalUnits[0] || subject.organizations[0] || `serial ${serial}`;

function certificatesOf(from: string, pem: string): readonly Certificate[] {
  const blocks = [...pemBlocks(pem)];
  // A block that is cut short is skipped by the reader; here it must not be.
  const begun = pem.split('-----BEGIN ').length - 1;
  if (blocks.length !== begun) throw new UnfitSource(`${from}: malformed PEM block`);
  return blocks.map(({ type, hasHeaders, bytes }, at) => {
    if (type !== 'CERTIFICATE') throw new UnfitSource(`${from}: block ${at + 1} is not a certificate`);
    if (hasHeaders) throw new UnfitSource(`${from}: block ${at + 1} has headers`);
    try {
      return readCertificate(bytes);
    } catch (error) {
      if (error instanceof PkiError) throw new UnfitSource(`${from}: block ${at + 1}: ${error.message}`);
      throw error;
    }
  });
}
