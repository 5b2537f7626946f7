import { describe, expect, test } from 'vitest';
import { DeferredWork, runSync } from '../../src/api/steps.js';
import { anyJson, field, list, struct } from '../../src/schema/builder.js';
import { compileDecoder } from '../../src/schema/decode.js';
import { arrange, compileEncoder, type EncodedObject, type EncodedType, itemStart } from '../../src/schema/encode.js';
import { sortByBytes } from '../../src/schema/sort-members.js';
import { countSteps } from '../count-steps.js';
import { configMap, everything, props, signingRequest } from './kinds.js';

const type = { origin: 'built-in', group: '', version: 'v1', kind: 'ConfigMap', schema: configMap } as const;
const custom = { origin: 'custom', group: 'example.com', version: 'v1', kind: 'Widget', schema: {} } as const;

function encoded(of: EncodedType, object: object): EncodedObject {
  const { order, write, writeInSteps } = compileEncoder(of);
  const whole = write(order(object));
  expect(runSync(writeInSteps(order(object)))).toEqual(whole);
  const later = new DeferredWork();
  const ordered = order(object, later);
  runSync(later.rest());
  expect(write(ordered)).toEqual(whole);
  return whole;
}

/** Returns the bytes as text, with a mark at the offset of the revision. */
const marked = ({ bytes, revisionAt }: EncodedObject): string =>
  `${bytes.subarray(0, revisionAt)}^${bytes.subarray(revisionAt)}`;

test('a built-in object is written in declared order, with a place for its resourceVersion', () => {
  const object = {
    data: { b: '<&>\u2028', a: 'é' },
    metadata: { labels: {}, uid: 'u', name: 'n', resourceVersion: '7' },
  };
  expect(marked(encoded(type, object))).toBe(
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"^"},"data":{"a":"é","b":"\\u003c\\u0026\\u003e\\u2028"}}',
  );
});

test('a custom object is written in alphabetical order throughout', () => {
  const object = {
    spec: { z: 1, a: [{ c: 1, b: 2 }] },
    metadata: { uid: 'u', name: 'n' },
    aa: 1,
    kind: 'x',
    apiVersion: 'y',
  };
  expect(marked(encoded(custom, object))).toBe(
    '{"aa":1,"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"n","resourceVersion":"^","uid":"u"},"spec":{"a":[{"b":2,"c":1}],"z":1}}',
  );
});

test.each<[string, EncodedType, (names: object) => object]>([
  ['a custom object', custom, (names) => ({ metadata: { name: 'n' }, spec: names })],
  ['a map', type, (names) => ({ metadata: { name: 'n' }, data: names })],
])('members of %s are sorted by bytes', (_, of, objectWith) => {
  const sorted = '{"aＡ":"1","a😀":"2","Ａ":"3","😀":"4"}';
  for (const names of [sorted, '{"a😀":"2","aＡ":"1","😀":"4","Ａ":"3"}']) {
    expect(marked(encoded(of, objectWith(JSON.parse(names))))).toContain(sorted);
  }
});

test('sorting by bytes copies an object only if a name requires it', () => {
  const deep = { spec: { a: [{ b: '😀' }, { é: '\uffff' }] } };
  expect(sortByBytes(deep)).toBe(deep);
  const named = { kept: { x: 1 }, spec: { '😀': 1, Ａ: 2 } };
  const ordered = sortByBytes(named) as typeof named;
  expect(Object.keys(ordered.spec)).toEqual(['Ａ', '😀']);
  expect(ordered.kept).toBe(named.kept);
});

test('the place of the resourceVersion is found among similar members', () => {
  const object = {
    aé: { resourceVersion: '0', __proto__: null },
    metadata: { annotations: { resourceVersion: '0', x: '"resourceVersion":"0"' }, name: 'n' },
    zz: { resourceVersion: '0' },
  };
  expect(marked(encoded(custom, object))).toContain('},"name":"n","resourceVersion":"^"},"zz":');
});

