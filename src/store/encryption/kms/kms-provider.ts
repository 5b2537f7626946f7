import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { internalError } from '../../../api/errors.js';
import { messageOf } from '../../../api/message-of.js';
import { BoundedMap } from '../../../runtime/bounded-map.js';
import type { Clock } from '../../../runtime/clock.js';
import type { Logger } from '../../../runtime/logger.js';
import { aesGcm, aesGcmOfSeed } from '../aes.js';
import {
  type Cipher,
  type Decrypted,
  encryptedPrefix,
  NotFetched,
  type Provider,
  type TransformationType,
} from '../encryption.js';
import type { KeyService } from './key-service.js';
import { decodeEnvelope, type EncryptedKey, type Envelope, encodeEnvelope, keyTypes } from './messages.js';

/**
 * The intervals of status requests to a working and to a failing service, and how long a data key may encrypt without a
 * new status.
 */
const healthyMs = 60_000;
const unhealthyMs = 10_000;
const validMs = 180_000;
/** Limits of the protocol, in bytes. */
const longestKeyId = 1_024;
const longestCiphertext = 1_024;
const longestAnnotations = 32_768;
/** The number of decrypted data keys that are cached; each takes a few hundred bytes, and each start creates one. */
const keysKept = 100_000;
/** The number of data keys that the service decrypts at a time, so that no request times out. */
const askedAtOnce = 16;
const seedLength = 32;

export interface KmsParts {
  readonly name: string;
  readonly service: KeyService;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the status requests, and the connection. */
  readonly signal: AbortSignal;
  readonly metrics?: KmsMetrics | undefined;
}

/** Counts the keys of a key service. */
export interface KmsMetrics {
  /** Called when the service reports its current key. */
  keyReported(id: string): void;
  /** Called when a document is encrypted or decrypted with a data key that this key encrypted. */
  keyUsed(type: TransformationType, id: string): void;
}

/** The data key that encrypts new documents. */
interface CurrentKey {
  readonly key: EncryptedKey;
  readonly cipher: Cipher;
  readonly validUntil: number;
}

/**
 * Encrypts with data keys that a key service encrypts (KEP-3299): each document by a key derived from a seed, which is
 * stored beside the document, encrypted by the service. The service encrypts one seed for each of its own keys, and
 * decrypts each seed once, so that reads and writes rarely wait for it.
 */
export class KmsProvider implements Provider {
  readonly prefix: string;
  readonly #parts: KmsParts;
  #current: CurrentKey | undefined;
  #problem: string | undefined;
  readonly #ciphers = new BoundedMap<string, Cipher>(keysKept);
  readonly #fetching = new Map<string, Promise<void>>();
  /** The promise that the next request in each lane waits for. */
  readonly #lanes: Promise<void>[] = [];
  #lane = 0;
  /** The last errors of data keys that could not be decrypted. */
  readonly #failures = new BoundedMap<string, string>(keysKept);

  constructor(parts: KmsParts) {
    this.prefix = `${encryptedPrefix}kms:v2:${parts.name}:`;
    this.#parts = parts;
  }

