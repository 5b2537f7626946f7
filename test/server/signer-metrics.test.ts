import { expect, test } from 'vitest';
import { CertificateSigningRequests } from '../../src/api/kinds/certificate-signing-request.js';
import { PodCertificateRequests } from '../../src/api/kinds/pod-certificate-request.js';
import { timestamp } from '../../src/api/time.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { type Metrics, openMetrics } from '../../src/runtime/metrics.js';
import {
  deniedRequests,
  measureWaitingRequests,
  type RequestKind,
  signerRequests,
} from '../../src/server/signer-metrics.js';
import { testPodRequest, testSigningRequest } from '../../src/testing/certificates.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

const signers = [{ serves: 'example.test/a' }, { serves: 'team.test/*' }];

const linesOf = async (metrics: Metrics): Promise<readonly string[]> =>
  (await metrics.expose()).text.split('\n').filter((line) => line.startsWith('kedge_'));

const condition = (type: string, more: object = {}) => ({ type, status: 'True', ...more });

test('outcomes of signing are counted, starting from 0', async () => {
  const metrics = openMetrics();
  const told = signerRequests(metrics, signers);
  told('example.test/a', 'issued');
  told('team.test/*', 'error');
  told('team.test/*', 'error');
  expect(await linesOf(metrics)).toEqual([
    'kedge_signer_requests_total{signer="example.test/a",result="issued"} 1',
    'kedge_signer_requests_total{signer="example.test/a",result="refused"} 0',
    'kedge_signer_requests_total{signer="example.test/a",result="error"} 0',
    'kedge_signer_requests_total{signer="team.test/*",result="issued"} 0',
    'kedge_signer_requests_total{signer="team.test/*",result="refused"} 0',
    'kedge_signer_requests_total{signer="team.test/*",result="error"} 2',
  ]);
});

test('denied requests are counted once, those for unknown signers together', async () => {
  const metrics = openMetrics();
  const updated = deniedRequests(metrics, signers);
  for (const signerName of ['example.test/a', 'team.test/x', 'team.test/y', 'made.up/1', 'made.up/2']) {
    const asked = await testSigningRequest({ name: 'r', signerName });
    const denied = { ...asked, status: { conditions: [condition('Denied')] } };
    updated({ ...asked, status: { conditions: [condition('Approved')] } }, asked);
    updated(denied, asked);
    updated(denied, denied);
  }
  expect(await linesOf(metrics)).toEqual([
    'kedge_certificate_requests_denied_total{signer="example.test/a"} 1',
    'kedge_certificate_requests_denied_total{signer="team.test/*"} 2',
    'kedge_certificate_requests_denied_total{signer="other"} 2',
  ]);
});

test('waiting requests are counted by signer, with the age of the oldest, until they are settled or deleted', async () => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const requests = client.resource(CertificateSigningRequests);
  const create = async (name: string, signerName: string, ...conditions: readonly object[]) =>
    requests.create({ ...(await testSigningRequest({ name, signerName })), status: { conditions } } as never);
  const approvedAgo = (seconds: number): object => {
    const time = timestamp(clock.now() - seconds * 1_000);
    return condition('Approved', { lastTransitionTime: time, lastUpdateTime: '1970-01-01T00:00:00Z' });
  };
  await create('oldest', 'example.test/a', approvedAgo(90));
  await create('newer', 'example.test/a', approvedAgo(10));
  await create('elsewhere', 'made.up/1', approvedAgo(5));
  await create('failed', 'example.test/a', approvedAgo(500), condition('Failed'));
  await create('undecided', 'example.test/a');
  const stopping = new AbortController();
  const metrics = openMetrics();
  measureWaitingRequests(metrics, signers, {
    client: () => client,
    clock,
    log: silentLogger,
    signal: stopping.signal,
  });
  const lines = (a: number, aSeconds: number, team: number, other: number, otherSeconds: number): readonly string[] => [
    `kedge_signer_oldest_waiting_seconds{signer="example.test/a"} ${aSeconds}`,
    'kedge_signer_oldest_waiting_seconds{signer="team.test/*"} 0',
    `kedge_signer_oldest_waiting_seconds{signer="other"} ${otherSeconds}`,
    `kedge_signer_requests_waiting{signer="example.test/a"} ${a}`,
    `kedge_signer_requests_waiting{signer="team.test/*"} ${team}`,
    `kedge_signer_requests_waiting{signer="other"} ${other}`,
  ];
  expect(await linesOf(metrics)).toEqual(lines(2, 90, 0, 1, 5));

  const oldest = await requests.get({ name: 'oldest' });
  if (oldest === undefined) throw new Error('gone');
  await requests.subresource('status').update({ ...oldest, status: { ...oldest.status, certificate: 'eA==' } });
  await requests.delete({ name: 'elsewhere' });
  await create('whole-domain', 'team.test/x', condition('Approved', { lastTransitionTime: 'never' }));
  await settled();
  await clock.advance(60_000);
  expect(await linesOf(metrics)).toEqual(lines(1, 70, 1, 0, 0));
  stopping.abort();
});

test('pod certificate requests wait from their creation until they are settled', async () => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const requests = client.resource(PodCertificateRequests);
  const create = async (name: string, signerName: string) =>
    requests.create(await testPodRequest({ name, signerName }));
  await create('oldest', 'example.test/a');
  await create('denied', 'example.test/a');
  await clock.advance(60_000);
  await create('newer', 'made.up/1');
  const denied = await requests.get({ namespace: 'default', name: 'denied' });
  if (denied === undefined) throw new Error('gone');
  await requests.subresource('status').update({ ...denied, status: { conditions: [condition('Denied')] } } as never);
  const stopping = new AbortController();
  const lines = async (kinds: readonly RequestKind[]): Promise<readonly string[]> => {
    const metrics = openMetrics();
    const given = { client: () => client, clock, log: silentLogger, signal: stopping.signal, kinds };
    measureWaitingRequests(metrics, signers, given);
    return linesOf(metrics);
  };
  expect(await lines(['certificates', 'pods'])).toEqual([
    'kedge_signer_oldest_waiting_seconds{signer="example.test/a"} 60',
    'kedge_signer_oldest_waiting_seconds{signer="team.test/*"} 0',
    'kedge_signer_oldest_waiting_seconds{signer="other"} 0',
    'kedge_signer_requests_waiting{signer="example.test/a"} 1',
    'kedge_signer_requests_waiting{signer="team.test/*"} 0',
    'kedge_signer_requests_waiting{signer="other"} 1',
  ]);
  expect((await lines(['certificates'])).filter((line) => line.endsWith(' 1'))).toEqual([]);
  stopping.abort();
});
