import { pemBlocks } from '../pki/pem.js';

/**
 * What another X.509 library reads in a certificate, so that the test kit does not check certificates with the code
 * that issued them. The library is slow to load and to run, so it is loaded on first use.
 */
export interface SecondOpinion {
  /** The subject as RFC 4514 text. */
  readonly subject: string;
  readonly issuer: string;
  /** The validity in milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The object identifiers of the extensions, in order. */
  readonly extensions: readonly string[];
  /** The public key as SubjectPublicKeyInfo. */
  readonly spki: Buffer;
  /** Whether the next certificate verifies the signature of this one; for the last one, whether any anchor does. */
  readonly verified: boolean;
}

async function loadLibrary() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/**
 * Reads and verifies a chain, leaf first. Throws what the library throws for unreadable input. If the library is not
 * installed, returns nothing and emits a process warning.
 */
export async function secondOpinion(
  chainPem: string,
  anchorsPem: string,
  load: typeof loadLibrary = loadLibrary,
): Promise<readonly SecondOpinion[] | undefined> {
  const library = await load().catch((error: NodeJS.ErrnoException) => {
    // CommonJS, and therefore jest, reports the code without `ERR_`.
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
