import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/errors.js';
import { readJson } from '../../../src/api/json-text.js';
import type { Json, JsonObject } from '../../../src/api/object.js';
import { DeferredWork, resultOf, runSync } from '../../../src/api/steps.js';
import { strategicPatch } from '../../../src/apiserver/patch/strategic.js';
import { field, integer32, list, listMap, map, string, struct } from '../../../src/schema/builder.js';
import type { Schema } from '../../../src/schema/schema.js';

const item = struct('v1.Item', {
  name: field(1, string()),
  value: field(2, string()),
  tags: field(3, list(string(), { patchStrategy: 'merge' })),
  inner: field(4, listMap(struct('v1.Inner', { id: field(1, string()), n: field(2, integer32()) }), ['id'])),
});
const schema: Schema = struct('v1.Thing', {
  data: field(1, map(string())),
  spec: field(2, struct('v1.ThingSpec', { a: field(1, string()), b: field(2, string()), c: field(3, string()) })),
  whole: field(3, struct('v1.Whole', { a: field(1, string()), b: field(2, string()) }), { patchStrategy: 'replace' }),
  plain: field(4, list(string())),
  tags: field(5, list(string(), { patchStrategy: 'merge' })),
  items: field(6, listMap(item, ['name'])),
  nested: field(7, list(list(string()), { patchStrategy: 'merge' })),
  loose: field(8, list(item)),
});

function applyInSteps(current: JsonObject, patch: Json): { readonly result: JsonObject; readonly steps: number } {
  const read = strategicPatch.read(() => readJson(JSON.stringify(patch)), { fieldValidation: 'Warn' });
  const later = new DeferredWork();
  const result = runSync(resultOf(read.apply(current, schema, later))) as JsonObject;
  return { result, steps: [...later.rest()].length };
}
const apply = (current: JsonObject, patch: Json): JsonObject => applyInSteps(current, patch).result;

test('large objects are merged in steps', () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `k${at}`);
  const live = Object.fromEntries(names.slice(0, 9_000).map((name) => [name, 'live']));
  const patch = Object.fromEntries(names.map((name, at) => [name, at % 2 === 0 ? null : 'new']));
  const { result, steps } = applyInSteps({ data: live, plain: ['a'] }, { data: patch, plain: ['b'] });
  expect(steps).toBeGreaterThan(4);
  expect(result).toEqual({
    data: Object.fromEntries(names.flatMap((name, at) => (at % 2 === 0 ? [] : [[name, 'new']]))),
    plain: ['b'],
  });
});

test('the quoted patch omits directives that were carried out, also within changed items', () => {
  const patch = {
    items: [
      { name: 'x', $retainKeys: ['name', 'value'], value: 'n' },
      { name: 'y', $retainKeys: [] },
    ],
  };
  const read = strategicPatch.read(() => readJson(JSON.stringify(patch)), { fieldValidation: 'Warn' });
  const result = runSync(resultOf(read.apply({ items: [{ name: 'x' }] }, schema, new DeferredWork())));
  expect(read.shown(result)).toBe('map[items:[map[name:x value:n] map[$retainKeys:[] name:y]]]');
});

test.each(['delete', 'replace'])('the quoted patch contains directives that were not carried out: %s', (word) => {
  const patch = {
    items: [
      { name: 'x', $retainKeys: ['name'] },
      { name: 'x', $patch: word },
    ],
  };
  const read = strategicPatch.read(() => readJson(JSON.stringify(patch)), { fieldValidation: 'Warn' });
  const result = runSync(resultOf(read.apply({ items: [{ name: 'x' }] }, schema, new DeferredWork())));
  expect(read.shown(result)).toBe(`map[items:[map[$retainKeys:[name] name:x] map[$patch:${word} name:x]]]`);
});

test('the quoted patch omits directives within new values', () => {
  const gone = { $patch: 'delete', name: 'z' };
  const patch = { a: { of: [gone], is: gone, $patch2: 'k' }, b: [gone, { of: [gone] }], c: gone };
  const read = strategicPatch.read(() => readJson(JSON.stringify(patch)), { fieldValidation: 'Warn' });
  const result = runSync(resultOf(read.apply({}, schema, new DeferredWork())));
  expect(read.shown(result)).toBe(
    'map[a:map[$patch2:k of:[]] b:[map[$patch:delete name:z] map[of:[]]] c:map[$patch:delete name:z]]',
  );
});

