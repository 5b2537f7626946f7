import { createHash } from 'node:crypto';
import { compareText } from '../../src/api/text-order.js';
import { type Certificate, readCertificate } from '../../src/pki/certificate.js';
import { encodeCertificates, pemBlocks } from '../../src/pki/pem.js';
import { PkiError } from '../../src/pki/pki-error.js';

/** The PEM of a source, and the name of the source. */
export interface SourcePem {
  /** The name of the source for messages: `configMap default/roots`. */
  readonly from: string;
  readonly pem: string;
}

/** A certificate that is left out of the bundle. */
export interface DroppedCertificate {
  readonly from: string;
  /** The common name, or a substitute for it. */
  readonly subject: string;
  readonly why: 'expired' | 'not a CA';
}

export interface CombinedBundle {
  /** Each anchor once in PEM, sorted by subject, then by fingerprint; nothing else. */
  readonly bundle: string;
  readonly dropped: readonly DroppedCertificate[];
}

/**
 * Thrown when a source contains something that must not be distributed; the message names the source and never its
 * content.
 */
export class UnfitSource extends Error {
  override readonly name = 'UnfitSource';
}

/** The maximum size of all targets: neither a ClusterTrustBundle nor a ConfigMap can be larger. */
const maxBytes = 1_048_576;

/**
 * Combines several sources into one bundle. Fails if a block is not a certificate, has headers or is malformed, so that
 * no key leaks through a bundle and no anchor is lost by a typing error, or if the bundle is larger than 1 MiB. Expired
 * certificates and those that are not CAs are left out.
 */
export function combineAnchors(sources: readonly SourcePem[], now: number): CombinedBundle {
  const anchors = new Map<string, Certificate>();
  const dropped: DroppedCertificate[] = [];
  for (const { from, pem } of sources) {
    for (const certificate of certificatesOf(from, pem)) {
      const reason = certificate.notAfter <= now ? 'expired' : certificate.isCA ? undefined : 'not a CA';
      if (reason === undefined) anchors.set(fingerprint(certificate), certificate);
      else dropped.push({ from, subject: nameOf(certificate), why: reason });
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
  // The parser skips an incomplete block; here it must be an error.
  const beginnings = pem.split('-----BEGIN ').length - 1;
  if (blocks.length !== beginnings) throw new UnfitSource(`${from}: malformed PEM block`);
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
