import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { goJson, stringify } from '../../src/api/go-text.js';
import { NumberLiteral, plainJson, RepeatedMembers } from '../../src/api/json-exact.js';
import { syntaxError } from '../../src/api/json-syntax.js';
import {
  compactJson,
  dumpBody,
  maxDepth,
  maxJsonValues,
  parseJson,
  readJson,
  readJsonInSteps,
} from '../../src/api/json-text.js';
import { countSteps } from '../count-steps.js';

describe('a text that is not JSON is refused with the message of Go', () => {
  test.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['[1,', 'unexpected end of JSON input'],
    ['[tru', "invalid character ' ' in literal true (expecting 'e')"],
    ['-', "invalid character ' ' in numeric literal"],
    ['"\\u00', "invalid character ' ' in \\u hexadecimal character escape"],
    ['this', "invalid character 'h' in literal true (expecting 'r')"],
    ['nope', "invalid character 'o' in literal null (expecting 'u')"],
    ['xyz', "invalid character 'x' looking for beginning of value"],
    ['{} garbage', "invalid character 'g' after top-level value"],
    ['{}{}', "invalid character '{' after top-level value"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a":1,/* c */"b":2}', "invalid character '/' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['01', "invalid character '1' after top-level value"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['"\n"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ])('%j', (text, message) => {
    expect(() => readJson(text)).toThrow(message);
    expect(() => readJson(Buffer.from(text))).toThrow(message);
  });

  test('a byte that is not UTF-8 is reported by its value', () => {
    expect(() => readJson(Buffer.from([0x8e]))).toThrow("invalid character '\\u008e' looking for beginning of value");
  });
});

test('bytes that are not UTF-8 become replacement characters inside strings', () => {
  expect(readJson(Buffer.from([0x22, 0x61, 0xff, 0x22])).value).toBe('a\ufffd');
  expect(readJson('"\\ud800"').value).toBe('\ufffd');
  expect(readJson('"\\ud83d\\ude00"').value).toBe('😀');
});

test('nesting is limited, and deep texts are handled without recursion', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  expect(readJson(nested(maxDepth)).duplicates).toEqual([]);
  expect(() => readJson(nested(maxDepth + 1))).toThrow("invalid character '[' exceeded max depth");
  expect(() => readJson('{"a":'.repeat(1_000_000))).toThrow("invalid character '{' exceeded max depth");
});

test('a text with too many values is refused before it is parsed', () => {
  const list = (items: number): string => `[${'1,'.repeat(items - 1)}1]`;
  expect(readJson(list(maxJsonValues)).value).toHaveLength(maxJsonValues);
  expect(() => readJson(list(maxJsonValues + 1))).toThrow(`exceeded ${maxJsonValues} values`);
  expect(() => readJson(`{"a":[${'{},'.repeat(maxJsonValues)}{}]}`)).toThrow('values');
  expect(readJson(`"${','.repeat(maxJsonValues * 2)}"`).value).toHaveLength(maxJsonValues * 2);
});

test('repeated members are reported once each, in document order, and the last one counts', () => {
  const text = '{"a":1,"b":{"l":1,"l":2,"l":3},"c":[{"x":1},{"x":1,"x":2}],"a":2}';
  const read = readJson(text);
  expect(read.duplicates).toEqual(['duplicate field "b.l"', 'duplicate field "c[1].x"', 'duplicate field "a"']);
  expect(read.value).toEqual({ a: 2, b: { l: 3 }, c: [{ x: 1 }, { x: 2 }] });
  expect(read.exact).toBeInstanceOf(RepeatedMembers);
  expect(plainJson(read.exact)).toEqual(read.value);
});

test('at most a hundred repeated members are reported', () => {
  const members = Array.from({ length: 300 }, (_, i) => `"m${i}":1`).join(',');
  expect(readJson(`{${members},${members}}`).duplicates).toHaveLength(100);
});

test('numbers that JavaScript would print differently keep their text', () => {
  const read = readJson('{"a":10.0,"b":9223372036854775808,"c":3.6e3,"d":1.5,"e":-0.0,"f":12}');
  expect(read.exact).toEqual({
    a: new NumberLiteral('10.0'),
    b: new NumberLiteral('9223372036854775808'),
    c: new NumberLiteral('3.6e3'),
    d: 1.5,
    e: new NumberLiteral('-0.0'),
    f: 12,
  });
  expect(read.value).toMatchObject({ a: 10, c: 3600, d: 1.5 });
  expect(readJson('{"a":1.5}').exact).toEqual({ a: 1.5 });
});

test('minus zero without a fraction is the whole number 0', () => {
  expect(readJson('{"a":-0}')).toEqual(readJson('{"a":0}'));
});

test.each<[string, number | bigint]>([
  ['9007199254740991', 9_007_199_254_740_991],
  ['-9007199254740991', -9_007_199_254_740_991],
  ['9007199254740992', 9_007_199_254_740_992n],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['-9223372036854775808', -(2n ** 63n)],
  ['9223372036854775808', 2 ** 63],
  ['-9223372036854775809', -(2 ** 63)],
  ['9223372036854776000', 2 ** 63],
  ['9007199254740993.0', 2 ** 53],
  ['1e17', 1e17],
])('a whole number within 64 bits keeps its digits, others become floats: %s', (text, value) => {
  expect(readJson(`{"a":[${text}]}`).value).toEqual({ a: [value] });
  expect(parseJson(`{"a":[${text}]}`)).toEqual({ a: [value] });
});

