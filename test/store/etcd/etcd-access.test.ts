import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type CertificateAuthority, createCertificateAuthority } from '../../../src/pki/certificate-authority.js';
import { systemClock } from '../../../src/runtime/clock.js';
import { silentLogger } from '../../../src/runtime/logger.js';
import { document } from '../../../src/store/document.js';
import type { EtcdOptions } from '../../../src/store/etcd/etcd-options.js';
import { openStore } from '../../../src/store/open.js';
import type { Store } from '../../../src/store/store.js';
import { changeBatches } from '../../../src/testing/change-batches.js';
import { type EtcdProcess, type EtcdTlsFiles, etcdInstalled, startEtcd } from './etcd-process.js';

if (!etcdInstalled) console.warn('There is no etcd on the PATH: the tests of etcd with TLS and users are skipped.');

const folder = mkdtempSync(join(tmpdir(), 'etcd-access-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file with this text, by replacing it as a whole, and returns its path. */
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  return path;
}

const open = (address: string, etcd: EtcdOptions): Promise<Store> =>
  openStore(address, { clock: systemClock, log: silentLogger, etcd });

const write = async (store: Store, key: string): Promise<void> => {
  await store.commit({ key, document: document(key), expect: 'absent' });
};

describe('unusable options are refused', () => {
  test.each<[string, EtcdOptions, string]>([
    ['etcd:h:1', { caFile: 'ca.pem' }, 'option etcd.caFile requires TLS: etcd:https://HOST:PORT'],
    [
      'etcd:http://h:1',
      { certificateFile: 'a', keyFile: 'b' },
      'option etcd.certificateFile requires TLS: etcd:https://HOST:PORT',
    ],
    ['memory:', { caFile: 'ca.pem', user: undefined }, 'the options etcd.caFile are for etcd only'],
    ['etcd:https://h:1', { keyFile: 'b' }, 'options etcd.certificateFile and etcd.keyFile go together'],
    ['etcd:https://h:1', { user: 'me' }, 'options etcd.user and etcd.passwordFile go together'],
    [
      'etcd:h:1',
      { prefix: 'kedge' },
      'option etcd.prefix must be a path that begins with / and does not end with /, not "kedge"',
    ],
    [
      'etcd:h:1',
      { prefix: '/kedge/' },
      'option etcd.prefix must be a path that begins with / and does not end with /, not "/kedge/"',
    ],
    [
      'etcd:h:1',
      { prefix: '/' },
      'option etcd.prefix must be a path that begins with / and does not end with /, not "/"',
    ],
    [
      'etcd:h:1',
      { compactionSeconds: 1e9 },
      'option etcd.compactionSeconds must be a whole number from 0 to 86400, not 1000000000',
    ],
    [
      'etcd:h:1',
      { user: 'me', passwordFile: join(folder, 'none') },
      `etcd: cannot read ${join(folder, 'none')}: ENOENT`,
    ],
  ])('%s with %j', async (address, etcd, message) => {
    await expect(open(address, etcd)).rejects.toThrow(message);
  });

  test('a CA file without certificates', async () => {
    const caFile = file('none.pem', 'nothing\n');
    await expect(open('etcd:https://127.0.0.1:1', { caFile })).rejects.toThrow(/^etcd: .*none\.pem: /);
  });
});

describe.skipIf(!etcdInstalled)('an etcd with TLS and authentication', () => {
  let etcd: EtcdProcess;
  let ca: CertificateAuthority;
  let address: string;
  let serving: EtcdTlsFiles;
  const users = {
    kedge: { password: 'let me in', prefix: '/ours' },
    other: { password: 'me too', prefix: '/theirs' },
  };

  const shown = async (commonName: string, name = commonName): Promise<EtcdTlsFiles> => {
    const pair = await ca.issueClient({ commonName, seconds: 3_600 });
    return {
      caFile: serving.caFile,
      certificateFile: file(`${name}.crt`, pair.certificate),
      keyFile: file(`${name}.key`, pair.key),
    };
  };

  beforeAll(async () => {
    ca = await createCertificateAuthority({ commonName: 'etcd-ca' });
    const pair = await ca.issueServing({ commonName: 'etcd', seconds: 3_600, ipAddresses: ['127.0.0.1'] });
    serving = {
      caFile: file('ca.crt', ca.anchors),
      certificateFile: file('etcd.crt', pair.certificate),
      keyFile: file('etcd.key', pair.key),
    };
    etcd = await startEtcd();
    await etcd.authenticate(users);
    await etcd.kill();
    await etcd.start(serving);
    address = `etcd:https://${etcd.endpoint}`;
  });
  afterAll(() => etcd.stop());

  /** Checks that a write succeeds and its change is received. */
  async function works(store: Store, key: string): Promise<void> {
    const heard = changeBatches(store.changes('/', await store.revision()));
    await write(store, key);
    for await (const changes of heard)
      if (changes.some((change) => change.type === 'put' && change.entry.key === key)) break;
  }

  test('accepts the name in a client certificate, with rights to the prefix only', async () => {
    const store = await open(address, { ...(await shown('kedge')), prefix: '/ours' });
    await works(store, '/by-certificate');
    await store.close();
    await expect(open(address, { ...(await shown('kedge')), prefix: '/theirs' })).rejects.toThrow(
      `etcd at https://${etcd.endpoint} does not allow it: etcdserver: permission denied`,
    );
  });

  test('accepts a user name and password', async () => {
    const user = { ...(await shown('nobody')), user: 'kedge', passwordFile: file('password', 'let me in\n') };
    const store = await open(address, { ...user, prefix: '/ours' });
    await works(store, '/by-password');
    await store.close();
    const wrong = open(address, { ...user, passwordFile: file('wrong', 'let me in '), prefix: '/ours' });
    await expect(wrong).rejects.toThrow(
      `etcd at https://${etcd.endpoint} rejects the user kedge: etcdserver: authentication failed, invalid user ID or password`,
    );
  });

  test('that has forgotten its tokens is asked for new ones, by the watch, too', async () => {
    const user = { ...(await shown('nobody')), user: 'kedge', passwordFile: file('password', 'let me in\n') };
    const store = await open(address, { ...user, prefix: '/ours' });
    await works(store, '/before');
    await etcd.kill();
    await etcd.start(serving);
    await vi.waitFor(() => store.revision(), 60_000);
    await works(store, '/after');
    await store.close();
  });

  test('gets the new client certificate once the file is replaced', async () => {
    const files = await shown('kedge', 'shown');
    const store = await open(address, { ...files, prefix: '/ours' });
    await works(store, '/first');
    await shown('other', 'shown');
    await vi.waitFor(async () => await expect(store.get('/first')).rejects.toThrow('permission denied'), 60_000);
    await shown('kedge', 'shown');
    await vi.waitFor(async () => expect((await store.get('/first'))?.value).toBe('/first'), 60_000);
    file('shown.key', 'no key');
    await works(store, '/second');
    await store.close();
  });

  test('is not trusted without its CA, and does not answer without TLS', async () => {
    const { certificateFile, keyFile } = await shown('kedge');
    await expect(open(address, { certificateFile, keyFile, prefix: '/ours' })).rejects.toThrow(
      /^etcd at https:\/\/.* does not answer: .*(self-signed|unable to (get|verify))/,
    );
    await expect(open(`etcd:${etcd.endpoint}`, { prefix: '/ours' })).rejects.toThrow('(it was asked without TLS)');
  });

  test('is trusted only under the names and addresses of its certificate', async () => {
    const pair = await ca.issueServing({ commonName: 'etcd', seconds: 3_600, dnsNames: ['localhost'] });
    const certificateFile = file('localhost.crt', pair.certificate);
    await etcd.kill();
    await etcd.start({ ...serving, certificateFile, keyFile: file('localhost.key', pair.key) });
    const options = { ...(await shown('kedge')), prefix: '/ours' };
    await expect(open(address, options)).rejects.toThrow("IP: 127.0.0.1 is not in the cert's list");
    const store = await open(address.replace('127.0.0.1', 'localhost'), options);
    await works(store, '/by-name');
    await store.close();
  });
});
