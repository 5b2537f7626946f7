import { describe, expect, test } from 'vitest';
import { csrSigners } from '../../controllers/csr-signer/csr-signer.js';
import { signingRequest } from '../../controllers/csr-signer/signing-request.js';
import { entityTooLarge, serviceUnavailable, staleWrite } from '../../src/api/errors.js';
import { CertificateLedgerEntries } from '../../src/api/kinds/certificate-ledger-entry.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  certificatePem,
} from '../../src/api/kinds/certificate-signing-request.js';
import type { SigningOutcome } from '../../src/controller/signing.js';
import { type Signer, type SigningRequest, type SigningResult, signerFor } from '../../src/pki/signer.js';
import { testAuthority, testKey, testRequest, testSigningRequest } from '../../src/testing/certificates.js';
import { settled } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';
import { runControllers } from './run-controllers.js';

const approved = { conditions: [{ type: 'Approved', status: 'True' }] };
const ca = testAuthority();

interface CountingSigner extends Signer {
  readonly asked: SigningRequest[];
}
function signer(
  answer: (request: SigningRequest, signal: AbortSignal) => Promise<SigningResult> = issue,
  serves = 'example.test/clients',
): CountingSigner {
  const asked: SigningRequest[] = [];
  return {
    serves,
    asked,
    sign: async (request, signal) => {
      asked.push(request);
      return answer(request, signal);
    },
  };
}
const issue = async ({ request, usages }: SigningRequest): Promise<SigningResult> => ({
  issued: await (await ca).issue(request, { seconds: 3_600, usages }),
});

async function start(...signers: readonly Signer[]) {
  const world = await runControllers(csrSigners({ signers: signers.map((one) => ({ timeoutMs: 1_000, ...one })) }));
  const requests = world.client.resource(CertificateSigningRequests);
  const create = async (more: object = { status: approved }): Promise<CertificateSigningRequest> =>
    requests.create({ ...(await testSigningRequest({ name: 'a' })), ...more });
  const now = () => requests.get({ name: 'a' });
  return { ...world, requests, create, now };
}

