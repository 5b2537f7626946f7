import { expect, test } from 'vitest';
import {
  coversSigner,
  isSignerDomain,
  signerNameViolations,
  signerPatternViolations,
} from '../../src/api/signer-name.js';

const bodies = (name: string): readonly string[] =>
  signerNameViolations('spec.signerName', name).map(({ field, body }) => {
    expect(field).toBe('spec.signerName');
    return body.replace(/(a lowercase RFC 1123 \w+).*/, '$1');
  });
const long = 'a'.repeat(63);
const domain253 = `${long}.${long}.${long}.${'b'.repeat(61)}`;

test.each([
  'example.com/a',
  'a.b/c.d-e',
  `${domain253}/x`,
  `a.b/${'c'.repeat(253)}`,
  `${domain253}/${'c'.repeat(63)}.${'d'.repeat(253)}`,
  '1.2/3',
])('the signer name %s is valid', (name) => {
  expect(bodies(name)).toEqual([]);
});

const shape = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
test.each([
  ['', ['Required value']],
  ['example.com', [`Invalid value: "example.com": ${shape}`]],
  ['a.b/c/d', [`Invalid value: "a.b/c/d": ${shape}`]],
  ['a/b', ['Invalid value: "a": should be a domain with at least two segments separated by dots']],
  ['A.B/c', ['Invalid value: "A.B": validating label "A": a lowercase RFC 1123 label']],
  ['a.b/C.D', ['Invalid value: "C.D": validating label "C": a lowercase RFC 1123 subdomain']],
  [
    '/C',
    [
      'Invalid value: "": validating label "": a lowercase RFC 1123 label',
      'Invalid value: "": should be a domain with at least two segments separated by dots',
      'Invalid value: "C": validating label "C": a lowercase RFC 1123 subdomain',
    ],
  ],
  [`${long}a.b/c`, [`Invalid value: "${long}a.b": validating label "${long}a": must be no more than 63 characters`]],
  [`${domain253}b/x`, ['Too long: may not be more than 253 bytes']],
  [`${domain253}/${'c'.repeat(64)}.${'d'.repeat(253)}`, ['Too long: may not be more than 571 bytes']],
])('the signer name %s is refused', (name, expected) => {
  expect(bodies(name)).toEqual(expected);
});

test.each([
  ['a.b/*', true],
  ['a.b/c', true],
  ['/*', false],
  ['*', false],
  ['a.b/c/*', false],
  ['a.b/c*', false],
])('the signer pattern %j is valid: %s', (pattern, expected) => {
  expect(signerPatternViolations('serves', pattern).length === 0).toBe(expected);
});

test.each([
  ['a.b/*', 'a.b/c', true],
  ['a.b/*', 'a.b/*', true],
  ['a.b/*', 'x.a.b/c', false],
  ['a.b/*', 'a.b.c/d', false],
  ['a.b/c', 'a.b/c', true],
  ['a.b/c', 'a.b/cd', false],
  ['/*', '/c', false],
  ['/*', '/*', true],
])('the pattern %j covers %j: %s', (pattern, name, expected) => {
  expect(coversSigner(pattern, name)).toBe(expected);
});

test('a signer domain is a pattern with a domain and a star as its path', () => {
  expect(['a.b/*', '/*', 'a.b/c', ''].filter(isSignerDomain)).toEqual(['a.b/*']);
});
