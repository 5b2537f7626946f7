import { expect, test } from 'vitest';
import { parseGoUrl } from '../../src/api/go-url.js';

test.each([
  ['https://h.example.com:8443/a/b', { scheme: 'https', host: 'h.example.com:8443', path: '/a/b' }],
  ['HTTPS://h', { scheme: 'https', host: 'h', path: '' }],
  ['https://h?x=1#f', { scheme: 'https', host: 'h', rawQuery: 'x=1', fragment: 'f' }],
  ['https://u:p%40@h/', { user: 'u:p%40', host: 'h', path: '/' }],
  ['https://a!b@h/', { user: 'a%21b' }],
  ['https://[::1]:443/x', { host: '[::1]:443', path: '/x' }],
  ['https://h/%41', { path: '/A' }],
  ['https:opaque', { scheme: 'https', host: '', path: '' }],
  ['/just/a/path', { scheme: '', host: '', path: '/just/a/path' }],
  ['///x', { scheme: '', host: '', path: '///x' }],
  [' ', { scheme: '', host: '', path: ' ' }],
  ['', { scheme: '', host: '' }],
  ['1a:b/c', { wrong: 'parse "1a:b/c": first path segment in URL cannot contain colon' }],
  [':foo', { wrong: 'parse ":foo": missing protocol scheme' }],
  ['https://h/%zz#f', { wrong: 'parse "https://h/%zz": invalid URL escape "%zz"' }],
  ['https://h/#%z', { wrong: 'parse "https://h/#%z": invalid URL escape "%z"' }],
  ['https://h%41/', { wrong: 'parse "https://h%41/": invalid URL escape "%41"' }],
  ['https://h:port/x', { wrong: 'parse "https://h:port/x": invalid port ":port" after host' }],
  ['https://[::1/x', { wrong: 'parse "https://[::1/x": missing \']\' in host' }],
  ['https://a b/x', { wrong: 'parse "https://a b/x": invalid character " " in host name' }],
  ['https://a b@h/x', { wrong: 'parse "https://a b@h/x": net/url: invalid userinfo' }],
  ['https://h/\u0001', { wrong: 'parse "https://h/\\x01": net/url: invalid control character in URL' }],
])('%j', (text, expected) => {
  expect(parseGoUrl(text)).toMatchObject(expected);
});

test('a long URL takes linear time', () => {
  const start = performance.now();
  for (const part of ['%41', '/', '@', ':', 'a', '?']) parseGoUrl(`https://${part.repeat(300_000)}`);
  expect(performance.now() - start).toBeLessThan(20_000);
});
