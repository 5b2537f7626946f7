import { expect, test } from 'vitest';
import { type ApiError, isReason } from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { SelfSubjectReviews } from '../../src/api/kinds/self-subject-review.js';
import type { ApiObject } from '../../src/api/object.js';
import { connect } from '../../src/client/remote-client.js';
import type { Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { type Logger, silentLogger } from '../../src/runtime/logger.js';
import { AccountRefused } from '../../src/testing/refusals.js';
import { testServer } from '../../src/testing/test-server.js';
import { eventually, until, untilAny } from '../../src/testing/until.js';
import { validatingWebhook } from '../../src/webhook/admission.js';

const group = 'rbac.authorization.k8s.io';
const runAs = { namespace: 'ops', name: 'copier' };
const account: ApiObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: runAs };

/** Returns the manifests of an operator: an account, and a role with these verbs, by resource. */
const manifests = (rights: Readonly<Record<string, readonly string[]>>) => [
  account,
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: runAs.namespace } },
  {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'copier' },
    rules: Object.entries(rights).map(([resource, verbs]) => ({ apiGroups: [''], resources: [resource], verbs })),
  },
  {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'copier' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'copier' },
    subjects: [{ kind: 'ServiceAccount', ...runAs }],
  },
];
const reads = ['get', 'list', 'watch'];

/** Copies ConfigMaps of the namespace `default` into Secrets. */
const copier = defineController({
  name: 'copies',
  for: ConfigMaps,
  namespace: 'default',
  async reconcile({ metadata: { namespace, name }, data = {} }, { client }) {
    await client
      .resource(Secrets)
      .create({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, stringData: data });
  },
});
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'a' }, data: { a: '1' } };
const key = { namespace: 'default', name: 'a' };

test('runnables act as the account and may do what its roles allow', async () => {
  await using kit = await testServer({
    controllers: [],
    objects: [...manifests({ configmaps: reads, secrets: ['create'] }), map],
    runnables: [copier],
    runAs,
  });
  const made = await until(kit.client.resource(Secrets), key, (secret) => secret !== undefined);
  expect(made.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['copier']);
});

test('a missing right fails the waiting test and the stop of the server', async () => {
  const kit = await testServer({
    controllers: [],
    objects: [...manifests({ configmaps: reads }), map],
    runnables: [copier],
    runAs,
  });
  const refused = `secrets is forbidden: User "system:serviceaccount:ops:copier" cannot create resource "secrets" in API group "" in the namespace "default"`;
  const waiting = until(kit.client.resource(Secrets), key, (secret) => secret !== undefined);
  await expect(waiting).rejects.toEqual(new AccountRefused(refused));
  await expect(kit.stop()).rejects.toEqual(new AccountRefused(refused));
});

test('stopping the server reports each distinct refusal once', async () => {
  let tries = 0;
  const asks: Runnable = {
    name: 'asks',
    async run({ client }) {
      for (; tries < 3; tries++) {
        await client
          .resource(ConfigMaps)
          .list()
          .catch(() => {});
        await client
          .resource(Secrets)
          .list()
          .catch(() => {});
      }
    },
  };
  const kit = await testServer({ controllers: [], objects: manifests({}), runnables: [asks], runAs });
  await eventually(
    () => tries,
    (count) => count === 3,
  );
  await expect(kit.stop()).rejects.toThrow(/^configmaps is forbidden: .*\nsecrets is forbidden: [^\n]*$/);
});

test('a test that failed by a missing right is told of it once', async () => {
  const waits = async (): Promise<void> => {
    const objects = [...manifests({ configmaps: reads }), map];
    await using kit = await testServer({ controllers: [], objects, runnables: [copier], runAs });
    await until(kit.client.resource(Secrets), key, (secret) => secret !== undefined);
  };
  await expect(waits()).rejects.toThrow(/^secrets is forbidden/);
  const doesNotAsk = async (): Promise<void> => {
    const warned: unknown[] = [];
    const log: Logger = { ...silentLogger, child: () => log, warn: (...given) => void warned.push(given) };
    const objects = [...manifests({ configmaps: reads }), map];
    await using _ = await testServer({ controllers: [], objects, runnables: [copier], runAs, log });
    await eventually(
      () => warned.length,
      (count) => count > 0,
    );
  };
  await expect(doesNotAsk()).rejects.toThrow(/^secrets is forbidden/);
});

