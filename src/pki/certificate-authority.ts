import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../runtime/clock.js';
import { type AlternativeNames, noAlternativeNames } from './alternative-names.js';
import { type Certificate, readPemCertificates, readPublicKeyInfo } from './certificate.js';
import {
  authorityExtensions,
  keyIdentifier,
  leafExtensions,
  signedCertificate,
  toBeSigned,
} from './certificate-profile.js';
import { type CertificateRequest, readCertificateRequest } from './certificate-request.js';
import { type WritableName, writeName } from './distinguished-name.js';
import {
  generateKey,
  type KeyType,
  keyInMemory,
  privateKeyPem,
  readPrivateKey,
  type SigningKey,
  spkiOf,
} from './key-pair.js';
import { encodeCertificates, encodePem } from './pem.js';
import { PkiError } from './pki-error.js';
import type { PublicKey } from './public-key.js';
import { isSignedBy, verifySignature } from './signature.js';
import { podValidity, type Validity, validity } from './validity.js';

/** Issues certificates. Fails with PkiError for invalid input, and with other errors if signing itself fails. */
export interface CertificateAuthority {
  /** The certificate that verifies issued ones, in PEM: the CA's own, or the last of those above it. */
  readonly anchors: string;
  /** The CA's own certificate, in PEM. */
  readonly issuer: string;
  /** The key identifier in hexadecimal; it differs for different keys. */
  readonly keyId: string;
  /** The CA's own certificate. */
  readonly certificate: Certificate;
  /** The first certificate to expire, of the CA's own and those above it: after that nothing verifies any more. */
  readonly firstToEnd: Certificate;
  /**
   * Issues a certificate for a request. Returns PEM: the certificate first, then intermediates, no root. Subject,
   * alternative names and key are taken from the request and encoded again; usages and lifetime are those given;
   * everything else in the request is ignored. The certificate is backdated by five minutes and never outlives the CA.
   */
  issue(request: CertificateRequest | Uint8Array | string, options: IssueOptions): Promise<string>;
  /**
   * Issues a certificate for a pod. Returns PEM as from `issue`, with these names and this key. The certificate is
   * backdated by two minutes, is valid for exactly `seconds`, as the API server requires, and never outlives the CA:
   * rejects with PkiError (`expired`) if that leaves less than an hour.
   */
  issueForPod(contents: PodCertificateContents, options: IssueOptions): Promise<string>;
  /**
   * Issues a certificate for a TLS client, with a new key. Rejects with an Error if its subject would be that of the
   * CA.
   */
  issueClient(options: KeyPairOptions): Promise<KeyPair>;
  /**
   * Issues a certificate for a TLS server, with a new key. Rejects with an Error if its subject would be that of the
   * CA.
   */
  issueServing(options: KeyPairOptions & Partial<AlternativeNames>): Promise<KeyPair>;
  /** Issues an intermediate CA with a new key. Its certificate is followed by those above it, including the root. */
  issueAuthority(options: AuthorityOptions): Promise<KeyPair>;
}

/** The usages and the lifetime of a certificate. */
export interface IssueOptions {
  /** The lifetime. */
  readonly seconds: number;
  /** The usages, with their names in `spec.usages` of CertificateSigningRequests. */
  readonly usages: readonly string[];
  /** The current time in milliseconds. Default: that of the CA's clock. */
  readonly now?: number;
}

/** The names and the key of a certificate. */
export interface PodCertificateContents extends Partial<AlternativeNames> {
  /** Subject of the certificate; empty by default. */
  readonly subject?: WritableName;
  readonly publicKey: Pick<PublicKey, 'spki'>;
}

/** The names and lifetime of a new key and certificate; `seconds` is limited to the remaining lifetime of the CA. */
export interface KeyPairOptions {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly seconds: number;
  /** Type of the key; P-256 by default. */
  readonly keyType?: KeyType;
  /** The current time in milliseconds. Default: that of the CA's clock. */
  readonly now?: number;
}

/** A certificate and its key in PEM; the key as PKCS#8. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The name, key type and lifetime of a new CA. */
export interface AuthorityOptions {
  readonly commonName: string;
  /** Type of the key; P-256 by default. */
  readonly keyType?: KeyType;
  /** Lifetime in seconds; ten years by default. */
  readonly seconds?: number;
}

