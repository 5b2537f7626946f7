import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AskOptions, define, definitionOf, type Served, serve, type Tree, versionOf, widgets } from './served.js';

/** Parameters and bodies as kube-apiserver reads them, with one request each. */

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };
const apply = { 'content-type': 'application/apply-patch+yaml' };
const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const protobuf = { 'content-type': 'application/vnd.kubernetes.protobuf' };
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

let it: Served;
beforeAll(async () => {
  it = await serve({ controllers: 'all' });
  for (const name of ['a', 'b']) await it.ask('POST', configMaps, { body: { metadata: { name, labels: { name } } } });
});
afterAll(() => it.stop());

// Errors before a request is read, except a missing identity.
test.each<[Readonly<Record<string, string>>, number]>([
  [{ 'impersonate-uid': '1' }, 400],
  [{ 'impersonate-user': 'system:anonymous', 'impersonate-group': 'system:unauthenticated' }, 403],
])('the answer to %j has a header against content sniffing', async (headers, code) => {
  const answer = await it.ask('GET', configMaps, { headers });
  expect([answer.code, answer.headers['x-content-type-options']]).toEqual([code, 'nosniff']);
});

test.each<[string, string, AskOptions, number, string]>([
  ['GET', '/b?export=true', {}, 400, 'the export parameter, deprecated since v1.14, is no longer supported'],
  ['GET', '/b?export=false', {}, 200, ''],
  // A name is checked before the version of the object.
  ['GET', '/a%25b?resourceVersion=x', {}, 400, 'Name parameter invalid: "a%b": may not contain \'%\''],
  ['GET', '/%FFb%C3', {}, 404, 'configmaps "\ufffdb\ufffd" not found'],
  // Numbers and selectors are parsed before they are compared with each other.
  ['GET', '?limit=', {}, 400, 'strconv.ParseInt: parsing "": invalid syntax'],
  ['GET', '?timeoutSeconds=&labelSelector=(', {}, 400, 'strconv.ParseInt: parsing "": invalid syntax'],
  // Invisible characters are shown by number, as Go quotes them.
  ['GET', '?limit=%C2%A0%01', {}, 400, 'strconv.ParseInt: parsing "\\u00a0\\x01": invalid syntax'],
  ['GET', '?fieldSelector=%C2%A0%3Da', {}, 400, '"\\u00a0" is not a known field selector'],
  ['PUT', '/b', { body: { kind: '\u2028' } }, 400, 'no kind "\\u2028" is registered'],
  [
    'PUT',
    '/b?fieldManager=%C3%A9%0A%E2%80%8B',
    { body: { metadata: { name: 'b' } } },
    422,
    'invalid character U+000A (at position 2), fieldManager: Invalid value: "é\\n\\u200b": invalid character U+200B (at position 3)]',
  ],
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
  [
    'GET',
    `?continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":"1","start":"a"}').toString('base64url')}`,
    {},
    400,
    'not valid: json: cannot unmarshal string into Go struct field continueToken.rv of type int64',
  ],
  [
    'GET',
    `?continue=${Buffer.from('[]').toString('base64url')}`,
    {},
    400,
    'not valid: json: cannot unmarshal array into Go value of type storage.continueToken',
  ],
  [
    'GET',
    `?continue=${Buffer.from('{"v":"meta.k8s.io/v1","start":"a"}').toString('base64url')}`,
    {},
    400,
    'not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
  ],
  ['GET', '?continue=x&resourceVersion=-1', {}, 400, 'continue key is not valid: illegal base64 data at input byte 0'],
  [
    'GET',
    `?continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"a"}').toString('base64url')}&resourceVersion=x`,
    {},
    400,
    'specifying resource version is not allowed when using continue',
  ],
  [
    'GET',
    `?continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"../b"}').toString('base64url')}`,
    {},
    400,
    'invalid continue token: continue key is not valid: ../b',
  ],
  // The format of a patch is checked before that of the response.
  ['PATCH', '/a', { headers: { accept: 'image/png' }, body: {} }, 415, '415: Unsupported Media Type'],
  // One of several types is enough to find the route, which then checks the format of the response.
  [
    'PATCH',
    '/a',
    { headers: { accept: 'image/png', 'content-type': 'application/merge-patch+json,x/y' }, body: {} },
    406,
    '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  ],
  [
    'PATCH',
    '/a',
    { headers: strategic, body: { $patch: false } },
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
  [
    'GET',
    '?sendInitialEvents=true&resourceVersionMatch=Exact',
    {},
    422,
    'is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, sendInitialEvents: Forbidden',
  ],
  // Parameters that Go cannot parse are ignored.
  ['GET', '?limit=%zz&limit=;&limit=x', {}, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  // The selection of a deletion is read before its options.
  ['DELETE', '?limit=x', { body: '{' }, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ['DELETE', '?fieldSelector=a%3Db&dryRun=x', {}, 400, '"a" is not a known field selector'],
  // An invalid name is reported when the object is looked up.
  ['PUT', '/a%25', { body: { metadata: { name: 'a' } } }, 400, 'does not match the name on the URL (a%)'],
  ['PUT', '/a%25', { body: { metadata: { name: 'a%' } } }, 400, `Name parameter invalid: "a%": may not contain '%'`],
  ['DELETE', '/..', { body: { dryRun: ['x'] } }, 422, 'dryRun: Unsupported value'],
  // The content type must be well-formed to its end.
  [
    'POST',
    '?dryRun=All',
    { headers: { 'content-type': 'application/json;;' }, body: { metadata: { name: 'n' } } },
    415,
    '',
  ],
  [
    'POST',
    '?dryRun=All',
    { headers: { 'content-type': 'Application/JSON ; charset="utf-8" ;' }, body: { metadata: { name: 'n' } } },
    201,
    '',
  ],
  [
    'PATCH',
    '/a',
    { headers: { 'content-type': 'Application/Merge-Patch+JSON' }, body: {} },
    415,
    '415: Unsupported Media Type',
  ],
  [
    'PATCH',
    '/a',
    { headers: { 'content-type': 'application/merge-patch+json, application/json' }, body: {} },
    415,
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json',
  ],
  [
    'POST',
    '',
    { headers: protobuf, body: Buffer.from('k8s\0') },
    400,
    '(must be of type ConfigMap): empty body (6b387300)',
  ],
  [
    'POST',
    '',
    { headers: protobuf, body: Buffer.from('k8s\0\x12\x02\x10\x01') },
    400,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: wrong wireType = 0 for field Data',
  ],
  // A create checks the format of the body before the options; an update after them.
  ['POST', '?dryRun=x', { headers: { 'content-type': 'text/plain' }, body: 'x' }, 415, 'unknown format'],
  ['PUT', '/b?dryRun=x', { headers: { 'content-type': 'text/plain' }, body: 'x' }, 422, 'dryRun'],
  // includeObject is checked last: after a missing object, and after a write.
  ['GET', '/absent?includeObject=x', { headers: table }, 404, 'configmaps "absent" not found'],
  [
    'POST',
    '?includeObject=x',
    { headers: table, body: { metadata: { name: 'written' } } },
    400,
    "Unable to convert to Table as requested: includeObject: Invalid value: \"x\": must be 'Metadata', 'Object', 'None', or empty",
  ],
  ['GET', '/written', {}, 200, ''],
  // For a deletion without a body, the options are those of the query.
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
  // Kinds that options cannot be converted from.
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
  // Status exists in every version, and an empty group is the core group.
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
    { body: { kind: 'Status', apiVersion: 'v1', status: { phase: 'a' } } },
    400,
    'Status in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal object into Go struct field Status.status of type string',
  ],
  [
    'POST',
    '',
    { body: { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: [1] } },
    400,
    'TokenRequest in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field TokenRequest.spec of type v1.TokenRequestSpec',
  ],
  [
    'POST',
    '',
    { body: { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 'x' } } },
    400,
    'Scale in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32',
  ],
  [
    'POST',
    '',
    { body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 'x' } },
    400,
    'DeleteOptions in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
  ],
  // Kinds that are not served are registered all the same; CustomResourceDefinitions are registered only in their own
  // API server.
  [
    'POST',
    '',
    { body: { kind: 'StorageClass', apiVersion: 'storage.k8s.io/v1' } },
    400,
    'StorageClass in version "v1" cannot be handled as a ConfigMap: converting (v1.StorageClass) to (core.ConfigMap): unknown conversion',
  ],
  [
    'POST',
    '',
    { body: { kind: 'EvictionList', apiVersion: 'policy/v1' } },
    400,
    'no kind "EvictionList" is registered for version "policy/v1"',
  ],
  [
    'POST',
    '',
    { body: { kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1' } },
    400,
    'no kind "CustomResourceDefinition" is registered for version "apiextensions.k8s.io/v1"',
  ],
  // A malformed Secret is reported before the mismatch of kinds.
  [
    'POST',
    '',
    { body: { kind: 'Secret', apiVersion: 'v1', data: { k: '***' } } },
    400,
    'Secret in version "v1" cannot be handled as a ConfigMap: illegal base64 data at input byte 0',
  ],
  [
    'POST',
    '',
    { body: { kind: 'ConfigMap', apiVersion: '/x' } },
    400,
    'ConfigMap in version "x" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "x"',
  ],
  // A group without a version is not valid, unless it is the expected group.
  [
    'POST',
    '?dryRun=All',
    { body: { kind: 'ConfigMap', apiVersion: 'x/' } },
    400,
    `ConfigMap in version "" cannot be handled as a ConfigMap: Object 'apiVersion' is missing in '{"kind":"ConfigMap","apiVersion":"x/"}'`,
  ],
  [
    'DELETE',
    '/b',
    { body: { apiVersion: 'v1/', dryRun: ['All'] } },
    400,
    `Object 'apiVersion' is missing in '{"apiVersion":"v1/","dryRun":["All"]}'`,
  ],
  ['DELETE', '/b', { body: { apiVersion: 'meta.k8s.io/', dryRun: ['All'] } }, 200, ''],
  [
    'DELETE',
    '/b',
    { body: { apiVersion: 'x/v1', kind: 'CreateOptions' } },
    400,
    'converting (v1.CreateOptions) to (v1.DeleteOptions): unknown conversion',
  ],
  [
    'DELETE',
    '/b',
    { body: { apiVersion: 'a.b/__internal', kind: 'ListOptions' } },
    400,
    'no kind "ListOptions" is registered for the internal version of group "a.b" in scheme "pkg/runtime/scheme.go:111"',
  ],
  ...(
    [
      ['v1/__internal', 'ConfigMap', 'no kind "ConfigMap" is registered for the internal version of group "v1"'],
      ['__internal', 'Odd', 'no kind "Odd" is registered for the internal version of group ""'],
      ['__internal', 'Secret', 'converting (core.Secret) to (core.ConfigMap): unknown conversion'],
      [
        'rbac.authorization.k8s.io/__internal',
        'Role',
        'converting (rbac.Role) to (core.ConfigMap): unknown conversion',
      ],
      ['__internal', 'ConfigMap', 'the API version in the data (__internal) does not match'],
    ] as const
  ).map(([apiVersion, kind, message]): [string, string, object, number, string] => [
    'POST',
    '',
    { body: { apiVersion, kind } },
    400,
    message,
  ]),
  [
    'DELETE',
    '/b',
    { body: { apiVersion: 'v1', kind: 'ListOptions' } },
    400,
    'no kind "ListOptions" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    'DELETE',
    '/b',
    { body: { kind: 'ListOptions' } },
    400,
    'converting (v1.ListOptions) to (v1.DeleteOptions): unknown conversion',
  ],
  // Strings with their own Go type are quoted as JSON, others as Go quotes them.
  ['GET', '?resourceVersion=0&resourceVersionMatch=a%3Cb', {}, 422, 'Unsupported value: "a\\u003cb"'],
  ['DELETE', '/a?propagationPolicy=a%3Cb', {}, 422, 'Unsupported value: "a\\u003cb"'],
  ['PATCH', '/a', { headers: merge, body: { metadata: { uid: 'a<b' } } }, 422, 'Invalid value: "a\\u003cb"'],
  ['PATCH', '/a', { headers: merge, body: { metadata: { finalizers: ['a<b'] } } }, 422, 'Invalid value: "a<b"'],
  // A patch that removes the version leaves an object of unknown kind.
  ['PATCH', '/a', { headers: merge, body: { apiVersion: null } }, 400, 'was undeterminable: name must be provided'],
  ['PATCH', '/a', { headers: merge, body: { apiVersion: '', kind: null } }, 400, 'name must be provided'],
  [
    'PATCH',
    '/a?fieldValidation=Strict',
    { headers: merge, body: { apiVersion: null, data: { k: 'v' } } },
    422,
    'strict decoding error: unknown field "data", unknown field "metadata"',
  ],
  [
    'PATCH',
    '/a',
    { headers: merge, body: { apiVersion: null, kind: 'Odd' } },
    422,
    'no kind "Odd" is registered for the internal version of group ""',
  ],
  [
    'PATCH',
    '/a',
    { headers: merge, body: { apiVersion: null, kind: 'Secret' } },
    422,
    'converting (core.Secret) to (core.ConfigMap): unknown conversion',
  ],
  ['PATCH', '/a', { headers: merge, body: { apiVersion: 'x/' } }, 422, `Object 'apiVersion' is missing in '{`],
  // So does a patch that sets the internal version, in which fields have other names.
  ['PATCH', '/a', { headers: merge, body: { apiVersion: '__internal', data: 5 } }, 400, 'name must be provided'],
  [
    'PATCH',
    '/a?fieldValidation=Strict',
    { headers: merge, body: { apiVersion: '__internal', data: 5 } },
    422,
    'strict decoding error: unknown field "data", unknown field "metadata"',
  ],
  [
    'POST',
    '?fieldValidation=Strict',
    { body: { apiVersion: '__internal', kind: 'ConfigMap', data: 5 } },
    400,
    'ConfigMap in version "__internal" cannot be handled as a ConfigMap: strict decoding error: unknown field "data"',
  ],
  [
    'POST',
    '?fieldValidation=Ignore',
    { body: { apiVersion: '__internal', kind: 'ConfigMap', data: 5 } },
    400,
    'the API version in the data (__internal) does not match the expected API version (v1)',
  ],
  [
    'POST',
    '',
    { body: { apiVersion: 'apiextensions.k8s.io/__internal', kind: 'CustomResourceDefinition' } },
    400,
    'no kind "CustomResourceDefinition" is registered for the internal version of group "apiextensions.k8s.io"',
  ],
  [
    'POST',
    '',
    { body: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', spec: 5 } },
    400,
    'no kind "CustomResourceDefinition" is registered for version "apiextensions.k8s.io/v1"',
  ],
  // Errors of strategic merge patches and server-side apply do not mention the time.
  [
    'PATCH',
    '/a',
    { headers: strategic, body: { metadata: { creationTimestamp: 7 } } },
    422,
    'json: cannot unmarshal number into Go value of type string',
  ],
  [
    'PATCH',
    '/a',
    { headers: merge, body: { metadata: { creationTimestamp: 7 } } },
    422,
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
  ],
  ['PATCH', '/a', { headers: merge, body: '9007199254740993' }, 400, 'json: cannot unmarshal number into Go value of'],
  [
    'PATCH',
    '/a?fieldManager=x',
    { headers: apply, body: '9007199254740993' },
    400,
    'json: cannot unmarshal number into Go value of',
  ],
  // The character before the last dash of a prefix is not checked, and a dash alone is invalid.
  ['PATCH', '/a', { headers: merge, body: { metadata: { generateName: 'A-' } } }, 200, ''],
  [
    'PATCH',
    '/a',
    { headers: merge, body: { metadata: { generateName: '-' } } },
    422,
    'metadata.generateName: Invalid value: "-"',
  ],
  // A resource version in a create is detected last.
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

test('an update reports a wrong finalizer twice, as rules of the kind check it again', async () => {
  const body = { metadata: { finalizers: ['unqualified'] } };
  const { causes } = (await it.ask('PATCH', `${configMaps}/a`, { headers: merge, body })).json().details;
  expect(causes.map(({ field }: { readonly field: string }) => field)).toEqual([
    'metadata.finalizers[0]',
    'metadata.finalizers[0]',
  ]);
});

test('metadata of events is validated after the rest, and their names are not restricted', async () => {
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

test('finalizers of the garbage collector do not hold an event', async () => {
  const events = '/api/v1/namespaces/default/events';
  const event = (name: string, finalizers: readonly string[]) => ({
    metadata: { name, finalizers },
    involvedObject: { kind: 'Pod', namespace: 'default' },
  });
  await it.ask('POST', events, { body: event('held', ['foregroundDeletion', 'example.com/a']) });
  const held = await it.ask('DELETE', `${events}/held`);
  expect(held.json().metadata.finalizers).toEqual(['example.com/a']);
  await it.ask('POST', events, { body: event('free', ['foregroundDeletion']) });
  expect((await it.ask('DELETE', `${events}/free?propagationPolicy=Orphan`)).json().kind).toBe('Status');
  expect((await it.ask('GET', `${events}/free`)).code).toBe(404);
});

test('deleting a namespace with orphanDependents=false waits for its dependents', async () => {
  await it.ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'n' } } });
  const answer = await it.ask('DELETE', '/api/v1/namespaces/n?orphanDependents=false');
  expect([answer.code, answer.json().metadata.finalizers]).toEqual([202, ['foregroundDeletion']]);
});

test('a propagation policy has no effect on a namespace that is already terminating', async () => {
  const body = { metadata: { name: 'emptied' }, spec: { finalizers: ['kubernetes', 'a.b/c'] } };
  await it.ask('POST', '/api/v1/namespaces', { body });
  await it.ask('DELETE', '/api/v1/namespaces/emptied');
  const again = await it.ask('DELETE', '/api/v1/namespaces/emptied?propagationPolicy=Orphan');
  expect([again.code, again.json().status.phase, again.json().metadata.finalizers]).toEqual([
    200,
    'Terminating',
    undefined,
  ]);
});

test('an empty managedFields list removes all managers, and updates record none until the next apply', async () => {
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
  [{ kind: 'Secret', data: { k: '*' } }, 'illegal base64 data at input byte 0'],
  [{ apiVersion: 'v2' }, 'no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"'],
])('a merge patch that changes the kind is refused: %j', async (body, why) => {
  const answer = await it.ask('PATCH', `${configMaps}/a`, { headers: merge, body });
  expect([answer.code, answer.json().message]).toEqual([422, expect.stringContaining(why)]);
});

test('fields set by the server are cleared from a POST, but not from a PUT or an apply', async () => {
  const said = { selfLink: '/x', deletionTimestamp: '2020-01-01T00:00:00Z' };
  const lease = (name: string) => ({ metadata: { name, ...said }, spec: {} });
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
  const posted = await it.ask('POST', `${leases}?dryRun=All`, { body: lease('posted') });
  expect(posted.json().metadata).not.toMatchObject({ selfLink: '/x' });
  expect(posted.json().metadata.deletionTimestamp).toBeUndefined();
  const put = await it.ask('PUT', `${leases}/put?dryRun=All`, { body: lease('put') });
  expect([put.code, put.json().metadata]).toEqual([201, expect.objectContaining(said)]);
  const applied = await it.ask('PATCH', `${configMaps}/applied?dryRun=All&fieldManager=m`, {
    headers: apply,
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', ...said } },
  });
  expect([applied.code, applied.json().metadata]).toEqual([201, expect.objectContaining(said)]);
});

test('a patch may change an event to the other group, which names its fields differently', async () => {
  const [core, newer] = ['v1', 'events.k8s.io/v1'];
  const at = (version: string) => `/${version === core ? 'api' : 'apis'}/${version}/namespaces/default/events`;
  const involved = { kind: 'ConfigMap', namespace: 'default' };
  const body = { metadata: { name: 'two-names' }, involvedObject: involved, message: 'old' };
  expect((await it.ask('POST', at(core), { body })).code).toBe(201);
  const asked = async (path: string, patch: object) => {
    const { code, json } = await it.ask('PATCH', `${at(path)}/two-names`, { headers: merge, body: patch });
    return [code, json()] as const;
  };
  expect(await asked(core, { apiVersion: newer, note: 'n' })).toEqual([
    200,
    expect.objectContaining({ apiVersion: core, involvedObject: {}, message: 'n' }),
  ]);
  expect(await asked(core, { apiVersion: newer, regarding: involved, note: 'n' })).toEqual([
    200,
    expect.objectContaining({ apiVersion: core, involvedObject: involved, message: 'n' }),
  ]);
  expect(await asked(newer, { apiVersion: core, involvedObject: involved, message: 'm' })).toEqual([
    422,
    expect.objectContaining({ message: expect.stringContaining('message: Invalid value: "m": field is immutable') }),
  ]);
});

test('events are read without a cache: any resourceVersion has pages, and a future one is not waited for', async () => {
  const events = '/api/v1/namespaces/default/events';
  for (const name of ['read-1', 'read-2']) {
    await it.ask('POST', events, { body: { metadata: { name }, involvedObject: { namespace: 'default' } } });
  }
  const page = await it.ask('GET', `${events}?resourceVersion=0&limit=1`);
  expect([page.json().items.length, page.json().metadata.continue]).toEqual([1, expect.any(String)]);
  const whole = await it.ask('GET', `${configMaps}?resourceVersion=0&limit=1`);
  expect([whole.json().items.length > 1, whole.json().metadata.continue]).toEqual([true, undefined]);
  for (const path of [`${events}/read-1`, events]) {
    const malformed = await it.ask('GET', `${path}?resourceVersion=x`);
    expect([malformed.code, malformed.json().message]).toEqual([
      400,
      'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    ]);
    const early = await it.ask('GET', `${path}?resourceVersion=99999999`);
    expect([early.code, early.headers['retry-after'], early.json().details]).toEqual([
      504,
      undefined,
      { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
    ]);
  }
});

test('impersonation headers are decoded as UTF-8', async () => {
  const headers = { 'impersonate-user': Buffer.from('Zoë').toString('latin1') };
  const answer = await it.ask('GET', configMaps, { headers });
  expect(answer.json().message).toContain('User "Zoë" cannot list resource');
});

test('a status applied as null is absent if there was none, and empty if there was one', async () => {
  const crd = widgets({}, { subresources: { status: {} } });
  const { spec } = crd;
  const schema = { type: 'object', properties: { status: { type: 'object', properties: { n: { type: 'integer' } } } } };
  const at = '/apis/states.example.com/v1/states';
  await define(
    it,
    {
      ...crd,
      metadata: { name: 'states.states.example.com' },
      spec: {
        ...spec,
        group: 'states.example.com',
        names: { plural: 'states', kind: 'State' },
        versions: [{ ...spec.versions[0], schema: { openAPIV3Schema: schema } }],
      },
    },
    at,
  );
  const state = { kind: 'State', apiVersion: 'states.example.com/v1', metadata: { name: 'a' } };
  await it.ask('POST', at, { body: state });
  const apply = async (status: unknown) => {
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    return (await it.ask('PATCH', `${at}/a/status?fieldManager=m`, { headers, body: { ...state, status } })).json();
  };
  expect([await apply(null), await apply({ n: 1 }), await apply(null)].map(({ status }) => status)).toEqual([
    undefined,
    { n: 1 },
    {},
  ]);
});

test.each([
  ['labelSelector=a%20b', 400],
  ['resourceVersion=x', 500],
  ['resourceVersionMatch=Exact', 422],
  ['timeoutSeconds=1', 406],
])('a watch with %s in a form that watches do not have is answered with %i', async (query, code) => {
  const answer = await it.ask('GET', `${configMaps}?watch=true&${query}`, { headers: { accept: 'application/yaml' } });
  expect(answer.code).toBe(code);
});

test('a collection is deleted as of a resourceVersion', async () => {
  const at = '/api/v1/namespaces/kube-public/configmaps';
  const post = async (name: string): Promise<string> =>
    (await it.ask('POST', at, { body: { metadata: { name, labels: { of: 'versions' } } } })).json().metadata
      .resourceVersion;
  const names = async (): Promise<string[]> =>
    (await it.ask('GET', `${at}?labelSelector=of%3Dversions`))
      .json()
      .items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  const version = await post('first');
  await post('second');
  const query = `labelSelector=of%3Dversions&resourceVersion=${version}`;
  const deleted = await it.ask('DELETE', `${at}?${query}`, { body: { kind: 'DeleteOptions', apiVersion: 'v1' } });
  expect(deleted.json().metadata.resourceVersion).toBe(version);
  expect(await names()).toEqual(['second']);
  await it.ask('DELETE', `${at}?labelSelector=of%3Dversions`);
  expect(await names()).toEqual([]);
});

test('kind and apiVersion of a custom resource body are case-sensitive', async () => {
  const gadgets = '/apis/example.com/v1/widgets';
  await define(
    it,
    widgets({ properties: { replicas: { type: 'integer' } } }, { deprecated: true, subresources: { scale } }),
    gadgets,
  );
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
  const said = (version: string): string => `Widget in version "${version}" cannot be handled as a Widget: json: `;
  const badName = (apiVersion: string): string => `{"kind":"Widget","${apiVersion}":"example.com/v1","metadata":[]}`;
  expect(await refusal(badName('ApiVersion'))).toContain(said(''));
  expect(await refusal(badName('apiVersion'))).toContain(said('v1'));
  for (const body of ['{"kind":"Widget","spec":1e400}', '{"spec":1e400}'])
    expect(await refusal(body), 'a number is read before that').toContain(said('v1'));
});

test('an unsupported media type of the body is reported before other errors', async () => {
  const gadgets = '/apis/example.com/v1/widgets';
  const nothingKnown = { accept: 'image/png', 'content-type': 'text/plain' };
  const codes = async (method: string, path: string, headers: Record<string, string>) =>
    (await it.ask(method, path, { headers, body: {} })).code;
  expect(
    [
      await codes('PATCH', gadgets, nothingKnown),
      await codes('PATCH', gadgets, { ...merge, accept: 'image/png' }),
      await codes('PATCH', `${gadgets}/a`, nothingKnown),
      await codes('PATCH', `${gadgets}/a`, { ...merge, accept: 'image/png' }),
    ],
    'of a custom resource: form, name, form of the answer',
  ).toEqual([415, 400, 415, 406]);
  const text = { 'content-type': 'text/plain' };
  for (const path of [
    configMaps,
    '/apis/authentication.k8s.io/v1/tokenreviews',
    '/api/v1/namespaces/default/serviceaccounts/default/token',
  ]) {
    expect(await codes('POST', `${path}?dryRun=x`, text), path).toBe(415);
    expect(await codes('POST', `${path}?dryRun=x`, {}), path).toBe(422);
  }
});

test('removing the apiVersion of a custom resource is reported after its name and resourceVersion', async () => {
  const path = '/apis/example.com/v1/widgets/unversioned';
  await it.ask('PATCH', `${path}?fieldManager=m`, {
    headers: apply,
    body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'unversioned' } },
  });
  const patched = async (body: object) => {
    const { code, json } = await it.ask('PATCH', path, { headers: merge, body });
    return [code, json().message];
  };
  const missing = "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'";
  expect(await patched({ apiVersion: null })).toEqual([500, missing]);
  expect(await patched({ apiVersion: 'example.com/' })).toEqual([500, missing]);
  expect(await patched({ apiVersion: null, metadata: null })).toEqual([
    400,
    'the name of the object (unversioned based on URL) was undeterminable: name must be provided',
  ]);
  expect(await patched({ apiVersion: null, metadata: { resourceVersion: null } })).toEqual([
    422,
    'widgets.example.com "unversioned" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  ]);
  expect((await patched({ apiVersion: null, metadata: { resourceVersion: '1' } }))[0]).toBe(409);
});

test.each([
  ['v1', 'ListOptions', 'converting (v1.ListOptions) to'],
  ['apiextensions.k8s.io/v1beta1', 'ListOptions', 'converting (v1.ListOptions) to'],
  ['apps/v1', 'WatchEvent', 'converting (v1.WatchEvent) to'],
  ['apps/v1', 'ListOptions', 'no kind "ListOptions" is registered for version "apps/v1"'],
  ['v1', 'ConfigMap', 'no kind "ConfigMap" is registered for version "v1"'],
])('%s %s is not a CustomResourceDefinition', async (apiVersion, kind, why) => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const { code, json } = await it.ask('POST', path, { body: { apiVersion, kind } });
  expect([code, json().message]).toEqual([400, expect.stringContaining(why)]);
});

test('a review with repeated owners is answered with a warning, as any created object', async () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
  const { headers } = await it.ask('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    body: { metadata: { ownerReferences: [owner, owner] }, spec: {} },
  });
  expect(headers['warning']).toContain('.metadata.ownerReferences contains duplicate entries;');
});

test('the body of a custom resource is decoded by its own kind before its version is refused', async () => {
  const ask = async (apiVersion: string, kind: string, query = '') => {
    const body = `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"a","name":"a"},"nope":1}`;
    const { code, headers, json } = await it.ask('POST', `/apis/example.com/v1/widgets?dryRun=All${query}`, { body });
    return [code, json().message, headers['warning'] ?? ''];
  };
  const twice = '299 - "duplicate field \\"metadata.name\\""';
  const unknown = '299 - "unknown field \\"nope\\""';
  const wrong = (version: string): string =>
    `the API version in the data (${version}) does not match the expected API version (example.com/v1)`;
  const [, , told] = await ask('example.com/v2', 'Widget');
  expect([told?.includes(twice), told?.includes(unknown)]).toEqual([true, true]);
  expect((await ask('example.com/v2', 'Widget'))[1]).toBe(wrong('example.com/v2'));
  expect((await ask('v1', 'Widget'))[2]).not.toContain('nope');
  expect((await ask('example.com/v1', 'Nope'))[2]).not.toContain('nope');
  expect(await ask('v2', 'Widget', '&fieldValidation=Ignore')).toEqual([400, wrong('v2'), expect.anything()]);
  const strict = 'strict decoding error: duplicate field "metadata.name"';
  expect((await ask('v2', 'Nope', '&fieldValidation=Strict'))[1]).toBe(
    `Nope in version "v2" cannot be handled as a Nope: ${strict}`,
  );
  expect((await ask('', 'Widget', '&fieldValidation=Strict'))[1]).toBe(
    "Object 'apiVersion' is missing in 'object has no apiVersion field'",
  );
});

test('the error for a missing kind or null apiVersion of a custom resource depends on fieldValidation', async () => {
  const path = '/apis/example.com/v1/widgets';
  const says = async (body: object, query = ''): Promise<string> =>
    (await it.ask('POST', `${path}?dryRun=All${query}`, { body })).json().message;
  const missing = "Object 'Kind' is missing in '{}'";
  expect(await says({})).toBe(`the object provided is unrecognized (must be of type Widget): ${missing} ({})`);
  expect(await says({}, '&fieldValidation=Ignore')).toBe(
    `Widget in version "v1" cannot be handled as a Widget: ${missing}`,
  );
  expect(await says({ apiVersion: 'a.example.com/v3' }, '&fieldValidation=Ignore')).toMatch(
    /^Widget in version "v3" cannot be handled as a Widget: /,
  );
  expect(await says({ apiVersion: null, kind: 'Widget', metadata: { name: 5 } })).toBe(
    'Widget in version "" cannot be handled as a Widget: .apiVersion accessor error: <nil> is of the type <nil>, expected string',
  );
});

test('a patch that makes the apiVersion of a custom resource null is refused as unreadable', async () => {
  const path = '/apis/example.com/v1/widgets';
  await it.ask('POST', path, {
    body: { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name: 'versionless' } },
  });
  const headers = { 'content-type': 'application/json-patch+json' };
  const body = JSON.stringify([{ op: 'add', path: '/apiVersion', value: null }]);
  const { code, json } = await it.ask('PATCH', `${path}/versionless`, { headers, body });
  expect([code, json().message]).toEqual([
    422,
    expect.stringContaining('.apiVersion accessor error: <nil> is of the type <nil>, expected string'),
  ]);
});

test('a number of replicas beyond the maximum is reported with all its digits', async () => {
  const body =
    '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"m"},"spec":{"replicas":1000000000000000000}}';
  const answer = await it.ask('POST', '/apis/example.com/v1/widgets', { body });
  expect([answer.code, answer.json().message]).toEqual([
    422,
    expect.stringContaining('Invalid value: 1000000000000000000: should be less than or equal to 2147483647'),
  ]);
});

test('a null in a POST is dropped, and in an apply it is a value', async () => {
  const body = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name: 'nulls' }, spec: { replicas: null } };
  const at = '/apis/example.com/v1/widgets';
  const posted = await it.ask('POST', `${at}?dryRun=All`, { body });
  expect([posted.code, posted.json().spec]).toEqual([201, {}]);
  const applied = await it.ask('PATCH', `${at}/nulls?fieldManager=m`, { headers: apply, body });
  expect([applied.code, applied.json().details.causes[0].field]).toEqual([422, 'spec.replicas']);
});

test('values applied below an object without fields are validated, but not stored', async () => {
  const crd = definitionOf({ group: 'bare.example.com', plural: 'bares', kind: 'Bare' }, [
    versionOf('v1', {
      spec: { type: 'object' },
      inner: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { metadata: { type: 'object' } },
      },
    }),
  ]);
  await it.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: crd });
  const at = '/apis/bare.example.com/v1/bares';
  await expect.poll(async () => (await it.ask('GET', at)).code).toBe(200);
  const applied = async (rest: object) => {
    const body = { apiVersion: 'bare.example.com/v1', kind: 'Bare', metadata: { name: 'a' }, ...rest };
    const { code, json } = await it.ask('PATCH', `${at}/a?fieldManager=m`, { headers: apply, body });
    const { metadata, spec, message } = json();
    return [code, metadata.generation, spec, message];
  };
  expect(await applied({ spec: { a: 1 } })).toEqual([201, 1, {}, undefined]);
  expect(await applied({ spec: { a: 1 } })).toEqual([200, 2, {}, undefined]);
  expect(await applied({ spec: {} })).toEqual([200, 2, {}, undefined]);
  const [code, , , message] = await applied({ inner: { apiVersion: 'v1', kind: 'X', metadata: null } });
  expect(code).toBe(422);
  expect(message).toContain('inner.metadata in body must be of type object: "null"');
});

