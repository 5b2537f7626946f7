import { describe, expect, test } from 'vitest';
import { podCertificateSigners } from '../../controllers/pod-certificate-signer/pod-certificate-signer.js';
import type { LedgerRecord } from '../../src/api/certificate-ledger.js';
import { invalidObject, serviceUnavailable, staleWrite } from '../../src/api/errors.js';
import { CertificateLedgerEntries } from '../../src/api/kinds/certificate-ledger-entry.js';
import {
  type PodCertificateRequest,
  PodCertificateRequests,
  podCertificateEnding,
} from '../../src/api/kinds/pod-certificate-request.js';
import type { SigningOutcome } from '../../src/controller/signing.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import type { PodSigningRequest, PodSigningResult } from '../../src/pki/pod-signing.js';
import type { Signer } from '../../src/pki/signer.js';
import { testAuthority, testKey, testPodRequest } from '../../src/testing/certificates.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';
import { runControllers } from './run-controllers.js';

const hour = 3_600;
const ca = testAuthority({ clock: new FakeClock() });
const key = { namespace: 'default', name: 'a' };

interface CountingSigner extends Signer {
  readonly asked: PodSigningRequest[];
}
function signer(
  answer: (request: PodSigningRequest) => Promise<PodSigningResult> = (request) => issue(request),
  serves = 'example.test/pods',
): CountingSigner {
  const asked: PodSigningRequest[] = [];
  return {
    serves,
    asked,
    sign: async () => ({ refused: 'pods only', reason: 'PodsOnly' }),
    signPod: async (request) => {
      asked.push(request);
      return answer(request);
    },
  };
}
const issue = async (
  { publicKey }: Pick<PodSigningRequest, 'publicKey'>,
  { seconds = hour, now }: { readonly seconds?: number; readonly now?: number } = {},
) => ({
  issued: await (await ca).issueForPod(
    { publicKey, dnsNames: ['a.test'] },
    { seconds, usages: ['client auth'], ...(now === undefined ? {} : { now }) },
  ),
});

async function start(one: Signer, more: Partial<Parameters<typeof podCertificateSigners>[0]> = {}) {
  const world = await runControllers(podCertificateSigners({ signers: [{ timeoutMs: 1_000, ...one }], ...more }));
  const requests = world.client.resource(PodCertificateRequests);
  const create = async (given: Partial<PodCertificateRequest> = {}): Promise<PodCertificateRequest> =>
    requests.create({ ...(await testPodRequest({ name: 'a' })), ...given });
  const now = () => requests.get(key);
  const ended = () => eventually(now, (found) => found !== undefined && podCertificateEnding(found) !== undefined);
  return { ...world, requests, create, now, ended };
}