describe('merging', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    [
      'maps merge, and null removes a member',
      { data: { a: '1', b: '1' } },
      { data: { a: null, c: '2' } },
      { data: { b: '1', c: '2' } },
    ],
    ['lists are replaced', { plain: ['a'] }, { plain: ['b'] }, { plain: ['b'] }],
    ['null removes a list', { tags: ['a'] }, { tags: null }, {}],
    [
      'a struct with the replace strategy is replaced',
      { whole: { a: '1', b: '1' } },
      { whole: { a: '2' } },
      { whole: { a: '2' } },
    ],
    ['new values of a set come first', { tags: ['a', 'b'] }, { tags: ['c', 'b'] }, { tags: ['c', 'a', 'b'] }],
    ['a set without new values is unchanged', { tags: ['a', 'b'] }, { tags: ['a'] }, { tags: ['a', 'b'] }],
    [
      'an empty list changes nothing',
      { tags: ['a'], items: [{ name: 'x' }] },
      { tags: [], items: [] },
      { tags: ['a'], items: [{ name: 'x' }] },
    ],
    [
      'items merge by key',
      { items: [{ name: 'x', value: '1' }, { name: 'y' }] },
      { items: [{ name: 'x', tags: ['t'] }] },
      { items: [{ name: 'x', value: '1', tags: ['t'] }, { name: 'y' }] },
    ],
    [
      'new items come first',
      { items: [{ name: 'x' }] },
      { items: [{ name: 'z' }, { name: 'y' }] },
      { items: [{ name: 'z' }, { name: 'y' }, { name: 'x' }] },
    ],
    [
      'items merge at deeper levels',
      { items: [{ name: 'x', inner: [{ id: '1', n: 1 }] }] },
      {
        items: [
          {
            name: 'x',
            inner: [
              { id: '2', n: 2 },
              { id: '1', n: 9 },
            ],
          },
        ],
      },
      {
        items: [
          {
            name: 'x',
            inner: [
              { id: '2', n: 2 },
              { id: '1', n: 9 },
            ],
          },
        ],
      },
    ],
    ['a null directive in a new map is dropped', {}, { spec: { $patch: null, b: 'x' } }, { spec: { b: 'x' } }],
    ['a new map loses its nulls', {}, { spec: { a: null, b: 'x' } }, { spec: { b: 'x' } }],
    ['a value of another type replaces the old one', { data: { a: '1' } }, { data: 'x' }, { data: 'x' }],
    ['the strategy is found regardless of letter case', { Tags: ['a'] }, { Tags: ['b'] }, { Tags: ['b', 'a'] }],
  ])('%s', (_, current, patch, result) => {
    const before = JSON.stringify(current);
    expect(apply(current, patch)).toEqual(result);
    expect(JSON.stringify(current)).toBe(before);
  });

  test('a null patch changes nothing', () => {
    expect(apply({ plain: ['a'] }, null)).toEqual({ plain: ['a'] });
  });

  test('members named like prototypes are ordinary members', () => {
    const patch = JSON.parse('{"data":{"__proto__":"x"},"__proto__":{"y":1}}') as JsonObject;
    expect(JSON.stringify(apply({ data: { a: '1' } }, patch))).toBe(
      '{"data":{"a":"1","__proto__":"x"},"__proto__":{"y":1}}',
    );
  });
});