test('empty lists and maps sent in any write bump the generation of a webhook, and are not stored', async () => {
  const at = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const name = 'a.b.example.com';
  const hook = { name, clientConfig: { url: 'https://a' }, sideEffects: 'None', admissionReviewVersions: ['v1'] };
  const type = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' };
  const first = await it.ask('POST', at, { body: { metadata: { name: 'e' }, webhooks: [{ ...hook, rules: [] }] } });
  expect([first.code, first.json().metadata.generation]).toEqual([201, 1]);
  const { resourceVersion } = first.json().metadata;
  const empty = { ...hook, namespaceSelector: { matchLabels: {} } };
  const rows: readonly [number, string, string | undefined, object][] = [
    [1, 'PUT', undefined, { ...type, metadata: { name: 'e', resourceVersion }, webhooks: [hook] }],
    [2, 'PUT', undefined, { ...type, metadata: { name: 'e', resourceVersion }, webhooks: [empty] }],
    [3, 'PATCH', 'merge-patch+json', { webhooks: [{ ...hook, rules: [] }] }],
    [4, 'PATCH', 'strategic-merge-patch+json', { webhooks: [{ name, matchConditions: [] }] }],
    [5, 'PATCH', 'json-patch+json', [{ op: 'add', path: '/webhooks/0/rules', value: [] }]],
    [6, 'PATCH', 'apply-patch+yaml', { ...type, metadata: { name: 'e' }, webhooks: [empty] }],
    // An empty value elsewhere, or null, is equivalent to an absent one.
    [6, 'PATCH', 'merge-patch+json', { metadata: { labels: {}, finalizers: [] } }],
    [6, 'PATCH', 'merge-patch+json', { webhooks: [{ ...hook, namespaceSelector: {}, rules: null }] }],
  ];
  for (const [generation, method, patch, body] of rows) {
    const headers = patch === undefined ? {} : { 'content-type': `application/${patch}` };
    const { code, json } = await it.ask(
      method,
      `${at}/e?fieldManager=m${patch?.startsWith('apply') ? '&force=true' : ''}`,
      { headers, body },
    );
    const { metadata, webhooks } = json();
    expect([code, metadata?.generation, webhooks?.[0].namespaceSelector, webhooks?.[0].rules]).toEqual([
      200,
      generation,
      {},
      undefined,
    ]);
  }
});

