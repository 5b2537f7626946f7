import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { credentialsByName } from '../../../src/admission/webhooks/credentials.js';
import { readServiceAddresses, webhookTarget } from '../../../src/admission/webhooks/target.js';
import { webhookClient } from '../../../src/admission/webhooks/webhook-client.js';
import { type CredentialSource, fixedCredentials } from '../../../src/client/cluster-access.js';
import { usersInFile } from '../../../src/client/kubeconfig.js';
import { systemClock } from '../../../src/runtime/clock.js';
import { testAuthority } from '../../../src/testing/certificates.js';
import { httpsHook } from './https-hook.js';

const shown = async (source: CredentialSource | undefined): Promise<string | undefined> =>
  (await source?.current())?.authorization;

describe('the kubeconfig user for a webhook', () => {
  const of = (names: readonly string[], current?: string) =>
    credentialsByName({
      byName: new Map(names.map((name) => [name, fixedCredentials({ authorization: name })])),
      current: current === undefined ? undefined : fixedCredentials({ authorization: current }),
    });

  test.each<[string, readonly string[], string, string | undefined]>([
    ['is named like its host and port', ['svc.ns.svc', 'svc.ns.svc:443', '*'], 'svc.ns.svc:443', 'svc.ns.svc:443'],
    ['may omit the default port', ['svc.ns.svc', '*'], 'svc.ns.svc:443', 'svc.ns.svc'],
    ['may name port 443 if the webhook names no port', ['example.org:443'], 'example.org', 'example.org:443'],
    ['must name any other port', ['svc.ns.svc', '*'], 'svc.ns.svc:8443', '*'],
    ['is the one with the longest matching pattern', ['*.svc', '*.ns.svc'], 'svc.ns.svc:443', '*.ns.svc'],
    ['may be a pattern with a port', ['*.ns.svc', '*.svc:8443'], 'svc.ns.svc:8443', '*.svc:8443'],
    ['is not matched by a suffix of the host', ['ns.svc', 'vc.ns.svc'], 'svc.ns.svc:443', undefined],
    ['may be named by an IPv4 address', ['127.0.0.1:8443'], '127.0.0.1:8443', '127.0.0.1:8443'],
    ['may be named by an IPv6 address', ['::1'], '[::1]:443', '::1'],
    ['is none if no name matches', ['other.ns.svc'], 'svc.ns.svc:443', undefined],
    ['is not matched by an inherited property of objects', [], 'constructor', undefined],
  ])('%s', async (_name, names, authority, expected) => {
    expect(await shown(of(names)(authority))).toBe(expected);
  });

  test('is the one of the current context if no other matches', async () => {
    expect(await shown(of(['a:443'], 'current')('b:443'))).toBe('current');
    expect(await shown(of(['*'], 'current')('b:443'))).toBe('*');
  });
});

describe('a webhook with credentials', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'kedge-webhooks-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test('receives the client certificate or token of its kubeconfig user', async () => {
    const authority = await testAuthority();
    const { certificate, key } = await authority.issueClient({ commonName: 'apiserver', seconds: 600 });
    const path = join(directory, 'webhooks.kubeconfig');
    writeFileSync(join(directory, 'token'), 'secret\n');
    writeFileSync(join(directory, 'client.crt'), certificate);
    writeFileSync(join(directory, 'client.key'), key);
    writeFileSync(
      path,
      `
apiVersion: v1
kind: Config
users:
- name: svc.ns.svc
  user: { client-certificate: client.crt, client-key: client.key }
- name: '*'
  user: { tokenFile: token }
- name: '*'
  user: { token: second }
`,
    );
    const hook = await httpsHook((_, response) => void response.end('{}'));
    const client = webhookClient({ clock: systemClock });
    try {
      const credentials = credentialsByName(await usersInFile(path, { clock: systemClock, env: {} }));
      const services = readServiceAddresses({ 'ns/svc': `127.0.0.1:${hook.port}` });
      const { caBundle } = hook;
      for (const target of [
        webhookTarget({ service: { namespace: 'ns', name: 'svc' }, caBundle }, services),
        webhookTarget({ url: `https://127.0.0.1:${hook.port}/`, caBundle }, services),
      ]) {
        const signal = new AbortController().signal;
        const given = { target, credentials: credentials(target.authority) };
        await client.post({ ...given, body: '{}', milliseconds: 9_500, signal, maxBytes: 1_000 });
      }
      expect(hook.asked.map(({ client: name, authorization }) => [name, authorization])).toEqual([
        ['apiserver', undefined],
        [undefined, 'Bearer secret'],
      ]);
    } finally {
      client.close();
      await hook.close();
    }
  });

  test.each<[string, RegExp]>([
    ['{ tokenFile: token }', /: cannot read the token in /],
    ['{ client-certificate: none, client-key: none }', /: cannot read client-certificate /],
    ['{ auth-provider: { name: oidc } }', /: user "\*" of the kubeconfig .*: auth-provider is not supported here$/],
    ['{ token: t, as: bob }', /: impersonation \(as\) is not supported here$/],
  ])('is not called if its credentials are %s', async (user, complaint) => {
    const path = join(directory, 'webhooks.kubeconfig');
    writeFileSync(
      path,
      `
current-context: main
contexts: [{ name: main, context: { user: admin } }]
users: [{ name: '*', user: ${user} }, { name: admin, user: { token: secret } }]
`,
    );
    const hook = await httpsHook((_, response) => void response.end('{}'));
    const client = webhookClient({ clock: systemClock });
    try {
      const credentials = credentialsByName(await usersInFile(path, { clock: systemClock, env: {} }))('a');
      const target = webhookTarget({ url: `https://127.0.0.1:${hook.port}/`, caBundle: hook.caBundle }, new Map());
      const signal = new AbortController().signal;
      const call = client.post({ target, credentials, body: '', milliseconds: 9_500, signal, maxBytes: 1_000 });
      await expect(call).rejects.toThrow(complaint);
      expect(hook.asked).toEqual([]);
    } finally {
      client.close();
      await hook.close();
    }
  });

  test('is refused if the kubeconfig does not exist', async () => {
    const none = usersInFile(join(directory, 'none'), { clock: systemClock, env: {} });
    await expect(none).rejects.toThrow('no kubeconfig at ');
  });
});
