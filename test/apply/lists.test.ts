import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { maxViolationChars } from '../../src/api/violations.js';
import { checkShape, joinErrors } from '../../src/apply/check.js';
import { compare } from '../../src/apply/compare.js';
import { type FieldSet, paths, setOf } from '../../src/apply/field-set.js';
import { fieldSetOf } from '../../src/apply/field-set-of.js';
import { merge } from '../../src/apply/merge.js';
import { printPath } from '../../src/apply/path-element.js';
import { reconcileFieldSet } from '../../src/apply/reconcile.js';
import { remove } from '../../src/apply/remove.js';
import { shapeOfObject } from '../../src/apply/shape.js';
import { field, intOrString, list, listMap, quantity, string, struct, time } from '../../src/schema/builder.js';
import type { Schema } from '../../src/schema/schema.js';
import { countSteps } from '../count-steps.js';

const items: Schema = {
  type: 'object',
  properties: new Map<string, Schema>([
    ['name', { type: 'string' }],
    ['port', { type: 'integer', default: 80 }],
    ['v', { type: 'integer' }],
  ]),
};
const schema: Schema = {
  type: 'object',
  properties: new Map<string, Schema>([
    ['set', { type: 'array', listType: 'set', items: { type: 'string' } }],
    ['map', { type: 'array', listType: 'map', listMapKeys: ['name', 'port'], items }],
    ['open', { preserveUnknownFields: true }],
    ['exact', { intOrString: true }],
  ]),
};
const shape = shapeOfObject(schema);
const printed = (set: FieldSet): readonly string[] => [...paths(set)].map((path) => printPath(path));

test('large maps are merged in steps', () => {
  const numbered = (count: number, value: string): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));
  const [live, applied] = [numbered(9_000, 'live'), numbered(5_000, 'applied')];
  const { pauses, result } = countSteps(merge(shape, { open: live }, { open: applied }));
  expect(pauses).toBeGreaterThan(2);
  expect(result).toEqual({ open: { ...live, ...applied } });
});

test('thousands of items are merged in steps', () => {
  const named = (count: number, v: number): Json[] =>
    Array.from({ length: count }, (_, at) => ({ name: `n${at}`, port: 80, v }));
  const { pauses, result } = countSteps(merge(shape, { map: named(3_000, 1) }, { map: named(2_500, 2) }));
  expect(pauses).toBeGreaterThan(3);
  expect(result).toEqual({ map: [...named(2_500, 2), ...named(3_000, 1).slice(2_500)] });
});

describe('order of merged lists', () => {
  test.each([
    ['ab', 'c', 'abc'],
    ['abc', 'ca', 'bca'],
    ['abcd', 'db', 'acdb'],
    ['ab', 'xay', 'xaby'],
    ['abc', 'bxc', 'abxc'],
    ['', 'ba', 'ba'],
    ['ab', '', 'ab'],
    ['', '', ''],
    ['abcde', 'edcba', 'edcba'],
    ['axb', 'ba', 'xba'],
  ])('live items %s with %s applied give %s', (live, applied, result) => {
    const merged = runSync(merge(shape, { set: [...live] }, { set: [...applied] })) as {
      readonly set: readonly string[];
    };
    expect(merged.set.join('')).toBe(result);
  });

  test('repeated items of the live list stay unless they are applied', () => {
    expect(runSync(merge(shape, { set: ['a', 'a', 'b'] }, { set: ['b'] }))).toEqual({ set: ['a', 'a', 'b'] });
    expect(runSync(merge(shape, { set: ['a', 'a', 'b'] }, { set: ['a'] }))).toEqual({ set: ['a', 'b'] });
  });

  test('items merge by all their keys, including defaulted ones', () => {
    const live = {
      map: [
        { name: 'x', port: 80, v: 1 },
        { name: 'x', port: 81 },
      ],
    };
    expect(runSync(merge(shape, live, { map: [{ name: 'x', v: 2 }] }))).toEqual({
      map: [
        { name: 'x', port: 80, v: 2 },
        { name: 'x', port: 81 },
      ],
    });
  });
});

