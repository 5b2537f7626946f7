import { expect, test } from 'vitest';
import { outcome } from './outcome.js';

/** Each with its actual and its estimated cost. */
test.each([
  [`cidr('10.1.2.3/8')`, 'net.CIDR(10.1.2.3/8)', 1, 1],
  [
    `cidr('10.0.0.0/33')`,
    '! network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/33"): prefix length out of range',
    2,
    2,
  ],
  [
    `cidr('10.0.0.0')`,
    `! network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0"): no '/'`,
    1,
    1,
  ],
  [
    `cidr('10.0.0.0/08')`,
    '! network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/08"): bad bits after slash: "08"',
    2,
    2,
  ],
  [
    `cidr('::1%eth0/64')`,
    '! network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("::1%eth0/64"): IPv6 zones cannot be present in a prefix',
    2,
    2,
  ],
  [
    `cidr('x/8')`,
    '! network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("x/8"): ParseAddr("x"): unable to parse IP',
    1,
    1,
  ],
  [
    `cidr('::ffff:1.2.3.4/120')`,
    '! network address parse error during conversion from string: IPv4-mapped IPv6 address "::ffff:1.2.3.4/120" is not allowed',
    2,
    2,
  ],
  [`isCIDR('::/0')`, 'true', 1, 1],
  [`isCIDR('::/129')`, 'false', 1, 1],
  [`cidr('192.168.0.0/24').containsIP('192.168.0.5')`, 'true', 5, '5..8'],
  [`cidr('192.168.0.0/24').containsIP(ip('192.168.1.5'))`, 'false', 5, '5..8'],
  [`cidr('192.168.0.0/24').containsIP('::1')`, 'false', 4, '4..7'],
  [`cidr('192.168.0.0/24').containsIP('x')`, '! no such overload', 4, '4..7'],
  [`cidr('192.168.0.0/24').containsIP(dyn('192.168.0.5'))`, 'true', 3, '4..9'],
  [`cidr('192.168.0.0/23').containsIP('192.168.1.5')`, 'true', 5, '5..8'],
  [`cidr('2001:db8::/33').containsIP('2001:db8:7fff::')`, 'true', 5, '5..8'],
  [`cidr('0.0.0.0/0').containsIP('1.2.3.4')`, 'true', 2, '3..6'],
  [`cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24')`, 'true', 7, '7..11'],
  [`cidr('192.168.10.0/24').containsCIDR(cidr('192.168.0.0/16'))`, 'false', 7, '7..11'],
  [
    `cidr('192.168.0.0/16').containsCIDR('x')`,
    `! network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("x"): no '/'`,
    6,
    '6..10',
  ],
  [`cidr('192.168.0.0/16').containsCIDR(dyn(cidr('192.168.0.0/16')))`, 'true', 8, '8..'],
  [`cidr('0.0.0.0/0').containsCIDR('::/0')`, 'false', 3, '5..9'],
  [`cidr('10.1.2.3/8').ip()`, 'net.IP(10.1.2.3)', 2, 2],
  [`cidr('10.1.2.3/8').masked()`, 'net.CIDR(10.0.0.0/8)', 2, 2],
  [`cidr('2001:db8:ffff::/35').masked()`, 'net.CIDR(2001:db8:e000::/35)', 3, 3],
  [`cidr('10.1.2.3/8').prefixLength()`, '8', 2, 2],
  [`string(cidr('10.1.2.3/8'))`, '"10.1.2.3/8"', 2, 2],
  [`cidr('10.0.0.0/8') == cidr('10.0.0.1/8')`, 'false', 3, 3],
  [`cidr('10.0.0.0/8') == cidr('10.0.0.0/8')`, 'true', 3, 3],
  [`cidr('::/0') != cidr('::/1')`, 'true', 2, '3..'],
] as const)('%s returns %s at cost %i', (expression, answer, cost, estimate) => {
  expect(outcome(expression)).toEqual({ answer, cost, estimate });
});
