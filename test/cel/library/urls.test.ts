import { expect, test } from 'vitest';
import { outcome } from './outcome.js';

/** Each with its actual and its estimated cost. */
test.each([
  [`url('https://u:p@example.com:8080/a/b%2Fc?k=v&k=w&e&%zz=1#f').getScheme()`, '"https"', 7, 7],
  [`url('https://u:p@example.com:8080/a').getHost()`, '"example.com:8080"', 4, 4],
  [`url('https://u:p@example.com:8080/a').getHostname()`, '"example.com"', 4, 4],
  [`url('https://example.com:8080/').getPort()`, '"8080"', 4, 4],
  [`url('https://example.com/').getPort()`, '""', 3, 3],
  [`url('https://[::1]:80/').getHostname()`, '"::1"', 3, 3],
  [`url('https://[fe80::1%25eth0]:80/').getHost()`, '"[fe80::1%eth0]:80"', 4, 4],
  [`url('https://h/a/b%2Fc é').getEscapedPath()`, '"/a/b/c%20%C3%A9"', 3, 3],
  [`url('https://h').getEscapedPath()`, '""', 2, 2],
  [`url('https://h/?k=v&k=w+x&e&%zz=1&a;b=c').getQuery()`, '{"e": [""], "k": ["v", "w x"]}', 5, 5],
  [`url('foo:opaque').getHost()`, '""', 2, 2],
  [`url('HTTPS://h/') == url('https://h/')`, 'true', 3, 3],
  [`url('https://h/') != url('https://h')`, 'true', 3, 3],
  [`url('../up')`, '! URL parse error during conversion from string: parse "../up": invalid URI for request', 1, 1],
  [`url('')`, '! URL parse error during conversion from string: parse "": empty url', 0, 0],
  [
    `url('https://h/%zz')`,
    '! URL parse error during conversion from string: parse "https://h/%zz": invalid URL escape "%zz"',
    2,
    2,
  ],
  [
    `url('https://h:port/')`,
    '! URL parse error during conversion from string: parse "https://h:port/": invalid port ":port" after host',
    2,
    2,
  ],
  [
    `url('https://a[b]/')`,
    '! URL parse error during conversion from string: parse "https://a[b]/": invalid IP-literal',
    2,
    2,
  ],
  [
    `url('https://[1.2.3.4]/')`,
    '! URL parse error during conversion from string: parse "https://[1.2.3.4]/": invalid IP-literal',
    2,
    2,
  ],
  [
    `url('https://a b/')`,
    '! URL parse error during conversion from string: parse "https://a b/": invalid character " " in host name',
    2,
    2,
  ],
  [`isURL('https://example.com')`, 'true', 1, 1],
  [`isURL('/abs/path')`, 'true', 1, 1],
  [`isURL('no')`, 'false', 1, 1],
  [`isURL('//x')`, 'true', 1, 1],
  [`url('*').getEscapedPath()`, '"*"', 2, 2],
  ['dyn(1).getHost()', '! no such overload: getHost(int)', 1, 2],
] as const)('%s returns %s at cost %i', (expression, answer, cost, estimate) => {
  expect(outcome(expression)).toEqual({ answer, cost, estimate });
});