/** The default lifetime of a CA: ten years. */
export const defaultAuthoritySeconds = 10 * 365 * 86_400;
const serialBytes = 16;
/** The last second that a certificate can express. */
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Creates a self-signed CA and returns its certificate and key, to be stored and loaded again. */
export const createAuthorityKeyPair = (
  options: AuthorityOptions,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<KeyPair> => newAuthority(options, clock);

/** Creates a self-signed CA in memory only. */
export const createCertificateAuthority = async (
  options: AuthorityOptions & { readonly clock?: Pick<Clock, 'now'> },
): Promise<CertificateAuthority> => {
  const clock = options.clock ?? systemClock;
  return loadCertificateAuthority({ ...(await createAuthorityKeyPair(options, clock)), clock });
};

/**
 * Loads a CA from PEM. The first certificate is the CA's, and each further one issued the one before; all except a
 * self-signed one are included in what is issued. Throws PkiError: `authority` unless the first is a CA certificate of
 * this key and the others are its chain, `parse` for a malformed certificate.
 */
export function loadCertificateAuthority(options: {
  readonly certificate: string;
  /** The key in PEM, or a key that is kept elsewhere, such as a token. */
  readonly key: string | SigningKey;
  readonly clock?: Pick<Clock, 'now'>;
}): CertificateAuthority {
  const chain = readPemCertificates(options.certificate);
  const key = typeof options.key === 'string' ? keyInMemory(readPrivateKey(options.key)) : options.key;
  const [certificate] = chain;
  if (certificate === undefined) throw new PkiError('authority', 'the certificate of the CA is missing');
  if (!certificate.isCA) throw new PkiError('authority', 'the certificate of the CA does not have the CA bit set');
  if (!certificate.signsCertificates) {
    throw new PkiError('authority', 'the key of the CA may not sign certificates, as its certificate says (keyUsage)');
  }
  if (!certificate.publicKey.spki.equals(key.spki)) {
    throw new PkiError('authority', 'certificate and private key of the CA do not match');
  }
  checkChain(chain);
  return authority({ certificate, chain, key, clock: options.clock ?? systemClock });
}

function checkChain(chain: readonly Certificate[]): void {
  for (const [at, issuer] of chain.slice(1).entries()) {
    const issued = chain[at];
    if (issued === undefined) continue;
    if (!issued.issuerDer.equals(issuer.subjectDer)) {
      throw new PkiError('authority', `certificate ${at + 1} of the CA's chain did not issue certificate ${at}`);
    }
    verifySignature(
      { algorithm: issued.signatureAlgorithm, data: issued.toBeSigned, signature: issued.signature },
      issuer.publicKey,
    );
  }
}

/**
 * Whether a certificate is self-signed. The same subject and issuer are not enough: a new key signed with the old one
 * has them, too. Key identifiers are compared rather than the signature, if there are any, because its algorithm may
 * not be supported here.
 */
function isSelfSigned(certificate: Certificate): boolean {
  const { subjectDer, issuerDer, subjectKeyId, authorityKeyId } = certificate;
  if (!subjectDer.equals(issuerDer)) return false;
  if (subjectKeyId !== undefined && authorityKeyId !== undefined) return authorityKeyId.equals(subjectKeyId);
  return isSignedBy(certificate, certificate);
}

const pemOf = (certificates: readonly Certificate[]): string => encodeCertificates(certificates.map(({ der }) => der));

/** The properties that a certificate takes from its issuer. */
interface Issuer {
  readonly certificate: Pick<Certificate, 'subjectDer' | 'subjectKeyId' | 'notAfter'>;
  readonly key: SigningKey;
}

interface Authority extends Issuer {
  readonly certificate: Certificate;
  readonly chain: readonly Certificate[];
  readonly clock: Pick<Clock, 'now'>;
}

function authority(ca: Authority): CertificateAuthority {
  const { certificate, chain, clock } = ca;
  const { notAfter: issuerNotAfter } = certificate;
  const intermediates = pemOf(chain.filter((link) => !isSelfSigned(link)));
  const above = pemOf(chain);

  const leaf = async (contents: LeafContents, options: IssueOptions, dates: Validity): Promise<string> =>
    (await issueLeaf(ca, contents, options, dates)) + intermediates;

  const datesFor = ({ seconds, now = clock.now() }: Pick<IssueOptions, 'seconds' | 'now'>): Validity =>
    validity({ now, seconds, issuerNotAfter });

  const keyPair = async (options: KeyPairOptions, names: AlternativeNames, purpose: string): Promise<KeyPair> => {
    const { commonName, organizations = [], keyType = 'P-256', seconds } = options;
    const subjectDer = writeName({ commonName, organizations });
    if (subjectDer.equals(certificate.subjectDer))
      throw new Error(`a certificate called ${commonName}, like its CA, would look self-signed to OpenSSL`);
    const key = await generateKey(keyType);
    const transport = keyType.startsWith('RSA') ? ['key encipherment'] : [];
    const usages = ['digital signature', ...transport, purpose];
    const contents = { subjectDer, names, spki: spkiOf(key) };
    return { certificate: await leaf(contents, { seconds, usages }, datesFor(options)), key: privateKeyPem(key) };
  };

  return {
    anchors: pemOf(chain.slice(-1)),
    issuer: pemOf(chain.slice(0, 1)),
    keyId: (certificate.subjectKeyId ?? keyIdentifier(certificate.publicKey.raw)).toString('hex'),
    certificate,
    firstToEnd: chain.reduce((first, link) => (link.notAfter < first.notAfter ? link : first), certificate),

    async issue(request, options) {
      const read = isRead(request) ? request : readCertificateRequest(request);
      const contents = { subjectDer: writeName(read.subject), names: read, spki: read.publicKey.spki };
      return leaf(contents, options, datesFor(options));
    },

    async issueForPod({ subject = {}, publicKey, ...names }, options) {
      const { seconds, now = clock.now() } = options;
      const contents = {
        subjectDer: writeName(subject),
        names: { ...noAlternativeNames, ...names },
        spki: publicKey.spki,
      };
      return leaf(contents, options, podValidity({ now, seconds, issuerNotAfter }));
    },

    issueClient: (options) => keyPair(options, noAlternativeNames, 'client auth'),

    issueServing: (options) => keyPair(options, { ...noAlternativeNames, ...options }, 'server auth'),

    async issueAuthority(options) {
      const created = await newAuthority(options, clock, ca);
      return { certificate: created.certificate + above, key: created.key };
    },
  };
}

/** Creates a CA with a new key, self-signed unless an issuer is given. */
async function newAuthority(
  { commonName, keyType = 'P-256', seconds = defaultAuthoritySeconds }: AuthorityOptions,
  clock: Pick<Clock, 'now'>,
  by?: Issuer,
): Promise<KeyPair> {
  const key = await generateKey(keyType);
  const subjectDer = writeName({ commonName });
  const spki = spkiOf(key);
  const issuer = by ?? {
    certificate: { subjectDer, subjectKeyId: undefined, notAfter: endOfTime },
    key: keyInMemory(key),
  };
  const { subjectKeyId: issuerKeyId, notAfter: issuerNotAfter } = issuer.certificate;
  const extensions = authorityExtensions({ keyId: keyIdentifier(readPublicKeyInfo(spki).raw), issuerKeyId });
  const dates = validity({ now: clock.now(), seconds, issuerNotAfter });
  return {
    certificate: await issueCertificate(issuer, { subjectDer, spki, extensions, dates }),
    key: privateKeyPem(key),
  };
}

/** The contents of an end-entity certificate. */
interface LeafContents {
  readonly subjectDer: Buffer;
  readonly names: AlternativeNames;
  readonly spki: Buffer;
}

function issueLeaf(
  issuer: Issuer,
  { subjectDer, names, spki }: LeafContents,
  { usages }: Pick<IssueOptions, 'usages'>,
  dates: Validity,
): Promise<string> {
  const { certificate } = issuer;
  // As in Kubernetes, a certificate with the CA's subject gets no authority key identifier.
  const issuerKeyId = subjectDer.equals(certificate.subjectDer) ? undefined : certificate.subjectKeyId;
  const extensions = leafExtensions({ usages, names, subjectDer, issuerKeyId });
  return issueCertificate(issuer, { subjectDer, spki, extensions, dates });
}

/** Issues a certificate, and returns it in PEM. */
async function issueCertificate(
  { certificate, key }: Issuer,
  {
    dates,
    ...contents
  }: {
    readonly subjectDer: Buffer;
    readonly spki: Buffer;
    readonly extensions: readonly Buffer[];
    readonly dates: Validity;
  },
): Promise<string> {
  const data = toBeSigned({
    ...contents,
    ...dates,
    issuerDer: certificate.subjectDer,
    serial: randomBytes(serialBytes),
    algorithm: key.identifier,
  });
  return encodePem('CERTIFICATE', await signedCertificate(data, key.identifier, await key.sign(data)));
}

const isRead = (request: CertificateRequest | Uint8Array | string): request is CertificateRequest =>
  typeof request !== 'string' && !(request instanceof Uint8Array);
