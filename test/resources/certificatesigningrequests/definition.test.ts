import { describe, expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestSpec,
  CertificateSigningRequestStatus,
} from '../../../src/api/kinds/certificate-signing-request.js';
import type { UserInfo } from '../../../src/api/user.js';
import { encodePem, firstPemBlock } from '../../../src/pki/pem.js';
import type { RequestContext, SubresourceView } from '../../../src/registry/resource-definition.js';
import { certificateSigningRequestDefinition } from '../../../src/resources/certificatesigningrequests/definition.js';
import { testAuthority, testRequest } from '../../../src/testing/certificates.js';
import { texts } from '../write.js';

const certificateSigningRequests = certificateSigningRequestDefinition();

const now = Date.UTC(2026, 0, 2, 3, 4, 5, 600);
const present = '2026-01-02T03:04:05Z';
const earlier = '2025-01-01T00:00:00Z';

const context = (user: UserInfo = { username: 'alice', groups: ['system:authenticated'] }): RequestContext => ({
  user,
  key: { name: 'a' },
  subresource: undefined,
  now,
  warn: () => {},
});

const { base64: request } = await testRequest();
const spec: CertificateSigningRequestSpec = { request, signerName: 'example.com/a', usages: ['client auth'] };
const csr = (
  status: CertificateSigningRequestStatus = {},
  changed: CertificateSigningRequestSpec = {},
): CertificateSigningRequest => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'a' },
  spec: { ...spec, ...changed },
  status,
});

const subresource = (name: 'approval' | 'status'): SubresourceView<CertificateSigningRequest> => {
  const view = certificateSigningRequests.subresources?.[name];
  if (view?.type !== 'view') throw new Error(`no view ${name}`);
  return view;
};
const create = (object: CertificateSigningRequest): readonly string[] =>
  texts(certificateSigningRequests.validate?.(object, undefined, context()));
const through = (name: 'approval' | 'status', next: CertificateSigningRequest, previous: CertificateSigningRequest) => {
  const object = subresource(name).prepare(next, previous, context());
  return { object, violations: texts(subresource(name).validate?.(object, previous, context())) };
};
const condition = (type: string, status = 'True', more: object = {}) => ({ type, status, ...more });

describe('creation', () => {
  test('sets the requester and drops the status', () => {
    const sent = csr(
      { certificate: 'eA==' },
      { username: 'mallory', uid: 'x', groups: ['system:masters'], extra: { a: ['b'] } },
    );
    expect(certificateSigningRequests.prepare?.(sent, undefined, context())).toEqual({
      ...csr(),
      spec: { ...spec, username: 'alice', groups: ['system:authenticated'] },
      status: {},
    });
    const known = { username: 'bob', uid: '7', groups: ['g'], extra: { k: ['v'] } };
    expect(certificateSigningRequests.prepare?.(sent, undefined, context(known)).spec).toEqual({ ...spec, ...known });
  });

  test('accepts a valid request', () => {
    expect(create(csr())).toEqual([]);
  });

  test('reports all violations in order', () => {
    const wrong = csr({}, { request: 'AQID', usages: ['x', 'any', 'any'], signerName: 'a', expirationSeconds: 599 });
    expect(create(wrong).map((text) => text.replace(/supported values.*/, '...'))).toEqual([
      'spec.request: Invalid value: "AQID": PEM block type must be CERTIFICATE REQUEST',
      'spec.usages[0]: Unsupported value: "x": ...',
      'spec.usages[2]: Duplicate value: "any"',
      `spec.signerName: Invalid value: "a": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
      'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
    ]);
  });

  test('reports an empty spec', () => {
    const empty = { apiVersion: 'v', kind: 'k', metadata: {}, spec: {} };
    expect(create(empty)).toEqual([
      'spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST',
      'spec.usages: Required value',
      'spec.signerName: Required value',
    ]);
  });

  test('refuses the legacy signer under any domain', () => {
    const text = 'the legacy signerName is not allowed via this API version';
    expect(create(csr({}, { signerName: 'kubernetes.io/legacy-unknown' }))).toEqual([
      `spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": ${text}`,
    ]);
    const renamed = certificateSigningRequestDefinition({ ...defaultDomains, api: 'api.test', signer: 'sign.test' });
    const named = csr({}, { signerName: 'sign.test/legacy-unknown' });
    expect(renamed.group).toBe('certificates.api.test');
    expect(texts(renamed.validate?.(named, undefined, context()))).toHaveLength(1);
  });
});

