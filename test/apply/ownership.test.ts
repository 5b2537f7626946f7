import { describe, expect, test } from 'vitest';
import type { ApiObject, Json, JsonObject, ManagedFieldsEntry } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { timestamp } from '../../src/api/time.js';
import type { Applied } from '../../src/apply/apply-configuration.js';
import { ignoreTimestampChanges } from '../../src/apply/ignore-timestamps.js';
import { managedFieldsProblem } from '../../src/apply/managed-fields.js';
import type { Versions, WriteContext } from '../../src/apply/write-context.js';
import { field, list, listMap, map, string, struct } from '../../src/schema/builder.js';
import { objectMeta, typeMeta } from '../../src/schema/meta.js';
import type { Schema } from '../../src/schema/schema.js';
import { appliedAtOnce, recorded } from './at-once.js';

const thing = struct('v1.Thing', {
  ...typeMeta,
  metadata: field(1, objectMeta),
  data: field(2, map(string())),
  spec: field(3, struct('v1.ThingSpec', { host: field(1, string()), names: field(2, list(string())) })),
  status: field(4, struct('v1.ThingStatus', { phase: field(1, string(), { keepsEmpty: true }) })),
});

const start = Date.parse('2026-01-01T00:00:00Z');
const writing = (more: Partial<WriteContext> = {}): WriteContext => ({
  schema: thing,
  apiVersion: 'v1',
  manager: 'm',
  now: start,
  ...more,
});
const object = (more: JsonObject, managedFields?: readonly ManagedFieldsEntry[]): ApiObject =>
  ({
    apiVersion: 'v1',
    kind: 'Thing',
    spec: {},
    status: {},
    ...more,
    metadata: { name: 'a', uid: 'u', ...(managedFields === undefined ? {} : { managedFields }) },
  }) as unknown as ApiObject;
const entriesOf = ({ metadata }: ApiObject): readonly ManagedFieldsEntry[] => metadata.managedFields ?? [];
const fieldsOf = (written: ApiObject): Record<string, unknown> =>
  Object.fromEntries(entriesOf(written).map(({ manager = '', fieldsV1 }) => [manager, fieldsV1]));
const created = (more: JsonObject, by: Partial<WriteContext> = {}): ApiObject =>
  recorded({ ...writing(by), live: undefined, next: object(more) });

