import { pemBlocks } from './pem.js';

/**
 * What another X.509 library makes of certificates. For the test kit, so that what is issued here is not judged by the
 * code that issued it. The library takes long to load and to work, and is loaded when first asked.
 */
export interface SecondOpinion {
  /** RFC 4514 text. */
  readonly subject: string;
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Object identifiers, in order. */
  readonly extensions: readonly string[];
  /** SubjectPublicKeyInfo. */
  readonly spki: Buffer;
  /** Does the next certificate (the last one: any of the anchors) verify the signature of this one? */
  readonly verified: boolean;
}

/** Reads and verifies a chain, the leaf first. Throws what the library throws for what it cannot read. */
export async function secondOpinion(chainPem: string, anchorsPem: string): Promise<readonly SecondOpinion[]> {
  await import('reflect-metadata');
  const { X509Certificate } = await import('@peculiar/x509');
  const read = (pem: string) => [...pemBlocks(pem)].map(({ bytes }) => new X509Certificate(bytes));
  const [chain, anchors] = [read(chainPem), read(anchorsPem)];
  return Promise.all(
    chain.map(async (certificate, at) => {
      const next = chain[at + 1];
      const issuers = next ? [next] : anchors;
      const verdicts = await Promise.all(
        issuers.map((issuer) => certificate.verify({ publicKey: issuer.publicKey, signatureOnly: true })),
      );
      return {
        subject: certificate.subject,
        issuer: certificate.issuer,
        notBefore: certificate.notBefore.getTime(),
        notAfter: certificate.notAfter.getTime(),
        extensions: certificate.extensions.map(({ type }) => type),
        spki: Buffer.from(certificate.publicKey.rawData),
        verified: verdicts.includes(true),
      };
    }),
  );
}
