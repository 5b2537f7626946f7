import { hostname, networkInterfaces } from 'node:os';
import { timestamp } from '../api/time.js';
import { generateServiceAccountKey, readSigningKey } from '../auth/service-account-keys.js';
import { readPemCertificates } from '../pki/certificate.js';
import {
  type CertificateAuthority,
  createAuthorityKeyPair,
  defaultAuthoritySeconds,
  type KeyPair,
  loadCertificateAuthority,
} from '../pki/certificate-authority.js';
import { encodeCertificates } from '../pki/pem.js';
import { isSignedBy } from '../pki/signature.js';
import { warnCaExpiry } from '../pki/signers/ca-expiry.js';
import { keyPairProblem } from '../resources/secrets/key-pair.js';
import { type Clock, systemClock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { filesInDirectory, filesInMemory, holds, type ReliedOnFile } from './credential-files.js';
import type { OpenedServingFiles, Serving } from './serving-files.js';
import { servingNames } from './serving-names.js';

/** The keys and certificates of the server itself, which are created at the first start and used at every later one. */
export interface Credentials {
  /**
   * The CA that signs the certificates of the server, verifies client certificates, and is the default CA of the
   * signers.
   */
  readonly ca: CertificateAuthority;
  /**
   * Returns the anchors in PEM by which clients verify the server: that of its own CA, or those of the configured
   * certificate.
   */
  servingAnchors(): string;
  /** The private key of service account tokens in PEM. */
  readonly serviceAccountKey: string;
  /**
   * Returns the additional credentials of a server that accepts connections: existing ones, which are renewed if they
   * expire soon. Fails with an error of one sentence if the CA has expired.
   */
  forListening(): Promise<ListeningCredentials>;
  /** Logs a warning if a CA is not valid or expires soon. Called once when the credentials are opened. */
  warnOfCa(): void;
  /**
   * Called with the CAs in PEM whose client certificates the servers with this store accept. Logs a warning if another
   * server that was started for the first time at the same moment has created credentials of its own.
   */
  othersAccept(clientCas: string): void;
}

export interface ListeningCredentials {
  readonly serving: Serving;
  /** A client certificate in the group system:masters. */
  readonly admin: KeyPair;
}

const day = 86_400;
const year = 365 * day;
/** The remaining lifetime below which certificates are renewed, in milliseconds. */
const renewBefore = 30 * day * 1_000;

export interface CredentialOptions {
  /** The directory of the credentials; if undefined, they are only in memory. */
  readonly directory?: string | undefined;
  /**
   * The names and addresses that clients may use, in addition to local ones; `0.0.0.0` and `::` mean those of the
   * machine.
   */
  readonly hosts: readonly string[];
  /** The configured serving certificate, which is used instead of one of the server's own CA. */
  readonly serving?: OpenedServingFiles | undefined;
  /** The files whose re-creation is logged as a warning if the store has been used before. */
  readonly reliedOn: readonly ReliedOnFile[];
  /** Whether the store is empty. */
  readonly isNew: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What stops working when one of these files is replaced. */
const missed: Readonly<Record<ReliedOnFile, string>> = {
  ca: 'created a new CA, because none was found beside this store: clients that trust the previous one reject this server, and its certificates are rejected here',
  'sa.key':
    'created a new key for service account tokens, because none was found beside this store: tokens signed with the previous one are rejected',
};

export async function openCredentials(options: CredentialOptions): Promise<Credentials> {
  const { clock, log, serving: givenServing } = options;
  const createdFiles = new Map<ReliedOnFile, string>();
  const warnOfCreated = (): void => {
    for (const [name, file] of createdFiles) log.warn({ file }, missed[name]);
    createdFiles.clear();
  };
  const onMade = (name: ReliedOnFile, file: string): void => {
    if (options.reliedOn.includes(name)) createdFiles.set(name, file);
    if (!options.isNew) warnOfCreated();
  };
  const files = options.directory === undefined ? filesInMemory() : filesInDirectory(options.directory, onMade);
  const ca = await files.keep(
    'ca',
    () => {
      const { now, seconds } = lifetime(clock, defaultAuthoritySeconds);
      return createAuthorityKeyPair({ commonName: 'kedge-ca', seconds }, { now: () => now });
    },
    (pair) => loadCertificateAuthority({ ...pair, clock }),
  );
  const warnOfCa = (): void =>
    warnCaExpiry(ca, { clock, log, about: { file: files.fileOf('ca') }, littleMs: year * 1_000 });
  warnOfCa();
  const stillGood = (pair: KeyPair): boolean => isStillGood(pair, ca, clock.now());
  const ownServing = async (): Promise<Serving> => {
    const names = servingNames(options.hosts, { hostname: hostname(), interfaces: () => interfaces(log) });
    const pair = await files.pair(
      'apiserver',
      () => ca.issueServing({ commonName: 'kube-apiserver', ...lifetime(clock, year), ...names }),
      (certificate) =>
        stillGood(certificate) &&
        [...names.dnsNames, ...names.ipAddresses].every((name) => namesOf(certificate).includes(name)),
    );
    return { certificate: shownChain(pair, ca), key: pair.key, anchors: ca.anchors };
  };
  return {
    ca,
    servingAnchors: () => givenServing?.current().anchors ?? ca.anchors,
    serviceAccountKey: await files.text('sa.key', () => generateServiceAccountKey(), isSigningKey),
    warnOfCa,
    othersAccept(clientCas) {
      if (clientCas !== '' && !clientCas.includes(encodeCertificates([ca.certificate.der]))) warnOfCreated();
    },
    async forListening() {
      const { notAfter } = ca.certificate;
      if (clock.now() >= notAfter) {
        const where = files.fileOf('ca') ?? 'memory';
        throw new Error(`the CA in ${where} expired at ${timestamp(notAfter)}: replace it`);
      }
      const pairs = [
        givenServing?.current() ?? ownServing(),
        files.pair(
          'admin',
          () =>
            ca.issueClient({
              commonName: 'kubernetes-admin',
              organizations: ['system:masters'],
              ...lifetime(clock, year),
            }),
          stillGood,
        ),
      ] as const;
      // If one of them cannot be read, all writes are complete when the error is thrown.
      await Promise.allSettled(pairs);
      const [serving, admin] = await Promise.all(pairs);
      return { serving, admin };
    },
  };
}

/** Whether the certificate and key of a pair match, were issued by this CA, and need not be renewed yet. */
function isStillGood(pair: KeyPair, ca: CertificateAuthority, now: number): boolean {
  const [certificate] = readPemCertificates(pair.certificate);
  return (
    certificate !== undefined &&
    // The clock may have been ahead when the certificate was issued. If it is behind now, as the CA shows, a new
    // certificate would be no better.
    (certificate.notBefore <= now || now < ca.certificate.notBefore) &&
    certificate.notAfter - now > renewBefore &&
    // Compared by key, because all CAs that are created here have the same name.
    certificate.issuerDer.equals(ca.certificate.subjectDer) &&
    isSignedBy(certificate, ca.certificate) &&
    keyPairProblem(Buffer.from(pair.certificate), Buffer.from(pair.key)) === undefined
  );
}

/**
 * Returns the complete chain of a serving certificate, as kube-apiserver sends it: otherwise OpenSSL would look for the
 * rest in each handshake, and verify it. An intermediate CA with nothing above it is in the chain already.
 */
export const shownChain = (
  { certificate }: Pick<KeyPair, 'certificate'>,
  { anchors }: Pick<CertificateAuthority, 'anchors'>,
): string => (certificate.endsWith(anchors) ? certificate : certificate + anchors);

/** Returns the network interfaces; none if the system does not report them. */
function interfaces(log: Logger): ReturnType<typeof networkInterfaces> {
  try {
    return networkInterfaces();
  } catch (error) {
    log.warn(
      { err: error },
      'could not list the addresses of this machine: the certificate has only those of servingNames',
    );
    return {};
  }
}

/**
 * Returns a lifetime that covers `seconds` by the clock of the server and by that of the system, which clients use: the
 * clock of a test may differ.
 */
function lifetime(clock: Clock, seconds: number): { readonly now: number; readonly seconds: number } {
  const times = [clock.now(), systemClock.now()];
  const now = Math.min(...times);
  return { now, seconds: seconds + (Math.max(...times) - now) / 1_000 };
}

const namesOf = ({ certificate }: KeyPair): readonly string[] => {
  const [first] = readPemCertificates(certificate);
  return first === undefined ? [] : [...first.alternativeNames.dnsNames, ...first.alternativeNames.ipAddresses];
};

const isSigningKey = (pem: string): boolean => holds(() => readSigningKey(pem) !== undefined);
