import { describe, expect, test } from 'vitest';
import { NumberLiteral } from '../../../src/api/json-exact.js';
import { readJson } from '../../../src/api/json-text.js';
import type { Json, JsonObject } from '../../../src/api/object.js';
import { runSync } from '../../../src/api/steps.js';
import { readReceivedPatch } from '../../../src/apiserver/patch/json.js';
import { DoesNotApply } from '../../../src/apiserver/patch/json-patching.js';
import { expectShort } from '../../processor-time.js';

/** Patches sent by webhooks: errors are reported in full. */

const read = (text: string) => readReceivedPatch(() => ({ ...readJson(text), bytes: Buffer.from(text) }));
const object: JsonObject = { a: { b: 1 }, list: [1, 2], none: null };

describe('an operation that does not apply is reported', () => {
  test.each([
    [{ op: 'frobnicate', path: '/a' }, 'Unexpected kind: frobnicate'],
    [{ path: '/a' }, 'Unexpected kind: unknown'],
    [{ op: 'add' }, 'add operation failed to decode path: missing value'],
    [{ op: 'add', path: '/x/y', value: 1 }, 'add operation does not apply: doc is missing path: "/x/y": missing value'],
    [
      { op: 'add', path: '/none/y', value: 1 },
      'add operation does not apply: doc is missing path: "/none/y": missing value',
    ],
    [
      { op: 'add', path: '/list/x', value: 1 },
      `error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [
      { op: 'add', path: '/list/9', value: 1 },
      "error in add for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
    ],
    [
      { op: 'remove', path: '/x' },
      "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
    ],
    [{ op: 'remove', path: '/x/y' }, 'remove operation does not apply: doc is missing path: "/x/y": missing value'],
    [
      { op: 'remove', path: '/list/2' },
      "error in remove for path: '/list/2': Unable to access invalid index: 2: invalid index referenced",
    ],
    [
      { op: 'replace', path: '/x/y', value: 1 },
      'replace operation does not apply: doc is missing path: /x/y: missing value',
    ],
    [
      { op: 'replace', path: '/list/9', value: 1 },
      'replace operation does not apply: doc is missing key: /list/9: missing value',
    ],
    [{ op: 'replace' }, 'replace operation failed to decode path: operation missing path field: missing value'],
    [{ op: 'move', path: '/x' }, 'move operation failed to decode from: operation, missing from field: missing value'],
    [
      { op: 'move', from: '/x', path: '/y' },
      "error in move for path: 'x': Unable to remove nonexistent key: x: missing value",
    ],
    [
      { op: 'move', from: '/a', path: '/x/y' },
      'move operation does not apply: doc is missing destination path: /x/y: missing value',
    ],
    [
      { op: 'copy', from: '/x/y', path: '/y' },
      'copy operation does not apply: doc is missing from path: /x/y: missing value',
    ],
    [
      { op: 'copy', from: '/a', path: '/x/y' },
      'copy operation does not apply: doc is missing destination path: /x/y: missing value',
    ],
    [{ op: 'test', path: '/a/b', value: 2 }, 'testing value /a/b failed: test failed'],
    [{ op: 'test', path: '/x/y', value: 2 }, 'test operation does not apply: is missing path: /x/y: missing value'],
    [{ op: 'test', path: '', value: {} }, 'testing value  failed: test failed'],
  ])('for %j', (operation, why) => {
    const patch = read(JSON.stringify([operation]));
    expect(() => runSync(patch.apply(object))).toThrow(DoesNotApply);
    expect(() => runSync(patch.apply(object))).toThrow(why);
    expect(object).toEqual({ a: { b: 1 }, list: [1, 2], none: null });
  });
});

test.each([
  ['{"op":"add"}', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
  ['this', "invalid character 'h' in literal true (expecting 'r')"],
  ['[1]', 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
])('%s is not a patch: %s', (text, why) => {
  expect(() => read(text)).toThrow(why);
});

test('copies that double are stopped', () => {
  const doubling = Array.from({ length: 40 }, (_, at) => ({ op: 'copy', from: '/a', path: `/a/x${at}` }));
  expect(() => runSync(read(JSON.stringify(doubling)).apply({ a: { b: 'x'.repeat(1_000) } }))).toThrow(
    'exceeding the limit',
  );
});

test('an empty patch is recognized before it is applied', () => {
  expect([read('[]').isEmpty, read('null').isEmpty, read('[{"op":"remove","path":"/a"}]').isEmpty]).toEqual([
    true,
    true,
    false,
  ]);
});

test('numbers have their value in the result and their literal in its text', () => {
  const applied = runSync(read('[{"op":"add","path":"/x","value":[1.0,1e400]}]').apply({ a: 1 }));
  expect(applied.result).toEqual({ a: 1, x: [1, Number.POSITIVE_INFINITY] });
  expect(applied.text.exact).toEqual({ a: 1, x: [new NumberLiteral('1.0'), new NumberLiteral('1e400')] });
});

test('undefined members of an object are ignored', () => {
  const made = { a: 1, b: undefined } as unknown as JsonObject;
  expect(runSync(read('[{"op":"add","path":"/x","value":1.0}]').apply(made)).result).toStrictEqual({ a: 1, x: 1 });
});

test.each([
  ['a replaced document', '[{"op":"replace","path":"","value":{"a":1,"b":2,"b":3}}]', '{"a":1,"b":3}'],
  [
    'a compared value',
    '[{"op":"add","path":"/b","value":{"c":1,"c":{"d":1,"d":2}}},{"op":"test","path":"/b","value":{"c":{"d":2}}}]',
    '{"a":1,"b":{"c":{"d":2}}}',
  ],
  [
    'a traversed value',
    '[{"op":"add","path":"/b","value":{"c":1,"c":2}},{"op":"test","path":"/b/c","value":2}]',
    '{"a":1,"b":{"c":2}}',
  ],
  [
    'an untouched value, when it is read',
    '[{"op":"add","path":"/b","value":{"c":1,"c":2}}]',
    '{"a":1,"b":{"c":1,"c":2}}',
  ],
])('the last of repeated members counts in %s', (_, patch, result) => {
  expect(runSync(read(patch).apply({ a: 1 })).text).toEqual(readJson(result));
});

test('a result that operations nest too deeply is compared without overflow, and refused', () => {
  const [begin, end] = ['['.repeat(990), ']'.repeat(990)];
  const into = `/b${'/0'.repeat(989)}/-`;
  const round = `{"op":"add","path":"/b","value":${begin}${end}},{"op":"move","from":"/a","path":"${into}"},{"op":"move","from":"/b","path":"/a"}`;
  const patch = read(`[${Array(20).fill(round).join()},{"op":"test","path":"/a","value":1}]`);
  expect(() => runSync(patch.apply({ a: 1 }))).toThrow(
    new DoesNotApply('testing value /a failed: test failed', { isTest: true }),
  );
});

test('deeply nested values are written in linear time', async () => {
  let deep: Json = 'x'.repeat(2_000_000);
  for (let at = 0; at < 900; at++) deep = [deep];
  const patch = read('[{"op":"add","path":"/b","value":1.0}]');
  await expectShort(2_000, () => runSync(patch.apply({ a: deep })));
});

test('a number written differently does not pass a test', () => {
  expect(() => runSync(read('[{"op":"test","path":"/a","value":1.0}]').apply({ a: 1 }))).toThrow(
    'testing value /a failed',
  );
});

test('a webhook may send more operations than a client', () => {
  const operation = { op: 'add', path: '/a/b', value: 2 };
  const { result } = runSync(read(JSON.stringify(Array.from({ length: 10_001 }, () => operation))).apply(object));
  expect(result).toMatchObject({ a: { b: 2 } });
});
