import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { isDiscoverable, keySet, openIdConfiguration } from '../../src/auth/discovery-documents.js';
import { signToken } from '../../src/auth/jws.js';
import { generateServiceAccountKey, readSigningKey } from '../../src/auth/service-account-keys.js';

const keys = await Promise.all(
  (['ES256', 'RS256', 'ES384', 'ES512'] as const).map(async (algorithm) =>
    readSigningKey(await generateServiceAccountKey(algorithm)),
  ),
);

test.each([
  ['https://example.com', true],
  ['https://example.com/path', true],
  ['http://example.com', false],
  ['https://example.com?x', false],
  ['https://example.com#', false],
  ['kubernetes/serviceaccount', false],
])('the issuer %s is discoverable: %s', (issuer, expected) => {
  expect(isDiscoverable(issuer)).toBe(expected);
});

test('the OpenID configuration lists algorithms in order', () => {
  expect(openIdConfiguration({ issuer: 'https://i', keySetUri: 'https://k/openid/v1/jwks', keys })).toEqual({
    issuer: 'https://i',
    jwks_uri: 'https://k/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'ES384', 'ES512', 'RS256'],
  });
});

test('tokens can be verified with the published key set', () => {
  const set: { readonly keys: readonly JsonWebKey[] } = JSON.parse(JSON.stringify(keySet(keys)));
  for (const key of keys) {
    const [header = '', payload = '', signature = ''] = signToken({ sub: key.algorithm }, key).split('.');
    const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const jwk = set.keys.find((one) => one['kid'] === kid);
    expect(jwk).toMatchObject({ use: 'sig', alg });
    const isRight = verify(
      `sha${alg.slice(2)}`,
      Buffer.from(`${header}.${payload}`),
      { key: createPublicKey({ key: jwk ?? {}, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    expect(isRight).toBe(true);
  }
});

test('the key set contains no private keys', () => {
  expect(JSON.stringify(keySet(keys))).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
});
