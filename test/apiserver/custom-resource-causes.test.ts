import { afterAll, beforeAll, expect, test } from 'vitest';
import { define, type Served, serve, widgets } from './served.js';

/** The causes of rejected custom resources, each field as often as kube-apiserver 1.36.3 names it. */

const at = '/apis/example.com/v1/widgets';
const apiVersion = 'example.com/v1';
const labels = { 'a b': 'x' };

let it: Served;
beforeAll(async () => {
  it = await serve({ controllers: 'all' });
  const spec = {
    properties: {
      n: { type: 'integer' },
      r: { type: 'integer' },
      l: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    },
    'x-kubernetes-validations': [{ rule: 'self.n > 1' }],
  };
  const scale = { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' };
  const definition = widgets(spec, { subresources: { status: {}, scale } });
  await define(it, definition, at);
  await it.ask('POST', at, { body: { apiVersion, kind: 'Widget', metadata: { name: 'w' }, spec: { n: 3 } } });
});
afterAll(() => it.stop());

const fieldsOf = async (method: string, path: string, body: object): Promise<readonly string[]> => {
  const { code, json } = await it.ask(method, path, { body: { apiVersion, ...body } });
  expect(code).toBe(422);
  return (json().details.causes as readonly { readonly field: string }[]).map(({ field }) => field);
};

test.each<[string, object, readonly string[]]>([
  [
    'a wrong kind hides violations of metadata and types',
    { kind: 'Other', metadata: { name: 'a/b', labels }, spec: { n: 'x', l: ['a', 'a'] } },
    ['kind', 'spec.l[1]', 'spec'],
  ],
  ['a wrong kind hides a missing name', { kind: 'Other', metadata: {}, spec: { n: 0 } }, ['kind', 'spec']],
  [
    'rules are not evaluated for an object without a name',
    { kind: 'Widget', metadata: {}, spec: { n: 0 } },
    ['metadata.name', '<nil>'],
  ],
])('on creation: %s', async (_, body, fields) => {
  expect(await fieldsOf('POST', at, body)).toEqual(fields);
});

test.each<[string, object, readonly string[]]>([
  [
    'a wrong kind is reported instead of the metadata check by its own rules',
    { kind: 'Other', metadata: { labels }, spec: { n: 'x', l: ['a', 'a'] } },
    ['metadata.labels', 'metadata.labels', 'kind', 'spec.l[1]', 'spec'],
  ],
  ['a wrong kind is reported beside a rule', { kind: 'Other', metadata: {}, spec: { n: 0 } }, ['kind', 'spec']],
  [
    'metadata violations are reported three times',
    { kind: 'Widget', metadata: { labels }, spec: { n: 0, l: ['a', 'a'] } },
    ['metadata.labels', 'metadata.labels', 'metadata.labels', 'spec.l[1]', 'spec'],
  ],
  [
    'a wrong type prevents the evaluation of rules',
    { kind: 'Widget', metadata: { labels }, spec: { n: 'x', l: ['a', 'a'] } },
    ['metadata.labels', 'metadata.labels', 'metadata.labels', 'spec.n', 'spec.l[1]', '<nil>'],
  ],
])('on update: %s', async (_, { metadata, ...body }: { metadata?: object }, fields) => {
  const { resourceVersion } = (await it.ask('GET', `${at}/w`)).json().metadata;
  const named = { ...body, metadata: { name: 'w', resourceVersion, ...metadata } };
  expect(await fieldsOf('PUT', `${at}/w`, named)).toEqual(fields);
});

test('a null is dropped from a written object, and refused in an applied one', async () => {
  const body = { apiVersion, kind: 'Widget', metadata: { name: 'nothing' }, spec: { n: 3, l: null } };
  const written = await it.ask('POST', `${at}?dryRun=All`, { body });
  expect([written.code, written.json().spec]).toEqual([201, { n: 3 }]);
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const applied = await it.ask('PATCH', `${at}/nothing?fieldManager=me`, { headers, body });
  expect(applied.json().details.causes).toContainEqual({
    reason: 'FieldValueTypeInvalid',
    field: 'spec.l',
    message: 'Invalid value: "null": spec.l in body must be of type array: "null"',
  });
});

test('violations of a status are reported under the kind that was sent', async () => {
  const { resourceVersion } = (await it.ask('GET', `${at}/w`)).json().metadata;
  const body = { apiVersion, kind: 'Other', metadata: { name: 'w', resourceVersion }, status: { r: 'x' } };
  const { message, details } = (await it.ask('PUT', `${at}/w/status`, { body })).json();
  expect([message, details.kind]).toEqual([expect.stringContaining('Other.example.com "w" is invalid: '), 'Other']);
});

test('a member repeated in a patch value is reported for the patch and for the object', async () => {
  const headers = { 'content-type': 'application/json-patch+json' };
  const body = '[{"op":"add","path":"/spec","value":{"r":1,"n":3,"r":2}}]';
  const { code, json } = await it.ask('PATCH', `${at}/w?fieldValidation=Strict`, { headers, body });
  expect([code, json().message]).toEqual([
    422,
    expect.stringContaining(
      'strict decoding error: json patch duplicate field "[0].value.r", duplicate field "spec.r"',
    ),
  ]);
});

test('a large number of replicas is printed as Go prints it', async () => {
  const { json } = await it.ask('POST', at, {
    body: '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x"},"spec":{"r":12345678901234567890}}',
  });
  expect(json().message).toContain('accessor error: 1.2345678901234567e+19 is of the type float64, expected int64');
});
