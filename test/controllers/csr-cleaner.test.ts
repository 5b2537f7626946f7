import { describe, expect, test } from 'vitest';
import { csrCleaner } from '../../controllers/csr-cleaner/csr-cleaner.js';
import { expiresAt } from '../../controllers/csr-cleaner/expiry.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
} from '../../src/api/kinds/certificate-signing-request.js';
import { testAuthority, testRequest, testSigningRequest } from '../../src/testing/certificates.js';
import { runControllers } from './run-controllers.js';

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const at = new Date(start).toISOString();
const later = new Date(start + 23 * hour).toISOString();
const condition = (type: string, lastUpdateTime: string | undefined = at) => ({ type, status: 'True', lastUpdateTime });

describe('the time at which a request is deleted', () => {
  const csr = (status: CertificateSigningRequest['status']): CertificateSigningRequest => ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'a', creationTimestamp: at },
    spec: {},
    ...(status === undefined ? {} : { status }),
  });

  test.each<[string, CertificateSigningRequest['status'], number | undefined, number | undefined]>([
    ['undecided', undefined, undefined, 24 * hour + 1],
    ['denied', { conditions: [condition('Denied')] }, undefined, hour + 1],
    ['failed', { conditions: [condition('Approved'), condition('Failed')] }, undefined, hour + 1],
    ['issued', { conditions: [condition('Approved')], certificate: 'eA==' }, 99 * hour, hour + 1],
    [
      'issued, certificate expired earlier',
      { conditions: [condition('Approved')], certificate: 'eA==' },
      hour / 2,
      hour,
    ],
    ['denied, whatever its certificate', { conditions: [condition('Denied', later)] }, 2 * hour, 24 * hour + 1],
    ['approved but never issued', { conditions: [condition('Approved')] }, undefined, 24 * hour + 1],
    ['approved at an unknown time', { conditions: [condition('Approved', '')] }, undefined, undefined],
    ['with an unknown condition', { conditions: [condition('Odd')] }, undefined, undefined],
    ['denied long before its creation', { conditions: [condition('Denied', '2020-01-01T00:00:00Z')] }, undefined, hour],
    ['denied at an unknown time', { conditions: [condition('Denied', '')] }, undefined, undefined],
  ])('%s', (_, status, notAfter, expected) => {
    const time = expiresAt(csr(status), notAfter === undefined ? undefined : start + notAfter);
    expect(time).toBe(expected === undefined ? undefined : start + expected);
  });
});

describe('csr-cleaner', () => {
  test('deletes on time, and re-evaluates a request that was changed meanwhile', async () => {
    const { client, clock } = await runControllers([csrCleaner()]);
    const requests = client.resource(CertificateSigningRequests);
    await requests.create(await testSigningRequest({ name: 'forgotten' }));
    const rescued = await requests.create(await testSigningRequest({ name: 'rescued' }));
    await clock.advance(23 * hour);
    await requests
      .subresource('approval')
      .update({ ...rescued, status: { conditions: [condition('Approved', later)] } });
    await clock.advance(hour);
    expect((await requests.list()).items.length).toBe(2);
    await clock.advance(1);
    expect((await requests.list()).items.map(({ metadata }) => metadata.name)).toEqual(['rescued']);
    await clock.advance(23 * hour - 1);
    expect((await requests.list()).items.length).toBe(1);
    await clock.advance(1);
    expect((await requests.list()).items).toEqual([]);
  });

  test('deletes a request whose certificate has expired', async () => {
    const { client, clock } = await runControllers([
      csrCleaner({ retention: { decidedMs: 9_999 * hour, undecidedMs: 0, leastMs: 0 } }),
    ]);
    const requests = client.resource(CertificateSigningRequests);
    const ca = await testAuthority({ clock });
    const certificate = await ca.issue((await testRequest()).pem, { seconds: 36_000, usages: ['client auth'] });
    await requests.create({
      ...(await testSigningRequest({ name: 'a' })),
      status: { conditions: [condition('Approved')], certificate: Buffer.from(certificate).toString('base64') },
    });
    await clock.advance(9 * hour);
    expect(await requests.get({ name: 'a' })).toBeDefined();
    await clock.advance(hour);
    expect(await requests.get({ name: 'a' })).toBeUndefined();
  });
});
