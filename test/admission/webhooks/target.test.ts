import { describe, expect, test } from 'vitest';
import {
  cleanPath,
  readServiceAddresses,
  UnusableTarget,
  webhookTarget,
} from '../../../src/admission/webhooks/target.js';
import { testAuthority } from '../../../src/testing/certificates.js';

const services = readServiceAddresses({
  'ns/svc': '10.0.0.1:9443',
  'ns/svc:8443': '[::1]:1',
  'ns/other:443': 'host:2',
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the target of a webhook', () => {
  test.each([
    ['with a URL and a port', { url: 'https://h:1/p' }, 'h:1', '/p', 'h', { host: 'h', port: 1 }],
    [
      'with a URL without a port',
      { url: 'https://h.example.com' },
      'h.example.com',
      '/',
      'h.example.com',
      { host: 'h.example.com', port: 443 },
    ],
    ['with an IPv6 address', { url: 'https://[::1]:8/x/' }, '[::1]:8', '/x', '::1', { host: '::1', port: 8 }],
    [
      'with a service',
      { service: { namespace: 'ns', name: 'svc', path: '/p' } },
      'svc.ns.svc:443',
      '/p',
      'svc.ns.svc',
      { host: '10.0.0.1', port: 9_443 },
    ],
    [
      'with a service port that has an address of its own',
      { service: { namespace: 'ns', name: 'svc', port: 8_443 } },
      'svc.ns.svc:8443',
      '/',
      'svc.ns.svc',
      { host: '::1', port: 1 },
    ],
    [
      'with an unknown service',
      { service: { namespace: 'ns', name: 'none' } },
      'none.ns.svc:443',
      '/',
      'none.ns.svc',
      { unreachable: 'service "none" not found' },
    ],
    [
      'with an unknown port of a service',
      { service: { namespace: 'ns', name: 'other', port: 1 } },
      'other.ns.svc:1',
      '/',
      'other.ns.svc',
      { unreachable: 'service "other" not found' },
    ],
    [
      'with an invalid port',
      { url: 'https://h:99999/p' },
      'h:99999',
      '/p',
      'h',
      { unreachable: 'dial tcp: address 99999: invalid port' },
    ],
    [
      'with port 0',
      { url: 'https://[::1]:0/p' },
      '[::1]:0',
      '/p',
      '::1',
      { unreachable: 'dial tcp [::1]:0: connect: connection refused' },
    ],
  ])('%s', (_, config, authority, path, serverName, address) => {
    expect(webhookTarget(config, services)).toEqual({ authority, path, serverName, address, ca: undefined });
  });

  test.each([
    ['neither URL nor service', {}, 'webhook configuration must have either service or URL'],
    ['a URL without a host', { url: 'https:///x' }, 'has no host'],
    ['an invalid URL', { url: 'https://%zz' }, 'Unparsable URL: parse "https://%zz": invalid URL escape "%zz"'],
    [
      'a caBundle that is not PEM',
      { url: 'https://h', caBundle: base64('not pem') },
      'unable to load root certificates: unable to parse bytes as PEM block',
    ],
    ['a blank caBundle', { url: 'https://h', caBundle: base64(' \n') }, 'unable to parse bytes as PEM block'],
    [
      'a caBundle with a key only',
      { url: 'https://h', caBundle: base64('-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n') },
      'no valid certificate authority data seen',
    ],
    [
      'a caBundle with an invalid certificate',
      { url: 'https://h', caBundle: base64('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n') },
      'failed to parse certificate',
    ],
  ])('a configuration with %s is refused', (_, config, why) => {
    expect(() => webhookTarget(config, services)).toThrow(UnusableTarget);
    expect(() => webhookTarget(config, services)).toThrow(why);
  });

  test('the trust anchors are the certificates of the caBundle, ignoring anything around them', async () => {
    const { anchors } = await testAuthority();
    const caBundle = base64(`noise\n-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n${anchors}`);
    expect(webhookTarget({ url: 'https://h', caBundle }, services).ca?.trim()).toBe(anchors.trim());
    expect(
      webhookTarget({ url: 'https://h', caBundle: base64(' ') }, services, { blankMeansNone: true }).ca,
    ).toBeUndefined();
  });
});

test.each([
  ['', '/'],
  ['/', '/'],
  ['a//b/', '/a/b'],
  ['/a/./b/../c', '/a/c'],
  ['/../..', '/'],
  ['/ä b?c#d', '/%C3%A4%20b%3Fc%23d'],
  ["/a:@$&+,;=-_.~!'()*", '/a:@$&+,;=-_.~%21%27%28%29%2A'],
])('the path %j is normalized to %j', (text, path) => {
  expect(cleanPath(text)).toBe(path);
});

test.each([
  [{ svc: 'h:1' }, '"svc" is not a service'],
  [{ 'ns/svc:x': 'h:1' }, '"ns/svc:x" is not a service'],
  [{ 'ns/svc:0': 'h:1' }, '"ns/svc:0" is not a service'],
  [{ 'Ns/svc': 'h:1' }, '"Ns/svc" is not a service'],
  [{ 'ns/svc': 'h h:1' }, '"h h:1" is not the address of a service'],
  [{ 'ns/svc': 'h' }, '"h" is not the address'],
  [{ 'ns/svc': ':1' }, '":1" is not the address'],
  [{ 'ns/svc': 'h:65536' }, '"h:65536" is not the address'],
  [{ 'ns/svc': 'h:0' }, '"h:0" is not the address'],
])('service addresses %j are refused', (given, why) => {
  expect(() => readServiceAddresses(given)).toThrow(why);
});
