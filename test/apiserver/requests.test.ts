import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AskOptions, type Served, serve, served, widgets } from './served.js';

/** Parameters and bodies as kube-apiserver reads them, one request each. */

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

let it: Served;
beforeAll(async () => {
  it = await serve({ controllers: 'all' });
  for (const name of ['a', 'b']) await it.ask('POST', configMaps, { body: { metadata: { name, labels: { name } } } });
});
afterAll(() => it.stop());

test.each<[string, string, AskOptions, number, string]>([
  ['GET', '/b?export=true', {}, 400, 'the export parameter, deprecated since v1.14, is no longer supported'],
  ['GET', '/b?export=false', {}, 200, ''],
  // Numbers and selectors are read before they are held against each other.
  ['GET', '?limit=', {}, 400, 'strconv.ParseInt: parsing "": invalid syntax'],
  ['GET', '?timeoutSeconds=&labelSelector=(', {}, 400, 'strconv.ParseInt: parsing "": invalid syntax'],
  ['GET', '?resourceVersionMatch=x&labelSelector=(', {}, 400, "found '(', expected: !, identifier, or 'end of string'"],
  ['GET', '?resourceVersionMatch=x&fieldSelector=a', {}, 400, "invalid selector: 'a'; can't understand 'a'"],
  [
    'GET',
    '?continue=x',
    {},
    400,
    'invalid continue token: continue key is not valid: illegal base64 data at input byte 0',
  ],
  [
    'GET',
    '?continue=e30',
    {},
    400,
    'invalid continue token: continue key is not valid: server does not recognize this encoded version ',
  ],
  [
    'GET',
    '?continue=ez0',
    {},
    400,
    "invalid continue token: continue key is not valid: invalid character '=' looking for beginning of object key string",
  ],
  ['GET', '?continue=x&resourceVersion=-1', {}, 400, 'continue key is not valid: illegal base64 data at input byte 0'],
  [
    'GET',
    `?continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"a"}').toString('base64url')}&resourceVersion=x`,
    {},
    400,
    'specifying resource version is not allowed when using continue',
  ],
  // In which form a patch comes is asked before the form of the answer.
  ['PATCH', '/a', { headers: { accept: 'image/png' }, body: {} }, 415, '415: Unsupported Media Type'],
  [
    'PATCH',
    '/a',
    { headers: { 'content-type': 'application/strategic-merge-patch+json' }, body: { $patch: false } },
    500,
    'unknown patch type: %!s(bool=false) in map: map[$patch:false]',
  ],
  [
    'GET',
    '?watch=1&continue=x&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    {},
    422,
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
  ],
  [
    'GET',
    '?watch=1&continue=x',
    {},
    422,
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
  ],
  // Of a create, what the body is comes before the options; of an update after them.
  ['POST', '?dryRun=x', { headers: { 'content-type': 'text/plain' }, body: 'x' }, 415, 'unknown format'],
  ['PUT', '/b?dryRun=x', { headers: { 'content-type': 'text/plain' }, body: 'x' }, 422, 'dryRun'],
  // What a row holds is asked last: of what is not there, and of what was written.
  ['GET', '/absent?includeObject=x', { headers: table }, 404, 'configmaps "absent" not found'],
  [
    'POST',
    '?includeObject=x',
    { headers: table, body: { metadata: { name: 'written' } } },
    400,
    "Unable to convert to Table as requested: includeObject: Invalid value: \"x\": must be 'Metadata', 'Object', 'None', or empty",
  ],
  ['GET', '/written', {}, 200, ''],
  // Of a deletion without a body the query says everything.
  [
    'DELETE',
    '/b?propagationPolicy=',
    {},
    422,
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "": supported values: "Foreground", "Background", "Orphan", "nil"',
  ],
  ['DELETE', '/b?gracePeriodSeconds=', {}, 400, 'strconv.ParseInt: parsing "": invalid syntax'],
  ['DELETE', '/b?uid=1', {}, 409, 'the UID in the precondition (1) does not match the UID in record'],
  ['DELETE', '/b?resourceVersion=1', {}, 409, 'the ResourceVersion in the precondition (1) does not match'],
  ['DELETE', '?labelSelector=name%3Db&uid=1', {}, 409, 'the UID in the precondition (1) does not match'],
  // Kinds that options cannot be read from.
  [
    'DELETE',
    '/b',
    { body: { kind: 'ConfigMap' } },
    400,
    'no kind "ConfigMap" is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    'DELETE',
    '/b',
    { body: { kind: 'Status', apiVersion: 'v1' } },
    400,
    'converting (v1.Status) to (v1.DeleteOptions): unknown conversion',
  ],
  ['DELETE', '/b', { body: { apiVersion: 'a/b/c' } }, 400, 'unexpected GroupVersion string: a/b/c'],
  [
    'DELETE',
    '/b',
    { body: { dryRun: 'All' } },
    400,
    'json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string',
  ],
  ['GET', '/b', {}, 200, ''],
  // Status is of every version, and an empty group is the core group.
  [
    'POST',
    '',
    { body: { kind: 'Status', apiVersion: 'X' } },
    400,
    'Status in version "X" cannot be handled as a ConfigMap: converting (v1.Status) to (core.ConfigMap): unknown conversion',
  ],
  [
    'POST',
    '',
    { body: { kind: 'ConfigMap', apiVersion: '/x' } },
    400,
    'ConfigMap in version "x" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "x"',
  ],
  // The character before the last dash of a prefix is not looked at, and a dash alone is none.
  ['PATCH', '/a', { headers: merge, body: { metadata: { generateName: 'A-' } } }, 200, ''],
  [
    'PATCH',
    '/a',
    { headers: merge, body: { metadata: { generateName: '-' } } },
    422,
    'metadata.generateName: Invalid value: "-"',
  ],
  // That a version was sent is found out last.
  ['POST', '', { body: { metadata: { name: 'A', resourceVersion: '7' } } }, 422, 'metadata.name: Invalid value: "A"'],
  [
    'POST',
    '',
    { body: { metadata: { name: 'c', resourceVersion: '7' } } },
    500,
    'resourceVersion should not be set on objects to be created',
  ],
])('%s %s %j', async (method, path, options, code, message) => {
  const answer = await it.ask(method, configMaps + path, options);
  expect([answer.code, answer.json().message ?? '']).toEqual([code, expect.stringContaining(message)]);
});