test('a handler gets the refusals instead; a terminating namespace is not one', async () => {
  const refusals: ApiError[] = [];
  await using kit = await testServer({
    objects: [...manifests({ configmaps: reads, secrets: ['create'] })],
    runnables: [
      {
        name: 'prober',
        async run({ client, signal }) {
          const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'gone', generateName: 's-' } };
          await client
            .resource(Namespaces)
            .list()
            .catch(() => {});
          while (!signal.aborted) {
            const error = await client
              .resource(Secrets)
              .create(secret)
              .catch((failure: unknown) => failure);
            if (isReason(error, 'Forbidden')) break;
          }
          await client
            .resource(ConfigMaps)
            .create(map)
            .catch(() => {});
        },
      },
    ],
    runAs,
    onRefused: (refusal) => refusals.push(refusal),
  });
  const held = { name: 'gone', finalizers: ['example.com/held'] };
  await kit.client.resource(Namespaces).create({ apiVersion: 'v1', kind: 'Namespace', metadata: held });
  await kit.client.resource(Namespaces).delete({ name: 'gone' });
  await eventually(
    () => refusals.length,
    (count) => count === 2,
  );
  expect(refusals.map(({ details }) => details?.kind)).toEqual(['namespaces', 'configmaps']);
});

test('denials of webhooks and policies are not missing rights', async () => {
  const denials: unknown[] = [];
  const registration = 'admissionregistration.k8s.io/v1';
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }];
  const denying = (name: string, objectSelector: object): readonly ApiObject[] => [
    {
      apiVersion: registration,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: rules, objectSelector },
        validations: [{ expression: 'false', message: 'never', reason: 'Forbidden' }],
      },
    } as ApiObject,
    {
      apiVersion: registration,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    } as ApiObject,
  ];
  const webhook = {
    name: 'deny.example.com',
    clientConfig: { service: { namespace: 'ops', name: 'deny', path: '/deny' } },
    rules,
    objectSelector: { matchLabels: { by: 'webhook' } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  await using kit = await testServer({
    controllers: [],
    objects: [
      ...manifests({ secrets: ['create'] }),
      ...denying('never', { matchLabels: { by: 'policy' } }),
      {
        apiVersion: registration,
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'deny' },
        webhooks: [webhook],
      } as ApiObject,
    ],
    webhooks: { '/deny': validatingWebhook({ for: Secrets, validate: () => 'never' }) },
    runnables: [
      {
        name: 'writer',
        async run({ client }) {
          for (const by of ['policy', 'webhook']) {
            const metadata = { namespace: 'default', name: by, labels: { by } };
            const secret = { apiVersion: 'v1', kind: 'Secret', metadata };
            denials.push(
              await client
                .resource(Secrets)
                .create(secret)
                .catch((error: unknown) => error),
            );
          }
        },
      },
    ],
    runAs,
  });
  await eventually(
    () => denials.length,
    (count) => count === 2,
  );
  expect(denials.map((error) => isReason(error, 'Forbidden'))).toEqual([true, true]);
  await kit.client.resource(Namespaces).list();
});

test('running as a missing account fails', async () => {
  const started = testServer({ controllers: [], runnables: [copier], runAs });
  await expect(started).rejects.toThrow('no ServiceAccount ops/copier');
});

test('webhooks act as the account, too', async () => {
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] };
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'who.example.com',
        clientConfig: { service: { namespace: 'ops', name: 'hooks', path: '/who' } },
        rules: [rule],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  };
  await using kit = await testServer({
    controllers: [],
    objects: [...manifests({}), configuration],
    runAs,
    webhooks: { '/who': validatingWebhook({ for: ConfigMaps, validate: async (_, { client }) => whoAmI(client) }) },
  });
  await expect(kit.client.resource(ConfigMaps).create(map)).rejects.toThrow(/system:serviceaccount:ops:copier$/);
});
const whoAmI = async (client: Parameters<Runnable['run']>[0]['client']): Promise<string> => {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} };
  return (await client.resource(SelfSubjectReviews).create(review)).status?.userInfo?.username ?? '';
};

test('a program runs as the account by a kubeconfig, and its refused requests fail the test', async () => {
  const kit = await testServer({
    controllers: [],
    listen: { port: 0 },
    objects: manifests({ configmaps: ['create'] }),
  });
  const client = await connect({ kubeconfigText: await kit.kubeconfig(runAs), userAgent: 'program' });
  try {
    expect(await whoAmI(client)).toBe('system:serviceaccount:ops:copier');
    await client.resource(ConfigMaps).create(map);
    const found = await untilAny(
      kit.client.resource(ConfigMaps),
      { namespace: 'default' },
      ({ data }) => data?.['a'] === '1',
    );
    expect(found.metadata.name).toBe('a');
    await expect(client.resource(ConfigMaps).list()).rejects.toMatchObject({ reason: 'Forbidden' });
    await expect(kit.client.resource(ConfigMaps).list()).rejects.toBeInstanceOf(AccountRefused);
    await expect(kit.kubeconfig({ namespace: 'ops', name: 'other' })).rejects.toThrow('no ServiceAccount ops/other');
  } finally {
    client.close();
  }
  await expect(kit.stop()).rejects.toThrow(/^configmaps is forbidden: User "system:serviceaccount:ops:copier"/);
});