describe('directives', () => {
  const spec = { spec: { a: '1', b: '1' } };
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['$patch: replace in a map', spec, { spec: { $patch: 'replace', c: '2' } }, { spec: { c: '2' } }],
    ['$patch: delete in a map', spec, { spec: { $patch: 'delete', c: '2' } }, { spec: {} }],
    ['any $patch in a new map', {}, { spec: { $patch: 'nonsense', a: '1' }, plain: ['a'] }, { plain: ['a'] }],
    [
      '$patch: delete of an item',
      { items: [{ name: 'x' }, { name: 'y' }] },
      { items: [{ $patch: 'delete', name: 'x' }] },
      { items: [{ name: 'y' }] },
    ],
    [
      '$patch: replace of a list',
      { items: [{ name: 'x' }] },
      { items: [{ name: 'y' }, { $patch: 'replace' }] },
      { items: [{ name: 'y' }] },
    ],
    ['$patch: replace with nothing', { items: [{ name: 'x' }] }, { items: [{ $patch: 'replace' }] }, { items: [] }],
    [
      'directives of a new list',
      {},
      { items: [{ $patch: 'delete', name: 'x' }, { name: 'y' }] },
      { items: [{ name: 'y' }] },
    ],
    ['$retainKeys', spec, { spec: { $retainKeys: ['b', 'c'], c: '2' } }, { spec: { b: '1', c: '2' } }],
    [
      '$deleteFromPrimitiveList',
      { tags: ['a', 'b', 'a'] },
      { '$deleteFromPrimitiveList/tags': ['a', 'z'] },
      { tags: ['b'] },
    ],
    ['$deleteFromPrimitiveList of a missing list', {}, { '$deleteFromPrimitiveList/tags': ['a'] }, {}],
    [
      '$deleteFromPrimitiveList with additions',
      { tags: ['a', 'b'] },
      { '$deleteFromPrimitiveList/tags': ['a'], tags: ['c'] },
      { tags: ['c', 'b'] },
    ],
    [
      '$setElementOrder of values',
      { tags: ['a', 'b', 'c'] },
      { '$setElementOrder/tags': ['c', 'a'] },
      { tags: ['b', 'c', 'a'] },
    ],
    [
      '$setElementOrder of items',
      { items: [{ name: 'x' }, { name: 'y' }] },
      { '$setElementOrder/items': [{ name: 'y' }, { name: 'x' }] },
      { items: [{ name: 'y' }, { name: 'x' }] },
    ],
    [
      '$setElementOrder with changes',
      { items: [{ name: 'x' }, { name: 'live' }] },
      { '$setElementOrder/items': [{ name: 'z' }, { name: 'x' }], items: [{ name: 'z' }] },
      { items: [{ name: 'z' }, { name: 'x' }, { name: 'live' }] },
    ],
    [
      '$setElementOrder with an item that replaces a deleted one',
      { items: [{ name: 'x' }, { name: 'gone' }, { name: 'live' }] },
      {
        '$setElementOrder/items': [{ name: 'z' }, { name: 'x' }],
        items: [{ name: 'gone', $patch: 'delete' }, { name: 'z' }],
      },
      { items: [{ name: 'live' }, { name: 'z' }, { name: 'x' }] },
    ],
    [
      '$setElementOrder of a new list',
      {},
      { '$setElementOrder/tags': ['b', 'a'], tags: ['b', 'a'] },
      { tags: ['b', 'a'] },
    ],
    [
      'an empty $setElementOrder, which lists none of the new items',
      { items: [{ name: 'x' }, { name: 'y' }], tags: ['t'] },
      {
        '$setElementOrder/items': [],
        items: [{ name: 'a' }, { name: 'y' }, { name: 'b' }],
        '$setElementOrder/tags': [],
        tags: ['u', 'v'],
      },
      { items: [{ name: 'b' }, { name: 'x' }, { name: 'y' }, { name: 'a' }], tags: ['t', 'v', 'u'] },
    ],
    [
      '$setElementOrder of a new list with a deletion of nothing',
      {},
      { '$setElementOrder/items': [{ name: 'x' }], items: [{ name: 'x' }, { $patch: 'delete' }] },
      { items: [{ name: 'x' }] },
    ],
    [
      '$setElementOrder of a new list keeps nulls, even a null directive',
      {},
      { '$setElementOrder/items': [], items: [{ name: null }, { name: 'x', $patch: null }] },
      { items: [{ name: null }] },
    ],
    ['$setElementOrder of a missing list', {}, { '$setElementOrder/tags': ['b'] }, {}],
    [
      'unlisted live items keep their position',
      { tags: ['l1', 'a', 'l2', 'b'] },
      { '$setElementOrder/tags': ['b', 'a'], tags: [] },
      { tags: ['l1', 'l2', 'b', 'a'] },
    ],
    [
      'an order of a list without merge strategy, which is replaced',
      { plain: ['a', 'b'] },
      { '$setElementOrder/plain': ['c', 'a'], plain: ['a'] },
      { plain: ['a'] },
    ],
    [
      'an order of a list without merge strategy that becomes empty',
      { plain: ['a', 'b'] },
      { '$setElementOrder/plain': ['a'], plain: [] },
      { plain: [] },
    ],
  ])('%s', (_, current, patch, result) => {
    expect(apply(current, patch)).toEqual(result);
  });

  test('in a list without merge strategy are plain data', () => {
    expect(apply({ plain: ['a'] }, { plain: [{ $patch: 'delete' }] })).toEqual({ plain: [{ $patch: 'delete' }] });
  });
});