  /** The error of the last status request, if any. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * Requests the status, at intervals until the signal aborts. Resolves after the first response, also if it is an
   * error.
   */
  async start(): Promise<void> {
    const { clock, service, signal } = this.#parts;
    await this.#refresh();
    void (async () => {
      while (!signal.aborted) {
        await clock.sleep(this.#problem === undefined ? healthyMs : unhealthyMs, signal);
        if (!signal.aborted) await this.#refresh();
      }
      service.close();
    })();
  }

  writesAs(): string {
    return `${this.prefix}${this.#current?.key.keyId ?? ''}`;
  }

  encrypt(key: string, document: Buffer): Buffer {
    const current = this.#current;
    if (current === undefined || current.validUntil < this.#parts.clock.now()) {
      const problem = this.#problem ?? 'it did not answer in time';
      throw internalError(`the key service ${this.#parts.name} cannot be used: ${problem}`);
    }
    this.#parts.metrics?.keyUsed('to_storage', current.key.keyId);
    return encodeEnvelope({ data: current.cipher.encrypt(key, document), key: current.key, type: keyTypes.seed });
  }

  decrypt(key: string, encrypted: Buffer): Decrypted {
    const envelope = readEnvelope(encrypted);
    const id = idOf(envelope);
    const cipher = this.#ciphers.get(id);
    if (cipher === undefined) {
      const failure = this.#failures.get(id);
      const message = `failed to decrypt DEK, error: ${failure ?? 'not called yet'}`;
      throw failure === undefined ? new NotFetched(message) : new Error(message);
    }
    const { keyId } = envelope.key;
    this.#parts.metrics?.keyUsed('from_storage', keyId);
    return { document: cipher.decrypt(key, envelope.data), keptAs: `${this.prefix}${keyId}` };
  }

  prepare(encrypted: Buffer): Promise<void> | undefined {
    let envelope: Envelope;
    try {
      envelope = readEnvelope(encrypted);
    } catch {
      // The error is reported when the document is decrypted.
      return undefined;
    }
    const id = idOf(envelope);
    if (this.#ciphers.get(id) !== undefined) return undefined;
    const known = this.#fetching.get(id);
    if (known !== undefined) return known;
    const lane = this.#lane++ % askedAtOnce;
    const fetching = Promise.resolve(this.#lanes[lane])
      .then(() => this.#fetch(id, envelope))
      .finally(() => this.#fetching.delete(id));
    this.#lanes[lane] = fetching;
    this.#fetching.set(id, fetching);
    return fetching;
  }

  async #fetch(id: string, { key, type }: Envelope): Promise<void> {
    try {
      this.#ciphers.set(id, cipherOf(await this.#parts.service.decrypt(key, randomUUID()), type));
      this.#failures.delete(id);
    } catch (error) {
      this.#failures.set(id, messageOf(error));
    }
  }

  async #refresh(): Promise<void> {
    const { name, log } = this.#parts;
    const before = this.#problem;
    try {
      await this.#renew();
      this.#problem = undefined;
      if (before !== undefined) log.info({ provider: name }, 'the key service works again');
    } catch (error) {
      this.#problem = messageOf(error);
      if (this.#problem !== before) log.warn({ provider: name, err: error }, 'the key service does not work');
    }
  }

  /**
   * Creates a new data key if the service uses another key than before; otherwise extends the validity of the current
   * one.
   */
  async #renew(): Promise<void> {
    const { service, clock, metrics } = this.#parts;
    const { version, healthz, keyId } = await service.status();
    if (healthz !== 'ok') throw new Error(`got unexpected healthz status: ${healthz}`);
    if (version !== 'v2' && version !== 'v2beta1') throw new Error(`expected KMSv2 API version v2, got ${version}`);
    checkKeyId(keyId);
    metrics?.keyReported(keyId);
    const validUntil = clock.now() + validMs;
    if (this.#current?.key.keyId === keyId) {
      this.#current = { ...this.#current, validUntil };
      return;
    }
    const seed = randomBytes(seedLength);
    const key = await service.encrypt(seed, randomUUID());
    checkKey(key);
    // The service changed its key between the two requests: the next status counts.
    if (key.keyId !== keyId) throw new Error(`the status names the key ${keyId}, and ${key.keyId} was used`);
    const cipher = aesGcmOfSeed(seed);
    this.#ciphers.set(idOf({ key, type: keyTypes.seed }), cipher);
    this.#current = { key, cipher, validUntil };
    this.#parts.log.info({ provider: this.#parts.name, keyId }, 'using a new data key');
  }
}

/** @throws Error if it is not an envelope, or exceeds a limit */
function readEnvelope(encrypted: Buffer): Envelope {
  const envelope = decodeEnvelope(encrypted);
  if (envelope.type !== keyTypes.key && envelope.type !== keyTypes.seed)
    throw new Error(`unknown encryptedDEKSourceType: ${envelope.type}`);
  if (envelope.data.length === 0) throw new Error('encrypted data is empty');
  checkKey(envelope.key);
  return envelope;
}

function checkKey({ ciphertext, keyId, annotations }: EncryptedKey): void {
  if (ciphertext.length === 0) throw new Error('encrypted DEK source is empty');
  if (ciphertext.length > longestCiphertext) {
    throw new Error(
      `encrypted DEK source is ${ciphertext.length} bytes, which exceeds the max size of ${longestCiphertext}`,
    );
  }
  checkKeyId(keyId);
  let size = 0;
  for (const [name, value] of annotations) size += Buffer.byteLength(name) + value.length;
  if (size > longestAnnotations)
    throw new Error(`total size of annotations is ${size}, which exceeds the max size of ${longestAnnotations}`);
}

function checkKeyId(keyId: string): void {
  if (keyId === '') throw new Error('keyID is empty');
  const length = Buffer.byteLength(keyId);
  if (length > longestKeyId) throw new Error(`keyID is ${length} bytes, which exceeds the max size of ${longestKeyId}`);
}

function cipherOf(plaintext: Buffer, type: number): Cipher {
  if (type === keyTypes.key) {
    if (![16, 24, 32].includes(plaintext.length)) throw new Error(`invalid key size ${plaintext.length}`);
    return aesGcm(plaintext);
  }
  if (plaintext.length < seedLength) throw new Error(`invalid seed length ${plaintext.length} used for key generation`);
  return aesGcmOfSeed(plaintext);
}

/** Returns an identifier of an encrypted data key. */
function idOf({ key: { ciphertext, keyId, annotations }, type }: Pick<Envelope, 'key' | 'type'>): string {
  const hash = createHash('sha256');
  const part = (bytes: Buffer): void => void hash.update(`${bytes.length}:`).update(bytes);
  part(ciphertext);
  part(Buffer.from(keyId));
  for (const [name, value] of [...annotations].sort(([a], [b]) => (a < b ? -1 : 1))) {
    part(Buffer.from(name));
    part(value);
  }
  return `${type}:${hash.digest('base64')}`;
}