test('a text written by goJson is read back unchanged, wherever a long number stands in it', () => {
  const number = 9_007_199_254_740_993n;
  for (let before = 0; before < 40; before++) {
    for (const value of [number, -number, [number, 'a1234567890123456789b', { b: number }]]) {
      const given = { ['x'.repeat(before)]: value, digits: '1'.repeat(before) };
      expect(parseJson(goJson(given))).toEqual(given);
    }
  }
});

test('parseJson has no limits of depth and length', () => {
  const number = 9_007_199_254_740_993n;
  const deep = `${'['.repeat(maxDepth + 5)}${number}${']'.repeat(maxDepth + 5)}`;
  expect(goJson(parseJson(deep))).toBe(deep);
  const long = [...Array.from({ length: 150_000 }, () => 0), number];
  expect((parseJson(goJson(long)) as readonly unknown[]).at(-1)).toBe(number);
});

test('compacting a text leaves the spelling of its values unchanged', () => {
  const text = '\t{ "a b" : [ 1.50 ,\r\n-0, 9223372036854775807 ], "a b": "\\u003c \\" ", "" : true }\n';
  expect(compactJson(text)).toBe('{"a b":[1.50,-0,9223372036854775807],"a b":"\\u003c \\" ","":true}');
  fc.assert(
    fc.property(
      fc.json(),
      (json) => compactJson(JSON.stringify(JSON.parse(json), null, 2)) === JSON.stringify(JSON.parse(json)),
    ),
  );
});

test('bigints are written as numbers, compact and indented', () => {
  const value = { b: [1, 2n ** 60n, undefined, []], a: undefined, c: {}, d: { e: '<', f: -(2n ** 63n) } };
  expect(goJson(value)).toBe(
    '{"b":[1,1152921504606846976,null,[]],"c":{},"d":{"e":"\\u003c","f":-9223372036854775808}}',
  );
  const plain = JSON.parse(goJson(value));
  expect(JSON.parse(goJson(value, 2))).toEqual(plain);
  expect(goJson(value, 2)).toBe(
    JSON.stringify(plain, null, 2)
      .replace('1152921504606847000', '1152921504606846976')
      .replace('-9223372036854776000', '-9223372036854775808')
      .replace('<', '\\u003c'),
  );
});

test('a number beyond any double is reported', () => {
  expect(readJson('{"a":[1e400]}').numberError).toBe(
    'json: cannot unmarshal number 1e400 into Go value of type float64',
  );
});

test('members named like prototypes are ordinary members', () => {
  const read = readJson('{"__proto__":{"a":1},"constructor":2,"__proto__":{"b":1.0}}');
  expect(Object.keys(read.value as object)).toEqual(['__proto__', 'constructor']);
  expect(read.duplicates).toEqual(['duplicate field "__proto__"']);
  expect(Object.prototype).not.toHaveProperty('b');
});

test('any valid JSON is read as by JSON.parse', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const { value, exact, duplicates } = readJson(text);
      expect(stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
      expect(plainJson(exact)).toEqual(value);
      expect(duplicates).toEqual([]);
      expect(syntaxError(Buffer.from(text), maxDepth)).toBeUndefined();
    }),
  );
});

test.each([
  ['', '<empty>'],
  ['{"a":1}', '{"a":1}'],
  ['[]', '5b5d'],
  [
    'this is not json at all and it is long enough to be cut',
    '74686973206973206e6f74206a736f6e20617420616c6c20616e64206974 ...',
  ],
  ['{"apiVersion":"v1","kind":"ConfigMap"}', '{"apiVersion":"v1","kind":"Con ...'],
])('the beginning of body %j is dumped as %j', (body, shown) => {
  expect(dumpBody(Buffer.from(body))).toBe(shown);
});

test('a long text with exact numbers and repeated members is read in steps', () => {
  const names = Array.from({ length: 15_000 }, (_, n) => `name-${n}`);
  const members = names.map((name) => `"${name}" : "x"`).join(' ,\n');
  const items = names.map((name) => `{"n":"${name}"}`).join();
  const text = ` {"a":{${members},"name-7":1.0},"b":[ ${items}, {"n":10,"n":2e400}] , "c":[ ]}`;
  const { pauses, result } = countSteps(readJsonInSteps(text));
  const { a, b, c } = JSON.parse(text) as { a: object; b: object[]; c: object };
  expect(result.value).toEqual({ a, b: [...b.slice(0, -1), { n: Number.POSITIVE_INFINITY }], c });
  expect(result.duplicates).toEqual(['duplicate field "a.name-7"', 'duplicate field "b[15000].n"']);
  expect(result.numberError).toContain('2e400');
  expect((result.exact as { readonly a: unknown }).a).toBeInstanceOf(RepeatedMembers);
  expect(pauses).toBeGreaterThan(10);
});
