import { describe, expect, test } from 'vitest';
import type { AdmissionAttributes, AdmissionStep } from '../../../src/admission/admission-step.js';
import { csrApprovalPermission } from '../../../src/admission/steps/csr-approval-permission.js';
import { csrSigningPermission } from '../../../src/admission/steps/csr-signing-permission.js';
import { csrSubjectRestriction } from '../../../src/admission/steps/csr-subject-restriction.js';
import { trustBundleAttestation } from '../../../src/admission/steps/trust-bundle-attestation.js';
import { defaultDomains } from '../../../src/api/domains.js';
import { CertificateSigningRequests } from '../../../src/api/kinds/certificate-signing-request.js';
import { ClusterTrustBundles } from '../../../src/api/kinds/cluster-trust-bundle.js';
import type { ApiObject, ResourceType } from '../../../src/api/object.js';
import type { AccessAttributes, Authorizer } from '../../../src/auth/authorizer.js';
import { testSigningRequest } from '../../../src/testing/certificates.js';

/** Returns an authorizer that allows what is listed as `verb name`, and fails on `error`. */
const allowing = (...allowed: readonly string[]): Authorizer & { readonly asked: AccessAttributes[] } => {
  const asked: AccessAttributes[] = [];
  return {
    asked,
    async authorize(attributes) {
      asked.push(attributes);
      if (allowed.includes('error')) throw new Error('no answer');
      const yes = allowed.includes(`${attributes.verb} ${attributes.name}`);
      return { verdict: yes ? 'allow' : 'no-opinion', reason: '' };
    },
  };
};

const attributes = (resource: ResourceType<ApiObject>, given: Partial<AdmissionAttributes>): AdmissionAttributes => ({
  operation: 'UPDATE',
  resource,
  subresource: undefined,
  key: { name: 'a' },
  object: undefined,
  previous: undefined,
  user: { username: 'u', groups: [] },
  dryRun: false,
  warn: () => {},
  ...given,
});

