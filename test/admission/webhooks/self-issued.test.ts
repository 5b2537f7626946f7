import { expect, test } from 'vitest';
import { webhookTarget } from '../../../src/admission/webhooks/target.js';
import { webhookClient } from '../../../src/admission/webhooks/webhook-client.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { attributes, extensions, type Forged, forge, usages } from '../../auth/forge.js';
import { httpsHook } from './https-hook.js';

const hour = 3_600_000;
type Name = Parameters<typeof forge>[0]['subject'];
const guard: Name = [[attributes.commonName, 'guard']];
const dates = () => ({ notBefore: Date.now() - hour, notAfter: Date.now() + 24 * hour });

const authority = (subject: Name, given: { readonly notAfter?: number } = {}): Forged =>
  forge({ subject, extensions: [extensions.authority()], ...dates(), ...given });
const leafOf = (issuer: Forged, subject: Name, more: readonly Buffer[] = [extensions.loopback()]): Forged =>
  forge({ subject, issuer, extensions: more, ...dates() });

/** A webhook with this certificate, and a function to call it with these anchors. */
async function world(leaf: Forged, anchor: Forged) {
  const key = leaf.key.export({ type: 'pkcs8', format: 'pem' }) as string;
  const hook = await httpsHook((_, response) => void response.end('{}'), {
    certificate: leaf.pem,
    key,
    anchors: anchor.pem,
  });
  const clock = new FakeClock(Date.now());
  const client = webhookClient({ clock });
  const call = (host = '127.0.0.1') =>
    client.post({
      target: webhookTarget({ url: `https://${host}:${hook.port}`, caBundle: hook.caBundle }, new Map()),
      body: '{}',
      milliseconds: 9_500,
      signal: new AbortController().signal,
      maxBytes: 1_000,
    });
  const close = async (): Promise<void> => {
    client.close();
    await hook.close();
  };
  return { hook, clock, call, close };
}

const unknown = /tls: failed to verify certificate: x509: certificate signed by unknown authority$/;

test.each<[string, Name]>([
  ['the name of its issuer', guard],
  ['an empty name, like its issuer,', []],
])('a certificate with %s is verified by its signature', async (_, name) => {
  const issuer = authority(name);
  const { hook, call, close } = await world(leafOf(issuer, name), issuer);
  for (let i = 0; i < 3; i++) expect((await call()).status).toBe(200);
  // One that OpenSSL rejected, one to read the certificate, and one that is kept alive.
  expect(hook.connections()).toBe(3);
  await expect(call('localhost')).rejects.toThrow(
    'x509: certificate is not valid for any names, but wanted to match localhost',
  );
  expect(hook.asked).toHaveLength(3);
  await close();
});

test.each<[string, () => { readonly leaf: Forged; readonly anchor: Forged; readonly why?: RegExp }]>([
  ['another authority of the same name', () => ({ leaf: leafOf(authority(guard), guard), anchor: authority(guard) })],
  [
    'itself',
    () => ({
      leaf: forge({ subject: guard, extensions: [extensions.loopback()], ...dates() }),
      anchor: authority(guard),
    }),
  ],
  [
    'a certificate that is not a CA',
    () => {
      const anchor = forge({ subject: guard, extensions: [extensions.loopback()], ...dates() });
      return { leaf: leafOf(anchor, guard), anchor };
    },
  ],
  [
    'a CA for clients only',
    () => {
      const anchor = authority(guard);
      return {
        leaf: leafOf(anchor, guard, [extensions.loopback(), extensions.extendedKeyUsage(usages.client)]),
        anchor,
        why: /x509: certificate specifies an incompatible key usage$/,
      };
    },
  ],
])('a certificate with the name of its issuer that was signed by %s is refused', async (_, make) => {
  const { leaf, anchor, why = unknown } = make();
  const { hook, call, close } = await world(leaf, anchor);
  await expect(call()).rejects.toThrow(why);
  expect(hook.asked).toEqual([]);
  await close();
});

test('a certificate with the name of its issuer is accepted until the issuer expires', async () => {
  const issuer = authority(guard, { notAfter: Date.now() + hour });
  const { clock, call, close } = await world(leafOf(issuer, guard), issuer);
  expect((await call()).status).toBe(200);
  clock.set(Date.now() + 2 * hour);
  await expect(call()).rejects.toThrow(unknown);
  await close();
});
