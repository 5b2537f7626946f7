import { expect, test } from 'vitest';
import { isDomainName, uriProblem } from '../../src/pki/uri.js';

test.each([
  'https://a.example/p?q#f',
  'spiffe://td.example/ns/a/sa/b',
  'http://[::1]:8080/',
  'http://[fe80::1%25en0]/',
  'urn:uuid:1',
  'mailto:a@b',
  '//host/path',
  'path/only',
  '',
  '*',
  'https://user:p%40ss@host/',
  'postgres://a:1,b:2/db',
])('%s is valid', (text) => {
  expect(uriProblem(text)).toBeUndefined();
});

test.each([
  ['http://[::1', `parse "http://[::1": missing ']' in host`],
  ['https://a..b c/', 'parse "https://a..b c/": invalid character " " in host name'],
  ['http://a/%zz', 'parse "http://a/%zz": invalid URL escape "%zz"'],
  ['http://a/%', 'parse "http://a/%": invalid URL escape "%"'],
  ['http://a#%g', 'parse "http://a#%g": invalid URL escape "%g"'],
  ['http://h%41/', 'parse "http://h%41/": invalid URL escape "%41"'],
  ['http://h:x/', 'parse "http://h:x/": invalid port ":x" after host'],
  ['http://a:1:2/', 'parse "http://a:1:2/": invalid port ":1:2" after host'],
  ['http://a[b]/', 'parse "http://a[b]/": invalid IP-literal'],
  ['http://[1.2.3.4]/', 'parse "http://[1.2.3.4]/": invalid IP-literal'],
  ['http://u{}@h/', 'parse "http://u{}@h/": net/url: invalid userinfo'],
  [':a', 'parse ":a": missing protocol scheme'],
  ['1:2/3', 'parse "1:2/3": first path segment in URL cannot contain colon'],
  ['a\x7fb', 'parse "a\\x7fb": net/url: invalid control character in URL'],
  ['http://a..b/', 'invalid domain'],
  ['http://a./', 'invalid domain'],
])('%j is invalid', (text, problem) => {
  expect(uriProblem(text)).toBe(problem);
});

test.each([
  ['a.b', false, true],
  ['', false, true],
  ['.a', false, false],
  ['.a', true, true],
  ['a.', true, false],
  ['a b', false, false],
])('domain %j', (text, constraint, valid) => {
  expect(isDomainName(text, { constraint })).toBe(valid);
});
