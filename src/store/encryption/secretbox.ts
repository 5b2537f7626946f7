import { randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { Cipher } from './encryption.js';

const nonceLength = 24;

/** NaCl's secretbox (XSalsa20 and Poly1305) with a key of 32 bytes: random nonce, box. */
export const secretbox = (secret: Buffer): Cipher => ({
  encrypt(_, document) {
    const nonce = randomBytes(nonceLength);
    return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(document)]);
  },
  decrypt(_, encrypted) {
    try {
      const nonce = encrypted.subarray(0, nonceLength);
      return Buffer.from(xsalsa20poly1305(secret, nonce).decrypt(encrypted.subarray(nonceLength)));
    } catch (error) {
      throw new Error('the stored data was not encrypted with this key', { cause: error });
    }
  },
});
