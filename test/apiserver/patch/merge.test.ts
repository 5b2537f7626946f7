import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJson } from '../../../src/api/json-text.js';
import type { Json, JsonObject } from '../../../src/api/object.js';
import { DeferredWork, resultOf, runSync } from '../../../src/api/steps.js';
import { mergeJson, mergePatch } from '../../../src/apiserver/patch/merge.js';

function merge(target: JsonObject, patch: JsonObject): JsonObject {
  const later = new DeferredWork();
  const result = mergeJson(target, patch, later);
  runSync(later.rest());
  return result;
}

test.each<[string, JsonObject, JsonObject, JsonObject]>([
  ['a member is replaced', { a: 'b' }, { a: 'c' }, { a: 'c' }],
  ['a member is added', { a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  ['a member is removed', { a: 'b', b: 1 }, { a: null }, { b: 1 }],
  ['a missing member is removed without effect', { a: 1 }, { b: null }, { a: 1 }],
  ['nested objects are merged', { a: { b: 'c', d: 1 } }, { a: { b: 'd', c: null } }, { a: { b: 'd', d: 1 } }],
  ['lists are replaced', { a: [1, 2] }, { a: [3] }, { a: [3] }],
  ['an object replaces a scalar, without its nulls', { a: 1 }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
  ['a scalar replaces an object', { a: { b: 1 } }, { a: 1 }, { a: 1 }],
  ['new members lose their nulls at any depth', {}, { a: { b: { c: null } } }, { a: { b: {} } }],
  ['null stays as an item of a list', { a: [1] }, { a: [null, { b: null }] }, { a: [null, {}] }],
  ['a list that replaces an object keeps its nulls', { a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  ['a null member is treated as missing', { a: null }, { a: { b: null } }, { a: {} }],
  ['an empty patch changes nothing', { a: 1 }, {}, { a: 1 }],
])('%s', (_, target, patch, result) => {
  expect(merge(target, patch)).toEqual(result);
});

test('members named like prototypes are ordinary members', () => {
  const patch = JSON.parse('{"__proto__":{"polluted":true},"a":{"__proto__":1}}') as JsonObject;
  const result = merge({ a: {} }, patch);
  expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":true},"a":{"__proto__":1}}');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

const json = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, fc.constantFrom<Json>(1, 'x', true, []), tie('object')),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')) as fc.Arbitrary<JsonObject>,
})).object;

test('a patch computed from two objects turns one into the other', () => {
  const isObject = (value: Json | undefined): value is JsonObject =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const between = (from: JsonObject, to: JsonObject): JsonObject => {
    const out: Record<string, Json> = {};
    for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) out[name] = null;
    for (const [name, value] of Object.entries(to)) {
      const old = from[name];
      out[name] = isObject(old) && isObject(value) ? between(old, value) : value;
    }
    return out;
  };
  fc.assert(
    fc.property(json, json, (from, to) => {
      expect(merge(from, between(from, to))).toEqual(to);
    }),
  );
});

test('with fieldValidation Ignore every invalid body gets the same message', () => {
  for (const body of ['x', '1', 'null', '']) {
    expect(() => mergePatch.read(() => readJson(body), { fieldValidation: 'Ignore' })).toThrow(/^Invalid JSON Patch$/);
  }
});

test('with fieldValidation Ignore a list replaces the object', () => {
  const read = mergePatch.read(() => readJson('[{"z":1,"a":{"x":null}},null,[null]]'), { fieldValidation: 'Ignore' });
  const result = runSync(resultOf(read.apply({ k: 'v' }, {}, new DeferredWork())));
  expect(read.shown(result)).toBe('[{"a":{},"z":1},null,[null]]');
});

test('repeated members of a list that replaces an object are reported for the result', () => {
  const duplicatesOf = (live: JsonObject): readonly string[] => {
    const body = '{"spec":[{"k":1,"k":2}]}';
    const text = () => ({ ...readJson(body), bytes: Buffer.from(body) });
    const read = mergePatch.read(text, { fieldValidation: 'Strict' });
    const result = runSync(resultOf(read.apply(live, {}, new DeferredWork())));
    return runSync(resultOf(read.text?.(result as JsonObject) ?? readJson('{}'))).duplicates;
  };
  expect(duplicatesOf({ spec: { a: 1 } })).toEqual(['duplicate field "spec[0].k"']);
  expect(duplicatesOf({})).toEqual([]);
});

test('large objects are merged in steps and in order', () => {
  const numbered = (count: number, value: (at: number) => Json): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${String(at).padStart(5, '0')}`, value(at)]));
  const target = { data: numbered(9_000, (at) => at), rest: { a: 1 } };
  const patch = { data: numbered(10_000, (at) => (at % 2 === 0 ? null : { x: null, y: at })), rest: { a: null, b: 2 } };
  const later = new DeferredWork();
  const result = mergeJson(target, patch, later);
  expect([...later.rest()].length).toBeGreaterThan(4);
  expect(Object.entries(result['data'] as JsonObject)).toEqual(
    Object.entries(patch.data).flatMap(([name, value]) =>
      value === null ? [] : [[name, { y: (value as { y: number }).y }]],
    ),
  );
  expect(result['rest']).toEqual({ b: 2 });
});