describe('recordUpdate', () => {
  test('an entry has its members in the declared order', () => {
    const [entry] = entriesOf(created({ data: { k: 'v' } }, { subresource: 'status' }));
    expect(JSON.stringify(entry)).toBe(
      '{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}}},"subresource":"status"}',
    );
  });

  test('structs of built-in kinds have no owner, other containers belong to the manager that added them', () => {
    expect(fieldsOf(created({ spec: { host: 'h', names: ['x'] } }))).toEqual({
      m: { 'f:spec': { 'f:host': {}, 'f:names': {} } },
    });
    const open: Schema = { type: 'object', preserveUnknownFields: true };
    expect(fieldsOf(created({ spec: { host: 'h' }, status: {} }, { schema: open }))).toEqual({
      m: { 'f:spec': { '.': {}, 'f:host': {} }, 'f:status': {} },
    });
  });

  test('an object is converted once per version, however many managers own fields in it', () => {
    const open: Schema = { type: 'object', preserveUnknownFields: true };
    const owners = Array.from(
      { length: 300 },
      (_, at): ManagedFieldsEntry => ({
        manager: `m${at}`,
        operation: 'Apply',
        apiVersion: `v${2 + (at % 2)}`,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { [`f:k${at}`]: {} } },
      }),
    );
    let conversions = 0;
    const versions: Versions = {
      convert(of, apiVersion) {
        conversions++;
        return { object: { ...of, apiVersion }, schema: open };
      },
    };
    const data = Object.fromEntries(owners.map((_, at) => [`k${at}`, 'v']));
    const live = object({ data }, owners);
    const next = object({ data: { ...data, k0: 'w' } }, owners);
    const written = recorded({ ...writing({ schema: open, versions }), live, next });
    expect(entriesOf(written).length).toBe(300);
    expect(conversions).toBeLessThan(10);
  });

  test('a custom resource with repeated items can be owned', () => {
    const tags: Schema = { type: 'array', listType: 'set', items: { type: 'string' } };
    const schema: Schema = { type: 'object', properties: new Map([['tags', tags]]), preserveUnknownFields: true };
    const first = created({ tags: ['a', 'a'] }, { schema });
    const written = recorded({
      ...writing({ schema, manager: 'n' }),
      live: first,
      next: { ...first, data: 'x' } as ApiObject,
    });
    expect(fieldsOf(written)).toMatchObject({ m: { 'f:tags': { 'v:"a"': {} } }, n: { 'f:data': {} } });
  });

  test('an object without recordable fields has no entries', () => {
    expect('managedFields' in created({}).metadata).toBe(false);
  });

  test('an empty field that is not written out has no owner, and emptying a field removes its owner', () => {
    const empty = object({ status: { phase: '' } });
    expect('managedFields' in created({ status: { phase: '' } }).metadata).toBe(false);
    const first = created({ status: { phase: 'x' } });
    const emptied = recorded({ ...writing({ manager: 'n' }), live: first, next: empty });
    expect([entriesOf(emptied), emptied]).toEqual([[], expect.objectContaining({ status: { phase: '' } })]);
  });

  test('fields that a subresource resets are not recorded', () => {
    const resetFields = [['status']];
    expect(fieldsOf(created({ spec: { host: 'h' }, status: { phase: 'x' } }, { resetFields }))).toEqual({
      m: { 'f:spec': { 'f:host': {} } },
    });
  });

  test.each([
    ['status', { 'f:spec': { 'f:host': {} } }],
    [undefined, undefined],
  ])(
    'a subresource write does not take fields that it resets from owners in other versions: %s',
    (subresource, kept) => {
      const versions: Versions = { convert: (given) => ({ object: given, schema: thing }) };
      const live = created({ spec: { host: 'h' } }, { manager: 'o' });
      const other = writing({ apiVersion: 'v2', versions, subresource, resetFields: [['spec']] });
      expect(fieldsOf(recorded({ ...other, live, next: object({ spec: { host: 'i' } }) }))['o']).toEqual(kept);
    },
  );

  test('changed fields move, removed fields leave all managers, and managers without fields are dropped', () => {
    const first = created({ data: { a: '1', b: '1' } });
    const second = recorded({
      ...writing({ manager: 'n', now: start + 5_000 }),
      live: first,
      next: object({ data: { b: '2', c: '1' } }),
    });
    expect(fieldsOf(second)).toEqual({ m: { 'f:data': {} }, n: { 'f:data': { 'f:b': {}, 'f:c': {} } } });
    const third = recorded({ ...writing({ manager: 'o' }), live: second, next: object({}) });
    expect(entriesOf(third)).toEqual([]);
  });

  test('a write that changes nothing leaves entries and times unchanged', () => {
    const first = created({ data: { a: '1' } });
    const again = recorded({ ...writing({ now: start + 9_000 }), live: first, next: object({ data: { a: '1' } }) });
    expect(entriesOf(again)).toEqual(entriesOf(first));
  });

  test('objects without managers stay so until the first apply records the existing fields', () => {
    const live = object({ data: { a: '1' } });
    const updated = recorded({ ...writing(), live, next: object({ data: { a: '2' } }) });
    expect(entriesOf(updated)).toEqual([]);
    const { object: applied } = appliedAtOnce({
      ...writing({ manager: 'applier' }),
      live: updated,
      config: { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, data: { b: '1' } },
      kind: { group: '', version: 'v1', kind: 'Thing' },
      force: false,
    });
    expect(fieldsOf(applied)).toEqual({
      applier: { 'f:data': { 'f:b': {} } },
      'before-first-apply': { 'f:data': { '.': {}, 'f:a': {} } },
    });
  });

  test('managedFields sent by clients reset or replace entries, and invalid ones are ignored', () => {
    const live = created({ data: { a: '1' } });
    const sent = (
      managedFields: readonly ManagedFieldsEntry[],
      by: Partial<WriteContext> = {},
    ): Record<string, unknown> =>
      fieldsOf(recorded({ ...writing(by), live, next: object({ data: { a: '1' } }, managedFields) }));
    const entry = { manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' } as const;
    const kept = { m: { 'f:data': { '.': {}, 'f:a': {} } } };
    expect(sent([])).toEqual({});
    expect(sent([{}])).toEqual({});
    expect(sent([{ ...entry, fieldsV1: { 'f:data': { 'f:a': {} } } }])).toEqual({ x: { 'f:data': { 'f:a': {} } } });
    expect(sent([{ ...entry, fieldsV1: { nonsense: {} } }])).toEqual(kept);
    expect(sent([{ ...entry, operation: 'Steal' as 'Apply' }])).toEqual(kept);
    expect(sent([{ ...entry, fieldsType: 'FieldsV9' }])).toEqual(kept);
    expect(sent([], { subresource: 'status' })).toEqual(kept);
  });

  test('an entry with an invalid apiVersion removes all managers on update, and fails an apply', () => {
    const entry = (manager: string, apiVersion: string): ManagedFieldsEntry => ({
      manager,
      operation: 'Update',
      apiVersion,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:k': {} } },
    });
    const sent = [entry('good', 'v1'), entry('bad', 'a/b/c')];
    const next = object({ data: { k: 'v', l: 'w' } }, sent);
    const live = created({ data: { k: 'v' } });
    for (const before of [undefined, live])
      expect(entriesOf(recorded({ ...writing(), live: before, next }))).toEqual([]);
    const stored = object({ data: { k: 'v' } }, sent);
    const config = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, data: { l: 'w' } };
    const kind = { group: '', version: 'v1', kind: 'Thing' };
    expect(() => appliedAtOnce({ ...writing(), live: stored, config, kind, force: false })).toThrow(
      'unexpected GroupVersion string: a/b/c',
    );
  });

  test('managers sent with a new object keep the fields that the write does not set', () => {
    const fieldsV1 = { 'f:data': { 'f:a': {}, 'f:b': {} } };
    const sent = [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }] as const;
    const made = recorded({ ...writing(), live: undefined, next: object({ data: { a: '1' } }, sent) });
    expect(fieldsOf(made)).toEqual({ x: { 'f:data': { 'f:b': {} } }, m: { 'f:data': { '.': {}, 'f:a': {} } } });
  });

  test('beyond ten updating managers the oldest are merged into one', () => {
    let now = start;
    let live = created({ data: { k0: '1' } }, { manager: 'm0' });
    for (let index = 1; index < 14; index++) {
      now += 1_000;
      const data = Object.fromEntries(Array.from({ length: index + 1 }, (_, at) => [`k${at}`, '1']));
      live = recorded({ ...writing({ manager: `m${index}`, now }), live, next: object({ data }) });
      expect(entriesOf(live).length).toBe(Math.min(index + 1, 10));
    }
    const entries = entriesOf(live);
    expect(entries.map(({ manager }) => manager)).toEqual([
      'ancient-changes',
      ...Array.from({ length: 9 }, (_, at) => `m${at + 5}`),
    ]);
    expect(entries[0]).toMatchObject({
      time: timestamp(start + 4_000),
      fieldsV1: { 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {}, 'f:k4': {} } },
    });
  });

  test('managers of the same second are merged as well, however their names are ordered', () => {
    const managers = [
      ...Array.from({ length: 11 }, (_, at) => `Go-${at}`),
      ...Array.from({ length: 9 }, (_, at) => `m${at}`),
    ];
    let live = created({ data: {} });
    const data: Record<string, string> = {};
    for (const manager of managers) {
      data[`of-${manager}`] = '1';
      live = recorded({ ...writing({ manager }), live, next: object({ data: { ...data } }) });
      expect(entriesOf(live).length).toBeLessThanOrEqual(10);
    }
    const owned = entriesOf(live).flatMap(({ fieldsV1 }) => Object.keys((fieldsV1?.['f:data'] ?? {}) as JsonObject));
    expect(owned.filter((name) => name !== '.').toSorted()).toEqual(
      Object.keys(data)
        .map((name) => `f:${name}`)
        .toSorted(),
    );
  });

  test.each([
    ['v1', 'by their names', ['a', 'm', 'z']],
    ['apiextensions.k8s.io/v1', 'in the order in which they last wrote', ['m', 'a', 'z']],
  ])('managers of the same second are sorted, for %s, %s', (apiVersion, _, managers) => {
    const write = (manager: string, data: Record<string, string>, live?: ApiObject): ApiObject =>
      recorded({ ...writing({ manager, apiVersion }), live, next: object({ data }) });
    const by3 = write('a', { k: '1', l: '2', n: '3' }, write('m', { k: '1', l: '2' }, write('z', { k: '1' })));
    const last = write('z', { k: '1', l: '2', n: '3', o: '4' }, by3);
    expect(entriesOf(last).map(({ manager }) => manager)).toEqual(managers);
  });

  test('fields owned in another version are compared in that version', () => {
    const open: Schema = { type: 'object', preserveUnknownFields: true };
    const versions: Versions = {
      convert: (value, apiVersion) => ({ object: { ...value, apiVersion, old: value['new'] ?? 'none' }, schema: open }),
    };
    const entry = { operation: 'Update', fieldsType: 'FieldsV1', time: timestamp(start) } as const;
    const live = object({ new: '1' }, [
      { ...entry, manager: 'a', apiVersion: 'g/v1', fieldsV1: { 'f:old': {}, 'f:other': {} } },
    ]);
    const written = recorded({
      ...writing({ schema: open, apiVersion: 'g/v2', versions }),
      live,
      next: object({ new: '2' }, entriesOf(live)),
    });
    expect(fieldsOf(written)).toEqual({ a: { 'f:other': {} }, m: { 'f:new': {} } });
  });

  test('fields owned in an unknown version of a built-in kind are dropped', () => {
    const entry = { operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:k': {} } } } as const;
    const owners = ['v0', 'v1'].map((apiVersion) => ({ ...entry, manager: apiVersion, apiVersion }));
    const live = object({ data: { k: '1' } }, owners);
    const next = object({ data: { k: '1', l: '2' } }, owners);
    expect(fieldsOf(recorded({ ...writing(), live, next }))).toEqual({
      v1: { 'f:data': { 'f:k': {} } },
      m: { 'f:data': { 'f:l': {} } },
    });
  });

  describe('managers of a custom resource in a version the object cannot be converted to', () => {
    const custom = (members: readonly string[]): Schema => ({
      type: 'object',
      properties: new Map(members.map((name) => [name, { type: 'string' }])),
    });
    const both = custom(['one', 'two']);
    const versions: Versions = {
      convert: (of, apiVersion) =>
        apiVersion === 'g/v9' ? undefined : { object: { ...of, apiVersion }, schema: custom(['one']) },
    };
    const kind = { group: 'g', version: 'v2', kind: 'Thing' };
    const owner = (manager: string, apiVersion: string, ...members: string[]): ManagedFieldsEntry => ({
      manager,
      operation: 'Apply',
      apiVersion,
      fieldsType: 'FieldsV1',
      fieldsV1: Object.fromEntries(members.map((name) => [`f:${name}`, {}])),
    });
    const as = (manager: string): WriteContext => writing({ schema: both, apiVersion: 'g/v2', versions, manager });
    const undeclared = (name: string): string => `.${name}: field not declared in schema`;

    test.each<[string, { live: JsonObject; by: readonly ManagedFieldsEntry[]; next: JsonObject; why: string }]>([
      [
        'the version no longer exists',
        {
          live: { one: '1' },
          by: [owner('a', 'g/v9', 'one')],
          next: { one: '2' },
          why: 'request to convert CR to an invalid group/version: g/v9',
        },
      ],
      [
        'the live object does not fit',
        { live: { two: '1' }, by: [owner('a', 'g/v1', 'one')], next: { one: '2' }, why: undeclared('two') },
      ],
      [
        'the new object does not fit',
        {
          live: { one: '1' },
          by: [owner('a', 'g/v1', 'one')],
          next: { two: '2' },
          why: `failed to convert new object: ${undeclared('two')}`,
        },
      ],
      [
        'the applier gives up a field that may belong to the other manager',
        {
          live: { one: '1' },
          by: [owner('m', 'g/v2', 'one'), owner('a', 'g/v1', 'one')],
          next: { two: '2' },
          why: `failed to prune fields: failed add back owned items: failed to convert merged object at version g/v1: ${undeclared('two')}`,
        },
      ],
      [
        'an added field does not fit, though nothing is given up',
        {
          live: { one: '1' },
          by: [owner('m', 'g/v2', 'one'), owner('a', 'g/v1', 'one')],
          next: { one: '1', two: '2' },
          why: `failed to prune fields: failed add back owned items: failed to convert merged object at version g/v1: ${undeclared('two')}`,
        },
      ],
      [
        'the entry belongs to the applier itself',
        {
          live: { one: '1' },
          by: [owner('m', 'g/v1', 'one')],
          next: { two: '2' },
          why: `failed to prune fields: failed to convert merged object to last applied version: ${undeclared('two')}`,
        },
      ],
    ])('%s: an apply fails with the reason, an update removes all managers', (_, { live, by, next, why }) => {
      const stored = { ...object(live, by), spec: undefined, status: undefined, apiVersion: 'g/v2' };
      const given = JSON.parse(JSON.stringify(stored)) as ApiObject;
      const updated = { ...given, ...next } as ApiObject;
      expect(entriesOf(recorded({ ...as('m'), live: given, next: updated }))).toEqual([]);
      const config = { apiVersion: 'g/v2', kind: 'Thing', metadata: { name: 'a' }, ...next };
      const apply = (): Applied => appliedAtOnce({ ...as('m'), live: given, config, kind, force: true });
      expect(apply).toThrow(expect.objectContaining({ code: 500, message: why }));
    });
  });

  test.each<[string, Schema, Json]>([
    ['items without an identity', { type: 'array', listType: 'set', items: { type: 'object' } }, [{ a: 1 }]],
    ['a value of another type', { type: 'string' }, 5],
  ])('%s: an update removes all managers, and an apply fails', (_, items, value) => {
    const schema: Schema = { type: 'object', additionalProperties: true, properties: new Map([['items', items]]) };
    const live = object({ items: null }, [
      { manager: 'a', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:items': {} } },
    ]);
    const next = object({ items: value }, entriesOf(live));
    expect(entriesOf(recorded({ ...writing({ schema }), live, next }))).toEqual([]);
    expect(entriesOf(recorded({ ...writing({ schema }), live: next, next: live }))).toEqual([]);
    const config = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' } };
    const kind = { group: '', version: 'v1', kind: 'Thing' };
    expect(() => appliedAtOnce({ ...writing({ schema }), live: next, config, kind, force: true })).toThrow(
      'failed to create typed live object (/a; /v1, Kind=Thing): .items: ',
    );
  });

  test('members may have any name', () => {
    const data = JSON.parse('{"__proto__":"1","constructor":"1",".":"1"}') as JsonObject;
    expect(JSON.stringify(fieldsOf(created({ data }))['m'])).toBe(
      '{"f:data":{".":{},"f:.":{},"f:__proto__":{},"f:constructor":{}}}',
    );
  });
});

