import { constructed } from '../../src/pki/der.js';
import { encode, encodeBits, sequence, unsignedInteger } from '../../src/pki/der-writer.js';
import { writeName } from '../../src/pki/distinguished-name.js';
import { signingAlgorithm, signWith, spkiOf } from '../../src/pki/key-pair.js';
import { encodePem } from '../../src/pki/pem.js';
import { testKey } from '../../src/testing/certificates.js';

/** Returns a correctly signed request with these parts. */
export async function requestOf(parts: {
  readonly subject?: Buffer;
  readonly attributes?: readonly Buffer[];
}): Promise<string> {
  const key = await testKey();
  const toBeSigned = sequence(
    unsignedInteger(Buffer.from([0])),
    parts.subject ?? writeName({ commonName: 'x' }),
    spkiOf(key),
    encode(constructed(0), ...(parts.attributes ?? [])),
  );
  const algorithm = signingAlgorithm(key);
  const signature = await signWith(key, algorithm, toBeSigned);
  return encodePem('CERTIFICATE REQUEST', sequence(toBeSigned, algorithm.identifier, encodeBits(signature)));
}