test.each([
  // The generic rules report it twice, and the kind's own rules for an update, a create, or both.
  ['/api/v1/namespaces/default/configmaps/told', 4],
  ['/apis/coordination.k8s.io/v1/namespaces/default/leases/told', 3],
  ['/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/told', 3],
  ['/api/v1/nodes/told', 4],
  ['/api/v1/nodes/told/status', 3],
])('an update of %s reports a wrong label %i times, as Kubernetes does', async (at, times) => {
  await it.ask('POST', at.replace(/.told.*/, ''), { body: { metadata: { name: 'told' } } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const { code, json } = await it.ask('PATCH', at, { headers, body: { metadata: { labels: { 'a b': '' } } } });
  const fields = json().details?.causes.map(({ field }: { field: string }) => field);
  expect([code, fields]).toEqual([422, Array.from({ length: times }, () => 'metadata.labels')]);
});

test.each([
  ['5', 6],
  // Too large for a number.
  ['9007199254740993', '9007199254740993'],
])(
  'a deletion held by finalizers bumps the generation, also from %s, and the name stays taken',
  async (generation, after) => {
    const name = `held-${generation}`;
    const metadata = `{"name":"${name}","generation":${generation},"finalizers":["a/b"]}`;
    expect((await it.ask('POST', configMaps, { body: `{"metadata":${metadata}}` })).code).toBe(201);
    const { code, text } = await it.ask('DELETE', `${configMaps}/${name}`);
    expect(code).toBe(200);
    expect(text).toContain(`"generation":${after},`);
    const taken = await it.ask('POST', configMaps, { body: { metadata: { name, generateName: 'x-' } } });
    expect(taken.json().message).toBe(
      `object is being deleted: configmaps "${name}" already exists, the server was not able to generate a unique name for the object`,
    );
    await it.ask('PATCH', `${configMaps}/${name}`, { headers: merge, body: { metadata: { finalizers: null } } });
  },
);

test('a deletion with a wrong uid reports the name as Go quotes it', async () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  const name = 'a\u00a0"b';
  expect((await it.ask('POST', roles, { body: { metadata: { name } } })).code).toBe(201);
  const { message, details } = (await it.ask('DELETE', `${roles}/${encodeURIComponent(name)}?uid=1`)).json();
  expect(message).toMatch(
    /^Operation cannot be fulfilled on ClusterRole\.rbac\.authorization\.k8s\.io "a\\u00a0\\"b": the UID/,
  );
  expect(details).toEqual({ name, group: 'rbac.authorization.k8s.io', kind: 'ClusterRole' });
});

test('a selfLink that is sent is returned by a dry run, but not stored', async () => {
  const body = { metadata: { selfLink: '/a', annotations: { link: 'sent' } } };
  const linked = async (query: string) =>
    (await it.ask('PATCH', `${configMaps}/a${query}`, { headers: merge, body })).json().metadata.selfLink;
  expect([await linked('?dryRun=All'), await linked('')]).toEqual(['/a', undefined]);
});

test('watches and lists fail while objects cannot be converted', async () => {
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const names = { group: 'stuck.example.com', plural: 'stucks', kind: 'Stuck' };
  const crd = definitionOf(names, [versionOf('v1'), versionOf('v2')], {
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:9/' } },
    },
  });
  expect((await it.ask('POST', crds, { body: crd })).code).toBe(201);
  const at = (name: string) => `/apis/stuck.example.com/${name}/stucks`;
  await expect.poll(async () => (await it.ask('GET', at('v1'))).code).toBe(200);
  const body = { apiVersion: 'stuck.example.com/v1', kind: 'Stuck', metadata: { name: 'a' } };
  expect((await it.ask('POST', at('v1'), { body })).code).toBe(201);
  for (const [query, code] of [
    ['', 429],
    ['?watch=true&timeoutSeconds=1', 429],
    ['?watch=true&resourceVersion=1', 429],
    ['?limit=5', 500],
    ['?limit=5&labelSelector=a', 429],
  ] as const) {
    expect([query, (await it.ask('GET', at('v2') + query)).code]).toEqual([query, code]);
  }
});

