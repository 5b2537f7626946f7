import { followCaSecret, type SecretCa } from '../../controllers/csr-signer/secret-ca.js';
import { namespacedName } from '../../controllers/trust-distributor/trust-bundle.js';
import type { Client } from '../client/client.js';
import { type CertificateAuthority, loadCertificateAuthority } from '../pki/certificate-authority.js';
import { warnCaExpiry } from '../pki/signers/ca-expiry.js';
import { openCaFiles } from '../pki/signers/ca-files.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { readText } from '../runtime/text-source.js';
import type { FilesSource, SecretSource, TokenSource } from './signing-options.js';

/** The source of the signatures of a signer, of any kind. */
export interface Authority {
  current(): CertificateAuthority;
  anchors(): string;
  issuers(): string;
}

export interface AuthorityParts {
  /** Returns a client that reads the Secrets of CAs. */
  readonly client?: (() => Client) | undefined;
  /** The CAs in Secrets that are followed already. */
  readonly secrets: Map<string, SecretCa>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Opens the CA of a signer. */
export async function openAuthority(
  signer: FilesSource | SecretSource | TokenSource,
  parts: AuthorityParts,
): Promise<Authority> {
  const { clock, log, signal } = parts;
  if ('secret' in signer) return openSecret(signer, parts);
  if ('pkcs11' in signer) {
    const { openPkcs11Key } = await import('../pki/signers/pkcs11-key.js');
    const { pinFile, ...token } = signer.pkcs11;
    const [certificate, pin] = await Promise.all([readText(signer.certificateFile), readText(pinFile)]);
    const key = await openPkcs11Key({ ...token, pin: pin.split('\n')[0]?.trim() ?? '', certificate });
    signal.addEventListener('abort', () => key.close(), { once: true });
    const ca = loadCertificateAuthority({ certificate, key, clock });
    warnCaExpiry(ca, { clock, log, about: { file: signer.certificateFile } });
    return authorityOf(() => ca);
  }
  const files = await openCaFiles({ ...signer, clock, log, signal });
  return authorityOf(() => files.current());
}

const authorityOf = (current: () => CertificateAuthority): Authority => ({
  current,
  anchors: () => current().anchors,
  issuers: () => current().issuer,
});

/** Opens the CA in a Secret, which several signers may share. */
function openSecret({ secret }: SecretSource, { client, secrets, clock, log, signal }: AuthorityParts): Authority {
  const name = namespacedName(secret);
  if (name === undefined) throw new Error(`${JSON.stringify(secret)} is not namespace/name`);
  if (client === undefined) throw new Error('a CA in a Secret needs a client');
  const ca = secrets.get(secret) ?? followCaSecret(client(), name, { clock, log, signal });
  secrets.set(secret, ca);
  return ca;
}