test('an update of the resource itself changes neither spec nor status', () => {
  const stored = csr({ conditions: [condition('Approved')] });
  const sent = csr({ certificate: 'eA==' }, { signerName: 'example.com/b' });
  const object = certificateSigningRequests.prepare?.(
    { ...sent, metadata: { name: 'a', labels: { a: 'b' } } },
    stored,
    context(),
  );
  expect(object).toEqual({ ...stored, metadata: { name: 'a', labels: { a: 'b' } } });
});

describe('the subresource approval', () => {
  test('adds conditions and sets their times, keeping spec and certificate', () => {
    const stored = csr({ certificate: 'eA==' });
    const sent = csr({ conditions: [condition('Approved')], certificate: 'eQ==' }, { signerName: 'example.com/b' });
    const { object } = through('approval', sent, stored);
    expect(object.spec).toEqual(stored.spec);
    expect(object.status).toEqual({
      certificate: 'eA==',
      conditions: [condition('Approved', 'True', { lastUpdateTime: present, lastTransitionTime: present })],
    });
  });

  const times = (lastTransitionTime?: string, lastUpdateTime?: string) => ({ lastTransitionTime, lastUpdateTime });
  test.each([
    ['given ones are kept', condition('Seen', 'True', times(earlier, earlier)), [], times(earlier, earlier)],
    ['a zero time is unset', condition('Seen', 'True', times('0001-01-01T00:00:00Z')), [], times(present, present)],
    ['null is unset', condition('Seen', 'True', { lastTransitionTime: null }), [], times(present, present)],
    [
      'the transition time of the same status is kept',
      condition('Seen'),
      [condition('Seen', 'True', times(earlier, earlier))],
      times(earlier, present),
    ],
    [
      'that of another status is not',
      condition('Seen', 'False'),
      [condition('Seen', 'True', times(earlier))],
      times(present, present),
    ],
  ])('times: %s', (_, sent, stored, expected) => {
    const { object } = through('approval', csr({ conditions: [sent] }), csr({ conditions: stored }));
    expect(object.status?.conditions?.[0]).toMatchObject(expected);
  });

  const exclusive = 'Approved and Denied conditions are mutually exclusive';
  test.each([
    ['approve', ['Approved'], [], []],
    ['both', ['Approved', 'Denied'], [], [`status.conditions: Invalid value: "Denied": ${exclusive}`]],
    [
      'both, with the later one reported',
      ['Denied', 'Approved'],
      [],
      [`status.conditions: Invalid value: "Approved": ${exclusive}`],
    ],
    ['both already', ['Denied', 'Approved'], ['Approved', 'Denied'], []],
    ['twice', ['Approved', 'Approved'], [], ['status.conditions[1].type: Duplicate value: "Approved"']],
    ['twice already', ['A', 'A'], ['B', 'B'], []],
    [
      'no type',
      ['', ''],
      [],
      [
        'status.conditions[0].type: Required value',
        'status.conditions[1].type: Required value',
        'status.conditions[1].type: Duplicate value: ""',
      ],
    ],
    ['no type already', [''], [''], []],
    [
      'removal',
      ['Seen'],
      ['Denied', 'Failed'],
      [
        'status.conditions: Forbidden: updates may not remove a condition of type "Denied"',
        'status.conditions: Forbidden: updates may not remove a condition of type "Failed"',
      ],
    ],
    ['removal of others', [], ['Seen'], []],
  ])('%s', (_, types, before, expected) => {
    const [next, previous] = [types, before].map((list) => csr({ conditions: list.map((type) => condition(type)) }));
    expect(through('approval', next ?? csr(), previous ?? csr()).violations).toEqual(expected);
  });

  test.each([
    ['Approved', 'False', 'Unsupported value: "False": supported values: "True"'],
    ['Failed', 'Unknown', 'Unsupported value: "Unknown": supported values: "True"'],
    ['Seen', 'Maybe', 'Unsupported value: "Maybe": supported values: "False", "True", "Unknown"'],
    ['Seen', '', 'Required value'],
  ])('%s may not be %j', (type, status, text) => {
    const { violations } = through('approval', csr({ conditions: [condition(type, status)] }), csr());
    expect(violations).toEqual([`status.conditions[0].status: ${text}`]);
  });

  test('verifies the request again', () => {
    const broken = csr({}, { request: 'AQID' });
    expect(through('approval', broken, broken).violations).toHaveLength(1);
  });
});

