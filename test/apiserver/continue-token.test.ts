import { expect, test } from 'vitest';
import { readContinue } from '../../src/apiserver/continue-token.js';

const tokenOf = (json: string): string => Buffer.from(json).toString('base64url');

test.each([
  ['{"V":"meta.k8s.io/v1","RV":7,"Start":"b\\u0000"}'],
  ['{"v":"x","V":"meta.k8s.io/v1","Rv":7,"RV":null,"start":"b\\u0000"}'],
])('members of a token are case-insensitive, and the last of them counts: %s', (json) => {
  expect(readContinue(tokenOf(json))).toEqual({ revision: 7n, after: 'b' });
});

test('a member of the wrong type is reported under its proper name', () => {
  expect(() => readContinue(tokenOf('{"V":5}'))).toThrow(
    'json: cannot unmarshal number into Go struct field continueToken.v of type string',
  );
});

test.each([
  ['\n', 'unexpected end of JSON input'],
  ['a\n*', 'illegal base64 data at input byte 2'],
  ['a\nb\nc\nd\ne', 'illegal base64 data at input byte 8'],
])('line breaks are ignored, but counted in the position of an error: %j', (text, why) => {
  expect(() => readContinue(text)).toThrow(`continue key is not valid: ${why}`);
});

test('a token may be broken into lines', () => {
  const token = tokenOf('{"v":"meta.k8s.io/v1","rv":7,"start":"b\\u0000"}');
  expect(readContinue(`${token.slice(0, 9)}\r\n${token.slice(9)}\n`)).toEqual({ revision: 7n, after: 'b' });
});
