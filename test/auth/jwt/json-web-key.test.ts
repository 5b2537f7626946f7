import { expect, test } from 'vitest';
import { readKeySet } from '../../../src/auth/jwt/json-web-key.js';
import { testKey } from './issuer.js';

const ec = testKey('ES256', 'ec').jwk;
const rsa = testKey('RS256', 'rsa').jwk;
const weak = testKey('RS256', 'weak', 1_024).jwk;

test('keys support their declared algorithm, or else all that fit them', () => {
  const keys = readKeySet({ keys: [ec, rsa, { ...rsa, alg: 'PS384' }, { ...ec, kid: undefined }] });
  expect(keys?.map(({ keyId, algorithms }) => [keyId, algorithms])).toEqual([
    ['ec', ['ES256']],
    ['rsa', ['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512']],
    ['rsa', ['PS384']],
    ['', ['ES256']],
  ]);
});

test.each<[string, unknown]>([
  ['symmetric', { kty: 'oct', k: 'c2VjcmV0', kid: 'x' }],
  ['private', { ...rsa, d: 'AAAA' }],
  ['for encryption', { ...rsa, use: 'enc' }],
  ['too weak', weak],
  ['of exponent 1, with which everybody can sign', { ...rsa, e: 'AQ' }],
  ['of an even exponent', { ...rsa, e: 'Ag' }],
  ['for an algorithm that does not fit', { ...ec, alg: 'RS256' }],
  ['for a symmetric algorithm', { ...rsa, alg: 'HS256' }],
  ['on an unsupported curve', { ...ec, crv: 'secp256k1' }],
  ['not on its curve', { ...ec, y: ec['x'] }],
  ['of wrong types', { kty: 'RSA', n: 1, e: {} }],
  ['not an object', 'key'],
  ['null', null],
])('a key that is %s is skipped', (_name, jwk) => {
  expect(readKeySet({ keys: [jwk] })).toEqual([]);
});

test.each([[{}], [{ keys: {} }], [[]], ['x'], [null]])('%j is not a key set', (value) => {
  expect(readKeySet(value)).toBeUndefined();
});

test('only the first hundred keys are read', () => {
  expect(readKeySet({ keys: Array.from({ length: 1_000 }, () => ec) })).toHaveLength(100);
});
