import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { timestamp } from '../../src/api/time.js';
import { generateServiceAccountKey } from '../../src/auth/service-account-keys.js';
import { createServer } from '../../src/embed.js';
import { type Certificate, readPemCertificates } from '../../src/pki/certificate.js';
import { createCertificateAuthority } from '../../src/pki/certificate-authority.js';
import { isSignedBy } from '../../src/pki/signature.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { openCredentials } from '../../src/server/credentials.js';
import type { ServerOptions } from '../../src/server/options.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { attributes, extensions, type Forged, forge } from '../auth/forge.js';

const day = 86_400_000;
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-credentials-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = async (hosts: readonly string[] = [], clock = new FakeClock()) => {
  const credentials = await openCredentials({ directory, hosts, reliedOn: [], isNew: true, clock, log: silentLogger });
  return { ca: credentials.ca.certificate, ...(await credentials.forListening()) };
};
const leafOf = ({ certificate }: { readonly certificate: string }): Certificate => {
  const [leaf] = readPemCertificates(certificate);
  if (leaf === undefined) throw new Error('no certificate');
  return leaf;
};

test('credentials are reused at the next start', async () => {
  const first = await open();
  expect(await open()).toEqual(first);
});

test.each([2001, 2100])(
  'credentials are valid by the clock of the server and by that of clients, also in %i',
  async (year) => {
    const clock = new FakeClock(Date.UTC(year, 0, 1));
    const { ca, serving, admin } = await open([], clock);
    const eleven = 11 * 30 * day;
    for (const { notBefore, notAfter } of [ca, leafOf(serving), leafOf(admin)])
      for (const now of [clock.now(), Date.now()]) {
        expect(notBefore).toBeLessThanOrEqual(now);
        expect(notAfter).toBeGreaterThan(now + eleven);
      }
  },
);

test('credentials are reused for an address in another notation', async () => {
  const hosts = ['0:0:0:0:0:0:0:1', 'FD00:0::1'];
  const first = await open(hosts);
  expect(leafOf(first.serving).alternativeNames.ipAddresses).toEqual(['127.0.0.1', '::1', 'fd00::1']);
  expect(await open(hosts)).toEqual(first);
});

test('a serving certificate is recreated for an additional name', async () => {
  const first = await open();
  const { serving, admin } = await open(['kedge.acme.test']);
  expect(leafOf(serving).alternativeNames.dnsNames).toContain('kedge.acme.test');
  expect(admin).toEqual(first.admin);
  expect((await open()).serving).toEqual(serving);
});

test.each(['ca.pem', 'sa.key', 'apiserver.pem', 'ca.crt'])(
  '%s that is unreadable is reported with its path',
  async (name) => {
    mkdirSync(join(directory, name));
    await expect(open()).rejects.toThrow(`cannot read ${join(directory, name)}: EISDIR`);
  },
);

test('credentials are recreated under a new CA, even with the same name', async () => {
  const before = await open();
  rmSync(join(directory, 'ca.pem'));
  const after = await open();
  expect(after.ca.subjectDer).toEqual(before.ca.subjectDer);
  expect(isSignedBy(leafOf(after.serving), after.ca)).toBe(true);
  expect(isSignedBy(leafOf(after.admin), after.ca)).toBe(true);
});

test('credentials are recreated if they are not valid yet because the clock was ahead', async () => {
  // Even when it is ahead, it is behind the system's clock, which would otherwise have an influence.
  const start = systemClock.now() - 400 * day;
  await open([], new FakeClock(start));
  rmSync(join(directory, 'apiserver.pem'));
  rmSync(join(directory, 'admin.pem'));
  const { serving: early } = await open([], new FakeClock(start + 200 * day));
  const { serving, admin } = await open([], new FakeClock(start));
  expect(leafOf(early).notBefore).toBeGreaterThan(start);
  for (const made of [serving, admin]) expect(leafOf(made).notBefore).toBeLessThan(start);
  expect(await open([], new FakeClock(start))).toMatchObject({ serving, admin });
});

test('credentials are kept if the clock is behind, as the CA shows: new ones would be no better', async () => {
  const now = systemClock.now();
  const { serving, admin } = await open([], new FakeClock(now));
  expect(await open([], new FakeClock(0))).toMatchObject({ serving, admin });
});

test('missing files are created with a warning if the store has objects, and without at a first start', async () => {
  const file = (name: string): string => join(directory, 'pki', name);
  const missed = async (more: ServerOptions = {}): Promise<readonly string[]> => {
    const files: string[] = [];
    const warn = (fields: { readonly file?: string }): void => void files.push(fields.file ?? '');
    const log = { ...silentLogger, warn, child: () => log };
    const store = `level:${join(directory, 'store')}`;
    await (await createServer({ store, dataDir: join(directory, 'pki'), controllers: [], log, ...more })).stop();
    return files;
  };
  expect(await missed()).toEqual([]);
  rmSync(file('sa.key'));
  expect(await missed()).toEqual([file('sa.key')]);
  rmSync(file(''), { recursive: true });
  expect(await missed()).toEqual([file('ca.pem'), file('sa.key')]);
  expect(await missed()).toEqual([]);
  rmSync(file('sa.key'));
  expect(await missed({ serviceAccountSigningKey: await generateServiceAccountKey() })).toEqual([]);
});

