import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../../src/api/object.js';
import { define, type Served, serve } from './served.js';

/** Field ownership of custom resources with several versions and a scale. */

let it: Served;
const group = 'fields.example.com';
const version = (name: string, subresources: object) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  subresources,
});
const scaled = (path: string) => ({ scale: { specReplicasPath: path, statusReplicasPath: '.status.replicas' } });

async function defineKind(plural: string, kind: string, versions: readonly object[]): Promise<void> {
  await define(
    it,
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: 'Cluster', names: { plural, kind }, versions },
    },
    `/apis/${group}/v1/${plural}`,
  );
}

beforeAll(async () => {
  it = await serve({ controllers: ['crd-names', 'crd-established'] });
  await defineKind('parts', 'Part', [version('v1', scaled('.spec.size')), version('v2', scaled('.spec.count'))]);
});
afterAll(() => it.stop());

const send = (method: string, path: string, manager: string, body: object) =>
  it.ask(method, `/apis/${group}/${path}?fieldManager=${manager}`, {
    headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
    body,
  });
const apply = (path: string, manager: string, body: object) =>
  it.ask('PATCH', `/apis/${group}/${path}?fieldManager=${manager}`, {
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body,
  });
const part = (apiVersion: string, name: string, spec: object) => ({
  apiVersion: `${group}/${apiVersion}`,
  kind: 'Part',
  metadata: { name },
  spec,
});
const scale = (name: string, replicas: number) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name },
  spec: { replicas },
});
/** Returns `manager operation version/subresource fields of spec`, with `!` if there is no time. */
async function owners(name: string): Promise<readonly string[]> {
  const { metadata } = (await it.ask('GET', `/apis/${group}/v1/parts/${name}`)).json();
  return (metadata.managedFields ?? []).map((entry: ManagedFieldsEntry) => {
    const { manager, operation, apiVersion, subresource, fieldsV1, time } = entry;
    const fields = Object.keys((fieldsV1 as Record<string, object>)['f:spec'] ?? {});
    const suffix = subresource === undefined ? '' : `/${subresource}`;
    return `${manager} ${operation} ${apiVersion?.split('/')[1]}${suffix} ${fields.join()}${time === undefined ? '!' : ''}`;
  });
}

test.each([null, '', '/', 'autoscaling/'])('a patch of a scale may remove its apiVersion: %j', async (apiVersion) => {
  await send('POST', 'v1/parts', 'maker', part('v1', 'versionless', { size: 1 }));
  const answer = await send('PATCH', 'v1/parts/versionless/scale', 'scaler', { apiVersion, spec: { replicas: 3 } });
  expect([answer.code, answer.json().apiVersion, answer.json().spec]).toEqual([200, 'autoscaling/v1', { replicas: 3 }]);
});

test('a manager that writes the scale owns the replicas, under their path in the written version', async () => {
  await send('POST', 'v1/parts', 'maker', part('v1', 'a', { size: 1, other: 1 }));
  const { metadata } = (await send('PUT', 'v1/parts/a/scale', 'scaler', scale('a', 2))).json();
  const now = (await it.ask('GET', `/apis/${group}/v1/parts/a`)).json();
  expect(metadata.resourceVersion).toBe(now.metadata.resourceVersion);
  expect(await owners('a')).toEqual(['scaler Update v1/scale f:size!', 'maker Update v1 .,f:other']);
  await send('PATCH', 'v1/parts/a/scale', 'other', { spec: { replicas: 3 } });
  expect(await owners('a')).toEqual(['other Update v1/scale f:size!', 'maker Update v1 .,f:other']);
  await send('PATCH', 'v1/parts/a', 'maker', { spec: { size: 4 } });
  expect(await owners('a')).toEqual(['maker Update v1 .,f:other,f:size']);
});

test('a scale write that changes nothing takes the replicas from managers that own them by an update', async () => {
  await send('POST', 'v1/parts', 'maker', part('v1', 'same', { size: 3, other: 1 }));
  await send('PATCH', 'v1/parts/same/scale', 'scaler', { status: { replicas: 99 } });
  expect(await owners('same')).toEqual(['maker Update v1 f:size!', 'maker Update v1 .,f:other']);
  for (const replicas of [3, 5]) {
    await send('PUT', 'v1/parts/same/scale', 'scaler', scale('same', replicas));
    expect(await owners('same')).toEqual(['maker Update v1 .,f:other']);
  }
});