test('an apply to an object with an item that lacks its key reports the fault of the object', () => {
  const keyed = struct('v1.Thing', {
    ...typeMeta,
    metadata: field(1, objectMeta),
    secrets: field(2, listMap(struct('v1.Ref', { name: field(1, string()) }), ['name'])),
  });
  const live = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', uid: 'u' }, secrets: [{}] } as ApiObject;
  const config = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' } };
  const kind = { group: '', version: 'v1', kind: 'Thing' };
  const why = '.secrets: element 0: associative list with keys has an element that omits all key fields ["name"]';
  const applying = { ...writing({ schema: keyed }), config, kind, force: false };
  const complaint = `failed to create manager for existing fields: failed to convert new object (/a; /v1, Kind=Thing) to smd typed: ${why}`;
  expect(() => appliedAtOnce({ ...applying, live })).toThrow(complaint);
  const wrong = { ...config, color: 'red' };
  expect(() => appliedAtOnce({ ...applying, config: wrong, live }), 'whatever is wrong with the rest').toThrow(
    complaint,
  );
});

test.each<[string, JsonObject, JsonObject]>([
  ['something else', { x: '1' }, { 'f:x': {} }],
  [
    'an item of the same list',
    { ports: [{ proto: 'UDP' }] },
    { 'f:ports': { 'k:{"proto":"UDP"}': { '.': {}, 'f:proto': {} } } },
  ],
])('an item with only defaulted keys stays when the manager that applied %s applies again', (_, before, ofOther) => {
  const port: Schema = {
    type: 'object',
    properties: new Map<string, Schema>([['proto', { type: 'string', default: 'TCP' }]]),
  };
  const spec: Schema = {
    type: 'object',
    properties: new Map<string, Schema>([
      ['x', { type: 'string' }],
      ['ports', { type: 'array', listType: 'map', listMapKeys: ['proto'], items: port }],
    ]),
  };
  const keyed: Schema = { type: 'object', properties: new Map([['spec', spec]]) };
  const owners = [
    { manager: 'a', fieldsV1: { 'f:spec': { 'f:ports': { 'k:{"proto":"TCP"}': {} } } } },
    { manager: 'b', fieldsV1: { 'f:spec': ofOther } },
  ].map((owner) => ({
    ...owner,
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
  })) as ManagedFieldsEntry[];
  const thing = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' } };
  const live = {
    ...thing,
    metadata: { name: 'a', uid: 'u', managedFields: owners },
    spec: { ...before, ports: [{ proto: 'TCP' }, ...((before['ports'] ?? []) as Json[])] },
  } as unknown as ApiObject;
  const applying = { ...writing({ schema: keyed, manager: 'b' }), live, force: false } as const;
  const config = { ...thing, spec: { x: '2' } };
  const { object: applied } = appliedAtOnce({ ...applying, config, kind: { group: '', version: 'v1', kind: 'Thing' } });
  expect(applied).toHaveProperty('spec', { x: '2', ports: [{ proto: 'TCP' }] });
  expect(fieldsOf(applied)['a']).toEqual({ 'f:spec': { 'f:ports': { 'k:{"proto":"TCP"}': {} } } });
});

