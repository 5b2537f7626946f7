import { type Secret, Secrets } from '../../src/api/kinds/secret.js';
import type { Client } from '../../src/client/client.js';
import { openObjectCache } from '../../src/client/object-cache.js';
import { anchorsOf, issuersOf, readCaState } from '../../src/pki/ca-state.js';
import { type CertificateAuthority, loadCertificateAuthority } from '../../src/pki/certificate-authority.js';
import { PkiError } from '../../src/pki/pki-error.js';
import { warnCaExpiry } from '../../src/pki/signers/ca-expiry.js';
import type { Clock } from '../../src/runtime/clock.js';
import type { Logger } from '../../src/runtime/logger.js';

/** A CA in a Secret (`tls.crt`, `tls.key`) that may be replaced at any time. */
export interface SecretCa {
  /** Returns the latest valid CA. Throws an Error while there has been none. */
  current(): CertificateAuthority;
  /**
   * Returns the certificates, in PEM, that verify those of the CA, past and future ones too; empty while there has been
   * none.
   */
  anchors(): string;
  /** Returns the CA's own certificates in PEM, past and future ones too; empty while there has been none. */
  issuers(): string;
  /** Resolves when the Secret was read for the first time, or the signal aborted. */
  readonly ready: Promise<void>;
}

/**
 * Follows a Secret until the signal aborts. If it is deleted, holds no CA, or a certificate and key that do not match,
 * or its CA was replaced without being announced, the previous CA stays in use.
 */
export function followCaSecret(
  client: Client,
  secret: { readonly namespace: string; readonly name: string },
  { signal, clock, log }: { readonly signal: AbortSignal; readonly clock: Clock; readonly log: Logger },
): SecretCa {
  const object = `${secret.namespace}/${secret.name}`;
  let known: { readonly ca: CertificateAuthority; readonly anchors: string; readonly issuers: string } | undefined;
  let problem = 'it was not found';

  const take = ({ data = {} }: Secret): void => {
    try {
      const state = readCaState(data);
      const { certificate, key } = state.signing;
      const ca = loadCertificateAuthority({ certificate, key, clock });
      if (ca.keyId !== known?.ca.keyId) log.info({ object, keyId: ca.keyId }, 'loaded the CA from its Secret');
      known = { ca, anchors: anchorsOf(state), issuers: issuersOf(state) };
      // A CA with rotation is replaced in time, unless the rotation is held up.
      const littleMs = state.longestSeconds > 0 ? state.longestSeconds * 1_000 : undefined;
      warnCaExpiry(ca, { clock, log, about: { object }, littleMs });
    } catch (error) {
      if (!(error instanceof PkiError)) throw error;
      problem = error.message;
      log.warn(
        { object, err: error },
        known === undefined ? 'the Secret contains no CA' : 'still using the previous CA: the Secret contains none',
      );
    }
  };

  const fieldSelector = `metadata.name=${secret.name}`;
  const cache = openObjectCache(client, Secrets, { namespace: secret.namespace, fieldSelector, signal, clock, log });
  cache.changes.subscribe(({ type, object: changed }) => {
    if (type !== 'deleted') take(changed);
    else log.warn({ object }, 'still using the previous CA: its Secret was deleted');
  });
  return {
    current() {
      if (known === undefined) throw new Error(`no CA in the Secret ${object}: ${problem}`);
      return known.ca;
    },
    anchors: () => known?.anchors ?? '',
    issuers: () => known?.issuers ?? '',
    ready: cache.synced,
  };
}