test('subresources of custom resources can be read, written and patched', async () => {
  const widget = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name: 'w' }, spec: { replicas: 1 } };
  const at = '/apis/example.com/v1/widgets';
  expect((await it.ask('POST', at, { body: widget })).code).toBe(201);
  const asked = async (method: string, subresource: string, options?: AskOptions) => {
    const { code, headers, json } = await it.ask(method, `${at}/w${subresource}`, options);
    expect(headers['warning']).toBe('299 - "example.com/v1 Widget is deprecated"');
    return [code, json().message];
  };
  const unknown = { ...widget, spec: { 'a"\u0001': 1 } };
  expect((await it.ask('POST', `${at}?fieldValidation=Strict`, { body: unknown })).json().message).toContain(
    'strict decoding error: unknown field "spec.a"\u0001"',
  );
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
  for (const [apiVersion, kind, why] of [
    ['extensions/v1beta1', 'Scale', 'converting (v1beta1.Scale) to (v1.Scale): unknown conversion'],
    ['apps/v1beta2', 'Deployment', 'converting (v1beta2.Deployment) to (v1.Scale): unknown conversion'],
    ['apps/v1', 'Deployment', 'no kind "Deployment" is registered for version "apps/v1"'],
    ['v1', 'ConfigMap', 'no kind "ConfigMap" is registered for version "v1"'],
  ]) {
    const body = { apiVersion, kind, spec: { replicas: 3 } };
    expect(await asked('PATCH', '/scale', { headers: merge, body })).toEqual([422, expect.stringContaining(why ?? '')]);
  }
});

