import { expect, test } from 'vitest';
import { type LedgerRecord, ledgerEntryName } from '../../src/api/certificate-ledger.js';
import { serviceUnavailable } from '../../src/api/errors.js';
import { CertificateLedgerEntries } from '../../src/api/kinds/certificate-ledger-entry.js';
import { groupVersion } from '../../src/api/object.js';
import { loadCertificateAuthority } from '../../src/pki/certificate-authority.js';
import { emptyLedger, nextLedgerEntry } from '../../src/pki/certificate-ledger.js';
import { caSigner } from '../../src/pki/signers/ca-signer.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { certificateMetrics, measureCaEnds } from '../../src/server/certificate-metrics.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';
import { certificateRecord } from './certificate-record.js';

const hour = 3_600_000;

test('certificates and CAs have metrics about their expiry', async () => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const record = (sha256: string, hours: number): LedgerRecord =>
    certificateRecord({
      names: [`DNS:${sha256}`],
      notAfter: `${new Date(clock.now() + hours * hour).toISOString().slice(0, 19)}Z`,
      sha256: sha256.repeat(16),
    });
  const spec = nextLedgerEntry(emptyLedger, [record('a', 2), record('b', 5), record('c', -3)]);
  await client.resource(CertificateLedgerEntries).create({
    apiVersion: groupVersion(CertificateLedgerEntries),
    kind: CertificateLedgerEntries.kind,
    metadata: { name: ledgerEntryName(1) },
    spec,
  });
  const ca = await testAuthority({ clock, seconds: 86_400 });
  const below = loadCertificateAuthority({
    ...(await ca.issueAuthority({ commonName: 'below', seconds: 600 })),
    clock,
  });
  const broken = {
    serves: 'example.test/broken',
    sign: async () => ({ issued: '' }),
    trustAnchors: () => Promise.reject(new Error('away')),
  };
  const unreadable = {
    ...broken,
    serves: 'example.test/unreadable',
    trustAnchors: async () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  };
  const metrics = openMetrics();
  const signers = [
    caSigner({ serves: 'example.test/a', authority: () => ca }),
    caSigner({ serves: 'example.test/below', authority: () => below }),
    { serves: 'example.test/told', sign: broken.sign, trustAnchors: async () => ca.anchors + below.issuer },
    broken,
    unreadable,
  ];
  const issued = certificateMetrics(metrics, { signers, clock, client: () => client });
  measureCaEnds(metrics, signers, clock);
  const lines = async () => (await metrics.expose()).text.split('\n').filter((line) => line.startsWith('kedge_'));
  const seconds = (hours: number): number => (Date.UTC(2026, 0, 1) + hours * hour) / 1_000;

  const ofCas = [
    ['a', ca],
    ['below', below],
    ['told', ca],
  ] as const;
  const caLines = ofCas.map(
    ([name, { certificate }]) =>
      `kedge_ca_expiration_timestamp_seconds{signer="example.test/${name}"} ${certificate.notAfter / 1_000}`,
  );

  client.fail = () => serviceUnavailable('down');
  expect(await lines()).toEqual(caLines);
  client.fail = () => undefined;
  issued(record('a', 2));
  issued(record('d', 1));
  const counts = (name: string, a: number): readonly string[] =>
    Object.entries({ a, below: 0, told: 0, broken: 0, unreadable: 0 }).map(
      ([signer, count]) => `kedge_certificates_${name}{signer="example.test/${signer}"} ${count}`,
    );
  expect(await lines()).toEqual([
    ...caLines,
    `kedge_certificate_expiration_timestamp_seconds{signer="example.test/a"} ${seconds(1)}`,
    // Issued a year ago, with hours left.
    ...counts('overdue', 3),
    ...counts('valid', 3),
  ]);
  await clock.advance(4 * hour);
  expect(await lines()).toContain('kedge_certificates_valid{signer="example.test/a"} 1');
});

test('signers that are not configured are counted together', async () => {
  const clock = new FakeClock();
  const metrics = openMetrics();
  const signers = [{ serves: 'team.test/*', sign: async () => ({ issued: '' }) }];
  const issued = certificateMetrics(metrics, { signers, clock, client: () => new FakeClient(clock) });
  for (const [at, signerName] of ['team.test/a', 'team.test/b', 'made.up/1', 'made.up/2', 'made.up/3'].entries())
    issued(certificateRecord({ signerName, sha256: String(at), notAfter: '2027-01-01T00:00:00Z' }));
  const { text } = await metrics.expose();
  expect(text.match(/^kedge_certificates_valid.*/gm)).toEqual([
    'kedge_certificates_valid{signer="team.test/*"} 2',
    'kedge_certificates_valid{signer="other"} 3',
  ]);
});

test('a signer that does not answer does not delay a scrape', async () => {
  const clock = new FakeClock();
  const ca = await testAuthority({ clock, seconds: 86_400 });
  const metrics = openMetrics();
  const signers = [
    {
      serves: 'example.test/silent',
      sign: async () => ({ issued: '' }),
      caNotAfter: () => new Promise<number>(() => {}),
    },
    caSigner({ serves: 'example.test/a', authority: () => ca }),
  ];
  measureCaEnds(metrics, signers, clock);
  const scrape = metrics.expose();
  await clock.advance(5_000);
  const { text } = await scrape;
  expect(text).toContain(`signer="example.test/a"} ${ca.certificate.notAfter / 1_000}`);
});
