import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasCondition } from '../../../src/api/conditions.js';
import { isReason } from '../../../src/api/errors.js';
import { SubjectAccessReviews } from '../../../src/api/kinds/access-review.js';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import {
  CustomResourceDefinitions,
  customResourceCleanupFinalizer,
} from '../../../src/api/kinds/custom-resource-definition.js';
import { Events, EventsV1Events } from '../../../src/api/kinds/event.js';
import { Namespaces } from '../../../src/api/kinds/namespace.js';
import { ServiceAccounts } from '../../../src/api/kinds/service-account.js';
import type { TokenRequest } from '../../../src/api/kinds/token-request.js';
import {
  type MutatingWebhook,
  type MutatingWebhookConfiguration,
  MutatingWebhookConfigurations,
  ValidatingWebhookConfigurations,
} from '../../../src/api/kinds/webhook-configuration.js';
import { type ApiObject, groupVersion, type JsonObject, resourceType } from '../../../src/api/object.js';
import { type TestServer, testServer } from '../../../src/testing/test-server.js';
import { eventually, until } from '../../../src/testing/until.js';
import { type HttpsHook, httpsHook } from './https-hook.js';

/** A server that calls webhooks over HTTPS, as in production. */

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: JsonObject & {
    readonly uid: string;
    readonly object: ApiObject | null;
    readonly oldObject: ApiObject | null;
  };
}

let server: TestServer;
let hook: HttpsHook;
let reviews: Review[] = [];
/** Returns the reviews about a resource. Controllers write as well. */
const about = (plural: string): readonly Review['request'][] =>
  reviews
    .map(({ request }) => request)
    .filter(({ requestResource }) => (requestResource as { resource?: string }).resource === plural);

/** The responses of the webhook, by the first segment of its path. */
const answers: Readonly<Record<string, (review: Review, rest: string) => object | Promise<object>>> = {
  allow: () => ({ allowed: true }),
  deny: (_, message) => ({ allowed: false, status: { message, code: 403 } }),
  patch: (_, operations) => ({ allowed: true, patchType: 'JSONPatch', patch: operations }),
  undefine: async (_, name) => {
    const crds = server.client.resource(CustomResourceDefinitions);
    await crds.delete({ name });
    await until(crds, { name }, (crd) => !(crd?.metadata.finalizers ?? []).includes(customResourceCleanupFinalizer));
    return { allowed: true };
  },
  rescope: async (_, name) => {
    const crds = server.client.resource(CustomResourceDefinitions);
    const { spec } = await until(crds, { name }, (crd) => crd !== undefined);
    await crds.delete({ name });
    await until(crds, { name }, (crd) => crd === undefined);
    const scope = spec.scope === 'Cluster' ? 'Namespaced' : 'Cluster';
    await crds.create({ ...meta(CustomResourceDefinitions), metadata: { name }, spec: { ...spec, scope } } as never);
    await until(crds, { name }, (crd) => hasCondition(crd, 'Established'));
    return { allowed: true };
  },
};

beforeAll(async () => {
  hook = await httpsHook(async ({ path, body }, response) => {
    const review = JSON.parse(body) as Review;
    const [, verb = '', rest = ''] = decodeURIComponent(path.split('?')[0] ?? '').split('/');
    if (review.kind === 'ConversionReview') {
      if (verb === 'vacate') await vacate(rest);
      response.end(JSON.stringify(conversion(review, verb)));
      return;
    }
    reviews.push(review);
    const answer = await answers[verb]?.(review, rest);
    response.end(JSON.stringify({ ...review, response: { uid: review.request.uid, ...answer } }));
  });
  server = await testServer({ webhookServices: { 'ns/svc': `127.0.0.1:${hook.port}` } });
  await server.client.resource(Namespaces).create({ ...meta(Namespaces), metadata: { name: 'ns' } });
  // The webhook would be called for what controllers write there, too.
  const published = { namespace: 'ns', name: 'kube-root-ca.crt' };
  await until(server.client.resource(ConfigMaps), published, (found) => found !== undefined);
});
afterAll(async () => {
  await server.stop();
  await hook.close();
});
beforeEach(() => {
  reviews = [];
});

const meta = (type: { group: string; version: string; kind: string }) => ({
  apiVersion: groupVersion(type),
  kind: type.kind,
});

/** Runs some work while a webhook is registered for these resources in these versions. */
async function withHook(
  type: typeof MutatingWebhookConfigurations | typeof ValidatingWebhookConfigurations,
  path: string,
  resources: readonly string[],
  work: () => Promise<void>,
  more: Partial<MutatingWebhook> & {
    readonly groups?: readonly string[];
    readonly versions?: readonly string[];
    readonly configuration?: string;
  } = {},
): Promise<void> {
  const { groups = ['*'], versions = ['*'], configuration: name = 'hook', ...webhook } = more;
  const configurations = server.client.resource<MutatingWebhookConfiguration>(type);
  await configurations.create({
    ...meta(type),
    metadata: { name },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig: { service: { namespace: 'ns', name: 'svc', path }, caBundle: hook.caBundle },
        rules: [{ operations: ['*'], apiGroups: groups, apiVersions: versions, resources }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...webhook,
      },
    ],
  });
  try {
    await work();
  } finally {
    await configurations.delete({ name });
  }
}

