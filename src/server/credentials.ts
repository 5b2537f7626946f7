import { randomBytes } from 'node:crypto';
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../api/message-of.js';
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
import { certificateBlocks, encodeCertificates } from '../pki/pem.js';
import { isSignedBy } from '../pki/signature.js';
import { tellCaEnd } from '../pki/signers/ca-end.js';
import { keyPairProblem } from '../resources/secrets/key-pair.js';
import { type Clock, systemClock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { makeDirectory } from '../runtime/make-directory.js';
import { syncDirectory } from '../runtime/sync-directory.js';
import type { OpenedServingFiles, Serving } from './serving-files.js';
import { servingNames } from './serving-names.js';

/** Keys and certificates the server itself needs: made at the first start, found again at every later one. */
export interface Credentials {
  /** Signs the server's own certificates, verifies client certificates, and is the default CA of the signers. */
  readonly ca: CertificateAuthority;
  /** PEM of what clients verify the server by: the end of its own CA, or what belongs to the certificate it was given. */
  servingAnchors(): string;
  /** PEM private key of service account tokens. */
  readonly serviceAccountKey: string;
  /**
   * What a server that accepts connections needs besides: what there is, and anew what has not long to go. Fails with one
   * sentence if the CA has come to its end.
   */
  forListening(): Promise<ListeningCredentials>;
  /** Warns of a CA that is not valid, or not for long: done once when they are opened. */
  warnOfCa(): void;
  /**
   * Told as PEM whose client certificates servers of this store accept. Warns of what was made here at a first start if
   * it was another server's, too, which began at the same time.
   */
  othersAccept(clientCas: string): void;
}

export interface ListeningCredentials {
  readonly serving: Serving;
  /** A client certificate of the group system:masters. */
  readonly admin: KeyPair;
}

const day = 86_400;
const year = 365 * day;
/** Certificates with less than this left are made anew. */
const renewBefore = 30 * day * 1_000;

export interface CredentialOptions {
  /** Where they are kept; absent: in memory only. */
  readonly directory?: string | undefined;
  /** Names and addresses clients may use, beyond the local ones; `0.0.0.0` and `::` for those of the machine. */
  readonly hosts: readonly string[];
  /** Shown in the place of a serving certificate of its own. */
  readonly serving?: OpenedServingFiles | undefined;
  /** What others rely on: somebody misses it where it is made anew beside a store that has been used. */
  readonly reliedOn: readonly ReliedOn[];
  /** Nothing is in the store yet. */
  readonly isNew: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What others rely on, and what comes of it where another one takes its place. */
type ReliedOn = 'ca' | 'sa.key';
const missed: Readonly<Record<ReliedOn, string>> = {
  ca: 'made another CA, for there was none beside this store: whoever trusts the one before refuses this server, and its certificates are refused here',
  'sa.key':
    'made another key for service account tokens, for there was none beside this store: what the one before has signed is refused',
};

export async function openCredentials(options: CredentialOptions): Promise<Credentials> {
  const { clock, log, serving: given } = options;
  const made = new Map<ReliedOn, string>();
  const warnOfMade = (): void => {
    for (const [name, file] of made) log.warn({ file }, missed[name]);
    made.clear();
  };
  const onMade = (name: ReliedOn, file: string): void => {
    if (options.reliedOn.includes(name)) made.set(name, file);
    if (!options.isNew) warnOfMade();
  };
  const files = options.directory === undefined ? inMemory() : inDirectory(options.directory, onMade);
  const ca = await files.keep(
    'ca',
    () => {
      const { now, seconds } = lifetime(clock, defaultAuthoritySeconds);
      return createAuthorityKeyPair({ commonName: 'kedge-ca', seconds }, { now: () => now });
    },
    (pair) => loadCertificateAuthority({ ...pair, clock }),
  );
  const warnOfCa = (): void =>
    tellCaEnd(ca, { clock, log, about: { file: files.fileOf('ca') }, littleMs: year * 1_000 });
  warnOfCa();
  const stillGood = (pair: KeyPair): boolean => {
    const [certificate] = readPemCertificates(pair.certificate);
    return (
      certificate !== undefined &&
      // The clock may have been ahead when it was made. Where it is behind now, as the CA shows, another would be no better.
      (certificate.notBefore <= clock.now() || clock.now() < ca.certificate.notBefore) &&
      certificate.notAfter - clock.now() > renewBefore &&
      // By the key and not by the name alone: every CA made here has the same.
      certificate.issuerDer.equals(ca.certificate.subjectDer) &&
      isSignedBy(certificate, ca.certificate) &&
      keyPairProblem(Buffer.from(pair.certificate), Buffer.from(pair.key)) === undefined
    );
  };
  const ownServing = async (): Promise<Serving> => {
    const names = servingNames(options.hosts, { hostname: hostname(), interfaces: () => interfaces(log) });
    const pair = await files.pair(
      'apiserver',
      () => ca.issueServing({ commonName: 'kube-apiserver', ...lifetime(clock, year), ...names }),
      (kept) =>
        stillGood(kept) && [...names.dnsNames, ...names.ipAddresses].every((name) => namesOf(kept).includes(name)),
    );
    return { certificate: shownChain(pair, ca), key: pair.key, anchors: ca.anchors };
  };
  return {
    ca,
    servingAnchors: () => given?.current().anchors ?? ca.anchors,
    serviceAccountKey: await files.text('sa.key', () => generateServiceAccountKey(), isSigningKey),
    warnOfCa,
    othersAccept(clientCas) {
      if (clientCas !== '' && !clientCas.includes(encodeCertificates([ca.certificate.der]))) warnOfMade();
    },
    async forListening() {
      const { notAfter } = ca.certificate;
      if (clock.now() >= notAfter) {
        const where = files.fileOf('ca') ?? 'memory';
        throw new Error(`the CA in ${where} came to its end at ${timestamp(notAfter)}: put another one in its place`);
      }
      const pairs = [
        given?.current() ?? ownServing(),
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
      // Where one cannot be read, nothing is still being written when that is told.
      await Promise.allSettled(pairs);
      const [serving, admin] = await Promise.all(pairs);
      return { serving, admin };
    },
  };
}

/**
 * The chain of a serving certificate to its end, as kube-apiserver sends it: OpenSSL would look for the rest in each
 * handshake, and verify it. An intermediate CA with nothing above it is in the chain already.
 */
export const shownChain = (
  { certificate }: Pick<KeyPair, 'certificate'>,
  { anchors }: Pick<CertificateAuthority, 'anchors'>,
): string => (certificate.endsWith(anchors) ? certificate : certificate + anchors);

/** None where the system does not tell. */
function interfaces(log: Logger): ReturnType<typeof networkInterfaces> {
  try {
    return networkInterfaces();
  } catch (error) {
    log.warn(
      { err: error },
      'the addresses of this machine cannot be found: its certificate has those of servingNames',
    );
    return {};
  }
}

/** So long by the server's clock and by that of the system, too, by which clients judge: a test's clock tells another time. */
function lifetime(clock: Clock, seconds: number): { readonly now: number; readonly seconds: number } {
  const times = [clock.now(), systemClock.now()];
  const now = Math.min(...times);
  return { now, seconds: seconds + (Math.max(...times) - now) / 1_000 };
}

const namesOf = ({ certificate }: KeyPair): readonly string[] => {
  const [first] = readPemCertificates(certificate);
  return first === undefined ? [] : [...first.alternativeNames.dnsNames, ...first.alternativeNames.ipAddresses];
};

interface Files {
  /** Where a pair is kept; undefined: in memory. */
  fileOf(name: string): string | undefined;
  /** Made anew if it is no good, or cannot be read. */
  pair(name: string, make: () => Promise<KeyPair>, good: (pair: KeyPair) => boolean): Promise<KeyPair>;
  /** Never made anew: fails with one sentence if what is there cannot be read. */
  keep<T>(name: 'ca', make: () => Promise<KeyPair>, read: (pair: KeyPair) => T): Promise<T>;
  /** As `keep`, for a text; answers the text. */
  text(name: 'sa.key', make: () => Promise<string>, good: (text: string) => boolean): Promise<string>;
}

function inMemory(): Files {
  const pairs = new Map<string, KeyPair>();
  return {
    fileOf: () => undefined,
    async pair(name, make, good) {
      const known = pairs.get(name);
      if (known !== undefined && good(known)) return known;
      const made = await make();
      pairs.set(name, made);
      return made;
    },
    keep: async (_name, make, read) => read(await make()),
    text: (_name, make) => make(),
  };
}

/** `<name>.crt` and `<name>.key`; keys are readable by their owner only. */
function inDirectory(directory: string, onMade: (name: ReliedOn, file: string) => void): Files {
  // Both in one file, so that a crash never leaves halves that do not match; the readable copies are written after.
  const fileOf = (name: string): string => join(directory, `${name}.pem`);
  const write = async (name: string, made: KeyPair): Promise<KeyPair> => {
    await writeWhole(fileOf(name), `${made.certificate}${made.key}`, 0o600);
    return copied(name, made);
  };
  const copied = async (name: string, pair: KeyPair): Promise<KeyPair> => {
    const path = join(directory, `${name}.crt`);
    if ((await readIfThere(path)) !== pair.certificate) await writeWhole(path, pair.certificate, 0o644);
    return pair;
  };
  return {
    fileOf,
    async pair(name, make, good) {
      const found = await readIfThere(fileOf(name));
      const known = found === undefined ? undefined : split(found);
      return known !== undefined && holds(() => good(known)) ? copied(name, known) : write(name, await make());
    },
    async keep(name, make, read) {
      const found = await readIfThere(fileOf(name));
      if (found === undefined) {
        const made = await write(name, await make());
        onMade(name, fileOf(name));
        return read(made);
      }
      const pair = split(found);
      const kept = undamaged(fileOf(name), () => read(pair));
      await copied(name, pair);
      return kept;
    },
    async text(name, make, good) {
      const path = join(directory, name);
      const found = await readIfThere(path);
      if (found !== undefined) {
        if (!good(found)) throw new Error(`${path} is damaged: it holds no private key`);
        return found;
      }
      const made = await make();
      await writeWhole(path, made, 0o600);
      onMade(name, path);
      return made;
    },
  };
}

const isSigningKey = (pem: string): boolean => holds(() => readSigningKey(pem) !== undefined);

const holds = (condition: () => boolean): boolean => {
  try {
    return condition();
  } catch {
    return false;
  }
};

/** What clients rely on is not replaced silently. */
function undamaged<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${path} is damaged: ${messageOf(cause)}`, { cause });
  }
}

const privateKey = /-----BEGIN ((?:[A-Z]+ )?PRIVATE KEY)-----[\s\S]*?-----END \1-----\n?/;

/** The key may stand anywhere among the certificates. Written anew, these have nothing of it, whatever is damaged. */
function split(pem: string): KeyPair {
  return { certificate: encodeCertificates(certificateBlocks(pem)), key: privateKey.exec(pem)?.[0] ?? '' };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cannot('read', path, error);
  }
}

/** Writes a file so that it is either there as a whole or not at all. */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await makeDirectory(dirname(path));
    await writeFile(temporary, text, { mode, flush: true });
    await chmod(temporary, mode);
    await rename(temporary, path);
  } catch (error) {
    // It may hold a key. Where it cannot be removed either, the first failure is the one to tell.
    await rm(temporary, { force: true }).catch(() => {});
    throw cannot('write', path, error);
  }
  // The directory may be new itself. What was written is there in any case, until the power fails.
  for (const directory of [dirname(path), dirname(dirname(path))]) await syncDirectory(directory).catch(() => {});
}

/** By itself the system does not always say of which file it speaks. */
function cannot(act: 'read' | 'write', path: string, cause: unknown): Error {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new Error(`cannot ${act} ${path}: ${code ?? message}`, { cause });
}
