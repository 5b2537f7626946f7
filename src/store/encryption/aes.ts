import { type CipherGCMTypes, createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { strictUtf8 } from '../../api/utf8-text.js';
import type { Cipher } from './encryption.js';

/** The encryption of Kubernetes' providers that use AES; keys have 16, 24 or 32 bytes. */

const nonceLength = 12;
const tagLength = 16;
const blockLength = 16;

const tooShort = (): Error => new Error('the stored data was shorter than the required size');
const decryptionFailed = (cause: unknown): Error =>
  new Error('the stored data was not encrypted with this key', { cause });

/**
 * AES-GCM: random nonce, ciphertext, tag. The store's key is authenticated, so that a ciphertext cannot be moved to
 * another object.
 */
export function aesGcm(secret: Buffer): Cipher {
  const algorithm = `aes-${secret.length * 8}-gcm` as CipherGCMTypes;
  return {
    encrypt(key, document) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv(algorithm, secret, nonce, { authTagLength: tagLength });
      cipher.setAAD(Buffer.from(key));
      return Buffer.concat([nonce, cipher.update(document), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt(key, encrypted) {
      if (encrypted.length < nonceLength + tagLength) throw tooShort();
      const end = encrypted.length - tagLength;
      const decipher = createDecipheriv(algorithm, secret, encrypted.subarray(0, nonceLength), {
        authTagLength: tagLength,
      });
      decipher.setAAD(Buffer.from(key));
      decipher.setAuthTag(encrypted.subarray(end));
      try {
        return Buffer.concat([decipher.update(encrypted.subarray(nonceLength, end)), decipher.final()]);
      } catch (error) {
        throw decryptionFailed(error);
      }
    },
  };
}

/**
 * AES-CBC with PKCS #7 padding: random initialization vector, ciphertext. Without authentication, one of 256 documents of
 * another key has a valid padding; so the result must be JSON, as every document is.
 */
export function aesCbc(secret: Buffer): Cipher {
  const algorithm = `aes-${secret.length * 8}-cbc`;
  return {
    encrypt(_, document) {
      const vector = randomBytes(blockLength);
      const cipher = createCipheriv(algorithm, secret, vector);
      return Buffer.concat([vector, cipher.update(document), cipher.final()]);
    },
    decrypt(_, encrypted) {
      if (encrypted.length < blockLength) throw tooShort();
      const decipher = createDecipheriv(algorithm, secret, encrypted.subarray(0, blockLength));
      try {
        const document = Buffer.concat([decipher.update(encrypted.subarray(blockLength)), decipher.final()]);
        JSON.parse(strictUtf8.decode(document));
        return document;
      } catch (error) {
        throw decryptionFailed(error);
      }
    },
  };
}

const infoLength = 32;

/**
 * AES-GCM with a separate key for each document, derived from a seed of 32 bytes (HKDF-SHA256 of RFC 5869, expand
 * only): random info of 32 bytes, then as `aesGcm` with that key.
 */
export function aesGcmOfSeed(seed: Buffer): Cipher {
  // The first block of the expansion is the whole key.
  const cipherOf = (info: Buffer): Cipher =>
    aesGcm(createHmac('sha256', seed).update(info).update(Buffer.of(1)).digest());
  return {
    encrypt(key, document) {
      const info = randomBytes(infoLength);
      return Buffer.concat([info, cipherOf(info).encrypt(key, document)]);
    },
    decrypt(key, encrypted) {
      if (encrypted.length < infoLength) throw tooShort();
      return cipherOf(encrypted.subarray(0, infoLength)).decrypt(key, encrypted.subarray(infoLength));
    },
  };
}
