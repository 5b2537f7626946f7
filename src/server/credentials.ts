import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { generateServiceAccountKey } from '../auth/service-account-keys.js';
import { readPemCertificates } from '../pki/certificate.js';
import {
  type CertificateAuthority,
  createAuthorityKeyPair,
  type KeyPair,
  loadCertificateAuthority,
} from '../pki/certificate-authority.js';
import type { Clock } from '../runtime/clock.js';

/** Keys and certificates the server itself needs: made at the first start, found again at every later one. */
export interface Credentials {
  /** Signs the server's own certificates, verifies client certificates, and is the default CA of the signers. */
  readonly ca: CertificateAuthority;
  /** PEM private key of service account tokens. */
  readonly serviceAccountKey: string;
  /** What a server that accepts connections needs besides. */
  forListening(): Promise<ListeningCredentials>;
}

export interface ListeningCredentials {
  readonly serving: KeyPair;
  /** A client certificate of the group system:masters. */
  readonly admin: KeyPair;
}

const day = 86_400;
const year = 365 * day;
/** Certificates with less than this left are made anew at start. */
const renewBefore = 30 * day * 1_000;

export interface CredentialOptions {
  /** Where they are kept; absent: in memory only. */
  readonly directory?: string | undefined;
  /** Host names and addresses clients may use, beyond the local ones. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
}

export async function openCredentials(options: CredentialOptions): Promise<Credentials> {
  const { clock } = options;
  const files = options.directory === undefined ? inMemory() : inDirectory(options.directory);
  const caPair = await files.pair('ca', async () => createAuthorityKeyPair({ commonName: 'kedge-ca' }, clock));
  const ca = loadCertificateAuthority({ ...caPair, clock });
  const names = servingNames(options.hosts);
  const stillGood = (pair: KeyPair): boolean => {
    const [certificate] = readPemCertificates(pair.certificate);
    return (
      certificate !== undefined &&
      certificate.notAfter - clock.now() > renewBefore &&
      certificate.issuerDer.equals(ca.certificate.subjectDer)
    );
  };
  return {
    ca,
    serviceAccountKey: await files.text('sa.key', () => generateServiceAccountKey()),
    async forListening() {
      const [serving, admin] = await Promise.all([
        files.pair(
          'apiserver',
          () => ca.issueServing({ commonName: 'kube-apiserver', seconds: year, ...names }),
          (pair) =>
            stillGood(pair) && [...names.dnsNames, ...names.ipAddresses].every((name) => namesOf(pair).includes(name)),
        ),
        files.pair(
          'admin',
          () => ca.issueClient({ commonName: 'kubernetes-admin', organizations: ['system:masters'], seconds: year }),
          stillGood,
        ),
      ]);
      return { serving, admin };
    },
  };
}

/** What the serving certificate is good for. */
function servingNames(hosts: readonly string[]): {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
} {
  const isIp = (host: string): boolean => /^[\d.]+$|:/.test(host);
  const unspecified = new Set(['0.0.0.0', '::']);
  const named = [...hosts.filter((host) => !unspecified.has(host))];
  const dns = [
    'localhost',
    hostname(),
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    ...named.filter((host) => !isIp(host)),
  ];
  const ip = ['127.0.0.1', '::1', ...named.filter(isIp)];
  return { dnsNames: [...new Set(dns)], ipAddresses: [...new Set(ip)] };
}

const namesOf = ({ certificate }: KeyPair): readonly string[] => {
  const [first] = readPemCertificates(certificate);
  return first === undefined ? [] : [...first.alternativeNames.dnsNames, ...first.alternativeNames.ipAddresses];
};

interface Files {
  pair(name: string, make: () => Promise<KeyPair>, good?: (pair: KeyPair) => boolean): Promise<KeyPair>;
  text(name: string, make: () => Promise<string>): Promise<string>;
}

const inMemory = (): Files => ({ pair: (_name, make) => make(), text: (_name, make) => make() });

/** `<name>.crt` and `<name>.key`; keys are readable by their owner only. */
function inDirectory(directory: string): Files {
  return {
    async pair(name, make, good = () => true) {
      // Both in one file, so that a crash never leaves halves that do not match; the readable copies are written after.
      const found = await readIfThere(join(directory, `${name}.pem`));
      const known = found === undefined ? undefined : split(found);
      if (known !== undefined && good(known)) return known;
      const made = await make();
      await writeWhole(join(directory, `${name}.pem`), `${made.certificate}${made.key}`, 0o600);
      await writeWhole(join(directory, `${name}.crt`), made.certificate, 0o644);
      return made;
    },
    async text(name, make) {
      const path = join(directory, name);
      const found = await readIfThere(path);
      if (found !== undefined) return found;
      const made = await make();
      await writeWhole(path, made, 0o600);
      return made;
    },
  };
}

function split(pem: string): KeyPair | undefined {
  const at = pem.search(/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/);
  return at < 0 ? undefined : { certificate: pem.slice(0, at), key: pem.slice(at) };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a file so that it is either there as a whole or not at all. */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  await writeFile(temporary, text, { mode, flush: true });
  await chmod(temporary, mode);
  await rename(temporary, path);
}