test.each<[string, JsonObject, Json, number, string]>([
  [
    'a patch that is not an object',
    {},
    [],
    400,
    'json: cannot unmarshal array into Go value of type map[string]interface {}',
  ],
  [
    'an unknown $patch',
    { spec: {} },
    { spec: { $patch: 'merge', k: 'v' } },
    500,
    'unknown patch type: merge in map: map[$patch:merge k:v]',
  ],
  [
    'an unknown $patch of an item',
    { items: [{ name: 'x' }] },
    { items: [{ $patch: 'explode', name: 'x' }] },
    500,
    'unknown patch type: explode in map: map[$patch:explode name:x]',
  ],
  [
    '$patch: merge of an item',
    { items: [{ name: 'x' }] },
    { items: [{ $patch: 'merge' }] },
    500,
    'merging lists cannot yet be specified in the patch',
  ],
  [
    'an item without its key',
    { items: [{ name: 'x' }] },
    { items: [{ value: 'o' }] },
    500,
    'map: map[value:o] does not contain declared merge key: name',
  ],
  [
    'a deletion without a key',
    { items: [{ name: 'x' }] },
    { items: [{ $patch: 'delete' }] },
    500,
    'map: map[$patch:delete] does not contain declared merge key: name',
  ],
  [
    'a live item without its key beside merged items',
    { items: [{ name: 'x' }, { value: 'o' }] },
    { items: [{ name: 'x', value: 'p' }] },
    500,
    'map: map[value:o] does not contain declared merge key: name',
  ],
  [
    'an order for a list with an item without its key',
    { items: [{}, { name: 'x' }] },
    { '$setElementOrder/items': [{ name: 'x' }] },
    500,
    'map: map[] does not contain declared merge key: name',
  ],
  [
    'an order of items that have no merge key',
    { loose: [{ name: 'x' }] },
    { '$setElementOrder/loose': [], loose: [] },
    500,
    'map: map[name:x] does not contain declared merge key: ',
  ],
  [
    'retainKeys without the patched key',
    { spec: { a: '1' } },
    { spec: { $retainKeys: ['a'], b: '1' } },
    400,
    'invalid patch format of retainKeys',
  ],
  [
    'retainKeys that is not a list',
    { spec: { a: '1' } },
    { spec: { $retainKeys: 'a' } },
    400,
    'invalid patch format of retainKeys',
  ],
  [
    'an entry without a key before the one that is searched',
    { items: [{ name: 'x' }] },
    { '$setElementOrder/items': [{ name: 'y' }, 'x', { name: 'x' }] },
    500,
    'value for key 1 is not a map',
  ],
  ['an order without a list name', {}, { $setElementOrder: [] }, 400, 'invalid patch format of setElementOrder list'],
  [
    'a deletion without a list name',
    {},
    { $deleteFromPrimitiveList: ['a'] },
    400,
    'invalid patch format of primitive list',
  ],
  [
    'an order that is not a list',
    {},
    { '$setElementOrder/tags': 'a' },
    500,
    'expected a []interface {}, but received a string',
  ],
  [
    'a patched value that is not in the order',
    { tags: ['d'] },
    { '$setElementOrder/tags': ['d'], tags: ['x'] },
    500,
    "The order in patch list:\n[x]\n doesn't match $setElementOrder list:\n[d]\n",
  ],
  [
    'an order of items, one of which is null',
    {},
    { '$setElementOrder/items': [{ name: 'y' }], items: [{ name: 'x' }, null] },
    500,
    'expected a map[string]interface {}, but received a %!s(<nil>)',
  ],
  [
    'a replacement after the last item of the order',
    { items: [{ name: 'x' }] },
    { '$setElementOrder/items': [{ name: 'x' }], items: [{ name: 'x' }, { $patch: 'replace' }] },
    500,
    "The order in patch list:\n[map[name:x] map[$patch:replace]]\n doesn't match $setElementOrder list:\n[map[name:x]]\n",
  ],
  ['values of different types', { tags: ['a'] }, { tags: [1] }, 500, 'list element types are not identical: [[a] [1]]'],
  [
    'lists of lists',
    { nested: [['a']] },
    { nested: [['b']] },
    422,
    'the server rejected our request due to an error in our request',
  ],
  [
    'maps within values',
    { data: { a: {} } },
    { data: { a: { b: 1 } } },
    500,
    'merging an object in json but data type is not struct, instead is: map',
  ],
  [
    'unknown fields that exist in the object',
    { other: {} },
    { other: { a: 1 } },
    500,
    'unable to find api field in struct Thing for the json field "other"',
  ],
  [
    'an order for a map',
    { data: { a: '1' } },
    { '$setElementOrder/data': [] },
    500,
    'expected a []interface {}, but received a map[string]interface {}',
  ],
  [
    'an order for a missing map',
    {},
    { '$setElementOrder/data': [] },
    500,
    'expected slice or array type, but got: struct',
  ],
])('%s is refused', (_, current, patch, code, message) => {
  try {
    apply(current, patch);
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code, message });
    return;
  }
  throw new Error('nothing was thrown');
});

