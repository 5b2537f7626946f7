import { oids } from './oids.js';
import type { Curve } from './public-key.js';

/** The signature algorithm of each curve: with the hash of its size (RFC 5480 section 4). */
export const ecdsaSignatures: Readonly<Record<Curve, EcdsaSignature>> = {
  'P-224': { oid: oids.ecdsaWithSha256, hash: 'sha256' },
  'P-256': { oid: oids.ecdsaWithSha256, hash: 'sha256' },
  'P-384': { oid: oids.ecdsaWithSha384, hash: 'sha384' },
  'P-521': { oid: oids.ecdsaWithSha512, hash: 'sha512' },
};

interface EcdsaSignature {
  readonly oid: string;
  readonly hash: 'sha256' | 'sha384' | 'sha512';
}