describe('csr-signer', () => {
  test('writes the certificate of an approved request once', async () => {
    const one = signer();
    const world = await start(one);
    await world.create();
    await eventually(world.now, (found) => certificatePem(found!) !== undefined);
    expect(certificatePem((await world.now())!)).toMatch(/^-----BEGIN CERTIFICATE-----/);
    await world.clock.advance(10_000);
    expect(one.asked.length).toBe(1);
    expect(world.client.writes).toEqual([
      'create certificatesigningrequests a',
      'update certificatesigningrequests/status a',
    ]);
  });

  test('logs the outcome of a request', async () => {
    const refusing = signer(async () => ({ refused: 'too young', reason: 'AgeLimit' }), 'example.test/others');
    const { requests, news } = await start(signer(), refusing);
    for (const [name, signerName] of Object.entries({ a: 'example.test/clients', b: 'example.test/others' })) {
      const csr = await testSigningRequest({ name, signerName, commonName: name });
      await requests.create({ ...csr, spec: { ...csr.spec, username: 'dora' }, status: approved });
    }
    await eventually(
      () => news,
      ({ length }) => length === 2,
    );
    const serial = expect.stringMatching(/^[0-9a-f]+$/);
    expect(news).toContainEqual({
      message: 'certificate issued',
      object: 'a',
      requester: 'dora',
      subject: 'CN=a',
      serial,
      notAfter: expect.any(String),
    });
    expect(news).toContainEqual({
      message: 'certificate refused',
      object: 'b',
      refused: 'too young',
      reason: 'AgeLimit',
    });
  });

  test.each([
    ['not approved', {}],
    ['denied as well', { status: { conditions: [...approved.conditions, { type: 'Denied', status: 'True' }] } }],
    ['failed', { status: { conditions: [...approved.conditions, { type: 'Failed', status: 'True' }] } }],
    ['issued', { status: { ...approved, certificate: 'eA==' } }],
  ])('does not sign a request that is %s', async (_, more) => {
    const one = signer();
    const { create, clock } = await start(one);
    await create(more);
    await clock.advance(1_000);
    expect(one.asked).toEqual([]);
  });

  test('a refusal becomes the condition Failed and is final', async () => {
    const one = signer(async () => ({ refused: 'too young', reason: 'AgeLimit' }));
    const { create, now, clock } = await start(one);
    await create();
    await clock.advance(100_000);
    expect((await now())?.status?.conditions).toEqual([
      ...approved.conditions,
      {
        type: 'Failed',
        status: 'True',
        reason: 'AgeLimit',
        message: 'too young',
        lastUpdateTime: '2026-01-01T00:00:00Z',
      },
    ]);
    expect(one.asked.length).toBe(1);
  });

  test('retries a failed signing with the same uid', async () => {
    let trouble = 2;
    const one = signer(async () => {
      if (trouble-- > 0) throw new Error('HSM did not answer');
      return { refused: 'no', reason: 'No' };
    });
    const { create, clock } = await start(one);
    await create();
    await clock.advance(199);
    expect(one.asked.length).toBe(1);
    await clock.advance(1_000);
    expect(one.asked.map(({ uid }) => uid)).toEqual(['uid-1', 'uid-1', 'uid-1']);
  });

  test('reports each signing outcome per signer: every failure, but no interruption by a stop', async () => {
    const told: (readonly [string, SigningOutcome])[] = [];
    let trouble = 2;
    const flaky = signer(async (request) => {
      if (trouble-- > 0) throw new Error('HSM did not answer');
      return issue(request);
    }, 'example.test/*');
    const refusing = signer(async () => ({ refused: 'no', reason: 'No' }), 'example.test/refusing');
    const silent = signer(() => new Promise(() => {}), 'example.test/silent');
    const world = await runControllers(
      csrSigners({
        signers: [flaky, refusing, silent],
        onOutcome: (serves, outcome) => told.push([serves, outcome]),
      }),
    );
    const requests = world.client.resource(CertificateSigningRequests);
    for (const name of ['flaky', 'refusing', 'silent']) {
      const request = await testSigningRequest({ name, signerName: `example.test/${name}` });
      await requests.create({ ...request, status: approved });
    }
    await world.clock.advance(2_000);
    await eventually(
      async () => told,
      ({ length }) => length >= 4,
    );
    const stopped = world.stop();
    await world.clock.advance(5_000);
    await stopped;
    expect([...told].sort()).toEqual([
      ['example.test/*', 'error'],
      ['example.test/*', 'error'],
      ['example.test/*', 'issued'],
      ['example.test/refusing', 'refused'],
    ]);
  });

  test.each([
    undefined,
    null,
    {},
    'no',
    { issued: '' },
    { issued: 1 },
    { refused: 'no' },
    { refused: 'no', reason: 'has spaces' },
    { reason: 'No' },
  ])('treats an invalid answer as a failure: %j', async (answer) => {
    const one = signer(async () => answer as unknown as SigningResult);
    const { create, now, clock } = await start(one);
    await create();
    await clock.advance(1_000);
    expect(one.asked.length).toBeGreaterThan(1);
    expect((await now())?.status?.conditions).toEqual(approved.conditions);
  });

  test('gives up on a signer that does not answer, and asks again', async () => {
    let told = 0;
    const one = signer((_, signal) => {
      signal.addEventListener('abort', () => told++);
      return new Promise(() => {});
    });
    const { create, clock, complaints } = await start(one);
    await create();
    await clock.advance(1_500);
    expect(told).toBe(1);
    expect(one.asked.length).toBe(2);
    expect(complaints).toEqual(['reconcile failed: not done within 1000 ms']);
  });

  test('waits longer for a signer with a longer timeout', async () => {
    const one = { ...signer(() => new Promise(() => {})), timeoutMs: 60_000 };
    const { create, clock } = await start(one);
    await create();
    await clock.advance(59_000);
    expect(one.asked.length).toBe(1);
    await clock.advance(2_000);
    expect(one.asked.length).toBe(2);
  });

  test('does not sign again after a write conflict', async () => {
    const one = signer();
    const world = await start(one);
    let races = 2;
    world.client.fail = ({ subresource }) =>
      subresource === 'status' && races-- > 0 ? staleWrite({ group: '', plural: 'x', name: 'a' }) : undefined;
    await world.create();
    await eventually(world.now, (found) => certificatePem(found!) !== undefined);
    expect(certificatePem((await world.now())!)).toBeDefined();
    expect(one.asked.length).toBe(1);
  });

  test('keeps an answer that could not be written for the next try', async () => {
    const one = signer(async () => ({ refused: 'no', reason: 'No' }));
    const { create, clock, client, now } = await start(one);
    let down = 3;
    client.fail = ({ subresource }) =>
      subresource === 'status' && down-- > 0 ? serviceUnavailable('down') : undefined;
    await create();
    await clock.advance(10_000);
    expect((await now())?.status?.conditions?.at(-1)?.type).toBe('Failed');
    expect(one.asked.length).toBe(1);
  });

  test.each(['being signed', 'being recorded', 'being written'])(
    'records and hands out a certificate that is %s when the controller is stopped',
    async (state) => {
      let world: Awaited<ReturnType<typeof runControllers>>;
      let stopped: Promise<void> | undefined;
      const told: SigningOutcome[] = [];
      const stop = (): void => {
        stopped ??= world.stop();
      };
      const one = signer(async (request) => {
        if (state === 'being signed') stop();
        return issue(request);
      });
      world = await runControllers(csrSigners({ signers: [one], ledger: true, onOutcome: (_, how) => told.push(how) }));
      world.client.fail = ({ plural, subresource }) => {
        if (state === 'being recorded' && plural === CertificateLedgerEntries.plural) stop();
        if (state === 'being written' && subresource === 'status') stop();
        return undefined;
      };
      const requests = world.client.resource(CertificateSigningRequests);
      await requests.create({ ...(await testSigningRequest({ name: 'a' })), status: approved });
      await eventually(() => stopped !== undefined, Boolean);
      await stopped;
      const issued = certificatePem((await requests.get({ name: 'a' }))!);
      expect(issued).toMatch(/^-----BEGIN CERTIFICATE-----/);
      const { items } = await world.client.resource(CertificateLedgerEntries).list();
      expect(items.map(({ spec }) => spec.records.map(({ request }) => request))).toEqual([
        [{ name: 'a', uid: 'uid-1' }],
      ]);
      expect([one.asked.length, told, world.clock.sleeping]).toEqual([1, ['issued'], 0]);
    },
  );

  test('stops although a signer does not answer', async () => {
    const one = signer(() => new Promise(() => {}));
    const { create, clock, stop, client } = await start(one);
    await create();
    await settled();
    let isOver = false;
    const stopped = stop().then(() => {
      isOver = true;
    });
    await clock.advance(500);
    expect(isOver).toBe(false);
    await clock.advance(5_000);
    await stopped;
    expect(clock.sleeping).toBe(0);
    expect(client.writes).toEqual(['create certificatesigningrequests a']);
  });

  test('gives up on an answer that is too large for the server', async () => {
    const one = signer();
    const { create, clock, client, complaints, requests, now } = await start(one);
    client.fail = ({ subresource }) => (subresource === 'status' ? entityTooLarge('no') : undefined);
    const request = await create();
    await clock.advance(100_000);
    expect(complaints).toEqual([
      'reconcile failed and is not retried: the server rejected the result of the signer: Request entity too large: no',
    ]);
    client.fail = () => undefined;
    await requests.update({ ...request, metadata: { ...request.metadata, labels: { again: 'yes' } } });
    await eventually(now, (found) => certificatePem(found!) !== undefined);
    expect(one.asked.length).toBe(2);
  });

  test('writes nothing if the request was denied during signing', async () => {
    let finish: (result: SigningResult) => void = () => {};
    const one = signer(() => new Promise((resolve) => (finish = resolve)));
    const { create, requests, client, clock } = await start(one);
    const csr = await create();
    await settled();
    const conditions = [...approved.conditions, { type: 'Denied', status: 'True' }];
    await requests.subresource('approval').update({ ...csr, status: { conditions } });
    const before = client.writes.length;
    finish({ refused: 'no', reason: 'No' });
    await clock.advance(10_000);
    expect(client.writes.slice(before)).toEqual(['update certificatesigningrequests/status a']);
    expect((await requests.get({ name: 'a' }))?.status?.conditions).toEqual(conditions);
  });

  const issued = async (): Promise<string> =>
    (await ca).issue((await testRequest()).pem, { seconds: 3_600, usages: ['client auth'] });
  test.each([
    [
      'for another key',
      async (): Promise<string> => {
        const other = await testRequest({ key: await testKey('P-384'), keyType: 'P-384' });
        return (await ca).issue(other.pem, { seconds: 3_600, usages: ['client auth'] });
      },
    ],
    ['that is not PEM', async () => 'certificate'],
    ['that is a private key', async () => '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'],
    ['that is malformed', async () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
    [
      'with a malformed intermediate',
      async () => `${await issued()}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    ],
    [
      'with PEM headers, which the server would refuse',
      async () => (await issued()).replace('CERTIFICATE-----\n', 'CERTIFICATE-----\nName: value\n\n'),
    ],
  ])('hands out no certificate %s', async (_, answer) => {
    const one = signer(async () => ({ issued: await answer() }));
    const world = await start(one);
    await world.create();
    await eventually(
      () => world.complaints,
      ({ length }) => length > 0,
    );
    expect(world.complaints).toMatchObject([
      expect.stringMatching(/^reconcile failed and is not retried: the signer issued/),
    ]);
    expect(world.client.writes).toEqual(['create certificatesigningrequests a']);
  });

  test('chooses the signer of the exact name before that of the domain', () => {
    const exact = signer(issue, 'a.test/x');
    const domain = signer(issue, 'a.test/*');
    const signers = [domain, exact];
    expect(signerFor(signers, 'a.test/x')).toBe(exact);
    expect(signerFor(signers, 'a.test/y')).toBe(domain);
    expect(signerFor(signers, 'a.test/y/z')).toBe(domain);
    expect(signerFor(signers, 'b.a.test/x')).toBeUndefined();
    expect(signerFor(signers, 'a.tests/x')).toBeUndefined();
    expect(() => csrSigners({ signers: [exact, signer(issue, 'a.test/x')] })).toThrow('two signers serve a.test/x');
  });

  test('signs a request for which there are two signers once', async () => {
    const exact = signer(async () => ({ refused: 'exact', reason: 'Exact' }));
    const domain = signer(async () => ({ refused: 'domain', reason: 'Domain' }), 'example.test/*');
    const { create, clock } = await start(domain, exact);
    await create();
    await clock.advance(1_000);
    expect([exact.asked.length, domain.asked.length]).toEqual([1, 0]);
  });
});

test('a signer gets the request without surrounding text', async () => {
  const csr = await testSigningRequest({ name: 'a', expirationSeconds: 700 });
  const pem = Buffer.from(csr.spec.request ?? '', 'base64').toString();
  const dirty = Buffer.from(
    `junk\n${pem}-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n`,
  );
  const request = signingRequest({
    ...csr,
    metadata: { ...csr.metadata, uid: 'u' },
    spec: { ...csr.spec, request: dirty.toString('base64'), username: 'alice', groups: ['g'], uid: 'alice-uid' },
  });
  expect(request).toEqual({
    signerName: 'example.test/clients',
    request: pem,
    usages: csr.spec.usages,
    requester: { username: 'alice', groups: ['g'], uid: 'alice-uid' },
    expirationSeconds: 700,
    uid: 'u',
  });
});
