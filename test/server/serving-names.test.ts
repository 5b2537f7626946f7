import { expect, test } from 'vitest';
import { isServingName, reachableHost, servingNames } from '../../src/server/serving-names.js';

const rest = { netmask: '', mac: '', internal: false, cidr: null };
const interfaces = {
  lo: [{ ...rest, address: '127.0.0.1', family: 'IPv4' as const, internal: true }],
  eth0: [
    { ...rest, address: '10.0.0.7', family: 'IPv4' as const },
    { ...rest, address: '2001:db8:0::7', family: 'IPv6' as const, scopeid: 0 },
    { ...rest, address: 'fe80::7', family: 'IPv6' as const, scopeid: 2 },
  ],
};
const local = ['localhost', 'box', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];

test.each<[readonly string[], readonly string[], readonly string[]]>([
  [['127.0.0.1'], [], []],
  [['192.0.2.1', 'kedge.acme.test', 'box'], ['kedge.acme.test'], ['192.0.2.1']],
  [['FD00:0::1', 'fe80::1%eth0'], [], ['fd00::1', 'fe80::1']],
  [['0.0.0.0', 'kedge.acme.test'], ['kedge.acme.test'], ['10.0.0.7']],
  [['0:0::0'], [], ['10.0.0.7', '2001:db8::7']],
])('certificate names for %j', (hosts, dnsNames, ipAddresses) => {
  expect(servingNames(hosts, { hostname: 'box', interfaces: () => interfaces })).toEqual({
    dnsNames: [...local, ...dnsNames],
    ipAddresses: ['127.0.0.1', '::1', ...ipAddresses],
  });
});

test('the addresses of the machine are read only where they matter', () => {
  const asked = (): never => {
    throw new Error('asked');
  };
  expect(servingNames(['192.0.2.1'], { hostname: 'box', interfaces: asked }).ipAddresses).toContain('192.0.2.1');
  expect(() => servingNames(['::'], { hostname: 'box', interfaces: asked })).toThrow('asked');
});

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
  ['0:0::0', '::1'],
  ['192.0.2.1', '192.0.2.1'],
  ['kedge.acme.test', 'kedge.acme.test'],
])('a server listening on %s is reached at %s', (host, reached) => {
  expect(reachableHost(host)).toBe(reached);
});

test.each([
  ['kedge.acme.test', true],
  ['kedge', true],
  ['192.0.2.1', true],
  ['2001:DB8::1', true],
  ['0.0.0.0', false],
  ['0:0::0', false],
  ['192.0.2.256', false],
  ['fe80::1%eth0', false],
  ['*.acme.test', false],
  ['https://kedge.acme.test', false],
  ['kedge.acme.test:6443', false],
  ['', false],
])('%j is a serving name: %j', (text, expected) => {
  expect(isServingName(text)).toBe(expected);
});
