import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { readAuthorizationConfiguration } from '../../src/server/authorization-configuration.js';

const directory = mkdtempSync(join(tmpdir(), 'kedge-authorizers-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const kubeConfigFile = join(directory, 'kubeconfig');
writeFileSync(kubeConfigFile, '');

const connectionInfo = { type: 'KubeConfigFile', kubeConfigFile };
const webhook = { timeout: '3s', subjectAccessReviewVersion: 'v1', failurePolicy: 'Deny', connectionInfo };
const conditional = (...texts: readonly string[]) => ({
  ...webhook,
  matchConditionSubjectAccessReviewVersion: 'v1',
  matchConditions: texts.map((expression) => ({ expression })),
});
const named = (name: string, settings: object) => ({ type: 'Webhook', name, webhook: settings });
const rbac = { type: 'RBAC', name: 'rbac' };

const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' };
const read = (...authorizers: readonly object[]) =>
  readAuthorizationConfiguration(JSON.stringify({ ...head, authorizers }), defaultDomains);
const wrong = (...authorizers: readonly object[]): Promise<string> =>
  read(...authorizers).then(
    () => 'nothing',
    (error: unknown) => (error as Error).message,
  );

test('a typical file is read', async () => {
  const text = `
apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthorizationConfiguration
authorizers:
- type: Webhook
  name: tenants.example.com
  webhook:
    timeout: 2500ms
    authorizedTTL: 1m
    cacheUnauthorizedRequests: false
    subjectAccessReviewVersion: v1beta1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: NoOpinion
    connectionInfo: { type: KubeConfigFile, kubeConfigFile: ${kubeConfigFile} }
    matchConditions:
    - expression: has(request.resourceAttributes)
- type: Node
  name: node
- type: RBAC
  name: rbac
`;
  expect(await readAuthorizationConfiguration(text, defaultDomains)).toMatchObject([
    {
      type: 'Webhook',
      name: 'tenants.example.com',
      webhook: {
        kubeconfig: kubeConfigFile,
        version: 'v1beta1',
        timeoutMs: 2_500,
        allowedMs: 60_000,
        refusedMs: 0,
        onFailure: 'no-opinion',
        conditions: [{ text: 'has(request.resourceAttributes)' }],
      },
    },
    { type: 'Node', name: 'node' },
    rbac,
  ]);
});

test('defaults are those of Kubernetes', async () => {
  expect(await read(named('a', webhook))).toMatchObject([
    { webhook: { allowedMs: 300_000, refusedMs: 30_000, version: 'v1', onFailure: 'deny', conditions: [] } },
  ]);
  expect(await read(named('a', { ...webhook, authorizedTTL: '0s', cacheAuthorizedRequests: true }))).toMatchObject([
    { webhook: { allowedMs: 300_000 } },
  ]);
});

test.each<[readonly object[], string]>([
  [[], 'authorizers: Required value: at least one authorization mode must be defined'],
  [[{ name: 'a' }], 'authorizers[0].type: Required value'],
  [
    [{ type: 'ABAC', name: 'abac' }],
    'authorizers[0].type: Unsupported value: "ABAC": supported values: "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"',
  ],
  [[rbac, rbac], 'authorizers[1].type: Duplicate value: "RBAC"'],
  [[{ type: 'RBAC' }], 'authorizers[0].name: Required value'],
  [[{ ...rbac, name: 'roles' }], 'authorizers[0].name: Invalid value: "roles": expected name rbac for authorizer RBAC'],
  [[named('a', webhook), named('a', webhook)], 'authorizers[1].name: Duplicate value: "a"'],
  [[{ type: 'Webhook', name: 'a' }], 'authorizers[0].webhook: Required value: required when type=Webhook'],
  [
    [{ ...rbac, webhook }],
    'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
  ],
  [[named('a', { ...webhook, timeout: '0s' })], 'authorizers[0].timeout: Required value'],
  ...['31s', '-1s'].map((timeout): [readonly object[], string] => [
    [named('a', { ...webhook, timeout })],
    `authorizers[0].timeout: Invalid value: "${timeout}": must be > 0s and <= 30s`,
  ]),
  [
    [named('a', { ...webhook, timeout: 'soon' })],
    'authorizers[0].timeout: Invalid value: "soon": time: invalid duration "soon"',
  ],
  [
    [named('a', { ...webhook, authorizedTTL: '-1s', unauthorizedTTL: 'x' })],
    'authorizers[0].authorizedTTL: Invalid value: "-1s": must be > 0s; ' +
      'authorizers[0].unauthorizedTTL: Invalid value: "x": time: invalid duration "x"',
  ],
  [
    [named('a', { ...webhook, subjectAccessReviewVersion: 'v2', failurePolicy: 'Ignore' })],
    'authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"; ' +
      'authorizers[0].failurePolicy: Unsupported value: "Ignore": supported values: "NoOpinion", "Deny"',
  ],
  [
    [named('a', { ...conditional('true'), matchConditionSubjectAccessReviewVersion: '' })],
    'authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified',
  ],
  [
    [named('a', { ...webhook, matchConditionSubjectAccessReviewVersion: 'v1beta1' })],
    'authorizers[0].matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported values: "v1"',
  ],
  [[named('a', { ...webhook, connectionInfo: {} })], 'authorizers[0].connectionInfo.type: Required value'],
  [
    [named('a', { ...webhook, connectionInfo: { type: 'InClusterConfig' } })],
    'authorizers[0].connectionInfo.type: Unsupported value: "InClusterConfig": supported values: "KubeConfigFile"',
  ],
  [
    [named('a', { ...webhook, connectionInfo: { type: 'KubeConfigFile' } })],
    'authorizers[0].connectionInfo.kubeConfigFile: Required value',
  ],
  [
    [named('a', { ...webhook, connectionInfo: { ...connectionInfo, kubeConfigFile: 'x' } })],
    'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "x": must be an absolute path',
  ],
  [
    [named('a', { ...webhook, connectionInfo: { ...connectionInfo, kubeConfigFile: directory } })],
    `authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "${directory}": must be a regular file`,
  ],
  [
    [named('a', conditional('request.user', ' ', 'true', 'true'))],
    'authorizers[0].matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string; ' +
      'authorizers[0].matchConditions[1].expression: Required value; ' +
      'authorizers[0].matchConditions[3].expression: Duplicate value: "true"',
  ],
  [
    [named('a', conditional(...Array.from({ length: 65 }, (_, at) => `request.user == '${at}'`)))],
    'authorizers[0].matchConditions: Too many: 65: must have at most 64 items',
  ],
  [[{ ...rbac, webhooks: 1 }], 'strict decoding error: unknown field "authorizers[0].webhooks"'],
])('%j is refused: %s', async (authorizers, message) => {
  expect(await wrong(...authorizers)).toBe(message);
});

test('a missing kubeconfig is reported with its path', async () => {
  const kubeConfigFile = join(directory, 'nowhere');
  expect(await wrong(named('a', { ...webhook, connectionInfo: { ...connectionInfo, kubeConfigFile } }))).toMatch(
    /^authorizers\[0\]\.connectionInfo\.kubeConfigFile: Invalid value: ".*nowhere": error loading file: ENOENT/,
  );
});

test('all errors are reported, by authorizer', async () => {
  const message = await wrong({ type: 'RBAC' }, named('B', { ...webhook, timeout: '' }), { name: 'c' });
  expect(message.split('; ').map((text) => text.split(':')[0])).toEqual([
    'authorizers[0].name',
    'authorizers[1].name',
    'authorizers[1].timeout',
    'authorizers[2].type',
  ]);
});