test('updates tell of a wrong finalizer twice, as the rules of the kind look once more', async () => {
  const body = { metadata: { finalizers: ['unqualified'] } };
  const { causes } = (await it.ask('PATCH', `${configMaps}/a`, { headers: merge, body })).json().details;
  expect(causes.map(({ field }: { readonly field: string }) => field)).toEqual([
    'metadata.finalizers[0]',
    'metadata.finalizers[0]',
  ]);
});

test('metadata of events is looked at once the rest is right, and names may be any', async () => {
  const events = '/api/v1/namespaces/default/events';
  const event = (metadata: object, namespace: string) => ({ metadata, involvedObject: { kind: 'Pod', namespace } });
  const wrong = (await it.ask('POST', events, { body: event({ name: 'a', labels: { 'a b': '' } }, 'other') })).json();
  expect(wrong.details.causes.map(({ field }: { readonly field: string }) => field)).toEqual([
    'involvedObject.namespace',
  ]);
  const labelled = await it.ask('POST', events, { body: event({ name: 'a', labels: { 'a b': '' } }, 'default') });
  expect(labelled.json().message).toContain('metadata.labels: Invalid value: "a b"');
  expect((await it.ask('POST', events, { body: event({ name: 'Any_Name' }, 'default') })).code).toBe(201);
});

test('deleting a namespace without orphans waits for what it owns', async () => {
  await it.ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'n' } } });
  const answer = await it.ask('DELETE', '/api/v1/namespaces/n?orphanDependents=false');
  expect([answer.code, answer.json().metadata.finalizers]).toEqual([202, ['foregroundDeletion']]);
});

test('an empty list of managedFields has the server forget all managers, and note none until something is applied', async () => {
  const created = await it.ask('POST', `${configMaps}?fieldManager=m`, {
    body: { metadata: { name: 'f' }, data: { k: '1' } },
  });
  expect(created.json().metadata.managedFields).toHaveLength(1);
  const change = (body: object) => it.ask('PATCH', `${configMaps}/f?fieldManager=m`, { headers: merge, body });
  expect((await change({ metadata: { managedFields: [] } })).json().metadata.managedFields).toBeUndefined();
  expect((await change({ data: { l: '2' } })).json().metadata.managedFields).toBeUndefined();
});

test.each([
  [{ kind: 'Pod' }, 'converting (v1.Pod) to (core.ConfigMap): unknown conversion'],
  [{ apiVersion: 'v2' }, 'no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"'],
])('a merge patch that makes another kind of it: %j', async (body, why) => {
  const answer = await it.ask('PATCH', `${configMaps}/a`, { headers: merge, body });
  expect([answer.code, answer.json().message]).toEqual([422, expect.stringContaining(why)]);
});

