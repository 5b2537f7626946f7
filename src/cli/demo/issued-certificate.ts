import { createPrivateKey, X509Certificate } from 'node:crypto';

/** The facts that a recipient of a certificate checks before using it. */
export interface CertificateFacts {
  /** The subject in the form `CN=…, O=…`. */
  readonly subject: string;
  readonly issuer: string;
  readonly serial: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The extended key usages: `client auth`, `server auth`; others by their object identifiers. */
  readonly purposes: readonly string[];
}

const purposeNames: Readonly<Record<string, string>> = {
  '1.3.6.1.5.5.7.3.1': 'server auth',
  '1.3.6.1.5.5.7.3.2': 'client auth',
};

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

const oneLine = (name: string): string => name.split('\n').reverse().join(', ');

/**
 * Verifies the first certificate of a PEM chain: it must be signed by one of the anchors, for this private key, and
 * valid now. Throws an Error with one sentence otherwise.
 */
export function verifyIssued(
  chain: string,
  { anchors, key, now }: { readonly anchors: string; readonly key: string; readonly now: number },
): CertificateFacts {
  const certificate = new X509Certificate(chain);
  const issuer = (anchors.match(pemCertificate) ?? [])
    .map((pem) => new X509Certificate(pem))
    .find((anchor) => certificate.checkIssued(anchor) && certificate.verify(anchor.publicKey));
  const subject = oneLine(certificate.subject);
  if (issuer === undefined) throw new Error(`the certificate of ${subject} is not signed by any published anchor`);
  if (!certificate.checkPrivateKey(createPrivateKey(key))) {
    throw new Error(`the certificate of ${subject} is for another key`);
  }
  const [notBefore, notAfter] = [new Date(certificate.validFrom), new Date(certificate.validTo)];
  if (now < notBefore.getTime() || now > notAfter.getTime()) {
    throw new Error(`the certificate of ${subject} is not valid now`);
  }
  return {
    subject,
    issuer: oneLine(issuer.subject),
    serial: certificate.serialNumber.toLowerCase(),
    notBefore,
    notAfter,
    purposes: (certificate.keyUsage ?? []).map((oid) => purposeNames[oid] ?? oid),
  };
}