test('the answer to a written scale shows what was stored', async () => {
  const integer = { type: 'integer' };
  const inner = { type: 'object', nullable: true, properties: { wanted: integer } };
  const scaled = (path: string) => ({ subresources: { scale: { ...scale, specReplicasPath: path } } });
  const body = definitionOf({ group: 'example.com', plural: 'dials', kind: 'Dial' }, [
    versionOf('v1', { spec: { type: 'object', properties: { inner } } }, scaled('.spec.inner.wanted')),
    versionOf('v2', { spec: { type: 'object', properties: { inner, other: integer } } }, scaled('.spec.other')),
  ]);
  const at = (version: string) => `/apis/example.com/${version}/dials`;
  await define(it, body, at('v1'));
  const dial = { apiVersion: 'example.com/v1', kind: 'Dial', metadata: { name: 'd' }, spec: { inner: null } };
  expect((await it.ask('POST', at('v1'), { body: dial })).code).toBe(201);
  const ask = async (version: string) =>
    (await it.ask('PATCH', `${at(version)}/d/scale`, { headers: merge, body: { spec: { replicas: 5 } } })).json();
  // The stored version lacks this field.
  expect(await ask('v2')).toMatchObject({ kind: 'Scale', spec: {} });
  expect((await ask('v2')).spec).toEqual({});
  expect((await ask('v1')).message).toBe('value cannot be set because .spec.inner is not a map[string]interface{}');
});

