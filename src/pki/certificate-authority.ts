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

/** Issues certificates. Fails with PkiError for what it is given; with other errors if signing itself fails. */
export interface CertificateAuthority {
  /** PEM of the certificate that verifies what is issued: the CA's own, or the last of those above it. */
  readonly anchors: string;
  /** PEM of the CA's own certificate. */
  readonly issuer: string;
  /** Hexadecimal key identifier; another key has another one. */
  readonly keyId: string;
  /** The CA's own certificate. */
  readonly certificate: Certificate;
  /** The CA's own certificate or the one above it that expires first: after that nothing verifies any more. */
  readonly firstToEnd: Certificate;
  /**
   * A certificate for a request: PEM, the certificate first, then intermediates, no root. Subject, alternative names
   * and key are the request's, written anew; usages and lifetime are those given; nothing else of the request is
   * granted. Backdated by five minutes; never outlives the CA.
   */
  issue(request: CertificateRequest | Uint8Array | string, options: IssueOptions): Promise<string>;
  /**
   * A certificate for a pod: PEM as from `issue`, with these names and this key. It begins two minutes ago, lives exactly
   * `seconds`, as the API server demands, and never outlives the CA: rejects with PkiError (`expired`) if that leaves less
   * than an hour.
   */
  issueForPod(contents: PodCertificateContents, options: IssueOptions): Promise<string>;
  /** A TLS client's certificate with a new key. Rejects with an Error if it would be called like the CA. */
  issueClient(options: KeyPairOptions): Promise<KeyPair>;
  /** A TLS server's certificate with a new key. Rejects with an Error if it would be called like the CA. */
  issueServing(options: KeyPairOptions & Partial<AlternativeNames>): Promise<KeyPair>;
  /** An intermediate CA with a new key; its certificate followed by those above it, the root included. */
  issueAuthority(options: AuthorityOptions): Promise<KeyPair>;
}

/** What a certificate is for, and how long it lives. */
export interface IssueOptions {
  /** Lifetime. */
  readonly seconds: number;
  /** Names as in CertificateSigningRequest `spec.usages`. */
  readonly usages: readonly string[];
  /** Milliseconds; default: the CA's clock. */
  readonly now?: number;
}

/** The names and the key of a certificate. */
export interface PodCertificateContents extends Partial<AlternativeNames> {
  /** Default: empty. */
  readonly subject?: WritableName;
  readonly publicKey: Pick<PublicKey, 'spki'>;
}

/** The names and lifetime of a new key and certificate; `seconds` are cut to the remaining lifetime of the CA. */
export interface KeyPairOptions {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly seconds: number;
  /** Default P-256. */
  readonly keyType?: KeyType;
  /** Milliseconds; default: the CA's clock. */
  readonly now?: number;
}

/** Both PEM; the key as PKCS#8. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** What CA is made. */
export interface AuthorityOptions {
  readonly commonName: string;
  /** Default P-256. */
  readonly keyType?: KeyType;
  /** Default: ten years. */
  readonly seconds?: number;
}

/** Lifetime of a CA where none is given: ten years. */
export const defaultAuthoritySeconds = 10 * 365 * 86_400;
const serialBytes = 16;
/** The last second that a certificate can name. */
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59);

/** A new self-signed CA as certificate and key, to be kept and loaded again. */
export const createAuthorityKeyPair = (
  options: AuthorityOptions,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<KeyPair> => newAuthority(options, clock);

/** A new self-signed CA that lives in memory only. */
export const createCertificateAuthority = async (
  options: AuthorityOptions & { readonly clock?: Pick<Clock, 'now'> },
): Promise<CertificateAuthority> => {
  const clock = options.clock ?? systemClock;
  return loadCertificateAuthority({ ...(await createAuthorityKeyPair(options, clock)), clock });
};

/**
 * A CA from PEM. Of several certificates the first is the CA's and each next one issued the one before; all but a
 * self-signed one are handed out with what is issued. Throws PkiError: `authority` unless the first is a CA certificate
 * of this key and the others are its chain, `parse` for what is no certificate.
 */
export function loadCertificateAuthority(given: {
  readonly certificate: string;
  /** PEM, or a key that is kept in another place, such as a token. */
  readonly key: string | SigningKey;
  readonly clock?: Pick<Clock, 'now'>;
}): CertificateAuthority {
  const chain = readPemCertificates(given.certificate);
  const key = typeof given.key === 'string' ? keyInMemory(readPrivateKey(given.key)) : given.key;
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
  return authority({ certificate, chain, key, clock: given.clock ?? systemClock });
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
 * One that only bears its issuer's name, as that of a new key signed with the old one does, is no root. What it says
 * of its keys counts before the signature, which may be of a kind that is not verified here.
 */
function isSelfSigned(certificate: Certificate): boolean {
  const { subjectDer, issuerDer, subjectKeyId, authorityKeyId } = certificate;
  if (!subjectDer.equals(issuerDer)) return false;
  if (subjectKeyId !== undefined && authorityKeyId !== undefined) return authorityKeyId.equals(subjectKeyId);
  return isSignedBy(certificate, certificate);
}

const pemOf = (certificates: readonly Certificate[]): string => encodeCertificates(certificates.map(({ der }) => der));

/** What a certificate gets from who issues it. */
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
      const made = await newAuthority(options, clock, ca);
      return { certificate: made.certificate + above, key: made.key };
    },
  };
}

/** A CA with a new key, issued by itself unless by another. */
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

/** The contents of a certificate that is not a CA's. */
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
  // As Kubernetes has it: who is called like the CA gets no pointer to its key.
  const issuerKeyId = subjectDer.equals(certificate.subjectDer) ? undefined : certificate.subjectKeyId;
  const extensions = leafExtensions({ usages, names, subjectDer, issuerKeyId });
  return issueCertificate(issuer, { subjectDer, spki, extensions, dates });
}

/** A certificate in PEM, signed. */
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
