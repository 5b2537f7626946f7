import { expect, test } from 'vitest';
import { csrSigners } from '../../controllers/csr-signer/csr-signer.js';
import type { LedgerRecord } from '../../src/api/certificate-ledger.js';
import { serviceUnavailable } from '../../src/api/errors.js';
import { CertificateLedgerEntries } from '../../src/api/kinds/certificate-ledger-entry.js';
import { CertificateSigningRequests, certificatePem } from '../../src/api/kinds/certificate-signing-request.js';
import { ledgerWriter } from '../../src/controller/ledger-writer.js';
import { verifyLedger } from '../../src/pki/certificate-ledger.js';
import { caSigner } from '../../src/pki/signers/ca-signer.js';
import { testAuthority, testSigningRequest } from '../../src/testing/certificates.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';
import { FakeClient } from '../fake-client.js';
import { runControllers } from './run-controllers.js';

const record = (serial: number, names: readonly string[] = []): LedgerRecord => ({
  request: { name: 'a', uid: `${serial}` },
  requester: 'alice',
  approval: {},
  signerName: 'example.test/x',
  caKeyId: '01',
  serial: `${serial}`,
  subject: '',
  names,
  notBefore: '2026-01-01T00:00:00Z',
  notAfter: '2027-01-01T00:00:00Z',
  sha256: `${serial}`,
});
const all = async (client: FakeClient) => {
  const { items } = await client.resource(CertificateLedgerEntries).list();
  return items.map(({ metadata, spec }) => ({ name: metadata.name ?? '', spec }));
};
const count = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, at) => from + at);

test('concurrent records are written into few entries, in order', async () => {
  const client = new FakeClient(new FakeClock());
  const writer = ledgerWriter(client);
  await Promise.all(count(0, 600).map((serial) => writer.append(record(serial))));
  const entries = await all(client);
  expect(entries.length).toBe(3);
  expect(entries.flatMap(({ spec }) => spec.records.map(({ serial }) => Number(serial)))).toEqual(count(0, 600));
  expect(verifyLedger(entries).problems).toEqual([]);
});

test('large records fill an entry sooner', async () => {
  const client = new FakeClient(new FakeClock());
  const writer = ledgerWriter(client);
  const names = [`DNS:${'x'.repeat(100_000)}`];
  await Promise.all(count(0, 20).map((serial) => writer.append(record(serial, names))));
  const sizes = (await all(client)).map(({ spec }) => JSON.stringify(spec).length);
  expect(Math.max(...sizes)).toBeLessThan(500_000);
  expect((await all(client)).flatMap(({ spec }) => spec.records).length).toBe(20);
});

test('a new writer finds the end of the ledger in few steps, a running one knows it', async () => {
  const client = new FakeClient(new FakeClock());
  const first = ledgerWriter(client);
  for (const serial of count(0, 99)) await first.append(record(serial));
  client.calls.length = 0;
  await first.append(record(99));
  expect(client.calls.map(({ verb }) => verb)).toEqual(['create']);
  client.calls.length = 0;
  await ledgerWriter(client).append(record(100));
  expect(client.calls.filter(({ verb }) => verb === 'get').length).toBeLessThan(16);
  expect(verifyLedger(await all(client))).toMatchObject({ records: 101, problems: [] });
});

test('several writers share one ledger without losing records', async () => {
  const client = new FakeClient(new FakeClock());
  const writers = count(0, 4).map(() => ledgerWriter(client));
  await Promise.all(
    writers.map(async (writer, at) => {
      for (const serial of count(0, 25)) await writer.append(record(at * 100 + serial));
    }),
  );
  const entries = await all(client);
  expect(verifyLedger(entries)).toMatchObject({ records: 100, problems: [] });
  expect(new Set(entries.flatMap(({ spec }) => spec.records.map(({ serial }) => serial))).size).toBe(100);
});

test('an entry whose answer was lost does no harm', async () => {
  const client = new FakeClient(new FakeClock());
  const writer = ledgerWriter(client);
  const resource = client.resource(CertificateLedgerEntries);
  const lossy: FakeClient = Object.assign(Object.create(client) as FakeClient, {
    resource: () => ({
      ...resource,
      create: async (entry: never) => {
        await resource.create(entry);
        throw serviceUnavailable('the answer was lost');
      },
    }),
  });
  await expect(ledgerWriter(lossy).append(record(1))).rejects.toThrow('lost');
  await writer.append(record(2));
  expect(verifyLedger(await all(client))).toMatchObject({ records: 2, problems: [] });
});

test('a record whose answer was lost is not written again on a retry', async () => {
  const client = new FakeClient(new FakeClock());
  const resource = client.resource(CertificateLedgerEntries);
  let loses = true;
  const lossy: FakeClient = Object.assign(Object.create(client) as FakeClient, {
    resource: () => ({
      ...resource,
      create: async (entry: never) => {
        const created = await resource.create(entry);
        if (loses) throw serviceUnavailable('the answer was lost');
        return created;
      },
    }),
  });
  const writer = ledgerWriter(lossy);
  await ledgerWriter(client).append(record(0));
  const together = await Promise.allSettled([1, 2].map((serial) => writer.append(record(serial))));
  expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await ledgerWriter(client).append(record(3));
  await expect(writer.append(record(4))).rejects.toThrow('lost');
  await writer.append(record(1));
  loses = false;
  await writer.append(record(5));
  await Promise.all([2, 6, 4].map((serial) => writer.append(record(serial))));
  const entries = await all(client);
  expect(verifyLedger(entries).problems).toEqual([]);
  expect(entries.flatMap(({ spec }) => spec.records.map(({ serial }) => Number(serial)))).toEqual(count(0, 7));
});

test('a certificate is handed out only once it is recorded, and signed and recorded once', async () => {
  const ca = await testAuthority();
  let signed = 0;
  const inner = caSigner({ serves: 'example.test/clients', authority: () => ca });
  const signer = {
    ...inner,
    sign: (...given: Parameters<typeof inner.sign>) => {
      signed++;
      return inner.sign(...given);
    },
  };
  const told: LedgerRecord[] = [];
  const world = await runControllers(
    csrSigners({ signers: [signer], ledger: true, onIssued: (one) => told.push(one) }),
  );
  world.client.fail = ({ plural }) => (plural === 'certificateledgerentries' ? serviceUnavailable('down') : undefined);
  const requests = world.client.resource(CertificateSigningRequests);
  const approved = { conditions: [{ type: 'Approved', status: 'True', reason: 'Me', message: 'why not' }] };
  await requests.create({ ...(await testSigningRequest({ name: 'a' })), status: approved });
  const issued = async () => {
    const csr = await requests.get({ name: 'a' });
    return csr && certificatePem(csr);
  };
  await world.clock.advance(5_000);
  expect(await issued()).toBeUndefined();
  expect(told).toEqual([]);
  let failures = 1;
  world.client.fail = ({ subresource }) =>
    subresource === 'status' && failures-- > 0 ? serviceUnavailable('down') : undefined;
  await eventually(
    async () => {
      await world.clock.advance(1_000);
      return issued();
    },
    (pem) => pem !== undefined,
  );
  expect(signed).toBe(1);
  expect(failures).toBeLessThan(1);
  expect((await all(world.client)).flatMap(({ spec }) => spec.records)).toEqual(told);
  expect(told).toMatchObject([{ request: { name: 'a' }, approval: { reason: 'Me', message: 'why not' } }]);
  await world.stop();
});
