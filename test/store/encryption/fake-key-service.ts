import { aesGcm } from '../../../src/store/encryption/aes.js';
import type { KeyService } from '../../../src/store/encryption/kms/key-service.js';

/** A key service that keeps its keys in memory, and records requests. */
export class FakeKeyService implements KeyService {
  readonly asked: string[] = [];
  keyId = 'key-1';
  healthz = 'ok';
  version = 'v2';
  /** The error of its responses, if they fail. */
  failure: Error | undefined;
  /** Awaited before each response. */
  held: Promise<void> = Promise.resolve();

  async status() {
    await this.#ask('status');
    const { version, healthz, keyId } = this;
    return { version, healthz, keyId };
  }

  async encrypt(plaintext: Buffer) {
    await this.#ask(`encrypt ${this.keyId}`);
    const { keyId } = this;
    const annotations = new Map([['local.example.com', Buffer.from([1, 2, 255])]]);
    return { ciphertext: this.#cipher(keyId).encrypt(keyId, plaintext), keyId, annotations };
  }

  async decrypt({ ciphertext, keyId, annotations }: Parameters<KeyService['decrypt']>[0]) {
    await this.#ask(`decrypt ${keyId} ${[...annotations.keys()]}`);
    return this.#cipher(keyId).decrypt(keyId, ciphertext);
  }

  close(): void {
    this.asked.push('close');
  }

  #cipher(keyId: string) {
    return aesGcm(Buffer.alloc(32, keyId));
  }

  async #ask(what: string): Promise<void> {
    this.asked.push(what);
    await this.held;
    if (this.failure !== undefined) throw this.failure;
  }
}