test('replicas set to zero lose their owner, whatever the status says', async () => {
  await send('POST', 'v1/parts', 'maker', { ...part('v1', 'zero', { size: 1 }), status: { replicas: 1 } });
  await send('PUT', 'v1/parts/zero/scale', 'scaler', scale('zero', 2));
  expect(await owners('zero')).toEqual(['scaler Update v1/scale f:size!', 'maker Update v1 ']);
  await send('PUT', 'v1/parts/zero/scale', 'scaler', scale('zero', 0));
  expect(await owners('zero')).toEqual(['maker Update v1 ']);
});

test('a scale is shown as a table', async () => {
  await send('POST', 'v1/parts', 'maker', part('v1', 'shown', { size: 5 }));
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const table = (await it.ask('GET', `/apis/${group}/v1/parts/shown/scale`, { headers: { accept } })).json();
  expect(table.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
    'Name',
    'Desired',
    'Available',
    'Age',
  ]);
  expect(table.rows[0].cells.slice(0, 3)).toEqual(['shown', 5, 0]);
  await send('PUT', 'v1/parts/shown/scale', 'scaler', scale('shown', 0));
  const none = (await it.ask('GET', `/apis/${group}/v1/parts/shown/scale`, { headers: { accept } })).json();
  expect(none.rows[0].cells.slice(0, 3)).toEqual(['shown', null, 0]);
});

test('applying a scale conflicts with the owner of the replicas', async () => {
  await apply('v1/parts/b', 'maker', part('v1', 'b', { size: 1 }));
  const refused = await apply('v1/parts/b/scale', 'scaler', scale('b', 2));
  expect([refused.code, refused.json().details.causes]).toEqual([
    409,
    [{ reason: 'FieldManagerConflict', message: 'conflict with "maker"', field: '.spec.replicas' }],
  ]);
  expect((await apply('v1/parts/b/scale', 'scaler', scale('b', 1))).code).toBe(200);
  expect(await owners('b')).toEqual(['scaler Apply v1/scale f:size!', 'maker Apply v1 .,f:size']);
});

const unscaled = 'to proper version: request to convert CR to an invalid group/version: autoscaling/v1';

test.each([
  [
    'owned',
    { size: 1 },
    `failed to convert new object (/owned; autoscaling/v1, Kind=Scale) ${unscaled}`,
    'maker Apply v1 .,f:size',
  ],
  [
    'unowned',
    { other: 1 },
    `failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) ${unscaled}`,
    'maker Apply v1 .,f:other',
  ],
])(
  'replicas that are %s cannot be changed by applying a scale, even with force',
  async (name, spec, message, owner) => {
    await apply(`v1/parts/${name}`, 'maker', part('v1', name, spec));
    const refused = await apply(`v1/parts/${name}/scale`, 'scaler&force=true', scale(name, 2));
    expect([refused.code, refused.json().message]).toEqual([500, message]);
    expect(await owners(name)).toEqual([owner]);
  },
);

test('causes of a conflict are in the order of its message: fields of the object before nested ones', async () => {
  await apply('v1/parts', 'x', part('v1', 'x', {}));
  const owned = { ...part('v1', 'order', { b: 1 }), a: 1 };
  await apply('v1/parts/order', 'owner', owned);
  const refused = await apply('v1/parts/order', 'other', { ...part('v1', 'order', { b: 2 }), a: 2 });
  const { message, details } = refused.json();
  expect([refused.code, details.causes.map(({ field }: { field: string }) => field)]).toEqual([409, ['.a', '.spec.b']]);
  expect(message).toBe('Apply failed with 2 conflicts: conflicts with "owner":\n- .a\n- .spec.b');
});

