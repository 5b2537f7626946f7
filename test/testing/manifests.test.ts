import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { originOf, readManifests } from '../../src/testing/manifests.js';
import { testServer } from '../../src/testing/test-server.js';
import { Gadgets, gadgetDefinition } from './gadget.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(process.env['KEDGE_TEST_FOLDER'] ?? tmpdir(), 'manifests-'));
});

let written = 0;
const write = async (text: string, name = `${written++}.yaml`): Promise<string> => {
  await writeFile(join(folder, name), text);
  return join(folder, name);
};
const names = (objects: readonly { readonly metadata: { readonly name?: string | undefined } }[]) =>
  objects.map(({ metadata }) => metadata.name);
const map = (name: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: default }\n${more}`;

test('a file is split into documents as kubectl splits it', async () => {
  const file = await write(
    `\ufeff# what it is about\n---\n${map('a', 'data: { on: "yes", text: "--- no" }\n')}--- # the next\r\n${map('b')}---\n\n# nothing\n---\n` +
      `apiVersion: v1\nkind: List\nitems:\n- ${JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'c' } })}\n`,
  );
  const objects = await readManifests(file);
  expect(names(objects)).toEqual(['a', 'b', 'c']);
  // YAML 1.1, as in kubectl: `on` is a boolean, and the name of a member is its text.
  expect(objects[0]?.['data']).toEqual({ true: 'yes', text: '--- no' });
  expect(objects.map(originOf)).toEqual([`${file}, document 1`, `${file}, document 2`, `${file}, document 3, item 1`]);
});

test('a list of a kind is replaced by its items, which may lack kind and apiVersion', async () => {
  const items = [{ metadata: { name: 'a' } }, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b' } }];
  const file = await write(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMapList', items }));
  const objects = await readManifests(file);
  expect(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual(['v1 ConfigMap', 'v1 Secret']);
  expect(objects.map(originOf)).toEqual([`${file}, document 1, item 1`, `${file}, document 1, item 2`]);
  const wrong = await write(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMapList', items: [1] }));
  await expect(readManifests(wrong)).rejects.toThrow(`${wrong}, document 1, item 1: is not an object`);
});

test("a folder's manifests are read by name, without kustomizations and subfolders", async () => {
  const config = await mkdtemp(join(folder, 'config-'));
  await mkdir(join(config, 'patches.yaml'));
  await writeFile(join(config, 'b.yml'), map('b'));
  await writeFile(
    join(config, 'a.json'),
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }),
  );
  await symlink(await write(map('c')), join(config, 'c.yaml'));
  await writeFile(join(config, 'kustomization.yaml'), 'resources: [b.yml]');
  await writeFile(join(config, 'README.md'), '---');
  expect(names(await readManifests(pathToFileURL(`${config}/`), await write(map('d'), 'd.txt')))).toEqual([
    ...['a', 'b', 'c', 'd'],
  ]);
});

test.each<[string, string, RegExp]>([
  ['a syntax error, with its line in the file', `${map('a')}---\n${map('b')}data: [\n`, /, document 2: yaml: line 8: /],
  ['a repeated member', `${map('a')}kind: Secret\n`, /, document 1: .*line 4: key "kind" already set in map/],
  ['a missing kind', `apiVersion: v1\nmetadata: { name: a }\n`, /, document 1: has no kind$/],
  ['a missing apiVersion', `kind: Role\nmetadata: { name: a }\n`, /, document 1: has no apiVersion$/],
  ['missing metadata', `kind: Role\napiVersion: v1\n`, /, document 1: has no metadata$/],
  ['a document that is not an object', `${map('a')}---\n- a\n`, /, document 2: is not an object$/],
  ['a template', `{{- if .Values.rbac }}\n${map('a')}{{- end }}\n`, /, document 1: yaml: /],
  ['an empty file', `# empty\n---\n`, /\d+\.yaml: contains no object$/],
])('%s is reported with file and document', async (_, text, wrong) => {
  const file = await write(text);
  const failure = await readManifests(file).catch((error: Error) => error.message);
  expect(failure).toMatch(wrong);
  expect(failure).toContain(file);
});

test('a missing path and an empty folder are reported with their path', async () => {
  await expect(readManifests(join(folder, 'nowhere'))).rejects.toThrow(/ENOENT.*nowhere/);
  const empty = await mkdtemp(join(folder, 'empty-'));
  await expect(readManifests(empty)).rejects.toThrow(`${empty}: contains no object`);
});

test('manifests are created with namespaces before their contents', async () => {
  const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'g', namespace: 'late' } };
  const file = await write(
    [gadget, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } }, gadgetDefinition]
      .map((object) => JSON.stringify(object))
      .join('\n---\n'),
  );
  await using kit = await testServer({ controllers: [], objects: await readManifests(file) });
  expect(await kit.client.resource(Gadgets).get({ namespace: 'late', name: 'g' })).toBeDefined();
});

test('an object that the server refuses is reported with its file and document', async () => {
  const wrong = await write(`${map('a')}---\n${map('b', 'dta: {}\n')}`);
  await expect(testServer({ controllers: [], objects: await readManifests(wrong) })).rejects.toMatchObject({
    message: expect.stringMatching(/^\S+\.yaml, document 2: ConfigMap default\/b: .*unknown field "dta"/),
    cause: { reason: 'BadRequest' },
  });
  const unserved = await write('apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: a, namespace: default }\n');
  await expect(testServer({ controllers: [], objects: await readManifests(unserved) })).rejects.toThrow(
    'document 1: Deployment default/a: apps/v1 Deployment is not served here',
  );
  const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'none', name: 'a' } };
  await expect(testServer({ controllers: [], objects: [made] })).rejects.toThrow(
    /^ConfigMap none\/a: namespaces "none"/,
  );
});