test('discovery of custom resources answers any method, other documents only GET', async () => {
  for (const path of [
    '/',
    '/index.html',
    '/apis',
    '/apis/',
    '/apis/rbac.authorization.k8s.io',
    '/apis/example.com/v1',
  ]) {
    expect((await it.ask('PUT', path)).code).toBe(200);
  }
  for (const path of ['/api', '/api/v1/', '/apis/rbac.authorization.k8s.io/v1', '/version', '/openid/v1/jwks']) {
    for (const method of ['PUT', 'HEAD']) expect((await it.ask(method, path)).code).toBe(405);
  }
});

test.each([
  ['/livez/', '*/*', 404],
  ['/livez/ping/', '*/*', 404],
  ['/metrics/', '*/*', 404],
  ['/index.html/', '*/*', 404],
  ['/openapi/v3/', '*/*', 404],
  ['/version/', '*/*', 200],
  ['/version', 'application/yaml', 406],
  ['/.well-known/openid-configuration', 'application/yaml', 406],
  ['/openid/v1/jwks', 'application/json', 406],
  ['/apis', 'application/*', 200],
  ['/api', 'application/*', 406],
  ['/openapi/v3/api/v1', 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf', 406],
])('the document %s with Accept %s is answered with %i', async (path, accept, code) => {
  expect((await it.ask('GET', path, { headers: { accept } })).code).toBe(code);
});

test('a watch of one object by its path sends no other, and takes the parameters of a list', async () => {
  const path = '/api/v1/watch/namespaces/default/configmaps/b';
  const [first] = (await it.ask('GET', `${path}?continue=x`, { lines: 1 })).events();
  expect(first.object.metadata.name).toBe('b');
  for (const [query, code, why] of [
    ['fieldSelector=metadata.name%3Da', 400, "fieldSelector metadata.name doesn't match requested name"],
    ['fieldSelector=metadata.name!%3Db', 400, "fieldSelector metadata.name doesn't match requested name"],
    ['sendInitialEvents=true', 422, 'sendInitialEvents is forbidden for list'],
  ] as const) {
    const answer = await it.ask('GET', `${path}?${query}`);
    expect([answer.code, answer.json().message]).toEqual([code, expect.stringContaining(why)]);
  }
});

test('a propagation policy adds no garbage collector finalizer to a CustomResourceDefinition', async () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com';
  const answer = await it.ask('DELETE', `${path}?propagationPolicy=Orphan&dryRun=All`);
  expect(answer.json().metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
});

test.each([
  [configMaps, 'a', '?dryRun=All', '/configmaps/default/a'],
  [configMaps, 'a', '', '/registry/configmaps/default/a'],
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'widgets.example.com', '', '/registry/apiextensions.k8s'],
])('an update with a wrong uid reports the storage key of the object: %s/%s%s', async (path, name, query, key) => {
  const object = (await it.ask('GET', `${path}/${name}`)).json();
  const body = { ...object, metadata: { ...object.metadata, uid: 'x' } };
  const answer = await it.ask('PUT', `${path}/${name}${query}`, { body });
  expect([answer.code, answer.json().message]).toEqual([409, expect.stringContaining(`Key: ${key}`)]);
});

