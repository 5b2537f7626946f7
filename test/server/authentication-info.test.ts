import { expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { defaultProxyHeaders } from '../../src/auth/proxy-headers.js';
import { authenticationInfoKey, withAuthenticationInfo } from '../../src/server/authentication-info.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';

test('the CAs of several servers are merged, and kept until they expire', async () => {
  const [one, two] = [(await testAuthority()).anchors, (await testAuthority()).anchors];
  const now = Date.now();
  const first = withAuthenticationInfo({ other: 'kept' }, { clientCa: `# roots\n${one}` }, now);
  expect(first).toEqual({ other: 'kept', 'client-ca-file': one });
  const frontProxy = { ...defaultProxyHeaders, ca: two, allowedNames: ['b', 'a'] };
  const broken = { ...first, 'requestheader-client-ca-file': 'nonsense', 'requestheader-allowed-names': '["a",1]' };
  expect(withAuthenticationInfo(broken, { clientCa: two, frontProxy }, now)).toEqual({
    other: 'kept',
    'client-ca-file': one + two,
    'requestheader-client-ca-file': two,
    'requestheader-allowed-names': '["a","b"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  });
  expect(withAuthenticationInfo(first, { clientCa: '' }, now + 100 * 365 * 86_400_000)['client-ca-file']).toBe('');
});

test('a server publishes its CAs, and again after a deletion', async () => {
  const clock = new FakeClock(Date.now());
  const { server, client, stop } = await testServer({ clock, controllers: [] });
  try {
    const configMaps = client.resource(ConfigMaps);
    expect((await configMaps.get(authenticationInfoKey))?.data).toEqual({ 'client-ca-file': server.ca });
    await configMaps.delete(authenticationInfoKey);
    await clock.advance(60_000);
    await until(configMaps, authenticationInfoKey, (found) => found?.data?.['client-ca-file'] === server.ca);
  } finally {
    await stop();
  }
});
