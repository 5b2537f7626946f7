import { afterAll, beforeAll, expect, test } from 'vitest';
import { define, type Served, serve, widgets } from './served.js';

/** Integers that no double can represent keep all their digits in every read and write. */

const long = '9007199254740993';
const longest = '9223372036854775807';
let it: Served;

beforeAll(async () => {
  it = await serve({ controllers: 'all' });
  const free = { 'x-kubernetes-preserve-unknown-fields': true };
  const schema = {
    ...free,
    properties: { big: { type: 'integer', maximum: 2 ** 53 }, n: { type: 'integer', format: 'int64' } },
  };
  await define(it, widgets(schema), '/apis/example.com/v1/widgets');
});
afterAll(() => it.stop());

const widget = (name: string, spec: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`;
const path = '/apis/example.com/v1/widgets';

test('a custom resource keeps long numbers in writes, reads, lists and watches, in YAML and indented JSON', async () => {
  const created = await it.ask('POST', path, { body: widget('a', `{"n":${longest},"any":[{"x":-${long}}]}`) });
  expect(created.code).toBe(201);
  expect(created.text).toContain(`"spec":{"any":[{"x":-${long}}],"n":${longest}}`);
  for (const [where, accept] of [
    [`${path}/a`, 'application/json'],
    [path, 'application/json'],
    [`${path}/a`, 'application/yaml'],
    [path, 'application/yaml'],
    [`${path}/a?pretty=true`, 'application/json'],
    [`${path}?includeObject=Object`, 'application/json;as=Table;v=v1;g=meta.k8s.io'],
  ] as const) {
    const { text } = await it.ask('GET', where, { headers: { accept } });
    expect(text, where).toContain(longest);
    expect(text, where).toContain(`-${long}`);
  }
  expect((await it.ask('GET', `${path}?watch=1`, { lines: 1 })).text).toContain(`"n":${longest}`);
});

test.each([
  ['application/merge-patch+json', `{"spec":{"other":${long}}}`],
  [
    'application/json-patch+json',
    `[{"op":"test","path":"/spec/n","value":${longest}},{"op":"add","path":"/spec/other","value":${long}}]`,
  ],
  ['application/apply-patch+yaml', widget('b', `{"other":${long},"n":${longest}}`)],
])('%s keeps long numbers', async (type, body) => {
  await it.ask('DELETE', `${path}/b`);
  await it.ask('POST', `${path}?fieldManager=m`, { body: widget('b', `{"n":${longest}}`) });
  const patched = await it.ask('PATCH', `${path}/b?fieldManager=m`, { body, headers: { 'content-type': type } });
  expect(patched.code).toBe(200);
  expect((await it.ask('GET', `${path}/b`)).text).toContain(`"spec":{"n":${longest},"other":${long}}`);
  // The second time, nothing changes.
  const again = await it.ask('PATCH', `${path}/b?fieldManager=m`, { body, headers: { 'content-type': type } });
  expect(again.json().metadata.resourceVersion).toBe(patched.json().metadata.resourceVersion);
});

test('schema rules compare every digit', async () => {
  const of = async (spec: string): Promise<string> =>
    (await it.ask('POST', `${path}?dryRun=All`, { body: widget('c', spec) })).json().message;
  expect(await of('{"big":9007199254740992}')).toBe(undefined);
  expect(await of(`{"big":${long}}`)).toContain(
    `spec.big: Invalid value: ${long}: spec.big in body should be less than or equal to 9007199254740992`,
  );
  expect(await of('{"n":9223372036854775808}')).toContain('spec.n in body must be of type int64: "float64"');
});

test('fields of built-in kinds keep long numbers in JSON and protobuf', async () => {
  const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"g","generation":${long}}}`;
  const where = '/api/v1/namespaces/default/configmaps';
  expect((await it.ask('POST', where, { body })).text).toContain(`"generation":${long}`);
  const accept = 'application/vnd.kubernetes.protobuf';
  const { bytes } = await it.ask('GET', `${where}/g`, { headers: { accept } });
  const again = await it.ask('POST', `${where}?dryRun=All`, {
    headers: { 'content-type': accept },
    body: Buffer.from(bytes.toString('latin1').replace('\x01g', '\x01h'), 'latin1'),
  });
  expect(again.text).toContain(`"generation":${long}`);
});

test.each([
  ['application/merge-patch+json', (filler: string) => `{"spec":{"other":1e400,"filler":"${filler}"}}`],
  [
    'application/json-patch+json',
    (filler: string) => `[{"op":"add","path":"/spec","value":{"other":-1e400,"filler":"${filler}"}}]`,
  ],
])('%s with a number beyond any float is refused for a custom resource', async (type, body) => {
  await it.ask('POST', path, { body: widget('e', '{}') });
  for (const filler of ['', 'x'.repeat(70_000)]) {
    const refused = await it.ask('PATCH', `${path}/e?fieldValidation=Ignore`, {
      body: body(filler),
      headers: { 'content-type': type },
    });
    expect(refused.json()).toMatchObject({
      code: 422,
      details: { causes: [{ field: 'patch' }] },
      message: expect.stringMatching(/: json: cannot unmarshal number -?1e400 into Go value of type float64$/),
    });
  }
});