test.each([
  [
    'rbac.authorization.k8s.io/v1/clusterroles',
    { generateName: '.' },
    422,
    ': metadata.generateName: Invalid value: ".": may not be \'.\'',
  ],
  ['resource.k8s.io/v1/deviceclasses', { name: 'a'.repeat(254) }, 422, ': must be no more than 253 bytes'],
  ['resource.k8s.io/v1/deviceclasses', { generateName: 'a'.repeat(254) }, 201, ''],
  ['certificates.k8s.io/v1/certificatesigningrequests', { name: 'a/b' }, 422, '"a/b" is invalid: [spec.request'],
])('%s validates names by its own rules: %j', async (path, metadata, code, why) => {
  const answer = await it.ask('POST', `/apis/${path}?dryRun=All`, { body: { metadata, spec: {} } });
  expect([answer.code, answer.json().message ?? '']).toEqual([code, expect.stringContaining(why)]);
});

test.each<[object, string]>([
  [{ apiVersion: 'v1', kind: 'Secret' }, 'no kind "Secret" is registered for version "v1"'],
  // An object of an unregistered kind is not decoded.
  [{ apiVersion: 'v1', kind: 'Secret', data: { k: '***' } }, 'no kind "Secret" is registered for version "v1"'],
  [
    { apiVersion: 'x/v1', kind: 'DeleteOptions', dryRun: 5 },
    'no kind "DeleteOptions" is registered for version "x/v1"',
  ],
  [
    { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: 5 },
    'json: cannot unmarshal number into Go struct field DeleteOptions',
  ],
  [{ apiVersion: '__internal', kind: 'Secret' }, 'no kind "Secret" is registered for the internal version of group ""'],
  [
    { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' },
    'converting (v1.ConversionReview) to (apiextensions.CustomResourceDefinition): unknown conversion',
  ],
  [
    { apiVersion: 'apiextensions.k8s.io/__internal', kind: 'ConversionReview' },
    'no kind "ConversionReview" is registered for the internal version of group "apiextensions.k8s.io"',
  ],
])('the apiextensions group decodes only its own kinds: %j', async (body, why) => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const answer = await it.ask('POST', path, { body });
  expect([answer.code, answer.json().message]).toEqual([400, expect.stringContaining(why)]);
  const patched = await it.ask('PATCH', `${path}/widgets.example.com`, { headers: merge, body });
  expect([patched.code, patched.json().message]).toEqual([422, expect.stringContaining(why)]);
});

test('an object of another version of its kind is decoded before it is refused', async () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  const body = { apiVersion: 'rbac.authorization.k8s.io/v1beta1', kind: 'ClusterRole', metadata: { name: 'a' }, x: 1 };
  for (const [fieldValidation, why] of [
    ['Strict', 'cannot be handled as a ClusterRole: strict decoding error: unknown field "x"'],
    [
      'Ignore',
      'the API version in the data (rbac.authorization.k8s.io/v1beta1) does not match the expected API version',
    ],
  ]) {
    const answer = await it.ask('POST', `${roles}?fieldValidation=${fieldValidation}`, { body });
    expect([answer.code, answer.json().message]).toEqual([400, expect.stringContaining(why ?? '')]);
  }
});

test.each([
  ['json-patch+json', [{ op: 'replace', path: '/metadata/resourceVersion', value: '' }]],
  ['merge-patch+json', { metadata: { resourceVersion: null } }],
])('a patch may remove the resourceVersion only where updates do not need one: %s', async (type, body) => {
  const headers = { 'content-type': `application/${type}` };
  const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
  await it.ask('POST', lease, { body: { metadata: { name: 'a' } } });
  expect((await it.ask('PATCH', `${configMaps}/a`, { headers, body })).code).toBe(200);
  const refused = await it.ask('PATCH', `${lease}/a`, { headers, body });
  expect([refused.code, refused.json().message]).toEqual([
    422,
    expect.stringContaining('must be specified for an update'),
  ]);
});

test('an apply without the right to create is answered with forbidden only if the object is valid', async () => {
  const headers = { 'impersonate-user': 'updater', 'content-type': 'application/apply-patch+yaml' };
  const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const body = {
    metadata: { name: 'updater' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }],
  };
  await it.ask('POST', `${roles}/roles`, { body });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'updater' };
  const subjects = [{ kind: 'User', name: 'updater' }];
  await it.ask('POST', `${roles}/rolebindings`, { body: { metadata: { name: 'updater' }, roleRef, subjects } });
  for (const [key, code] of [
    ['a b', 422],
    ['a', 403],
  ] as const) {
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' }, data: { [key]: '' } };
    expect((await it.ask('PATCH', `${configMaps}/new?fieldManager=u`, { headers, body: applied })).code).toBe(code);
  }
});

test('a scale and a patch are checked for their namespace before name and uid, an apply for its uid', async () => {
  const { metadata, spec, ...rest } = widgets(
    { properties: { replicas: { type: 'integer' } } },
    { subresources: { scale } },
  );
  const names = { plural: 'gadgets', kind: 'Gadget' };
  const body = { ...rest, metadata: { name: 'gadgets.example.com' }, spec: { ...spec, scope: 'Namespaced', names } };
  const at = '/apis/example.com/v1/namespaces/default/gadgets';
  await define(it, body, at);
  const gadget = { kind: 'Gadget', apiVersion: 'example.com/v1', metadata: { name: 'g' }, spec: { replicas: 1 } };
  expect((await it.ask('POST', at, { body: gadget })).code).toBe(201);
  const elsewhere = { metadata: { name: 'h', namespace: 'other', uid: 'x' } };
  for (const [method, path, headers, code, why] of [
    ['PUT', '/g/scale', {}, 400, 'the namespace of the provided object'],
    ['PUT', '/absent/scale', {}, 400, 'the namespace of the provided object'],
    ['PATCH', '/g/scale', merge, 400, 'the namespace of the provided object'],
    ['PATCH', '/g', merge, 400, 'the namespace of the provided object'],
    ['PATCH', '/absent?fieldManager=m', apply, 409, 'uid mismatch'],
  ] as const) {
    const { kind, apiVersion } = gadget;
    const sent = { ...(headers === apply ? { kind, apiVersion } : {}), ...elsewhere };
    const answer = await it.ask(method, `${at}${path}`, { headers, body: sent });
    expect([path, answer.code, answer.json().message]).toEqual([path, code, expect.stringContaining(why)]);
  }
});