test('bodies of custom resources spell kind and apiVersion in one way', async () => {
  const gadgets = '/apis/example.com/v1/widgets';
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  await it.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: widgets({ properties: { replicas: { type: 'integer' } } }, { deprecated: true, subresources: { scale } }),
  });
  await served(it, gadgets);
  const refusal = async (body: string) => (await it.ask('POST', gadgets, { body })).json().message;
  const named = '"metadata":{"name":"a"}';
  expect(await refusal(`{"KIND":"Widget","apiVersion":"example.com/v1",${named}}`)).toContain(
    "Object 'Kind' is missing in '{",
  );
  expect(await refusal('null')).toContain("Object 'Kind' is missing in 'null'");
  for (const body of [`{"kind":"Widget",${named}}`, `{"kind":"Widget","APIVERSION":"example.com/v1",${named}}`]) {
    expect(await refusal(body)).toBe(
      'the API version in the data () does not match the expected API version (example.com/v1)',
    );
  }
});

test('doors of custom resources', async () => {
  const widget = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name: 'w' }, spec: { replicas: 1 } };
  const at = '/apis/example.com/v1/widgets';
  expect((await it.ask('POST', at, { body: widget })).code).toBe(201);
  const asked = async (method: string, door: string, options?: AskOptions) => {
    const { code, headers, json } = await it.ask(method, `${at}/w${door}`, options);
    expect(headers['warning']).toBe('299 - "example.com/v1 Widget is deprecated"');
    return [code, json().message];
  };
  const metadata = { name: 'w', uid: 'x' };
  expect(await asked('GET', '/nope')).toEqual([404, 'widgets.example.com "w" not found']);
  expect(await asked('PUT', '/scale', { body: '{' })).toEqual([
    400,
    'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"',
  ]);
  expect(await asked('PUT', '/scale', { body: { metadata } })).toEqual([
    409,
    expect.stringContaining('UID in precondition: x'),
  ]);
  expect((await asked('PATCH', '/scale', { headers: merge, body: { metadata } }))[0]).toBe(200);
  expect((await asked('PUT', '/scale', { body: { metadata: { name: 'w' }, spec: { replicas: 2 } } }))[0]).toBe(200);
  for (const [body, code, why] of [
    [{ apiVersion: 'other/v1' }, 422, 'Widget.other "w" is invalid: apiVersion: Invalid value: "other/v1"'],
    [{ apiVersion: null }, 500, "Object 'apiVersion' is missing in 'object has no apiVersion field'"],
    [{ kind: 1 }, 422, 'json: cannot unmarshal number into Go struct field .kind of type string'],
  ] as const) {
    expect(await asked('PATCH', '', { headers: merge, body })).toEqual([code, expect.stringContaining(why)]);
  }
});

test('groups of custom resources are told of whatever the method, others are only read', async () => {
  for (const path of ['/apis/example.com', '/apis/example.com/v1']) expect((await it.ask('PUT', path)).code).toBe(200);
  for (const path of ['/apis', '/apis/rbac.authorization.k8s.io/v1']) {
    expect((await it.ask('PUT', path)).code).toBe(405);
  }
});

test('deleting a definition leaves the finalizers of the garbage collector alone', async () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com';
  const answer = await it.ask('DELETE', `${path}?propagationPolicy=Orphan&dryRun=All`);
  expect(answer.json().metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
});

test('nodes leave a Status behind', async () => {
  await it.ask('POST', '/api/v1/nodes', { body: { metadata: { name: 'n' } } });
  expect((await it.ask('DELETE', '/api/v1/nodes/n')).json()).toMatchObject({ kind: 'Status', status: 'Success' });
});

test('a PUT is looked at before it is known whether the object is there', async () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u' };
  const body = { metadata: { name: 'absent', ownerReferences: [owner, owner] } };
  const repeated = await it.ask('PUT', `${configMaps}/absent`, { body });
  expect([repeated.code, repeated.headers['warning']]).toEqual([404, expect.stringContaining('observed: u')]);
  const lease = { metadata: { name: 'l', resourceVersion: 'x' } };
  const unread = await it.ask('PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l', { body: lease });
  expect([unread.code, unread.json().message]).toEqual([500, 'strconv.ParseUint: parsing "x": invalid syntax']);
});

test('the list of paths is for people, and a path that cannot be routed is told with its query', async () => {
  expect((await it.ask('GET', '/')).text).toMatch(/^\{\n {2}"paths": \[\n/);
  expect((await it.ask('GET', '/api/v1/watch?a=b')).text).toContain('namespace from url, /api/v1/watch?a=b\n');
});

test('a list that can only have one name is a list all the same', async () => {
  const answer = await it.ask('GET', `${configMaps}?fieldSelector=metadata.name%3Da`, {
    headers: { accept: 'text/plain' },
  });
  expect(answer.json().message).toContain('application/json;stream=watch');
});