describe('comparison', () => {
  const changes = (before: Json, after: Json): Record<string, readonly string[]> => {
    const { added, modified, removed } = runSync(compare(shape, before, after));
    return { added: printed(added), modified: printed(modified), removed: printed(removed) };
  };

  test('compares thousands of members and items in steps, and reports their paths', () => {
    const many = Array.from({ length: 5_000 }, (_, at) => `k${at}`);
    const open = (value: (at: number) => Json): JsonObject =>
      Object.fromEntries(many.map((name, at) => [name, value(at)]));
    const before = { set: many, open: { in: open(() => 1) } };
    const after = { set: ['new', ...many.slice(1)], open: { in: { ...open((at) => (at === 4_321 ? 2 : 1)), new: 1 } } };
    expect(countSteps(compare(shape, before, after)).pauses).toBeGreaterThan(4);
    expect(changes(before, after)).toEqual({
      added: ['.open.in.new', '.set[="new"]'],
      modified: ['.open.in.k4321'],
      removed: ['.set[="k0"]'],
    });
  });

  test('traverses large new values in steps', () => {
    const many = Array.from({ length: 2_500 }, (_, at) => at);
    const value = { map: many.map((v) => ({ name: `n${v}`, v })), open: { in: many.map((at) => `k${at}`) } };
    const found = changes({ map: [{ name: 'n1', v: 1 }] }, value)['added'] ?? [];
    expect(found).toHaveLength(3 * (many.length - 1) + 2);
    expect(found).toContain('.map[name="n2499",port=80].v');
    expect(changes(value, {})['removed']).toHaveLength(3 * many.length + 3);
  });

  test.each<[string, Json, Json, Partial<Record<'added' | 'modified' | 'removed', string[]>>]>([
    ['the order of a set does not matter', { set: ['a', 'b'] }, { set: ['b', 'a'] }, {}],
    ['a new item of a set', { set: ['a'] }, { set: ['a', 'b'] }, { added: ['.set[="b"]'] }],
    ['a new list', {}, { set: ['a'] }, { added: ['.set', '.set[="a"]'] }],
    ['a list that becomes empty', { set: ['a'] }, { set: [] }, { removed: ['.set[="a"]'] }],
    ['an empty list differs from null', { set: [] }, { set: null }, { modified: ['.set'] }],
    [
      'a changed field of an item',
      { map: [{ name: 'x', v: 1 }] },
      { map: [{ name: 'x', v: 2 }] },
      { modified: ['.map[name="x",port=80].v'] },
    ],
    [
      'a new item',
      { map: [] },
      { map: [{ name: 'x' }] },
      { added: ['.map[name="x",port=80]', '.map[name="x",port=80].name'] },
    ],
    [
      'an item that becomes repeated',
      { set: ['a'] },
      { set: ['a', 'a'] },
      { added: ['.set[="a"]'], removed: ['.set[="a"]'] },
    ],
    [
      'an item that is no longer repeated',
      { set: ['a', 'a'] },
      { set: ['a'] },
      { added: ['.set[="a"]'], removed: ['.set[="a"]'] },
    ],
    [
      'repeated items that change',
      {
        map: [
          { name: 'x', v: 1 },
          { name: 'x', v: 2 },
        ],
      },
      {
        map: [
          { name: 'x', v: 1 },
          { name: 'x', v: 3 },
        ],
      },
      { modified: ['.map[name="x",port=80]'] },
    ],
    ['a scalar that becomes a map', { open: 1 }, { open: { a: 1 } }, { modified: ['.open'], added: ['.open.a'] }],
    ['a map that becomes a list', { open: { a: 1 } }, { open: [1] }, { modified: ['.open'], removed: ['.open.a'] }],
    ['a null that becomes a map', { open: null }, { open: { a: 1 } }, { added: ['.open.a'] }],
    ['a number that becomes a string', { exact: 1 }, { exact: '1' }, { modified: ['.exact'] }],
  ])('%s', (_, before, after, expected) => {
    expect(changes(before, after)).toEqual({ added: [], modified: [], removed: [], ...expected });
  });
});

describe('the field set of a value', () => {
  test.each<[string, Json, readonly string[]]>([
    [
      'contains containers only if they are empty',
      { set: [], map: [{ name: 'x' }], open: {} },
      ['.open', '.map[name="x",port=80]', '.map[name="x",port=80].name'],
    ],
    ['contains null values', { set: null, exact: null }, ['.exact', '.set']],
    ['contains unknown members together with their containers', { open: { a: { b: [] } } }, ['.open.a', '.open.a.b']],
    ['contains repeated items as a whole', { map: [{ name: 'x' }, { name: 'x', v: 1 }] }, ['.map[name="x",port=80]']],
  ])('%s', (_, value, expected) => {
    expect(printed(runSync(fieldSetOf(shape, value)))).toEqual(expected);
  });
});

test('contains items without a key as one element', () => {
  const fields = runSync(fieldSetOf(shape, { set: [null, 'a'], map: [null] }));
  const below = (name: string): readonly string[] => [...(fields.get(`f:${name}`)?.below.keys() ?? [])];
  expect([below('set'), below('map')]).toEqual([['', 'v:"a"'], ['']]);
});

