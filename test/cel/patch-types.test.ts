import { expect, test } from 'vitest';
import { goSyntax, goTypeName, goValue } from '../../src/api/go-print.js';
import type { Json } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { policyCompiler } from '../../src/cel/environments/admission.js';
import { jsonValue } from '../../src/cel/json-values.js';
import { PatchStruct } from '../../src/cel/patch-types.js';
import { configurationOf, patchValueOf } from '../../src/cel/patch-values.js';
import { isList, type Value } from '../../src/cel/values.js';

const compiler = policyCompiler({ hasParams: false, hasVariables: false });
const object = jsonValue({ l: [1, [2]], m: { n: { o: 1.5 } } });

function evaluated(prepared: ReturnType<typeof compiler.configuration>): Value {
  const made = runSync(prepared);
  if (made.wrong !== undefined) throw new Error(made.wrong);
  return made.program.evaluate((name) => (name === 'object' ? object : undefined)).value;
}
const room = () => ({ values: 1_000, bytes: 1_000 });

/** Returns the value that `Object{f: <expression>}` merges. */
function merged(expression: string): Json | undefined {
  const value = evaluated(compiler.configuration(`Object{f: ${expression}}`));
  if (!(value instanceof PatchStruct)) throw new Error('no object');
  return runSync(configurationOf(value, room()))['f'];
}
/** Returns the value that `JSONPatch{value: <expression>}` sets. */
function set(expression: string): Json {
  const value = evaluated(compiler.operations(`[JSONPatch{value: ${expression}}]`));
  const operation = isList(value) ? value.at(0) : undefined;
  if (!(operation instanceof PatchStruct)) throw new Error('no operation');
  return runSync(patchValueOf(operation.get('value') ?? null, room()));
}

test.each<[string, Json, Json]>([
  ['"text"', 'text', 'text'],
  ['true', true, true],
  ['7', 7, 7],
  ['9007199254740993', 9007199254740993n, '9007199254740993'],
  ['18446744073709551615u', 18446744073709551615n, '18446744073709551615'],
  ['1.5', 1.5, 1.5],
  ['[1, 2].map(x, x * 2)', [2, 4], [2, 4]],
  ['{"a": "b"}', { a: 'b' }, { a: 'b' }],
  ['object.l', [1, [2]], [1, [2]]],
  ['object.m', { n: { o: 1.5 } }, { n: { o: 1.5 } }],
  ['{"a": object.m}', { a: { n: { o: 1.5 } } }, { a: { n: { o: 1.5 } } }],
  ['object.l + [3]', [1, [2], 3], [1, [2], 3]],
  ['Object.f{a: Object.f.a{b: 1}}', { a: { b: 1 } }, { a: { b: 1 } }],
  ['[Object.f{a: 1}]', [{ a: 1 }], [{ a: 1 }]],
  ['optional.of([1])', [1], [1]],
])('%s becomes JSON in a merge and in a JSON patch', (expression, asMerged, asSet) => {
  expect(merged(expression)).toEqual(asMerged);
  expect(set(expression)).toEqual(asSet);
});

/** Recorded with kube-apiserver 1.36.3. */
test.each([
  ['null', null, 'structpb.NullValue', 'NULL_VALUE', '0'],
  ['b"abc"', 'YWJj', '[]uint8', '[97 98 99]', '[]uint8{0x61, 0x62, 0x63}'],
  ['duration("90s")', '90s', 'time.Duration', '1m30s', '90000000000'],
  [
    'timestamp("2024-01-01T00:00:00+02:00")',
    '2024-01-01T00:00:00+02:00',
    'time.Time',
    '2024-01-01 00:00:00 +0200 +0200',
    undefined,
  ],
  [
    'timestamp("2024-01-01T00:00:00Z")',
    '2024-01-01T00:00:00Z',
    'time.Time',
    '2024-01-01 00:00:00 +0000 UTC',
    'time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)',
  ],
])('%s becomes JSON in a JSON patch, but a Go value in a merge', (expression, asSet, type, value, syntax) => {
  expect(set(expression)).toEqual(asSet);
  const foreign = merged(expression) ?? 1;
  expect([goTypeName(foreign), goValue(foreign)]).toEqual([type, value]);
  if (syntax !== undefined) expect(goSyntax(foreign)).toBe(syntax);
});

test('nested lists and maps written as literals become Go values in a merge', () => {
  const [list, map] = [merged('[["a"]]'), merged('{"x": {"y": "z"}}')];
  expect(goSyntax((list as readonly Json[])[0] ?? null)).toBe('[]ref.Val{"a"}');
  expect(goSyntax((map as { readonly x: Json }).x)).toBe('map[ref.Val]ref.Val{"y":"z"}');
  expect(goValue((map as { readonly x: Json }).x)).toBe('map[y:z]');
});

test('only the beginning of a value that cannot be merged is printed', () => {
  const text = `"${'x'.repeat(90)}"`;
  const list = merged(`[[${Array(20).fill(text).join()}]]`) as readonly Json[];
  for (const told of [goValue(list[0] ?? null), goSyntax(list[0] ?? null)]) {
    expect(told).toHaveLength(1_003);
    expect(told.endsWith('x...')).toBe(true);
  }
});

test.each([
  ['type(1)', "type conversion not supported for 'type'"],
  ['optional.none()', 'optional.none() dereference'],
  ['{1: "x"}', "unsupported type conversion from 'int' to string"],
  ['{true: "x"}', "type conversion error from bool to 'string'"],
  ['ip("127.0.0.1")', "type conversion error from 'IP' to '*structpb.Value'"],
  ['quantity("1k")', "type conversion error from 'Quantity' to '*structpb.Value'"],
])('%s cannot be used in a JSON patch', (expression, why) => {
  expect(() => set(expression)).toThrow(why);
});

test('an object with a map key that is not a string cannot be merged', () => {
  expect(() => merged('{1: "x"}')).toThrow('invalid return type: *dynamic.ObjectVal');
  const outer = merged('Object.f{labels: {1: "x"}}') ?? null;
  expect(goValue(outer)).toBe(`fail to convert field "labels": map key '\\x01' is of type types.Int, not string`);
});

test.each([
  '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(a, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(b, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))',
  `"${'x'.repeat(1_001)}"`,
  `{"${'x'.repeat(1_001)}": 1}`,
])('a result that is too large is not written out', (expression) => {
  expect(() => set(expression)).toThrow('the result of the expression is too large');
});

test.each([
  ['configuration', 'Object.spec{}', 'must evaluate to Object but got Object.spec'],
  ['configuration', 'object', 'must evaluate to Object but got dyn'],
  ['configuration', 'type(Object{}) == Object ? Object{} : Object{}', 'reference to undefined type: Object'],
  ['configuration', 'Objects{}', "undeclared reference to 'Objects'"],
  ['operations', '[]', 'must evaluate to list(JSONPatch) but got list(dyn)'],
  ['operations', '[JSONPatch{foo: 1}]', "expected type of field 'foo' is '' but provided type is 'int'"],
  ['validation', 'Object{} == null', "undeclared reference to 'Object'"],
  ['condition', 'jsonpatch.escapeKey("a") == "a"', "undeclared reference to 'jsonpatch'"],
] as const)('in the role of %s, %s does not compile', (place, expression, why) => {
  expect(runSync(compiler[place](expression)).wrong).toContain(why);
});

test('escapeKey escapes keys of paths', () => {
  expect(set('jsonpatch.escapeKey("a/b~c~1")')).toBe('a~1b~0c~01');
});