const map = (name: string, more: object = {}) => ({
  ...meta(ConfigMaps),
  metadata: { name, namespace: 'ns', ...more },
});
/**
 * Runs some work with a webhook that sends this patch. It is called by URL, because the path of a service reference
 * cannot contain all characters of base64.
 */
const withPatch = (
  operations: readonly object[] | string,
  resource: string,
  work: () => Promise<void>,
  more: Parameters<typeof withHook>[4] = {},
): Promise<void> => {
  const text = typeof operations === 'string' ? operations : JSON.stringify(operations);
  const path = `/patch/${encodeURIComponent(Buffer.from(text).toString('base64'))}`;
  const clientConfig = { url: `https://127.0.0.1:${hook.port}${path}`, caBundle: hook.caBundle };
  return withHook(MutatingWebhookConfigurations, '', [resource], work, { clientConfig, ...more });
};

describe('objects', () => {
  const onUpdate = [
    { operations: ['UPDATE' as const], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
  ];

  test('a patched object is decoded, defaulted and stored like a request', async () => {
    const operations = [
      { op: 'add', path: '/metadata/labels', value: { a: 'b' } },
      { op: 'add', path: '/unknown', value: 1 },
    ];
    await withPatch(operations, 'configmaps', async () => {
      await server.client.resource(ConfigMaps).create(map('patched'));
    });
    const stored = await server.client.resource(ConfigMaps).get({ namespace: 'ns', name: 'patched' });
    expect(stored?.metadata.labels).toEqual({ a: 'b' });
    expect(stored).not.toHaveProperty('unknown');
  });

  test.each([
    [
      'a value of the wrong type',
      { op: 'add', path: '/data', value: { a: 1 } },
      500,
      /^Internal error occurred: json: cannot unmarshal number/,
    ],
    [
      'a path that does not exist',
      { op: 'remove', path: '/data/x' },
      500,
      /^Internal error occurred: remove operation does not apply: doc is missing path: "\/data\/x": missing value$/,
    ],
    [
      'another namespace',
      { op: 'replace', path: '/metadata/namespace', value: 'other' },
      400,
      /does not match the namespace sent on the request/,
    ],
    [
      'a resourceVersion',
      { op: 'add', path: '/metadata/resourceVersion', value: '5' },
      500,
      /^resourceVersion should not be set on objects to be created$/,
    ],
    [
      'another kind',
      { op: 'replace', path: '/kind', value: 'Secret' },
      500,
      /^converting \(v1\.Secret\) to \(core\.ConfigMap\): unknown conversion$/,
    ],
    ['an invalid name', { op: 'replace', path: '/metadata/name', value: 'A B' }, 422, /metadata\.name: Invalid value/],
    ['no metadata', { op: 'remove', path: '/metadata' }, 422, /name or generateName is required/],
  ])('a patch with %s is refused, and nothing is stored', async (_, operation, code, message) => {
    await withPatch([operation], 'configmaps', async () => {
      const made = server.client.resource(ConfigMaps).create(map('bad'));
      await expect(made).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    });
    expect(await server.client.resource(ConfigMaps).get({ namespace: 'ns', name: 'bad' })).toBeUndefined();
  });

  test('numbers of a patch keep the text they were written in', async () => {
    const generation = (text: string): string => `[{"op":"add","path":"/metadata/generation","value":${text}}]`;
    await withPatch(generation('1.0'), 'configmaps', async () => {
      await expect(server.client.resource(ConfigMaps).create(map('bad'))).rejects.toThrow(
        'cannot unmarshal number 1.0 into Go struct field ObjectMeta.metadata.generation of type int64',
      );
    });
  });

  test.each([
    [
      'another name',
      { op: 'replace', path: '/metadata/name', value: 'other' },
      'ConfigMap "other" is invalid',
      '"other"',
    ],
    ['no metadata', { op: 'remove', path: '/metadata' }, 'ConfigMap "" is invalid', '""'],
  ])(
    'a patch that gives an updated object %s is refused as a change of its name',
    async (_, operation, message, value) => {
      const maps = server.client.resource(ConfigMaps);
      await maps.create(map('steady'));
      await withPatch(
        [operation],
        'configmaps',
        async () => {
          const changed = maps.patch(
            { namespace: 'ns', name: 'steady' },
            { type: 'merge', body: { data: { a: 'b' } } },
          );
          await expect(changed).rejects.toMatchObject({ code: 422, message: expect.stringContaining(message) });
          await expect(changed).rejects.toThrow(`metadata.name: Invalid value: ${value}: field is immutable`);
        },
        { rules: onUpdate },
      );
      await maps.delete({ namespace: 'ns', name: 'steady' });
    },
  );

  test.each([
    ['created', 'CREATE'],
    ['updated', 'UPDATE'],
    ['patched', 'UPDATE'],
  ] as const)('an owner that a patch repeats in an object that is %s is stored once', async (how, operation) => {
    const maps = server.client.resource(ConfigMaps);
    const key = { namespace: 'ns', name: `owned-${how}` };
    // An existing owner, so that the garbage collector deletes nothing.
    const { uid = '' } = (await maps.create(map('owner'))).metadata;
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
    if (how !== 'created') await maps.create(map(key.name));
    await withPatch(
      [{ op: 'add', path: '/metadata/ownerReferences', value: [owner, owner] }],
      'configmaps',
      async () => {
        const data = { a: 'b' };
        if (how === 'created') await maps.create(map(key.name));
        if (how === 'updated') await maps.update({ ...map(key.name), data });
        if (how === 'patched') await maps.patch(key, { type: 'merge', body: { data } });
      },
      { rules: [{ operations: [operation], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }] },
    );
    expect((await maps.get(key))?.metadata.ownerReferences).toEqual([owner]);
    for (const name of [key.name, 'owner']) await maps.delete({ namespace: 'ns', name });
  });

  test('an applied object is stored under the requested name even if a patch renames it', async () => {
    const maps = server.client.resource(ConfigMaps);
    const [taken, asked] = ['taken', 'asked'].map((name) => ({ namespace: 'ns', name }));
    await maps.create(map('taken'));
    await withPatch([{ op: 'replace', path: '/metadata/name', value: 'taken' }], 'configmaps', async () => {
      const applied = await maps.patch(asked as never, { type: 'apply', fieldManager: 'm', body: map('asked') });
      expect(applied.metadata.name).toBe('taken');
    });
    expect(about('configmaps').length).toBe(1);
    for (const key of [asked, taken]) {
      expect(await maps.get(key as never)).toBeDefined();
      await maps.delete(key as never);
    }
  });

  test.each([
    ['the present one', 'judged', ValidatingWebhookConfigurations],
    ['none', 'prepared', MutatingWebhookConfigurations],
  ] as const)('an update without a resourceVersion is sent with %s when it is %s', async (shown, name, type) => {
    await withHook(
      type,
      '/allow',
      ['configmaps'],
      async () => {
        const created = await server.client.resource(ConfigMaps).create(map(name));
        await server.client.resource(ConfigMaps).update({ ...map(name), data: { a: 'b' } });
        const present = shown === 'none' ? undefined : created.metadata.resourceVersion;
        expect(about('configmaps').map(({ object }) => object?.metadata.resourceVersion)).toEqual([present]);
      },
      { rules: onUpdate },
    );
  });

  test('a patch cannot modify the prototype of objects', async () => {
    const operations = [
      { op: 'add', path: '/data', value: {} },
      { op: 'add', path: '/data/__proto__', value: 'x' },
    ];
    await withPatch(operations, 'configmaps', async () => {
      await server.client.resource(ConfigMaps).create(map('proto'));
    });
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
    expect(({} as Record<string, unknown>)['data']).toBeUndefined();
  });

  test('a denial refuses every kind of write, and nothing is written', async () => {
    const maps = server.client.resource(ConfigMaps);
    await maps.create(map('kept', { labels: { of: 'deny' } }));
    const key = { namespace: 'ns', name: 'kept' };
    const before = await maps.get(key);
    await withHook(ValidatingWebhookConfigurations, '/deny/no-way', ['configmaps'], async () => {
      const refused = expect.objectContaining({
        code: 403,
        message: 'admission webhook "hook.example.com" denied the request: no-way',
      });
      await expect(maps.create(map('other'))).rejects.toEqual(refused);
      await expect(maps.update({ ...map('kept'), data: { a: 'b' } })).rejects.toEqual(refused);
      await expect(maps.patch(key, { type: 'merge', body: { data: { a: 'b' } } })).rejects.toEqual(refused);
      await expect(
        maps.patch(key, { type: 'apply', body: { ...map('kept'), data: { a: 'b' } }, fieldManager: 'm' }),
      ).rejects.toEqual(refused);
      await expect(maps.delete(key)).rejects.toEqual(refused);
      await expect(maps.deleteCollection({ namespace: 'ns', labelSelector: 'of=deny' })).rejects.toEqual(refused);
    });
    expect(await maps.get(key)).toEqual(before);
    expect(await maps.get({ namespace: 'ns', name: 'other' })).toBeUndefined();
    const own = about('configmaps').filter(({ name }) => name !== 'kube-root-ca.crt');
    expect(own.map((request) => `${request['operation']} ${request['name'] ?? '-'}`)).toEqual([
      'CREATE other',
      'UPDATE kept',
      'UPDATE kept',
      'UPDATE kept',
      'DELETE kept',
      'DELETE -',
    ]);
  });

  test('the deletion of a namespace is sent with the uid of the namespace found', async () => {
    const namespaces = server.client.resource(Namespaces);
    const { metadata } = await namespaces.create({ ...meta(Namespaces), metadata: { name: 'going' } });
    await withHook(ValidatingWebhookConfigurations, '/allow', ['namespaces'], async () => {
      await namespaces.delete({ name: 'going' });
    });
    const [deletion] = about('namespaces').filter(({ operation }) => operation === 'DELETE');
    expect(deletion).toMatchObject({ options: { preconditions: { uid: metadata.uid } } });
  });

  test('the creation of a namespace is in that namespace, unless its name is generated', async () => {
    const namespaces = server.client.resource(Namespaces);
    await withHook(ValidatingWebhookConfigurations, '/allow', ['namespaces'], async () => {
      await namespaces.create({ ...meta(Namespaces), metadata: { name: 'named' } });
      await namespaces.create({ ...meta(Namespaces), metadata: { generateName: 'some-' } });
    });
    const [named, generated] = about('namespaces').filter(({ operation }) => operation === 'CREATE');
    expect(named).toMatchObject({ name: 'named', namespace: 'named' });
    expect(generated).toMatchObject({ name: expect.stringMatching(/^some-/) });
    expect(generated).not.toHaveProperty('namespace');
  });

  test('a repeated deletion of a terminating namespace is not sent', async () => {
    const namespaces = server.client.resource(Namespaces);
    const spec = { finalizers: ['example.com/held'] };
    await namespaces.create({ ...meta(Namespaces), metadata: { name: 'ending' }, spec });
    await withHook(ValidatingWebhookConfigurations, '/allow', ['namespaces'], async () => {
      for (let time = 0; time < 3; time++) await namespaces.delete({ name: 'ending' });
      expect(about('namespaces').map(({ operation }) => operation)).toEqual(['DELETE']);
    });
  });

  test('a token request is sent as a TokenRequest', async () => {
    const accounts = server.client.resource(ServiceAccounts);
    await accounts.create({ ...meta(ServiceAccounts), metadata: { name: 'sa', namespace: 'ns' } });
    await withHook(ValidatingWebhookConfigurations, '/allow', ['serviceaccounts/token'], async () => {
      await accounts
        .subresource<TokenRequest>('token')
        .create(
          { namespace: 'ns', name: 'sa' },
          { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: { audiences: [] } },
        );
    });
    expect(about('serviceaccounts')).toMatchObject([
      {
        kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
        resource: { group: '', version: 'v1', resource: 'serviceaccounts' },
        subResource: 'token',
        operation: 'CREATE',
        name: 'sa',
        namespace: 'ns',
        // As it will be returned: with the account it belongs to, and the default audience.
        object: {
          metadata: { name: 'sa', uid: expect.any(String), creationTimestamp: expect.any(String) },
          spec: { audiences: [expect.any(String)] },
        },
        oldObject: null,
      },
    ]);
  });

  test('an invalid access review is refused before any webhook is called', async () => {
    const ask = (spec: object) =>
      server.client.resource(SubjectAccessReviews).create({ ...meta(SubjectAccessReviews), metadata: {}, spec });
    await withHook(ValidatingWebhookConfigurations, '/deny/no', ['subjectaccessreviews'], async () => {
      await expect(ask({})).rejects.toMatchObject({ code: 422 });
      await expect(ask({ user: 'a', nonResourceAttributes: { path: '/' } })).rejects.toMatchObject({ code: 403 });
    });
    expect(about('subjectaccessreviews')).toHaveLength(1);
  });

  test('webhook configurations are never sent', async () => {
    await withHook(ValidatingWebhookConfigurations, '/deny/x', ['*/*'], async () => {}, {
      groups: ['admissionregistration.k8s.io'],
    });
    expect(about('validatingwebhookconfigurations')).toEqual([]);
  });
});

const gadgets = (version: string) =>
  resourceType({ group: 'example.com', version, plural: 'gadgets', kind: 'Gadget', namespaced: true });

/** Deletes a namespace and waits until it is gone. A watch may request a conversion, too; then it is gone already. */
async function vacate(name: string): Promise<void> {
  const namespaces = server.client.resource(Namespaces);
  await namespaces.delete({ name }).catch((error: unknown) => {
    if (!isReason(error, 'NotFound')) throw error;
  });
  await until(namespaces, { name }, (found) => found === undefined);
}

/** Converts gadgets: v1 has separate fields for host and port, v2 has one for both. */
function conversion(review: Review, verb: string): object {
  const { uid, objects, desiredAPIVersion } = review.request as unknown as {
    uid: string;
    objects: (ApiObject & { spec?: Record<string, string> })[];
    desiredAPIVersion: string;
  };
  const convertedObjects = objects.map(({ spec = {}, ...object }) => {
    const { host, port, hostPort, ...rest } = spec;
    const parts = hostPort?.split(':') ?? [];
    const changed = desiredAPIVersion.endsWith('/v2')
      ? { hostPort: `${host}:${port}` }
      : { host: parts[0], port: parts[1] };
    return { ...object, apiVersion: desiredAPIVersion, spec: { ...rest, ...changed } };
  });
  const result = verb === 'refuse' ? { status: 'Failure', message: 'not today' } : { status: 'Success' };
  return { ...review, response: { uid, result, convertedObjects } };
}

test.each([
  ['core', '', 'involvedObject'],
  ['newer', 'events.k8s.io', 'regarding'],
] as const)(
  'a webhook for events of the %s group receives events of both groups, in its own version',
  async (_, group, member) => {
    const involved = { kind: 'ConfigMap', name: 'x', namespace: 'ns' };
    const older = { metadata: { name: `old-${member.toLowerCase()}`, namespace: 'ns' }, involvedObject: involved };
    const newer = {
      metadata: { name: `new-${member.toLowerCase()}`, namespace: 'ns' },
      eventTime: '2024-01-01T00:00:00.000000Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'A',
      reason: 'R',
      regarding: involved,
      type: 'Normal',
    };
    const create = async (): Promise<void> => {
      await server.client.resource(Events).create({ ...meta(Events), ...older });
      await server.client.resource(EventsV1Events).create({ ...meta(EventsV1Events), ...newer });
    };
    await withHook(ValidatingWebhookConfigurations, '/allow', ['events'], create, { groups: [group] });
    const asked = about('events').map(({ kind, resource, requestKind, object }) => ({
      kind,
      resource,
      requestKind,
      object,
    }));
    const kind = { group, version: 'v1', kind: 'Event' };
    const apiVersion = groupVersion(kind);
    expect(asked).toMatchObject([
      { kind, resource: { group }, requestKind: { group: '' }, object: { apiVersion, [member]: involved } },
      {
        kind,
        resource: { group },
        requestKind: { group: 'events.k8s.io' },
        object: { apiVersion, [member]: involved },
      },
    ]);
  },
);

describe('custom resources converted by a webhook', () => {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { replicas: { type: 'integer' } },
        },
        status: { type: 'object', properties: { replicas: { type: 'integer' } } },
      },
    },
  };
  const subresources = { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } };
  const convertAt = async (path: string): Promise<void> => {
    const webhook = {
      clientConfig: { url: `https://127.0.0.1:${hook.port}${path}`, caBundle: hook.caBundle },
      conversionReviewVersions: ['v1'],
    };
    await server.client
      .resource(CustomResourceDefinitions)
      .patch(
        { name: 'gadgets.example.com' },
        { type: 'merge', body: { spec: { conversion: { strategy: 'Webhook', webhook } } } },
      );
  };
  const gadget = (name: string, version: string, spec: object) => ({
    ...meta(gadgets(version)),
    metadata: { name, namespace: 'ns' },
    spec,
  });
  const in1 = () => server.client.resource(gadgets('v1'));
  const in2 = () => server.client.resource(gadgets('v2'));
  const key = (name: string) => ({ namespace: 'ns', name });

  beforeAll(async () => {
    await server.client.resource(CustomResourceDefinitions).create({
      ...meta(CustomResourceDefinitions),
      metadata: { name: 'gadgets.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'gadgets', kind: 'Gadget' },
        scope: 'Namespaced',
        versions: [
          { name: 'v1', served: true, storage: true, schema, subresources },
          { name: 'v2', served: true, storage: false, schema, subresources },
        ],
      },
    } as never);
    await eventually(
      () => server.client.resource(CustomResourceDefinitions).get({ name: 'gadgets.example.com' }),
      (crd) => hasCondition(crd, 'Established'),
    );
    await convertAt('/convert');
    await in1().create(gadget('one', 'v1', { host: 'h', port: '1' }));
  });

  test('are read, listed, watched and selected in the requested version', async () => {
    expect(await in2().get(key('one'))).toMatchObject({ apiVersion: 'example.com/v2', spec: { hostPort: 'h:1' } });
    const { items } = await in2().list({ namespace: 'ns' });
    expect(items).toMatchObject([{ spec: { hostPort: 'h:1' } }]);
    const seen: unknown[] = [];
    const watching = in2()
      .watch({ namespace: 'ns', sendInitialEvents: true })
      .subscribe((event) => {
        if ('object' in event) seen.push([event.type, event.object.metadata.name, event.object['spec']]);
      });
    await in1().create(gadget('two', 'v1', { host: 'g', port: '2' }));
    await in1().patch(key('two'), { type: 'merge', body: { spec: { port: '3' } } });
    await in1().delete(key('two'));
    await eventually(
      () => seen.length,
      (length) => length === 4,
    );
    watching.unsubscribe();
    expect(seen).toEqual([
      ['ADDED', 'one', { hostPort: 'h:1' }],
      ['ADDED', 'two', { hostPort: 'g:2' }],
      ['MODIFIED', 'two', { hostPort: 'g:3' }],
      ['DELETED', 'two', { hostPort: 'g:3' }],
    ]);
  });

  test('are stored in the storage version, and field owners are converted', async () => {
    const applied = { type: 'apply', fieldManager: 'm', body: gadget('applied', 'v2', { hostPort: 'a:1' }) } as const;
    await in2().patch(key('applied'), applied);
    expect(await in1().get(key('applied'))).toMatchObject({ spec: { host: 'a', port: '1' } });
    const other = { type: 'apply', fieldManager: 'n', body: gadget('applied', 'v1', { port: '2' }) } as const;
    await expect(in1().patch(key('applied'), other)).rejects.toMatchObject({
      code: 409,
      message: 'Apply failed with 1 conflict: conflict with "m": .spec.hostPort',
    });
    await in1().delete(key('applied'));
  });

  test('may be applied in one version and then in another by the same manager', async () => {
    const apply = (version: string, spec: object) => {
      const asked = gadget('moved', version, spec);
      const body = { ...asked, metadata: { ...asked.metadata, labels: { a: 'b' } } };
      const options = { type: 'apply', fieldManager: 'm', body } as const;
      return server.client.resource(gadgets(version)).patch(key('moved'), options);
    };
    await apply('v2', { hostPort: 'a:1' });
    const { metadata, spec } = await apply('v1', { host: 'b', port: '2' });
    expect([metadata.labels, spec]).toEqual([{ a: 'b' }, { host: 'b', port: '2' }]);
  });

  test('are sent in the version a webhook asks for, and its patch is converted back', async () => {
    const operations = [{ op: 'replace', path: '/spec/port', value: '8080' }];
    await withPatch(
      operations,
      'gadgets',
      async () => {
        const made = await in2().create(gadget('three', 'v2', { hostPort: 'c:1' }));
        expect(made['spec']).toEqual({ hostPort: 'c:8080' });
      },
      { groups: ['example.com'], versions: ['v1'] },
    );
    expect(about('gadgets')[0]).toMatchObject({
      kind: { version: 'v1' },
      requestKind: { version: 'v2' },
      object: { apiVersion: 'example.com/v1', spec: { host: 'c', port: '1' } },
    });
  });

  test.each([
    [
      'a null in place of a number',
      { op: 'add', path: '/spec/replicas', value: null },
      422,
      'spec.replicas: Invalid value: "null": spec.replicas in body must be of type integer: "null"',
    ],
    [
      'another group',
      { op: 'replace', path: '/apiVersion', value: 'v9' },
      500,
      '/v9, Kind=Gadget is unstructured and is not suitable for converting to "example.com/v1"',
    ],
  ])('are refused if a patch gives them %s', async (_, operation, code, message) => {
    await withPatch(
      [operation],
      'gadgets',
      async () => {
        await expect(in1().create(gadget('bad', 'v1', {}))).rejects.toMatchObject({
          code,
          message: expect.stringContaining(message),
        });
      },
      { versions: ['v1'] },
    );
  });

  test('are reported in the version of the request if a patch gives them another group', async () => {
    await withPatch(
      [{ op: 'replace', path: '/apiVersion', value: 'v9' }],
      'gadgets',
      async () => {
        await expect(in2().create(gadget('bad', 'v2', {}))).rejects.toThrow(
          '/v9, Kind=Gadget is unstructured and is not suitable for converting to "example.com/v2"',
        );
      },
      { groups: ['example.com'], versions: ['v1'] },
    );
  });

  test('are converted from the version that a patch gives them', async () => {
    const named = (apiVersion: string) => [
      { op: 'replace', path: '/apiVersion', value: apiVersion },
      { op: 'add', path: '/spec', value: { hostPort: 'p:9' } },
    ];
    await withPatch(named('example.com/v2'), 'gadgets', async () => {
      const made = await in1().create(gadget('renamed', 'v1', { host: 'h' }));
      expect([made.apiVersion, made['spec']]).toEqual(['example.com/v1', { host: 'p', port: '9' }]);
    });
    await in1().delete(key('renamed'));
    await withPatch(named('example.com/v9'), 'gadgets', async () => {
      await expect(in1().create(gadget('bad', 'v1', {}))).rejects.toThrow(
        'request to convert CR from an invalid group/version: example.com/v9',
      );
    });
  });

  test('are refused if a patch contains a number beyond any float', async () => {
    await withPatch('[{"op":"add","path":"/spec/replicas","value":1e400}]', 'gadgets', async () => {
      await expect(in1().create(gadget('bad', 'v1', {}))).rejects.toThrow(
        'Internal error occurred: json: cannot unmarshal number 1e400 into Go value of type float64',
      );
    });
  });

  test.each([
    ['labels that are not strings', { op: 'add', path: '/metadata/labels', value: { a: 'b', n: 5 } }, 1],
    ['an unknown member', { op: 'add', path: '/zz', value: 1 }, 2],
  ])('are stored without %s from a patch', async (_, operation, generation) => {
    await in1().create(gadget('odd', 'v1', { replicas: 1 }));
    const rules = [{ operations: ['UPDATE' as const], apiGroups: ['*'], apiVersions: ['v1'], resources: ['gadgets'] }];
    await withPatch(
      [operation],
      'gadgets',
      async () => {
        const body = { metadata: { labels: { c: 'd' } } };
        const patched = await in1().patch(key('odd'), { type: 'merge', body });
        expect([patched.metadata.labels, 'zz' in patched]).toEqual([generation === 1 ? undefined : { c: 'd' }, false]);
        // Until then, it counts as a change.
        expect(patched.metadata.generation).toBe(generation);
        expect(await in1().get(key('odd'))).toEqual(patched);
      },
      { rules },
    );
    await in1().delete(key('odd'));
  });

  test('are sent as Scale for the scale subresource, even if another version matches', async () => {
    await in1().create(gadget('scaled', 'v1', { replicas: 1 }));
    await withPatch(
      [{ op: 'replace', path: '/spec/replicas', value: 7 }],
      'gadgets/scale',
      async () => {
        const scaled = await in1()
          .subresource('scale')
          .patch(key('scaled'), { type: 'merge', body: { spec: { replicas: 2 } } });
        expect(scaled['spec']).toEqual({ replicas: 7 });
      },
      { versions: ['v2'] },
    );
    expect(about('gadgets')[0]).toMatchObject({
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'example.com', version: 'v2', resource: 'gadgets' },
      requestResource: { version: 'v1' },
      subResource: 'scale',
      object: { kind: 'Scale', spec: { replicas: 2 } },
      oldObject: { kind: 'Scale' },
    });
    const scale = () =>
      in1()
        .subresource('scale')
        .patch(key('scaled'), { type: 'merge', body: { spec: { replicas: 3 } } });
    const version = { op: 'replace', path: '/metadata/resourceVersion', value: '1' };
    await withPatch([version], 'gadgets/scale', () =>
      expect(scale()).rejects.toMatchObject({
        code: 409,
        message: expect.stringContaining('the object has been modified'),
      }),
    );
    await withPatch([{ op: 'remove', path: version.path }], 'gadgets/scale', async () =>
      expect((await scale())['spec']).toEqual({ replicas: 3 }),
    );
  });

  test('are refused if their namespace disappears during the conversion', async () => {
    await server.client.resource(Namespaces).create({ ...meta(Namespaces), metadata: { name: 'left' } });
    await convertAt('/vacate/left');
    try {
      const late = in2().create({
        ...gadget('late', 'v2', { hostPort: 'l:1' }),
        metadata: { name: 'late', namespace: 'left' },
      });
      await expect(late).rejects.toMatchObject({ code: 404, message: 'namespaces "left" not found' });
      expect(await in1().get({ namespace: 'left', name: 'late' })).toBeUndefined();
    } finally {
      await convertAt('/convert');
    }
  });

  test('are served in the storage version while the conversion webhook refuses, others fail with its reason', async () => {
    await in2().create(gadget('mixed', 'v2', { hostPort: 'm:1' }));
    await convertAt('/refuse');
    try {
      const why =
        'conversion for example.com/v1, Kind=Gadget failed: conversion webhook for /, Kind= failed: not today';
      await expect(in2().get(key('one'))).rejects.toMatchObject({ code: 500, message: why });
      await expect(in2().list()).rejects.toMatchObject({
        code: 429,
        message: `storage is (re)initializing: failed to list example.com/v2, Kind=Gadget: ${why}`,
        details: { retryAfterSeconds: 1 },
      });
      await expect(in2().create(gadget('four', 'v2', { hostPort: 'd:1' }))).rejects.toMatchObject({ code: 500 });
      expect(await in1().get(key('four'))).toBeUndefined();
      expect(await in1().get(key('one'))).toMatchObject({ spec: { host: 'h' } });
      // The first page is not served from the cache, which cannot be filled.
      await expect(in2().list({ limit: 5 })).rejects.toMatchObject({ code: 500, message: why });
      const dry = in2().create(gadget('five', 'v2', { hostPort: 'e:1' }), { dryRun: true });
      await expect(dry).rejects.toMatchObject({ code: 500 });
      // The fields are recorded in a version to which the object cannot be converted.
      const touched = { type: 'merge', body: { metadata: { annotations: { touched: 'yes' } } } } as const;
      const { metadata } = await in1().patch(key('mixed'), touched);
      expect([metadata.annotations, metadata.managedFields]).toEqual([{ touched: 'yes' }, undefined]);
    } finally {
      await convertAt('/convert');
    }
    expect(await in2().get(key('one'))).toMatchObject({ spec: { hostPort: 'h:1' } });
  });

  test.each([
    ['a mutating', MutatingWebhookConfigurations, 'Internal error occurred: '],
    ['a validating', ValidatingWebhookConfigurations, ''],
  ] as const)(
    'are refused with an internal error if they cannot be converted for %s webhook',
    async (_, type, prefix) => {
      const message = `${prefix}conversion for example.com/v1, Kind=Gadget failed: conversion webhook for /, Kind= failed: not today`;
      const refused = async (): Promise<void> => {
        const create = in1().create(gadget('unseen', 'v1', { host: 'h', port: '1' }), { dryRun: true });
        await expect(create).rejects.toMatchObject({
          code: 500,
          reason: 'InternalError',
          message: `Internal error occurred: ${message}`,
          details: { causes: [{ message }] },
        });
      };
      const asked = { versions: ['v2'], failurePolicy: 'Ignore' } as const;
      await convertAt('/refuse');
      try {
        await withHook(type, '/allow', ['gadgets'], refused, asked);
        const matchConditions = [{ name: 'any', expression: 'true' }];
        await withHook(type, '/allow', ['gadgets'], refused, { ...asked, matchConditions });
      } finally {
        await convertAt('/convert');
      }
      expect(about('gadgets')).toEqual([]);
    },
  );
});

