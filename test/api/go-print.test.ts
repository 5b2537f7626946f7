import { expect, test } from 'vitest';
import { goSyntax, goTypeName, goValue } from '../../src/api/go-print.js';
import type { Json } from '../../src/api/object.js';

test.each<[Json, string, string]>([
  [
    { b: [1, 'x', null], a: { c: true } },
    'map[a:map[c:true] b:[1 x <nil>]]',
    'map[string]interface {}{"a":map[string]interface {}{"c":true}, "b":[]interface {}{1, "x", interface {}(nil)}}',
  ],
  ['text', 'text', '"text"'],
  [[], '[]', '[]interface {}{}'],
])('%j', (value, plain, syntax) => {
  expect(goValue(value)).toBe(plain);
  expect(goSyntax(value)).toBe(syntax);
});

test('types', () => {
  expect([null, 'x', true, [], {}, 1, 1.5].map((value) => goTypeName(value as Json))).toEqual([
    '<nil>',
    'string',
    'bool',
    '[]interface {}',
    'map[string]interface {}',
    'int64',
    'float64',
  ]);
});

test('bottomless values are cut', () => {
  let value: Json = 1;
  for (let depth = 0; depth < 100_000; depth++) value = [value];
  expect(goValue(value).length).toBeLessThan(1_000);
});
