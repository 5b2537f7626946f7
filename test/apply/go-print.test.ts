import { expect, test } from 'vitest';
import type { Json } from '../../src/api/object.js';
import { goNumber, goSyntax, goTypeName, goValue } from '../../src/apply/go-print.js';

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

test.each<[number, string, string]>([
  [1, '1', '1'],
  [1.5, '1.5', '1.5'],
  [100_000, '100000', '100000'],
  [1_000_000, '1e+06', '1000000'],
  [123_456_789, '1.23456789e+08', '123456789'],
  [0.0001, '0.0001', '0.0001'],
  [0.00001, '1e-05', '1e-05'],
  [-2.5e-10, '-2.5e-10', '-2.5e-10'],
  [1e100, '1e+100', '1e+100'],
])('%d', (value, float, int) => {
  expect(goNumber(value, 'float')).toBe(float);
  expect(goNumber(value, 'int')).toBe(int);
});

test('types', () => {
  expect([null, 'x', true, [], {}, 1, 1.5].map((value) => goTypeName(value as Json, 'int'))).toEqual([
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
