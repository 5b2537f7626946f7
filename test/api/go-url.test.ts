import { expect, test } from 'vitest';
import { parseGoRequestUrl, parseGoUrl, queryValues, splitHost } from '../../src/api/go-url.js';
import { expectShort } from '../processor-time.js';

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
])('%j is parsed', (text, expected) => {
  expect(parseGoUrl(text)).toMatchObject(expected);
});

test('a long URL is parsed in linear time', async () => {
  for (const part of ['%41', '/', '@', ':', 'a', '?']) {
    await expectShort(3_000, () => parseGoUrl(`https://${part.repeat(300_000)}`));
  }
});

test.each([
  ['https://h/a%2Fb c', { path: '/a/b c', escapedPath: '/a/b%20c' }],
  ['https://h/a%2Fb', { path: '/a/b', escapedPath: '/a%2Fb' }],
  ['*', { path: '*', escapedPath: '*', text: '*' }],
  ['mailto:a@b', { opaque: 'a@b', text: 'mailto:a@b' }],
  ['HTTP://u:p%40@h:1/%41?#f g', { text: 'http://u:p%40@h:1/%41?#f%20g' }],
  ['http://[fe80::1%25en0]:8080/', { host: '[fe80::1%en0]:8080' }],
  ['http://é/', { host: 'é' }],
  ['foo://h:1:2/', { host: 'h:1:2' }],
  ['http://h:1:2/', { wrong: 'parse "http://h:1:2/": invalid port ":1:2" after host' }],
  ['http://a[b]/', { wrong: 'parse "http://a[b]/": invalid IP-literal' }],
  ['http://[1.2.3.4]/', { wrong: 'parse "http://[1.2.3.4]/": invalid IP-literal' }],
  ['http://[x]/', { wrong: 'parse "http://[x]/": invalid host: ParseAddr("x"): unable to parse IP' }],
  [
    'http://[%fe::1]/',
    {
      wrong:
        'parse "http://[%fe::1]/": invalid host: ParseAddr("\\xfe::1"): each colon-separated field must have at least one digit (at "\\xfe::1")',
    },
  ],
  ['http://h/%4é', { wrong: 'parse "http://h/%4é": invalid URL escape "%4\\xc3"' }],
])('%j is parsed with its escapes, host and opaque part', (text, expected) => {
  expect(parseGoUrl(text)).toMatchObject(expected);
});

test.each([
  ['/a#b', { path: '/a#b', fragment: '' }],
  ['//a', { path: '//a', host: '' }],
  ['', { wrong: 'parse "": empty url' }],
  ['a/b', { wrong: 'parse "a/b": invalid URI for request' }],
])('%j is parsed as a request URL', (text, expected) => {
  expect(parseGoRequestUrl(text)).toMatchObject(expected);
});

test.each([
  ['h:80', 'h', '80'],
  ['[::1]:80', '::1', '80'],
  ['[::1]', '::1', ''],
  ['h:', 'h', ''],
  ['h', 'h', ''],
])('the host %s is split into %s and port %j', (host, name, port) => {
  expect(splitHost(host)).toEqual({ name, port });
});

test('valid query parameters are read, invalid ones are skipped', () => {
  const values = queryValues('a=1&b&a=2+%2B&%zz=1&x;y=1&&=e&__proto__=p');
  expect([...values]).toEqual([
    ['a', ['1', '2 +']],
    ['b', ['']],
    ['', ['e']],
    ['__proto__', ['p']],
  ]);
  expect(queryValues('a&'.repeat(10_000)).size).toBe(0);
});
