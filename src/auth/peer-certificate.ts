import { createHash } from 'node:crypto';
import { type Certificate, readCertificate, readPemCertificates } from '../pki/certificate.js';
import { type ChainVerdict, verifyChain } from '../pki/certificate-chain.js';
import { oids } from '../pki/oids.js';
import { PkiError } from '../pki/pki-error.js';
import { BoundedMap } from '../runtime/bounded-map.js';
import type { Clock } from '../runtime/clock.js';
import { AuthenticationError } from './authenticator.js';

/** The leaf certificate of a peer that a trusted CA has issued, directly or through intermediates. */
export interface PeerCertificate {
  readonly certificate: Certificate;
  /** SHA-256 of the DER, in lower-case hexadecimal. */
  readonly fingerprint: string;
}

interface CachedPeer {
  readonly peer: PeerCertificate;
  /** The end of its validity, in milliseconds since the epoch. */
  readonly until: number;
}

interface Refusal {
  readonly error: AuthenticationError;
  /** The end of the cached result, in milliseconds of the monotonic clock. */
  readonly until: number;
}
const refusedMs = 10_000;
const maxRemembered = 10_000;

/** The maximum size of RSA keys in clients' certificates, as in Go's TLS: larger ones make verification slow. */
const maxRsaBits = 8_192;

/**
 * Verifies peer certificates against a CA bundle that may change. Results are cached as long as the chain is valid and
 * the bundle is unchanged, so that a connection is verified once and not for every request.
 */
export class PeerVerifier {
  readonly #bundle: () => string;
  readonly #clock: Clock;
  readonly #lifetimeLeft: (seconds: number) => void;
  /** Results by the whole chain that was sent, because the same leaf without its intermediates does not verify. */
  readonly #known = new BoundedMap<string, CachedPeer>(maxRemembered);
  /** Refusals by the chain object of a connection, so that it is not verified again for each of its requests. */
  #refusals = new WeakMap<readonly Buffer[], Refusal>();
  #text: string | undefined;
  #anchors: readonly Certificate[] = [];

  /** `bundle` returns the PEM of the CAs that are trusted now. `lifetimeLeft` is called for every certificate, valid or not. */
  constructor(options: {
    readonly bundle: () => string;
    readonly clock: Clock;
    readonly lifetimeLeft?: ((seconds: number) => void) | undefined;
  }) {
    this.#bundle = options.bundle;
    this.#clock = options.clock;
    this.#lifetimeLeft = options.lifetimeLeft ?? (() => {});
  }

  /**
   * Verifies a chain and returns its leaf. Throws AuthenticationError. `chain` is in DER, leaf first, and never empty.
   */
  verify(chain: readonly Buffer[]): PeerCertificate {
    this.#readBundle();
    const [leaf = Buffer.alloc(0), ...others] = chain;
    const fingerprint = createHash('sha256').update(leaf).digest('hex');
    const now = this.#clock.now();
    const sent = others.length === 0 ? fingerprint : digestOf(chain);
    const known = this.#known.get(sent);
    const certificate = known?.peer.certificate ?? readLeaf(leaf);
    this.#lifetimeLeft((certificate.notAfter - now) / 1_000);
    if (known !== undefined && now <= known.until) return known.peer;
    this.#known.delete(sent);

    const refusal = this.#refusals.get(chain);
    if (refusal !== undefined && this.#clock.monotonic() < refusal.until) throw refusal.error;
    const verdict = this.#verdictOn(certificate, others.flatMap(readIntermediate), now);
    if ('refused' in verdict) {
      const error = new AuthenticationError(
        `verifying certificate ${describe(certificate)} failed: ${verdict.refused}`,
      );
      this.#refusals.set(chain, { error, until: this.#clock.monotonic() + refusedMs });
      throw error;
    }
    const peer = { certificate, fingerprint };
    this.#known.set(sent, { peer, until: verdict.validUntil });
    return peer;
  }

  #verdictOn(leaf: Certificate, intermediates: readonly Certificate[], now: number): ChainVerdict {
    if ([leaf, ...intermediates].some(({ publicKey: { kind, bits } }) => kind === 'RSA' && bits > maxRsaBits)) {
      return { refused: `tls: client sent certificate containing RSA key larger than ${maxRsaBits} bits` };
    }
    return verifyChain(leaf, { intermediates, anchors: this.#anchors, usage: oids.clientAuth, now });
  }

  #readBundle(): void {
    const text = this.#bundle();
    if (text === this.#text) return;
    this.#anchors = readPemCertificates(text);
    this.#text = text;
    this.#known.clear();
    this.#refusals = new WeakMap();
  }
}

function digestOf(chain: readonly Buffer[]): string {
  const hash = createHash('sha256');
  for (const der of chain) hash.update(der);
  return hash.digest('hex');
}

function readLeaf(der: Buffer): Certificate {
  try {
    return readCertificate(der);
  } catch (error) {
    if (error instanceof PkiError) throw new AuthenticationError(error.message, { cause: error });
    throw error;
  }
}

/** Parses an intermediate; unreadable ones are ignored. */
function readIntermediate(der: Buffer): readonly Certificate[] {
  try {
    return [readCertificate(der)];
  } catch (error) {
    if (error instanceof PkiError) return [];
    throw error;
  }
}

const describe = ({ serial, subjectKeyId, authorityKeyId }: Certificate): string =>
  `SN=${BigInt(`0x${serial}`)}, SKID=${pairs(subjectKeyId)}, AKID=${pairs(authorityKeyId)}`;

const pairs = (id: Buffer | undefined): string => (id?.toString('hex').toUpperCase().match(/../g) ?? []).join(':');