describe('reinvocation after a patch of a defaulted field', () => {
  const pots = resourceType({
    group: 'example.com',
    version: 'v1',
    plural: 'pots',
    kind: 'Pot',
    namespaced: false,
  });

  beforeAll(async () => {
    const crds = server.client.resource(CustomResourceDefinitions);
    const metadata = { name: 'pots.example.com' };
    const properties = { lid: { type: 'string', default: 'on' }, size: { type: 'integer' } };
    const schema = { openAPIV3Schema: { type: 'object', properties } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const spec = { group: 'example.com', names: { plural: 'pots', kind: 'Pot' }, scope: 'Cluster', versions };
    await crds.create({ ...meta(CustomResourceDefinitions), metadata, spec } as never);
    await until(crds, metadata, (crd) => hasCondition(crd, 'Established'));
  });

  test.each([
    ['happens if the patch removes the field', { op: 'remove', path: '/lid' }, 2],
    ['does not happen if the patch sets the default again', { op: 'replace', path: '/lid', value: 'on' }, 1],
  ])('%s', async (_, operation, times) => {
    const create = async (): Promise<void> => {
      const { lid } = await server.client
        .resource(pots)
        .create({ ...meta(pots), metadata: { name: 'p' } }, { dryRun: true });
      expect(lid).toBe('on');
    };
    const patched = (): Promise<void> => withPatch([operation], 'pots', create);
    const first = { configuration: 'first', reinvocationPolicy: 'IfNeeded' } as const;
    await withHook(MutatingWebhookConfigurations, '/allow', ['pots'], patched, first);
    expect(about('pots')).toHaveLength(times + 1);
  });
});

describe('a custom resource created while its definition', () => {
  const passings = resourceType({
    group: 'example.com',
    version: 'v1',
    plural: 'passings',
    kind: 'Passing',
    namespaced: false,
  });
  const name = 'passings.example.com';
  const crds = () => server.client.resource(CustomResourceDefinitions);
  const define = async (finalizers: readonly string[] = []): Promise<void> => {
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
    await crds().create({
      ...meta(CustomResourceDefinitions),
      metadata: { name, finalizers },
      spec: { group: 'example.com', names: { plural: 'passings', kind: 'Passing' }, scope: 'Cluster', versions },
    } as never);
    await until(crds(), { name }, (crd) => hasCondition(crd, 'Established'));
  };

  test.each([
    ['was deleted', [], 404, 'the server could not find the requested resource'],
    [
      'was terminating',
      ['example.com/held'],
      403,
      'passings.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
    ],
  ])('%s is refused and not stored', async (_, finalizers, code, message) => {
    await define(finalizers);
    await withHook(ValidatingWebhookConfigurations, `/undefine/${name}`, ['passings'], async () => {
      const late = server.client.resource(passings).create({ ...meta(passings), metadata: { name: 'late' } });
      await expect(late).rejects.toMatchObject({ code, message });
    });
    if (finalizers.length > 0) {
      await crds().patch({ name }, { type: 'merge', body: { metadata: { finalizers: null } } });
    }
    await define();
    expect(await server.client.resource(passings).get({ name: 'late' })).toBeUndefined();
    await crds().delete({ name });
    await until(crds(), { name }, (crd) => crd === undefined);
  });

  test('was recreated with another scope is refused', async () => {
    await define();
    await withHook(ValidatingWebhookConfigurations, `/rescope/${name}`, ['passings'], async () => {
      const late = server.client.resource(passings).create({ ...meta(passings), metadata: { name: 'late' } });
      await expect(late).rejects.toMatchObject({ code: 404 });
    });
    await crds().delete({ name });
    await until(crds(), { name }, (crd) => crd === undefined);
  });
});
