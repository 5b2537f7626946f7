import { describe, expect, test } from 'vitest';
import { csrApprover } from '../../controllers/csr-approver/csr-approver.js';
import { recognise } from '../../controllers/csr-approver/recognise.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  requestPem,
} from '../../src/api/kinds/certificate-signing-request.js';
import type { Unstructured } from '../../src/api/object.js';
import { readCertificateRequest } from '../../src/pki/certificate-request.js';
import { type TestSigningRequestOptions, testSigningRequest } from '../../src/testing/certificates.js';
import { settled } from '../../src/testing/fake-clock.js';
import { runControllers } from './run-controllers.js';

const nodeUsages = ['client auth', 'digital signature'];
async function nodeRequest(
  more: Partial<TestSigningRequestOptions> & { readonly username?: string } = {},
): Promise<CertificateSigningRequest> {
  const { username = 'bootstrapper', ...options } = more;
  const csr = await testSigningRequest({
    name: 'n1',
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    commonName: 'system:node:n1',
    organizations: ['system:nodes'],
    usages: nodeUsages,
    ...options,
  });
  return { ...csr, spec: { ...csr.spec, username, groups: ['g'], extra: { k: ['v'] } } };
}

describe('recognise', () => {
  test.each<[string, Parameters<typeof nodeRequest>[0], readonly string[]]>([
    ['a node requesting for another', {}, ['nodeclient']],
    ['a node requesting for itself', { username: 'system:node:n1' }, ['selfnodeclient', 'nodeclient']],
    ['with key encipherment', { usages: [...nodeUsages, 'key encipherment'] }, ['nodeclient']],
    ['the neutral name of the signer', { signerName: 'kubernetes.io/apiserver-client-nodeagent' }, ['nodeclient']],
    ['an empty node name', { commonName: 'system:node:' }, ['nodeclient']],
    ['another signer', { signerName: 'kubernetes.io/kubelet-serving' }, []],
    ['another group', { organizations: ['system:masters'] }, []],
    ['two groups', { organizations: ['system:nodes', 'system:masters'] }, []],
    ['no groups', { organizations: [] }, []],
    ['another name', { commonName: 'alice' }, []],
    ['a DNS name', { dnsNames: ['n1'] }, []],
    ['an address', { ipAddresses: ['10.0.0.1'] }, []],
    ['an additional usage', { usages: [...nodeUsages, 'server auth'] }, []],
    ['a missing usage', { usages: ['client auth'] }, []],
  ])('%s', async (_, options, permissions) => {
    const csr = await nodeRequest(options);
    const recognised = recognise(csr, readCertificateRequest(requestPem(csr)));
    expect(recognised.map(({ permission }) => permission)).toEqual(permissions);
  });
});

describe('csr-approver', () => {
  async function start(allowed: (attributes: { readonly subresource: string }) => boolean) {
    const asked: Unstructured[] = [];
    const world = await runControllers([csrApprover()], (client) => {
      client.reviews.set('subjectaccessreviews', (review) => {
        asked.push(review);
        const { resourceAttributes } = review['spec'] as { resourceAttributes: { subresource: string } };
        return { ...review, status: { allowed: allowed(resourceAttributes) } };
      });
    });
    const requests = world.client.resource(CertificateSigningRequests);
    const conditions = async () => (await requests.get({ name: 'n1' }))?.status?.conditions ?? [];
    return { ...world, requests, conditions, asked };
  }

  test('accepts the neutral name of the signer', async () => {
    const { requests, conditions } = await start(() => true);
    await requests.create(await nodeRequest({ signerName: 'kubernetes.io/apiserver-client-nodeagent' }));
    await settled();
    expect(await conditions()).toMatchObject([{ type: 'Approved' }]);
  });

  test('approves if the requester has exactly the permission it checks', async () => {
    const { requests, conditions, asked, client, news } = await start(
      ({ subresource }) => subresource === 'nodeclient',
    );
    await requests.create(await nodeRequest({ username: 'system:node:n1' }));
    await settled();
    expect(news).toEqual([{ message: 'request approved', object: 'n1', requester: 'system:node:n1' }]);
    expect(await conditions()).toEqual([
      {
        type: 'Approved',
        status: 'True',
        reason: 'AutoApproved',
        message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
      },
    ]);
    const attributes = {
      group: 'certificates.k8s.io',
      resource: 'certificatesigningrequests',
      verb: 'create',
      version: '*',
    };
    expect(asked.map(({ spec }) => spec)).toEqual(
      ['selfnodeclient', 'nodeclient'].map((subresource) => ({
        user: 'system:node:n1',
        groups: ['g'],
        extra: { k: ['v'] },
        resourceAttributes: { ...attributes, subresource },
      })),
    );
    expect(client.writes.at(-1)).toBe('update certificatesigningrequests/approval n1');
  });

  test('approves once the permission is granted later', async () => {
    let granted = false;
    const { clock, requests, conditions, asked, complaints } = await start(() => granted);
    await requests.create(await nodeRequest());
    await clock.advance(60_000);
    expect(await conditions()).toEqual([]);
    expect(asked.length).toBeLessThan(15);
    granted = true;
    await clock.advance(60_000);
    expect(await conditions()).toMatchObject([{ type: 'Approved' }]);
    expect(complaints).toEqual([]);
  });

  test.each([
    ['denied', { conditions: [{ type: 'Denied', status: 'True' }] }],
    ['approved', { conditions: [{ type: 'Approved', status: 'True' }] }],
    ['issued', { certificate: 'eA==' }],
  ])('ignores a request that is already %s', async (_, status) => {
    const { requests, client } = await start(() => true);
    const before = client.writes.length;
    await requests.create({ ...(await nodeRequest()), status });
    await settled();
    expect(client.writes.slice(before)).toEqual(['create certificatesigningrequests n1']);
  });

  test('an unreadable request is reported once', async () => {
    const { clock, requests, complaints } = await start(() => true);
    const csr = await nodeRequest();
    await requests.create({ ...csr, spec: { ...csr.spec, request: Buffer.from('nonsense').toString('base64') } });
    await clock.advance(1_000_000);
    expect(complaints.length).toBe(1);
  });
});
