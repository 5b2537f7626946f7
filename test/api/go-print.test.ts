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
])('%j is printed as Go prints it', (value, plain, syntax) => {
  expect(goValue(value)).toBe(plain);
  expect(goSyntax(value)).toBe(syntax);
});

test('values have the type names of Go', () => {
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

test('very deep values are truncated', () => {
  let value: Json = 1;
  for (let depth = 0; depth < 100_000; depth++) value = [value];
  expect(goValue(value).length).toBeLessThan(1_000);
});