test('managed fields stay recorded in the version they were written in', async () => {
  await send('POST', 'v1/parts', 'one', part('v1', 'c', { a: 1, b: 1 }));
  await send('PATCH', 'v2/parts/c', 'two', { spec: { b: 2, c: 2 } });
  expect(await owners('c')).toEqual(['one Update v1 .,f:a', 'two Update v2 f:b,f:c']);
  await apply('v2/parts/c', 'three', part('v2', 'c', { d: 3 }));
  await apply('v1/parts/c', 'three', part('v1', 'c', { e: 3 }));
  expect((await it.ask('GET', `/apis/${group}/v1/parts/c`)).json().spec).toEqual({ a: 1, b: 2, c: 2, e: 3 });
  expect(await owners('c')).toEqual(['three Apply v1 .,f:e', 'one Update v1 .,f:a', 'two Update v2 f:b,f:c']);
});

test('a status sent as another kind removes all managed fields', async () => {
  await defineKind('widgets', 'Widget', [version('v1', { status: {} })]);
  const widget = { ...part('v1', 'w', { a: 1 }), kind: 'Widget' };
  await send('POST', 'v1/widgets', 'maker', widget);
  const patched = (await send('PATCH', 'v1/widgets/w/status', 'other', { status: { b: 1 } })).json();
  expect(patched.metadata.managedFields.length).toBe(2);
  const { code, json } = await send('PATCH', 'v1/widgets/w/status', 'other', { kind: 'Gadget' });
  const { managedFields, resourceVersion } = json().metadata;
  expect([code, json().kind, managedFields]).toEqual([200, 'Widget', undefined]);
  expect(resourceVersion).not.toBe(patched.metadata.resourceVersion);
});

test('a status sent in another version is owned in the version of the URL; in an unknown one by nobody', async () => {
  await defineKind('gears', 'Gear', [version('v1', { status: {} }), version('v2', { status: {} })]);
  await send('POST', 'v1/gears', 'maker', { ...part('v1', 'g', { a: 1 }), kind: 'Gear' });
  const owned = async (apiVersion: string, b: number): Promise<unknown> => {
    const { json } = await send('PATCH', 'v1/gears/g/status', 'other', { apiVersion, status: { b } });
    const entries: readonly { readonly manager: string; readonly apiVersion: string }[] =
      json().metadata.managedFields ?? [];
    return entries.map((entry) => `${entry.manager} ${entry.apiVersion}`);
  };
  expect(await owned(`${group}/v2`, 1)).toEqual([`maker ${group}/v1`, `other ${group}/v1`]);
  for (const unknown of ['v1', 'example.com/v1', `${group}/v9`]) {
    await send('POST', 'v1/gears', 'maker', { ...part('v1', 'h', { a: 1 }), kind: 'Gear' });
    const { code, json } = await send('PATCH', 'v1/gears/h/status', 'other', { apiVersion: unknown, status: { b: 1 } });
    expect([code, json().metadata.managedFields]).toEqual([200, undefined]);
    await it.ask('DELETE', `/apis/${group}/v1/gears/h`);
  }
});

test('an apply with a uid creates nothing', async () => {
  const body = { ...part('v1', 'd', {}), metadata: { name: 'd', uid: 'u' } };
  const { code, text } = await apply('v1/parts/d', 'm', body);
  expect([code, JSON.parse(text).message]).toEqual([
    409,
    `Operation cannot be fulfilled on parts.${group} "d": uid mismatch: the provided object specified uid u, and no existing object was found`,
  ]);
});

test.each(['z', 1])('unreadable managedFields are ignored in an apply of a custom resource: %j', async (time) => {
  const metadata = { managedFields: [{ time }] };
  const nameless = { ...part('v1', '', { size: 1 }), metadata };
  const name = `owned-at-${time}`;
  const refused = await apply(`v1/parts/${name}`, 'applier', nameless);
  const why = `the name of the object (${name} based on URL) was undeterminable: name must be provided`;
  expect([refused.code, refused.json().message]).toEqual([400, why]);
  await send('POST', 'v1/parts', 'creator', part('v1', name, {}));
  const applied = await apply(`v1/parts/${name}`, 'applier', nameless);
  expect([applied.code, applied.json().spec]).toEqual([200, { size: 1 }]);
  expect(await owners(name)).toContain('applier Apply v1 .,f:size');
});