describe('ignoreTimestampChanges', () => {
  const entry = { manager: 'a', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' } as const;
  const at = (time: string, more: JsonObject = {}): ApiObject => object(more, [{ ...entry, time, fieldsV1: {} }]);

  test('restores times if nothing else has changed', () => {
    expect(runSync(ignoreTimestampChanges(at('2026-01-01T00:00:00Z'), at('2026-02-02T00:00:00Z')))).toEqual(
      at('2026-01-01T00:00:00Z'),
    );
  });

  test('restores times if the new object has no resourceVersion', () => {
    const live = at('2026-01-01T00:00:00Z');
    const named = { ...live, metadata: { ...live.metadata, resourceVersion: '7' } };
    const { managedFields } = runSync(ignoreTimestampChanges(named, at('2026-02-02T00:00:00Z'))).metadata;
    expect(managedFields).toEqual(live.metadata.managedFields);
  });

  test('keeps the new times if anything else has changed', () => {
    const next = at('2026-02-02T00:00:00Z', { data: { k: '1' } });
    expect(runSync(ignoreTimestampChanges(at('2026-01-01T00:00:00Z'), next))).toBe(next);
  });
});

test.each<[ManagedFieldsEntry, string | undefined]>([
  [{ operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' }, undefined],
  ...[0, '', false].map((fieldsV1): [ManagedFieldsEntry, string] => [
    { operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: fieldsV1 as never },
    'expected an object of fields',
  ]),
  [{ apiVersion: 'v1', fieldsType: 'FieldsV1' }, 'operation must be `Apply` or `Update`'],
  [{ operation: 'Apply', fieldsType: 'FieldsV1' }, 'apiVersion must not be empty'],
  [{ operation: 'Apply', apiVersion: 'v1' }, 'missing fieldsType in managed fields entry 0'],
  [{ operation: 'Apply', apiVersion: 'v1', fieldsType: 'x' }, 'invalid fieldsType "x" in managed fields entry 0'],
])('the entry %j has the problem: %s', (entry, problem) => {
  expect(managedFieldsProblem([entry])).toBe(problem);
});

test.each<[string, string | undefined, string, boolean]>([
  ['fields written by client-side apply in this version', 'v1', '1', true],
  ['fields written by client-side apply in another version', 'v0', '1', false],
  ['fields whose value has changed since', 'v1', '0', false],
  ['fields of a manager without a last-applied configuration', undefined, '1', false],
])('kubectl takes over %s without force: %s, %s: %s', (_, apiVersion, k, taken) => {
  const written = created({ data: { k: '1' } }, { manager: 'kubectl-client-side-apply' });
  const lastApplied = JSON.stringify({ apiVersion, kind: 'Thing', data: { k } });
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': lastApplied };
  const live = apiVersion === undefined ? written : { ...written, metadata: { ...written.metadata, annotations } };
  const config = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, data: { k: '2' } };
  const kind = { group: '', version: 'v1', kind: 'Thing' };
  const apply = () => appliedAtOnce({ ...writing({ manager: 'kubectl' }), live, config, kind, force: false });
  if (taken) expect(apply().object).toMatchObject({ data: { k: '2' } });
  else
    expect(apply).toThrow('Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.k');
});
