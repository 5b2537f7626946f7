import { describe, expect, test } from 'vitest';
import { goJson } from '../../src/api/go-text.js';
import type { JsonObject } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { eventEncoder } from '../../src/apiserver/represent-event.js';
import type { Representation } from '../../src/apiserver/request.js';
import type { ResourceDefinition } from '../../src/registry/resource-definition.js';
import { configMaps } from '../../src/resources/configmaps/definition.js';
import { decodeEnvelope } from '../../src/schema/protobuf.js';
import { document, StoredEntry } from '../../src/store/document.js';

const definition = configMaps as object as ResourceDefinition;
const json = { mediaType: 'json', pretty: false } as const;
const protobuf = { mediaType: 'protobuf', pretty: false } as const;
const partial = { kind: 'PartialObjectMetadata', version: 'v1' } as const;
const table = { kind: 'Table', version: 'v1' } as const;

const entryOf = (members: number): StoredEntry => {
  const many = Object.fromEntries(Array.from({ length: members }, (_, at) => [`key-${at}`, 'x'.repeat(30)]));
  const creationTimestamp = '1970-01-01T00:00:00Z';
  const metadata = { name: 'a', namespace: 'n', resourceVersion: '7', creationTimestamp, labels: many };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: many };
  return new StoredEntry('/configmaps/n/a', 7n, document(object as JsonObject).bytes, -1);
};

const encoder = (form: Representation) => eventEncoder(definition, form, () => 0);

describe.each<[string, Representation]>([
  ['an event as plain JSON', json],
  ['an event as PartialObjectMetadata', { ...json, as: partial }],
  ['an event as protobuf', protobuf],
  ['an event as PartialObjectMetadata in protobuf', { ...protobuf, as: partial }],
  ['an event as a table', { ...json, as: table }],
])('%s', (_, form) => {
  test.each([2, 20_000])('with %d members is encoded once for all watches', async (members) => {
    const entry = entryOf(members);
    const [one, other] = [await encoder(form), await encoder(form)];
    const bytes = await one({ type: 'ADDED', entry });
    expect(await other({ type: 'ADDED', entry })).toBe(bytes);
    expect((await other({ type: 'MODIFIED', entry }))?.equals(bytes ?? Buffer.alloc(0))).toBe(false);
  });
});

test('a table is encoded again for another second, other columns and included objects', async () => {
  const entry = entryOf(2);
  let now = 0;
  const made = async (form: Representation = { ...json, as: table }) => eventEncoder(definition, form, () => now);
  const [one, other, whole] = [await made(), await made(), await made({ ...json, as: table, includeObject: 'Object' })];
  const tell = async (encode: Awaited<ReturnType<typeof made>>) => String(await encode({ type: 'ADDED', entry }));
  const withColumns = await tell(one);
  const rows = await tell(one);
  expect(await tell(other)).toBe(withColumns);
  expect(await tell(other)).toBe(rows);
  expect(await tell(whole)).not.toBe(withColumns);
  now = 1_000;
  expect(new Set([withColumns, rows, await tell(one)]).size).toBe(3);
});

test('encodings of different forms are not mixed up', async () => {
  const entry = entryOf(2);
  const forms = [json, protobuf].flatMap((form) => [
    form,
    { ...form, as: partial },
    { ...form, as: { ...partial, version: 'v1beta1' as const } },
  ]);
  const lines = await Promise.all(
    forms.map(async (form) => (await (await encoder(form))({ type: 'ADDED', entry }))?.toString('latin1')),
  );
  expect(new Set(lines).size).toBe(forms.length);
});

test('large objects are encoded like small ones', async () => {
  const entry = entryOf(20_000);
  const object = entry.value as JsonObject;
  const asJson = await (await encoder(json))({ type: 'ADDED', entry });
  expect(JSON.parse(String(asJson))).toEqual({ type: 'ADDED', object });
  const bare = await (await encoder({ ...json, as: partial }))({ type: 'ADDED', entry });
  expect(JSON.parse(String(bare)).object.metadata).toEqual(object['metadata']);
  const rows = await (await encoder({ ...json, as: table }))({ type: 'ADDED', entry });
  expect(JSON.parse(String(rows)).object.rows[0].object.metadata).toEqual(object['metadata']);
  const message = (await (await encoder(protobuf))({ type: 'ADDED', entry })) as Buffer;
  // Four bytes of length, then the type of the event, and its object with tag and length.
  const start = message.indexOf('k8s\0');
  const decoded = runSync(decodeEnvelope(definition.schema, message.subarray(start)));
  expect(goJson(decoded)).toContain('"key-19999":"xxx');
});