test('a write that changes nothing takes no list from its owner, even if items lack their key', async () => {
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 's' },
    imagePullSecrets: [{}, { name: 'a' }],
  };
  const write = (method: string, type: string, manager: string, body: object) =>
    it.ask(method, `/api/v1/namespaces/default/serviceaccounts/s?fieldManager=${manager}`, {
      headers: { 'content-type': type },
      body,
    });
  await write('PATCH', 'application/apply-patch+yaml', 'owner', account);
  await write('PATCH', 'application/json-patch+json', 'stranger', []);
  const { metadata } = (await write('PUT', 'application/json', 'stranger', account)).json();
  expect(metadata.managedFields.map(({ manager }: ManagedFieldsEntry) => manager)).toEqual(['owner']);
});

test('an atomic object has no owners, and an apply replaces all of it including its resourceVersion', async () => {
  const schema = { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { size: { type: 'integer' } } };
  await defineKind('blocks', 'Block', [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
  ]);
  const block = (size: number, metadata: object = {}) => ({
    apiVersion: `${group}/v1`,
    kind: 'Block',
    metadata: { name: 'one', ...metadata },
    size,
  });
  const written = [
    await apply('v1/blocks/one', 'a', block(1, { labels: { of: 'apply' } })),
    await send('PATCH', 'v1/blocks/one', 'b', { size: 2 }),
  ];
  for (const { code, json } of written) {
    expect(code).toBeLessThan(300);
    expect(json().metadata).not.toHaveProperty('managedFields');
  }
  const resourceVersion = written[1]?.json().metadata.resourceVersion;
  expect((await apply('v1/blocks/one', 'a', block(3))).json().message).toBe(
    `blocks.${group} "one" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
  );
  const replaced = (await apply('v1/blocks/one', 'a', block(3, { resourceVersion }))).json();
  expect(replaced).toMatchObject({ size: 3 });
  expect(replaced.metadata).not.toHaveProperty('labels');
});

test('a built-in object whose item lost its key cannot be applied, and an update clears its managed fields', async () => {
  const path = '/api/v1/namespaces/default/serviceaccounts/unnamed';
  const named = (more: object) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'unnamed' },
    ...more,
  });
  const applied = (body: object) =>
    it.ask('PATCH', `${path}?fieldManager=a`, { headers: { 'content-type': 'application/apply-patch+yaml' }, body });
  const first = await applied(named({ secrets: [{ name: '' }, { name: 's' }] }));
  expect([first.code, first.json().secrets]).toEqual([201, [{}, { name: 's' }]]);
  const second = await applied(named({}));
  expect([second.code, second.json().message]).toEqual([
    500,
    'failed to create typed live object (default/unnamed; /v1, Kind=ServiceAccount): .secrets: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
  ]);
  const updated = await it.ask('PUT', path, { body: named({ secrets: [{ name: 's' }] }) });
  expect([updated.code, updated.json().metadata.managedFields]).toEqual([200, undefined]);
});

test.each([
  ['configmaps', 'v1', 'ConfigMap', '/api/v1/namespaces/default/configmaps/timed'],
  ['parts', `${group}/v1`, 'Part', `/apis/${group}/v1/parts/timed`],
])(
  'an apply of unchanged values to %s is recorded without a time, unless it has anything to merge',
  async (...kind) => {
    const [, apiVersion, name, path] = kind;
    const applied = async (manager: string, metadata: object) => {
      const { code, json } = await it.ask('PATCH', `${path}?fieldManager=${manager}`, {
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: { apiVersion, kind: name, metadata: { name: 'timed', labels: { a: 'b' }, ...metadata } },
      });
      expect([200, 201]).toContain(code);
      const entries = json().metadata.managedFields as readonly ManagedFieldsEntry[];
      return entries.map((entry) => `${entry.manager}${entry.time === undefined ? '!' : ''}`);
    };
    expect(await applied('a', { managedFields: null })).toEqual(['a']);
    expect(await applied('b', {})).toEqual(expect.arrayContaining(['a', 'b!']));
    expect(await applied('c', { managedFields: null })).toEqual(expect.arrayContaining(['a', 'b!', 'c']));
  },
);
