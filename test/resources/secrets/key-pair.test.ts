import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyPairProblem } from '../../../src/resources/secrets/key-pair.js';

const pem = ({ privateKey }: { readonly privateKey: KeyObject }): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const certificate = `-----BEGIN CERTIFICATE-----
MIIBbzCCARWgAwIBAgIUc53carBaj4I+2jJggQP3U9gqfqAwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBYTAgFw0yNjExMjExNjE0MDVaGA8yMTI2MTAyODE2MTQwNVow
DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPZigKsZUfSm
P5rbL/1rnh6uQAL4fE/3Hsw4m3gunAAiWUTrK9N7a4SQCXdWthsX/w8yryYxGm35
1wFY+4KnxcKjUzBRMB0GA1UdDgQWBBRNaEFTWME+p7f+gte7qGIZScBv8DAfBgNV
HSMEGDAWgBRNaEFTWME+p7f+gte7qGIZScBv8DAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0gAMEUCIQDQPjENqFG5ahNdsIv5CogJJXOY3ehOaJbXIUczicrD
oQIgBiLdhDRHHT/bkxBEr7VltZFI5E3paVFr0COdWu4ehKE=
-----END CERTIFICATE-----
`;
const key = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIAFGchn+un7lLg3k0Oami5heSDfrzsNMkA5WF2T2663YoAoGCCqGSM49
AwEHoUQDQgAE9mKAqxlR9KY/mtsv/WueHq5AAvh8T/cezDibeC6cACJZROsr03tr
hJAJd1a2Gxf/DzKvJjEabfnXAVj7gqfFwg==
-----END EC PRIVATE KEY-----
`;
const otherKey = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIA3U4Rb4bN8FWBIdbjGeM9HigPVD6nefAx7Fsz8sQh3voAoGCCqGSM49
AwEHoUQDQgAEf1YRAShJdV00xjiDPT+vLXpEjNSM6G9y6pzMPsBaER9tCnDrmXLK
+B7i+f9Xz+jLbL0Nvied3FOfZV3csw/Paw==
-----END EC PRIVATE KEY-----
`;
const edwardsKey = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIFGF1qMRNzD5+ZsWmnA2tHCZK58Q+XfDhsWXky3zJ4lZ
-----END PRIVATE KEY-----
`;

test.each([
  ['a pair', certificate, key, undefined],
  ['a chain, and a key after other blocks', certificate + certificate, certificate + key, undefined],
  ['empty files', '', '', 'tls: failed to find any PEM data in certificate input'],
  ['no key', certificate, '', 'tls: failed to find any PEM data in key input'],
  [
    'certificate and key swapped',
    key,
    certificate,
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
  ],
  [
    'a certificate in place of the key',
    certificate,
    certificate,
    'tls: found a certificate rather than a key in the PEM for the private key',
  ],
  [
    'other block types',
    certificate.replaceAll('CERTIFICATE', 'X') + key,
    key,
    'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [X EC PRIVATE KEY]',
  ],
  [
    'no key block',
    certificate,
    certificate + certificate,
    'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [CERTIFICATE CERTIFICATE]',
  ],
  ['a key that does not match', certificate, otherKey, 'tls: private key does not match public key'],
  ['a key of another type', certificate, edwardsKey, 'tls: private key type does not match public key type'],
  [
    'a malformed key',
    certificate,
    certificate.replaceAll('CERTIFICATE', 'PRIVATE KEY'),
    'tls: failed to parse private key',
  ],
  ['a malformed certificate', key.replaceAll('EC PRIVATE KEY', 'CERTIFICATE'), key, 'x509: malformed tbs certificate'],
  [
    'a key-agreement key',
    certificate,
    pem(generateKeyPairSync('x25519')),
    'tls: found unknown private key type in PKCS#8 wrapping',
  ],
  [
    'a key type that Go does not support',
    certificate,
    pem(generateKeyPairSync('ed448')),
    'tls: failed to parse private key',
  ],
  [
    'a key on a curve that Go does not support',
    certificate,
    pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })),
    'tls: failed to parse private key',
  ],
])('%s', (_what, chain, secret, problem) => {
  expect(keyPairProblem(Buffer.from(chain), Buffer.from(secret))).toBe(problem);
});
