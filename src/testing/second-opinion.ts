import { pemBlocks } from '../pki/pem.js';

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

async function loadLibrary() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/**
 * Reads and verifies a chain, the leaf first. Throws what the library throws for what it cannot read. Where it is not
 * installed nothing is answered, and a warning of the process says so.
 */
export async function secondOpinion(
  chainPem: string,
  anchorsPem: string,
  load: typeof loadLibrary = loadLibrary,
): Promise<readonly SecondOpinion[] | undefined> {
  const library = await load().catch((error: NodeJS.ErrnoException) => {
    // CommonJS, and so jest, names it without `ERR_`.
    if (!/^(?:ERR_)?MODULE_NOT_FOUND$/.test(error.code ?? '')) throw error;
  });
  if (library === undefined) {
    process.emitWarning(
      '@peculiar/x509 and reflect-metadata are not installed: no other library verifies certificates',
    );
    return undefined;
  }
  const { X509Certificate } = library;
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