test('repeated owners in a patch cause a warning, even if its resourceVersion conflicts', async () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
  const body = { metadata: { resourceVersion: '1', ownerReferences: [owner, owner] } };
  const { code, headers } = await it.ask('PATCH', `${configMaps}/a`, { headers: merge, body });
  expect([code, headers['warning']]).toEqual([409, expect.stringContaining('after mutating admission happens')]);
});

test.each([
  ['/apis/rbac.authorization.k8s.io/v1/clusterroles', { rules: [] }, { rules: null }],
  ['/api/v1/nodes', { status: { images: [{ names: [] }] } }, { status: { images: [{ names: null }] } }],
])('an empty list that is always present is returned as null for %s, as in a dry run', async (at, sent, expected) => {
  const body = { metadata: { name: 'of-nothing' }, ...sent };
  for (const query of ['?dryRun=All', '']) {
    expect((await it.ask('POST', `${at}${query}`, { body })).json()).toMatchObject(expected);
  }
  expect((await it.ask('GET', `${at}/of-nothing`)).json()).toMatchObject(expected);
  await it.ask('DELETE', `${at}/of-nothing`);
});

test('an empty allocatable of a node is filled in from its capacity, and not owned by its writer', async () => {
  const at = '/api/v1/nodes';
  const capacity = { cpu: '1' };
  await it.ask('POST', at, { body: { metadata: { name: 'm', labels: { a: 'b' } } } });
  const writes = [
    ['PUT', '?fieldManager=p', {}, { metadata: { name: 'm' }, status: { capacity, allocatable: {} } }],
    ['PATCH', '?fieldManager=s', strategic, { status: { allocatable: { $patch: 'replace' } } }],
  ] as const;
  for (const [method, query, headers, body] of writes) {
    const { metadata, status } = (await it.ask(method, `${at}/m/status${query}`, { headers, body })).json();
    expect(status).toMatchObject({ capacity, allocatable: capacity });
    const ofStatus = metadata.managedFields.filter(({ subresource }: Tree) => subresource === 'status');
    const owned = { 'f:status': { 'f:capacity': { '.': {}, 'f:cpu': {} } } };
    expect(ofStatus.map(({ manager, fieldsV1 }: Tree) => [manager, fieldsV1])).toEqual([['p', owned]]);
  }
});

test('deleting a node answers with a Status', async () => {
  await it.ask('POST', '/api/v1/nodes', { body: { metadata: { name: 'n' } } });
  expect((await it.ask('DELETE', '/api/v1/nodes/n')).json()).toMatchObject({ kind: 'Status', status: 'Success' });
});

test('a PUT is validated before it is known whether the object exists', async () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u' };
  const body = { metadata: { name: 'absent', ownerReferences: [owner, owner, owner] } };
  const repeated = await it.ask('PUT', `${configMaps}/absent`, { body });
  expect([repeated.code, repeated.headers['warning']]).toEqual([404, expect.stringContaining('observed: u, u"')]);
  const elsewhere = { metadata: { name: 'b', namespace: 'other', uid: 'u' } };
  for (const absent of [configMaps, '/apis/coordination.k8s.io/v1/namespaces/default/leases']) {
    const { code, json } = await it.ask('PUT', `${absent}/absent`, { body: elsewhere });
    expect([code, json().message]).toEqual([400, expect.stringContaining('namespace of the provided object')]);
  }
  const lease = { metadata: { name: 'l', resourceVersion: 'x' } };
  const unread = await it.ask('PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l', { body: lease });
  expect([unread.code, unread.json().message]).toEqual([500, 'strconv.ParseUint: parsing "x": invalid syntax']);
  const withUid = { metadata: { ...lease.metadata, uid: 'u' } };
  const other = await it.ask('PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l', { body: withUid });
  expect([other.code, other.json().message]).toEqual([409, expect.stringContaining('UID in precondition: u,')]);
});

test('the list of paths is indented, and a path that cannot be routed is reported with its query', async () => {
  expect((await it.ask('GET', '/')).text).toMatch(/^\{\n {2}"paths": \[\n/);
  expect((await it.ask('GET', '/api/v1/watch?a=b')).text).toContain('namespace from url, /api/v1/watch?a=b\n');
  expect((await it.ask('GET', '/api/v1/watch?a&b=<>')).text).toBe(
    'Internal Server Error: "/api/v1/watch?a&amp;b=&lt;&gt;": failed to create RequestInfo: unable to determine kind and namespace from url, /api/v1/watch?a&amp;b=&lt;&gt;\n',
  );
  const unreadable = await it.ask('GET', '/api/%zz');
  expect([unreadable.code, unreadable.text]).toEqual([400, '400 Bad Request']);
});

test('a list limited to one name by a field selector is negotiated as a list', async () => {
  const answer = await it.ask('GET', `${configMaps}?fieldSelector=metadata.name%3Da`, {
    headers: { accept: 'text/plain' },
  });
  expect(answer.json().message).toContain('application/json;stream=watch');
});

test('a warning that does not fit into a header is dropped, and the answer is still sent', async () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'a\u0007' };
  const metadata = { name: 'twice-owned', ownerReferences: [owner, owner] };
  const { code, headers } = await it.ask('POST', configMaps, { body: { metadata } });
  expect([code, headers['warning']]).toEqual([201, undefined]);
});

test.each<[string, object, string, object, string]>([
  ['secrets', {}, 'PUT', { data: {} }, 'data'],
  ['secrets', { data: {} }, 'PUT', { data: {} }, 'data'],
  ['secrets', {}, 'PUT', { stringData: {} }, ''],
  ['secrets', {}, 'PATCH', { data: { a: null } }, 'data'],
  ['secrets', {}, 'PATCH', { data: null }, ''],
  ['secrets', { data: { a: '' } }, 'PUT', { data: { a: null } }, 'data'],
  ['secrets', { data: { a: '', b: 'AA==' } }, 'PUT', { data: { a: null, b: 'AA==' } }, 'data'],
  ['secrets', { data: { a: '' } }, 'PUT', { data: { a: '' } }, ''],
  ['secrets', { data: { a: 'MQ==' } }, 'PUT', { data: {}, stringData: { a: '1' } }, ''],
  ['configmaps', { data: {} }, 'PUT', { data: {} }, ''],
  ['configmaps', {}, 'PATCH', { data: { a: null } }, ''],
  ['configmaps', {}, 'PATCH', { data: {}, binaryData: {} }, 'binaryData'],
])(
  'an empty field differs from an absent one in immutable %s: %j, then %s %j',
  async (plural, first, method, next, broken) => {
    const path = `/api/v1/namespaces/default/${plural}`;
    const named = { metadata: { name: 'fixed' }, immutable: true };
    await it.ask('POST', path, { body: { ...named, ...first } });
    const how = method === 'PUT' ? { body: { ...named, ...next } } : { body: next, headers: merge };
    const answer = await it.ask(method, `${path}/fixed`, how);
    await it.ask('DELETE', `${path}/fixed`);
    const fields = (answer.json().details?.causes ?? []).map(({ field }: { field: string }) => field);
    expect([answer.code, fields]).toEqual(broken === '' ? [200, []] : [422, [broken]]);
  },
);
