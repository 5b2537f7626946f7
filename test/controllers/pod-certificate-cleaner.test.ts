import { expect, test } from 'vitest';
import { podCertificateCleaner } from '../../controllers/pod-certificate-cleaner/pod-certificate-cleaner.js';
import { type PodCertificateRequest, PodCertificateRequests } from '../../src/api/kinds/pod-certificate-request.js';
import { runControllers } from './run-controllers.js';

const minute = 60_000;
const request = (name: string, more: Partial<PodCertificateRequest> = {}): PodCertificateRequest => ({
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'PodCertificateRequest',
  metadata: { name, namespace: 'default' },
  spec: { signerName: 'example.com/pods' },
  ...more,
});

test('a request is deleted a quarter of an hour after its creation, whatever its outcome', async () => {
  const { client, clock } = await runControllers([podCertificateCleaner()]);
  const requests = client.resource(PodCertificateRequests);
  const left = async () => (await requests.list()).items.map(({ metadata }) => metadata.name);
  await requests.create(request('pending'));
  await requests.create(request('denied', { status: { conditions: [{ type: 'Denied', status: 'True' }] } }));
  await clock.advance(5 * minute);
  await requests.create(request('later'));
  await clock.advance(10 * minute - 1);
  expect(await left()).toEqual(['denied', 'later', 'pending']);
  await clock.advance(1);
  expect(await left()).toEqual(['later']);
});

test('a later request of the same name is kept', async () => {
  const { client, clock } = await runControllers([podCertificateCleaner()]);
  const requests = client.resource(PodCertificateRequests);
  await requests.create(request('a'));
  await clock.advance(14 * minute);
  await requests.delete({ namespace: 'default', name: 'a' });
  await requests.create(request('a'));
  await clock.advance(minute);
  expect((await requests.list()).items.length).toBe(1);
  await clock.advance(14 * minute);
  expect((await requests.list()).items).toEqual([]);
});