test('is computed in steps for large values', () => {
  const many = Array.from({ length: 2_500 }, (_, at) => at);
  const names = Object.fromEntries(many.map((at) => [`k${at}`, { in: at }]));
  const { pauses, result } = countSteps(
    fieldSetOf(shape, { map: many.map((v) => ({ name: `n${v}`, v })), open: names }),
  );
  expect(pauses).toBeGreaterThan(3);
  const found = printed(result);
  expect(found).toHaveLength(3 * many.length + 2 * many.length);
  expect(found).toContain('.open.k2499.in');
  expect(found).toContain('.map[name="n2499",port=80].v');
});

test('a container that loses its last member stays as an empty one', () => {
  const value = { set: ['a'], open: { a: 1 } };
  const fields = setOf(['f:set', 'v:"a"'], ['f:open', 'f:a']);
  expect(remove(shape, value, fields)).toEqual({ set: [], open: {} });
});

describe('checkShape', () => {
  const strict = shapeOfObject(
    struct('v1.Thing', {
      when: field(1, time()),
      size: field(2, quantity()),
      port: field(3, intOrString()),
      named: field(4, listMap(struct('v1.Item', { name: field(1, string(), { presence: 'always' }) }), ['name'])),
      plain: field(5, list(struct('v1.Item', { name: field(1, string()) }))),
      tags: field(6, list(string(), { listType: 'set' })),
    }),
  );
  test.each<[Json, string | undefined]>([
    [{ when: 'x', size: 5, port: 'http', named: [{}], plain: [{ name: 'x' }] }, undefined],
    [{ when: null, named: null, plain: null, tags: null }, undefined],
    [{ tags: [['a']] }, '.tags: element 0: not supported: associative list with lists as elements'],
    [{ tags: [{}] }, ".tags: element 0: associative list without keys has an element that's a map type"],
    [{ tags: [null] }, ".tags: element 0: associative list without keys has an element that's an explicit null"],
    [{ when: {} }, '.when: expected any scalar, got &{map[]}'],
    [{ port: [1] }, '.port: expected any scalar, got &{[1]}'],
    [{ plain: [{ name: 1.5 }] }, '.plain[0].name: expected string, got &value.valueUnstructured{Value:1.5}'],
    [{ plain: [{ x: 1 }] }, '.plain[0].x: field not declared in schema'],
    [{ named: [{}, {}] }, '.named: duplicate entries for key [name=""]'],
    [{ named: [null] }, '.named: element 0: associative list with keys may not have a null element'],
    [{ named: ['x'] }, '.named: element 0: associative list with keys may not have non-map elements'],
    [{ named: 'x', plain: {} }, 'errors:\n  .named: expected list, got &{x}\n  .plain: expected list, got &{map[]}'],
    [[], 'expected map, got &{[]}'],
  ])('for %j reports: %s', (value, error) => {
    const errors = runSync(checkShape(strict, value));
    expect(errors.length === 0 ? undefined : joinErrors(errors)).toBe(error);
  });

  test('checks metadata of an embedded resource, even where unknown fields are preserved', () => {
    const embedded: Schema = { type: 'object', embeddedResource: true, preserveUnknownFields: true };
    const shape = shapeOfObject({ type: 'object', properties: new Map([['inner', embedded]]) });
    const value = { inner: { kind: 'Inner', metadata: { name: 'a', more: 1 }, more: 1 } };
    expect(runSync(checkShape(shape, value))).toEqual(['.inner.metadata.more: field not declared in schema']);
  });

  test('stops collecting errors at a limit', () => {
    const value = { plain: Array.from({ length: 50_000 }, () => ({ name: 1 })) };
    const size = runSync(checkShape(strict, value)).join('').length;
    expect(size).toBeGreaterThan(maxViolationChars);
    expect(size).toBeLessThan(maxViolationChars + 200);
  });
});

describe('field sets after a change of the schema', () => {
  const atomic = shapeOfObject({
    type: 'object',
    properties: new Map<string, Schema>([
      ['set', { type: 'array', items: { type: 'string' } }],
      ['whole', { type: 'object', mapType: 'atomic', additionalProperties: { type: 'string' } }],
      ['open', { type: 'object', preserveUnknownFields: true }],
      ['outer', { type: 'object', properties: new Map([['l', { type: 'array', items: {} }]]) }],
    ]),
  });
  test('own a container as a whole once it is atomic', () => {
    const before = setOf(
      ['f:set', 'v:"a"'],
      ['f:whole', 'f:a'],
      ['f:open', 'f:x', 'f:y'],
      ['f:outer', 'f:l', 'k:{"name":"x"}', 'f:name'],
      ['f:gone', 'f:x'],
    );
    expect([...printed(reconcileFieldSet(atomic, before))].sort()).toEqual(
      ['.gone.x', '.open.x.y', '.outer.l', '.set', '.whole'].sort(),
    );
  });

  test('are returned unchanged if they still fit', () => {
    const before = setOf(['f:set'], ['f:whole'], ['f:open', 'f:x']);
    expect(reconcileFieldSet(atomic, before)).toBe(before);
  });
});