describe('a patch computed from two objects', () => {
  const letter = fc.constantFrom('a', 'b', 'c', 'd');
  const things = fc
    .record({
      data: fc.option(fc.dictionary(letter, letter, { minKeys: 1 }), { nil: undefined }),
      plain: fc.option(fc.array(letter, { maxLength: 3 }), { nil: undefined }),
      tags: fc.option(fc.uniqueArray(letter, { minLength: 1 }), { nil: undefined }),
      items: fc.option(
        fc.uniqueArray(fc.record({ name: letter, value: fc.option(letter, { nil: undefined }) }), {
          minLength: 1,
          selector: ({ name }) => name,
        }),
        { nil: undefined },
      ),
    })
    .map((value) => JSON.parse(JSON.stringify(value)) as Thing);
  type Item = { readonly name: string; readonly value?: string };
  type Thing = {
    readonly data?: Record<string, string>;
    readonly plain?: string[];
    readonly tags?: string[];
    readonly items?: Item[];
  };

  /** Returns the patch between two objects as kubectl makes it: changes, deletions, and the order of merged lists. */
  function between(from: Thing, to: Thing): JsonObject {
    const patch: Record<string, Json> = {};
    for (const name of ['data', 'plain', 'tags', 'items'] as const) {
      if (from[name] !== undefined && to[name] === undefined) patch[name] = null;
    }
    if (to.plain !== undefined) patch['plain'] = to.plain;
    if (to.data !== undefined) {
      const gone = Object.keys(from.data ?? {}).filter((key) => !Object.hasOwn(to.data ?? {}, key));
      patch['data'] = { ...to.data, ...Object.fromEntries(gone.map((key) => [key, null])) };
    }
    if (to.tags !== undefined) {
      const gone = (from.tags ?? []).filter((tag) => !to.tags?.includes(tag));
      patch['tags'] = to.tags.filter((tag) => !from.tags?.includes(tag));
      patch['$setElementOrder/tags'] = to.tags;
      if (gone.length > 0) patch['$deleteFromPrimitiveList/tags'] = gone;
    }
    if (to.items !== undefined) {
      const gone = (from.items ?? []).filter(({ name }) => !to.items?.some((item) => item.name === name));
      patch['items'] = [
        ...to.items.map(({ name, value = null }) => ({ name, value })),
        ...gone.map(({ name }) => ({ $patch: 'delete', name })),
      ];
      patch['$setElementOrder/items'] = to.items.map(({ name }) => ({ name }));
    }
    return patch;
  }
  const withoutNulls = (value: JsonObject): Json =>
    JSON.parse(JSON.stringify(value, (_, at: Json) => at ?? undefined)) as Json;

  test('turns one into the other', () => {
    fc.assert(
      fc.property(things, things, (from, to) => {
        expect(withoutNulls(apply(from as unknown as JsonObject, between(from, to)))).toEqual(to);
      }),
    );
  });
});