describe('pod-certificate-signer', () => {
  test("passes the pod's identity to the signer, and writes the chain and its times", async () => {
    const one = signer();
    const world = await start(one);
    await world.requests.create(
      await testPodRequest({ name: 'a', maxExpirationSeconds: 7_200, annotations: { 'a.b/c': 'd' } }),
    );
    const status = (await world.ended())?.status;
    const [leaf] = readPemCertificates(status?.certificateChain ?? '');
    expect(leaf?.alternativeNames.dnsNames).toEqual(['a.test']);
    expect({ ...status, certificateChain: '' }).toEqual({
      conditions: [
        { type: 'Issued', status: 'True', reason: 'Issued', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
      certificateChain: '',
      notBefore: '2025-12-31T23:58:00Z',
      beginRefreshAt: '2026-01-01T00:38:00Z',
      notAfter: '2026-01-01T00:58:00Z',
    });
    const { publicKey, ...asked } = one.asked[0] as PodSigningRequest;
    expect(publicKey.kind).toBe('ECDSA');
    expect(asked).toEqual({
      signerName: 'example.test/pods',
      namespace: 'default',
      pod: { name: 'web', uid: 'uid-of-web' },
      serviceAccount: { name: 'robot', uid: 'uid-of-robot' },
      node: { name: 'node-1', uid: 'uid-of-node-1' },
      annotations: { 'a.b/c': 'd' },
      maxSeconds: 7_200,
      uid: 'uid-1',
    });
    await world.clock.advance(10_000);
    expect(one.asked.length).toBe(1);
    expect(world.client.writes).toEqual([
      'create podcertificaterequests default/a',
      'update podcertificaterequests/status default/a',
    ]);
  });

  test.each<[string, PodSigningResult]>([
    ['Denied', { refused: 'no such keys', reason: 'UnsupportedKeyType' }],
    ['Failed', { failed: 'no such pod', reason: 'Gone' }],
  ])('the outcome %s is final, and nothing is issued', async (type, answer) => {
    const one = signer(async () => answer);
    const world = await start(one);
    await world.create();
    const status = (await world.ended())?.status;
    const message = 'refused' in answer ? answer.refused : 'failed' in answer ? answer.failed : '';
    const { reason } = answer as { readonly reason: string };
    expect(status).toEqual({
      conditions: [{ type, status: 'True', reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' }],
    });
    await world.clock.advance(100_000);
    expect(one.asked.length).toBe(1);
  });

  test('finished requests and those of other signers are ignored', async () => {
    const one = signer();
    const { create, requests, clock } = await start(one);
    await create({ status: { conditions: [{ type: 'Denied', status: 'True' }] } });
    await requests.create(await testPodRequest({ name: 'b', signerName: 'example.test/others' }));
    await clock.advance(1_000);
    expect(one.asked).toEqual([]);
  });

  test('signers without a method for pods are left out', () => {
    const { signPod: _, ...other } = signer();
    expect(podCertificateSigners({ signers: [other] })).toEqual([]);
  });

  test('a failure is retried with the same uid, and every outcome is reported', async () => {
    const told: (readonly [string, SigningOutcome])[] = [];
    let trouble = 2;
    const one = signer(async (request) => {
      if (trouble-- > 0) throw new Error('HSM did not answer');
      return issue(request);
    }, 'example.test/*');
    const { create, clock, ended } = await start(one, { onOutcome: (...outcome) => told.push(outcome) });
    await create();
    await clock.advance(1_000);
    await ended();
    expect(one.asked.map(({ uid }) => uid)).toEqual(['uid-1', 'uid-1', 'uid-1']);
    expect(told.map(([, outcome]) => outcome)).toEqual(['error', 'error', 'issued']);
  });

  test.each([
    undefined,
    {},
    { issued: '' },
    { issued: 'x', refreshAt: 'soon' },
    { refused: 'no', reason: 'has spaces' },
    { failed: 'no' },
  ])('an invalid answer is a failure: %j', async (answer) => {
    const one = signer(async () => answer as unknown as PodSigningResult);
    const { create, now, clock } = await start(one);
    await create();
    await clock.advance(1_000);
    expect(one.asked.length).toBeGreaterThan(1);
    expect((await now())?.status).toBeUndefined();
  });

  test.each<[string, (request: PodSigningRequest) => Promise<PodSigningResult>]>([
    ['another key', async () => issue({ publicKey: (await keyOf('P-384')) as PodSigningRequest['publicKey'] })],
    ['too short a lifetime', (request) => issue(request, { seconds: hour - 1 })],
    ['too long a lifetime', (request) => issue(request, { seconds: 86_401 })],
    ['an old start', (request) => issue(request, { now: Date.UTC(2025, 11, 31) })],
    ['too early a refresh time', async (request) => ({ ...(await issue(request)), refreshAt: Date.UTC(2026, 0, 1) })],
    ['no PEM', async () => ({ issued: 'certificate' })],
  ])('hands out no certificate with %s, and gives up', async (_, answer) => {
    const one = signer(answer);
    const world = await start(one);
    await world.create();
    await eventually(
      () => world.complaints,
      ({ length }) => length > 0,
    );
    expect(world.complaints[0]).toMatch(/^reconcile failed and is not retried: the signer/);
    expect(world.client.writes.length).toBe(1);
  });

  test('neither a write conflict nor an unavailable server makes it sign again', async () => {
    const one = signer();
    const { create, clock, client, ended } = await start(one);
    let races = 2;
    let down = 2;
    client.fail = ({ subresource }) => {
      if (subresource !== 'status') return undefined;
      if (races-- > 0) return staleWrite({ group: '', plural: 'x', name: 'a' });
      return down-- > 0 ? serviceUnavailable('down') : undefined;
    };
    await create();
    await clock.advance(10_000);
    await ended();
    expect(one.asked.length).toBe(1);
  });

  test('a certificate that has become too old to be accepted is issued again', async () => {
    const one = signer(async (request) => issue(request, { now: world.clock.now() }));
    const world = await start(one);
    world.client.fail = ({ subresource }) => {
      if (subresource !== 'status' || world.clock.now() >= Date.UTC(2026, 0, 1, 0, 3)) return undefined;
      return invalidObject({ group: '', kind: 'x', name: 'a' }, []);
    };
    await world.create();
    await world.clock.advance(10 * 60_000);
    const status = (await world.ended())?.status;
    expect(one.asked.length).toBe(2);
    expect(Date.parse(status?.notBefore ?? '')).toBeGreaterThan(Date.UTC(2026, 0, 1));
  });

  test('records every certificate in the ledger before handing it out', async () => {
    const told: LedgerRecord[] = [];
    const world = await start(signer(), { ledger: true, onIssued: (record) => told.push(record) });
    await world.create();
    await world.ended();
    const { items } = await world.client.resource(CertificateLedgerEntries).list();
    const [record] = items.flatMap(({ spec }) => spec.records);
    expect(record).toMatchObject({
      request: { name: 'default/a', uid: 'uid-1' },
      requester: 'system:node:node-1',
      approval: { reason: 'PodCertificateRequest', message: 'pod default/web' },
      signerName: 'example.test/pods',
      names: ['DNS:a.test'],
    });
    expect(told).toEqual([record]);
    expect(world.client.writes.map((write) => write.split(' ').slice(0, 2).join(' '))).toEqual([
      'create podcertificaterequests',
      'create certificateledgerentries',
      'update podcertificaterequests/status',
    ]);
  });
});

const keyOf = async (type: 'P-384') => {
  const { spec } = await testPodRequest({ name: 'b', key: await testKey(type) });
  const { podCertificateKey } = await import('../../src/pki/pod-certificate-key.js');
  return podCertificateKey(spec);
};