const ca = await testAuthority();
const issued = await ca.issue(Buffer.from(request, 'base64'), { seconds: 600, usages: ['client auth'] });
const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
const der = firstPemBlock(issued)?.bytes ?? Buffer.alloc(0);

describe('the subresource status', () => {
  test('reverts changes of decisions, and keeps other changes', () => {
    const stored = csr({ conditions: [condition('Approved', 'True', { reason: 'old' }), condition('Seen')] });
    const sent = csr({ conditions: [condition('Seen', 'False'), condition('Approved', 'False', { reason: 'new' })] });
    const { object, violations } = through('status', sent, stored);
    expect(violations).toEqual([]);
    expect(object.status?.conditions).toMatchObject([
      { type: 'Seen', status: 'False' },
      { type: 'Approved', status: 'True', reason: 'old' },
    ]);
  });

  test('may not add a decision', () => {
    const { violations } = through('status', csr({ conditions: [condition('Approved'), condition('Failed')] }), csr());
    expect(violations).toEqual(['status.conditions: Forbidden: updates may not add a condition of type "Approved"']);
  });

  test('may not change a certificate', () => {
    const other = base64(`${issued}\n`);
    const { violations } = through('status', csr({ certificate: other }), csr({ certificate: base64(issued) }));
    expect(violations).toEqual(['status.certificate: Forbidden: updates may not modify existing certificate content']);
  });

  const wrong = (text: string): readonly string[] => [
    `status.certificate: Invalid value: "<certificate data>": ${text}`,
  ];
  test.each([
    ['one', issued, []],
    ['text around', `hello\n${issued}bye`, []],
    ['the chain', issued + ca.anchors, []],
    ['two in a block', encodePem('CERTIFICATE', Buffer.concat([der, der])), []],
    ['none', 'hello', wrong('must contain at least one CERTIFICATE PEM block')],
    [
      'an empty block',
      encodePem('CERTIFICATE', Buffer.alloc(0)),
      wrong('found CERTIFICATE PEM block containing 0 certificates'),
    ],
    [
      'another block type',
      encodePem('A "B"', der),
      wrong('only CERTIFICATE PEM blocks are allowed, found "A \\"B\\""'),
    ],
    ['headers', issued.replace('-----\n', '-----\na: b\n\n'), wrong('no PEM block headers are permitted')],
    ['junk', encodePem('CERTIFICATE', Buffer.from('junk')), wrong('x509: malformed certificate')],
    [
      'a trailing byte',
      encodePem('CERTIFICATE', Buffer.concat([der, Buffer.of(0)])),
      wrong('x509: malformed certificate'),
    ],
    [
      'a request',
      Buffer.from(request, 'base64').toString().replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'),
      wrong("x509: inner and outer signature algorithm identifiers don't match"),
    ],
  ])('certificate: %s', (_, pem, expected) => {
    expect(through('status', csr({ certificate: base64(pem) }), csr()).violations).toEqual(expected);
  });

  test('keeps a malformed certificate that is stored already', () => {
    const stored = csr({ certificate: base64('junk') });
    expect(through('status', stored, stored).violations).toEqual([]);
  });
});

test.each([
  [{}, undefined, '<none>', 'Pending'],
  [{ conditions: [condition('Approved')] }, 600, '10m', 'Approved'],
  [{ conditions: [condition('Approved'), condition('Denied')] }, 172_800, '2d', 'Denied'],
  [{ conditions: [condition('Failed', 'False')], certificate: 'eA==' }, 94_694_400, '3y1d', 'Pending,Failed,Issued'],
])('columns of %j', (status, seconds, duration, state) => {
  const object = csr(status, { username: 'u', ...(seconds === undefined ? {} : { expirationSeconds: seconds }) });
  const cells = certificateSigningRequests.columns?.map((column) => column.cell(object, now));
  expect(cells?.slice(1)).toEqual(['example.com/a', 'u', duration, state]);
});

test('requests can be selected by signer', () => {
  expect(certificateSigningRequests.selectableFields?.['spec.signerName']?.(csr())).toBe('example.com/a');
});