const outcome = async (step: AdmissionStep, given: AdmissionAttributes): Promise<string> => {
  if (!step.handles(given)) return 'not asked';
  try {
    await step.validate?.(given);
    return 'allowed';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const csr = await testSigningRequest({ name: 'a', signerName: 'example.com/a' });
const renamed = { ...csr, spec: { ...csr.spec, signerName: 'example.com/b' } };
const subject = 'certificatesigningrequests.certificates.k8s.io "a" is forbidden';

describe('the right to approve', () => {
  const approve = (authorizer: Authorizer, given: Partial<AdmissionAttributes> = {}) =>
    outcome(
      csrApprovalPermission({ authorizer, domains: defaultDomains }),
      attributes(CertificateSigningRequests, { subresource: 'approval', previous: csr, object: renamed, ...given }),
    );

  test.each([
    [['approve example.com/a'], 'allowed'],
    [['approve example.com/*'], 'allowed'],
    [['approve example.com/b'], `${subject}: user not permitted to approve requests with signerName "example.com/a"`],
    [
      ['sign example.com/a', 'approve *'],
      `${subject}: user not permitted to approve requests with signerName "example.com/a"`,
    ],
    [['error'], `${subject}: user not permitted to approve requests with signerName "example.com/a"`],
  ])('is decided by %j: %s', async (allowed, expected) => {
    expect(await approve(allowing(...allowed))).toBe(expected);
  });

  test('is checked for the signer, then for its domain', async () => {
    const authorizer = allowing();
    await approve(authorizer);
    const common = { verb: 'approve', group: 'certificates.k8s.io', version: '*', resource: 'signers' };
    expect(authorizer.asked).toMatchObject([
      { ...common, name: 'example.com/a' },
      { ...common, name: 'example.com/*' },
    ]);
    expect(authorizer.asked.every((question) => question.namespace === undefined)).toBe(true);
  });

  test('is not checked for other subresources, operations and groups', async () => {
    expect(await approve(allowing(), { subresource: 'status' })).toBe('not asked');
    expect(await approve(allowing(), { operation: 'CREATE' })).toBe('not asked');
    expect(await approve(allowing(), { resource: { ...CertificateSigningRequests, group: 'x.example.com' } })).toBe(
      'not asked',
    );
  });

  test('follows the API domain', async () => {
    const authorizer = allowing('approve example.com/a');
    const step = csrApprovalPermission({ authorizer, domains: { ...defaultDomains, api: 'x.test' } });
    const given = { subresource: 'approval', previous: csr, object: csr };
    expect(await outcome(step, attributes(CertificateSigningRequests, given))).toBe('not asked');
    expect(
      await outcome(step, attributes({ ...CertificateSigningRequests, group: 'certificates.x.test' }, given)),
    ).toBe('allowed');
    expect(authorizer.asked[0]?.group).toBe('certificates.x.test');
  });
});

describe('the right to sign', () => {
  const condition = { type: 'Seen', status: 'True' };
  const refusal = `${subject}: user not permitted to sign requests with signerName "example.com/a"`;
  test.each([
    ['is not required without a change', {}, 'allowed'],
    ['is not required for metadata', { metadata: { name: 'a', labels: { a: 'b' } } }, 'allowed'],
    ['is required for a certificate', { status: { certificate: 'eA==' } }, refusal],
    ['is required for an empty certificate', { status: { certificate: '' } }, refusal],
    ['is required for a condition', { status: { conditions: [condition] } }, refusal],
    ['is not required for an empty list of conditions', { status: { conditions: [] } }, 'allowed'],
  ])('%s', async (_, change, expected) => {
    const given = attributes(CertificateSigningRequests, {
      subresource: 'status',
      previous: csr,
      object: { ...csr, ...change },
    });
    expect(
      await outcome(
        csrSigningPermission({ authorizer: allowing('approve example.com/a'), domains: defaultDomains }),
        given,
      ),
    ).toBe(expected);
    expect(
      await outcome(
        csrSigningPermission({ authorizer: allowing('sign example.com/*'), domains: defaultDomains }),
        given,
      ),
    ).toBe('allowed');
  });
});

describe('the privileged group', () => {
  const masters = 'system:masters';
  const ask = async (signerName: string, organizations: readonly string[], more: object = {}) => {
    const object = await testSigningRequest({ name: 'a', signerName, organizations });
    const changed = { ...object, spec: { ...object.spec, ...more } };
    return outcome(
      csrSubjectRestriction({ domains: defaultDomains }),
      attributes(CertificateSigningRequests, { operation: 'CREATE', object: changed }),
    );
  };
  const refusal = (signer: string) => `${subject}: use of ${signer} signer with system:masters group is not allowed`;

  test.each(['kubernetes.io/kube-apiserver-client', 'kubernetes.io/apiserver-client'])(
    'is not issued by %s',
    async (signer) => {
      expect(await ask(signer, ['a', masters])).toBe(refusal(signer));
      expect(await ask(signer, ['system:masters2'])).toBe('allowed');
    },
  );

  test('may be requested from other signers', async () => {
    expect(await ask('kubernetes.io/kubelet-serving', [masters])).toBe('allowed');
    expect(await ask('example.com/kube-apiserver-client', [masters])).toBe('allowed');
  });

  test('is not looked for in a request that cannot be parsed, which is refused', async () => {
    expect(await ask('kubernetes.io/kube-apiserver-client', [], { request: 'AQID' })).toBe(
      `${subject}: failed to parse CSR: PEM block type must be CERTIFICATE REQUEST`,
    );
  });
});

describe('the right to attest', () => {
  const bundle = (more: object = {}, spec: object = {}) => ({
    apiVersion: 'certificates.k8s.io/v1beta1',
    kind: 'ClusterTrustBundle',
    metadata: { name: 'example.com:a:x', ...more },
    spec: { signerName: 'example.com/a', trustBundle: 'x', ...spec },
  });
  const refusal =
    'clustertrustbundles.certificates.k8s.io "a" is forbidden: user not permitted to attest for signerName "example.com/a"';
  test.each([
    ['is required on creation', { operation: 'CREATE', object: bundle() }, refusal],
    [
      'is not required on creation without a signer',
      { operation: 'CREATE', object: bundle({}, { signerName: '' }) },
      'allowed',
    ],
    ['is not required without a change', { object: bundle(), previous: bundle({ labels: {} }) }, 'allowed'],
    [
      'is not required for owners and finalizers',
      { object: bundle({ finalizers: ['a/b'], ownerReferences: [{}] }), previous: bundle() },
      'allowed',
    ],
    ['is required for labels', { object: bundle({ labels: { a: 'b' } }), previous: bundle() }, refusal],
    ['is required for contents', { object: bundle({}, { trustBundle: 'y' }), previous: bundle() }, refusal],
    ['is not checked on deletion', { operation: 'DELETE', previous: bundle() }, 'not asked'],
  ] as const)('%s', async (_, given, expected) => {
    const full = attributes(ClusterTrustBundles, given);
    expect(
      await outcome(
        trustBundleAttestation({ authorizer: allowing('sign example.com/a'), domains: defaultDomains }),
        full,
      ),
    ).toBe(expected);
    const permitted = await outcome(
      trustBundleAttestation({ authorizer: allowing('attest example.com/*'), domains: defaultDomains }),
      full,
    );
    expect(permitted).toBe(expected === refusal ? 'allowed' : expected);
  });
});