test('large maps are sorted and written in steps', () => {
  const names = Array.from({ length: 5_000 }, (_, n) => `k${(n * 7919) % 5_000}`);
  const data = Object.fromEntries(names.map((name) => [name, '<']));
  const { order, writeInSteps } = compileEncoder(type);
  const later = new DeferredWork();
  const ordered = order({ metadata: { name: 'n' }, data }, later);
  expect(countSteps(later.rest()).pauses).toBeGreaterThan(2);
  const { pauses, result } = countSteps(writeInSteps(ordered));
  expect(pauses).toBeGreaterThan(2);
  expect(result).toEqual(encoded(type, { metadata: { name: 'n' }, data }));
  expect(result.bytes.toString()).toContain('"k0":"\\u003c","k1":"\\u003c","k10":');
});

test('an object without metadata has no place for a resourceVersion', () => {
  expect(encoded(custom, { spec: 1 }).revisionAt).toBe(-1);
});

test('list items of built-in kinds carry neither kind nor apiVersion', () => {
  const { bytes } = encoded(type, { metadata: { name: 'n' } });
  expect(`{${bytes.subarray(itemStart(type))}`).toBe('{"metadata":{"name":"n","resourceVersion":""}}');
  expect(itemStart(custom)).toBe(1);
});

describe('arranging', () => {
  test('gives objects made by code the form of decoded ones', () => {
    const object = {
      status: { conditions: [{ status: 'True', type: 'A', lastUpdateTime: null }] },
      metadata: {},
      kind: 'K',
    };
    expect(JSON.stringify(arrange(signingRequest, object))).toBe(
      JSON.stringify(compileDecoder(signingRequest)(object)),
    );
    expect(JSON.stringify(arrange(everything, {}))).toBe(JSON.stringify(compileDecoder(everything)({})));
  });

  test('leaves out write-only and unknown fields', () => {
    const schema = {
      ...configMap,
      properties: new Map([
        ...(configMap.properties ?? []),
        ['stringData', { type: 'string', wire: { writeOnly: true } }],
      ] as const),
    };
    expect(arrange(schema, { metadata: {}, stringData: 'x', other: 1 })).toEqual({ metadata: {} });
  });

  test('handles recursive schemas', () => {
    const value = {
      properties: { b: { type: 'x', default: { z: 1, a: 2 } }, a: { items: { properties: {}, type: '' } } },
    };
    expect(JSON.stringify(arrange(props, value))).toBe(
      '{"properties":{"a":{"items":{}},"b":{"type":"x","default":{"z":1,"a":2}}}}',
    );
  });

  test('sorts JSON that Go parses into values, and keeps other JSON as it is', () => {
    const schema = struct('v1.T', {
      read: field(1, anyJson({ go: 'v1.JSON', sorted: true })),
      many: field(2, list(anyJson({ go: 'v1.JSON', sorted: true }))),
      raw: field(3, anyJson()),
    });
    const value = { z: 1, a: [{ d: 1, c: 2 }] };
    expect(JSON.stringify(arrange(schema, { read: value, many: [value], raw: value }))).toBe(
      '{"read":{"a":[{"c":2,"d":1}],"z":1},"many":[{"a":[{"c":2,"d":1}],"z":1}],"raw":{"z":1,"a":[{"d":1,"c":2}]}}',
    );
  });

  test('leaves out an empty list where a schema could be', () => {
    const value = { items: [], properties: { a: { items: [] }, b: { items: {} } }, additionalProperties: false };
    expect(arrange(props, value)).toEqual({ properties: { a: {}, b: { items: {} } }, additionalProperties: false });
  });

  test('keeps members named __proto__', () => {
    const value = JSON.parse('{"metadata":{},"data":{"b":"1","__proto__":"2"}}');
    expect(JSON.stringify(arrange(configMap, value))).toBe('{"metadata":{},"data":{"__proto__":"2","b":"1"}}');
    const widget = JSON.parse('{"metadata":{},"spec":{"b":{"y":1,"x":1},"__proto__":{"y":1,"x":1}}}');
    expect(encoded(custom, widget).bytes.toString()).toContain('{"__proto__":{"x":1,"y":1},"b":{"x":1,"y":1}}');
  });
});