test('of several servers with their own CAs that start over an empty store, one warns', async () => {
  const store = new MemoryStore();
  const start = async (pki: string): Promise<{ readonly files: readonly string[]; stop(): Promise<void> }> => {
    const files: string[] = [];
    const warn = (fields: { readonly file?: string }): void => void files.push(basename(fields.file ?? ''));
    const log = { ...silentLogger, warn, child: () => log };
    const server = await createServer({ store, dataDir: join(directory, pki), controllers: [], log });
    return { files, stop: () => server.stop() };
  };
  const servers = await Promise.all([start('one'), start('two')]);
  await Promise.all(servers.map(({ stop }) => stop()));
  expect(servers.flatMap(({ files }) => files)).toEqual(['ca.pem', 'sa.key']);
});

test('an expiring CA is warned of with its file, and an expired one issues nothing', async () => {
  const file = join(directory, 'ca.pem');
  const warned: object[] = [];
  const log = { ...silentLogger, warn: (fields: object, message: string) => void warned.push({ ...fields, message }) };
  const openedAt = (now: number) =>
    openCredentials({ directory, hosts: [], reliedOn: [], isNew: true, clock: new FakeClock(now), log });
  const { notAfter } = (await openedAt(Date.UTC(2100, 0, 1))).ca.certificate;
  expect(warned).toEqual([]);
  const { warnOfCa } = await openedAt(notAfter - 365 * day + 1);
  const message = 'a CA is about to expire';
  expect(warned).toEqual([{ file, ends: 'kedge-ca', notAfter: timestamp(notAfter), message }]);
  warnOfCa();
  expect(warned[1]).toEqual(warned[0]);
  await expect((await openedAt(notAfter)).forListening()).rejects.toThrow(
    `the CA in ${file} expired at ${timestamp(notAfter)}: replace it`,
  );
});

test('of a CA and those above it, the first to expire is warned of', async () => {
  const warned: object[] = [];
  const log = { ...silentLogger, warn: (fields: object) => void warned.push(fields) };
  const clock = new FakeClock();
  const made = (commonName: string, days: number, issuer?: Forged): Forged =>
    forge({
      subject: [[attributes.commonName, commonName]],
      extensions: [extensions.authority()],
      notAfter: clock.now() + days * day,
      ...(issuer === undefined ? {} : { issuer }),
    });
  const root = made('root', 100);
  const { pem, key } = made('own', 4_000, root);
  const keyText = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(join(directory, 'ca.pem'), pem + root.pem + keyText);
  await openCredentials({ directory, hosts: [], reliedOn: [], isNew: true, clock, log });
  expect(warned).toMatchObject([{ ends: 'root' }]);
});

test.each(['apiserver', 'admin'])(
  'credentials of %s are recreated if the key does not match the certificate',
  async (name) => {
    const first = await open();
    const path = join(directory, `${name}.pem`);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.slice(0, text.indexOf('-----BEGIN PRIVATE KEY')));
    const { serving, admin } = await open();
    const made = name === 'admin' ? admin : serving;
    expect(made.key).toContain('PRIVATE KEY');
    expect(made).not.toEqual(name === 'admin' ? first.admin : first.serving);
  },
);

test.each<[string, (own: string, root: string, key: string) => string]>([
  ['the key first', (own, root, key) => key + own + root],
  ['the key between the certificates', (own, root, key) => own + key + root],
  ['the key last, with text between', (own, root, key) => `ours\n${own}\ntheirs\r\n${root}\nits key\n${key}`],
])('a CA below another: %s', async (_, written) => {
  const clock = new FakeClock();
  const root = await createCertificateAuthority({ commonName: 'root', clock });
  const { certificate, key } = await root.issueAuthority({ commonName: 'own' });
  const own = certificate.slice(0, -root.anchors.length);
  writeFileSync(join(directory, 'ca.pem'), written(own, root.anchors, key));
  const { ca } = await openCredentials({ directory, hosts: [], reliedOn: [], isNew: true, clock, log: silentLogger });
  expect([ca.issuer, ca.anchors]).toEqual([own, root.anchors]);
  expect(readFileSync(join(directory, 'ca.crt'), 'utf8')).toBe(certificate);
});

test('no part of a key gets into the readable copy, even from a damaged file', async () => {
  const { ca } = await openCredentials({
    directory,
    hosts: [],
    reliedOn: [],
    isNew: true,
    clock: new FakeClock(),
    log: silentLogger,
  });
  writeFileSync(join(directory, 'ca.pem'), readFileSync(join(directory, 'ca.pem'), 'utf8').slice(0, -40));
  await expect(open()).rejects.toThrow('ca.pem is damaged: the private key cannot be read');
  expect(readFileSync(join(directory, 'ca.crt'), 'utf8')).toBe(ca.issuer);
});

test('the readable copy of a certificate is what the server uses, whoever changed it', async () => {
  const text = (name: string): string => readFileSync(join(directory, name), 'utf8');
  await open();
  const brought = text('ca.pem');
  rmSync(join(directory, 'ca.pem'));
  await open();
  writeFileSync(join(directory, 'ca.pem'), brought);
  rmSync(join(directory, 'admin.crt'));
  const { ca, admin } = await open();
  expect(leafOf({ certificate: text('ca.crt') }).der).toEqual(ca.der);
  expect(text('admin.crt')).toBe(admin.certificate);
});
