import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Keys, requests and certificates created and checked with the openssl command, as a user would. */

export interface RequestFiles {
  /** The paths of key and request. */
  readonly key: string;
  readonly request: string;
}

const openssl = (...args: readonly string[]): string =>
  execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Creates a key and a request for this subject, such as `/O=system:nodes/CN=system:node:n1`. */
export function opensslRequest(folder: string, name: string, subject: string): RequestFiles {
  const files = { key: join(folder, `${name}.key`), request: join(folder, `${name}.csr`) };
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-new', ...curve, '-subj', subject, '-keyout', files.key, '-out', files.request);
  return files;
}

export interface AuthorityFiles {
  readonly key: string;
  readonly certificate: string;
}

export function opensslAuthority(folder: string, name: string): AuthorityFiles {
  const files = { key: join(folder, `${name}.key`), certificate: join(folder, `${name}.crt`) };
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const usage = ['-addext', 'keyUsage=critical,keyCertSign'];
  openssl(
    'req',
    '-x509',
    ...curve,
    '-days',
    '30',
    '-subj',
    `/CN=${name}`,
    ...usage,
    '-keyout',
    files.key,
    '-out',
    files.certificate,
  );
  return files;
}

export interface SeenCertificate {
  readonly subject: string;
  readonly serial: string;
  readonly usages: string;
  readonly seconds: number;
}

/** Verifies a certificate with openssl against these anchors, for TLS clients; returns what openssl reads in it. */
export function opensslVerify(folder: string, certificate: string, anchors: string): SeenCertificate {
  const [file, anchorsFile] = [join(folder, 'verify.crt'), join(folder, 'verify-anchors.crt')];
  writeFileSync(file, certificate);
  writeFileSync(anchorsFile, anchors);
  const outcome = openssl('verify', '-x509_strict', '-purpose', 'sslclient', '-CAfile', anchorsFile, file);
  if (outcome.trim() !== `${file}: OK`) throw new Error(outcome);
  const text = openssl(
    'x509',
    '-in',
    file,
    '-noout',
    '-subject',
    '-serial',
    '-startdate',
    '-enddate',
    '-ext',
    'keyUsage,extendedKeyUsage',
  );
  const field = (name: string): string => new RegExp(`^${name} *= *(.*)$`, 'm').exec(text)?.[1] ?? '';
  const at = (name: string): number => Date.parse(field(name));
  return {
    subject: field('subject').replaceAll(' = ', '='),
    serial: field('serial').toLowerCase(),
    usages: text
      .split('\n')
      .filter((line) => line.startsWith('    '))
      .map((line) => line.trim())
      .join('; '),
    seconds: (at('notAfter') - at('notBefore')) / 1_000,
  };
}

export const base64OfFile = (path: string): string => readFileSync(path).toString('base64');
