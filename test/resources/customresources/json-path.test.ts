import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonPathFault, parseJsonPath, TextByte } from '../../../src/resources/customresources/json-path.js';

const object = {
  spec: { a: 'x', l: [1, 2, 3, 4], m: { 'a.b': 1 }, n: null },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', n: 1 },
      { type: 'Odd', status: 'False', n: 5 },
    ],
  },
};

test.each<[string, readonly unknown[] | undefined]>([
  ['.spec.a', ['x']],
  ['$.spec.a', ['x']],
  ["['spec'].a", ['x']],
  ['.spec.missing', []],
  ['.spec.a.b', []],
  ['.spec.n', [null]],
  ['.spec.l[0]', [1]],
  ['.spec.l[-1]', [4]],
  ['.spec.l[1:3]', [2, 3]],
  ['.spec.l[::2]', [1, 3]],
  ['.spec.l[*]', [1, 2, 3, 4]],
  ['.spec.l[0,2]', [1, 3]],
  ['.spec.l[9]', undefined],
  ['.spec.a[0]', undefined],
  [".spec.m['a\\.b']", [1]],
  ['.spec.m.a\\.b', [1]],
  ['.spec.m.*', [1]],
  ['.spec.a.*', ['120']],
  ['.spec.a.*.x', []],
  ['.spec.a.*.*', []],
  ['.spec.a.*..', []],
  ['.spec.a..', ['x']],
  ['.spec.l..', [[1, 2, 3, 4]]],
  ['.spec.l..[0]', [1]],
  ['.status.conditions..[0]', undefined],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type!='Ready')].status", ['False']],
  ['.status.conditions[?(@.n>=5)].type', ['Odd']],
  ['.status.conditions[?(@.n)].type', ['Ready', 'Odd']],
  ['.status.conditions[?(@.n<1.5)].type', undefined],
  ['.status.conditions[?(@.n==1.0)].type', undefined],
  ['.status.conditions[?(@.n<9223372036854775808)].type', undefined],
  ['.status.conditions[?(@.n<9223372036854775807)].type', ['Ready', 'Odd']],
  ['.status.conditions[?(@.n==+1)].type', ['Ready']],
  ['.status.conditions[?(1.0==1.)].type', ['Ready', 'Odd']],
  ['.status.conditions[?(@.n==true)].type', undefined],
  ['.status.conditions[?(@.n=="x")].type', undefined],
  // Words are accepted, and select nothing.
  ['.spec.l 1.0', [1]],
  ['.spec.my field', undefined],
  [".status.conditions[?(@.type in 'a')].type", ['Ready', 'Odd']],
  ['.spec.a}', ['x']],
  ['.spec.a} b', ['x']],
  ['.spec.\\*', []],
  ['..status', ['True', 'False']],
])('%s', (path, found) => {
  const values = parseJsonPath(path)?.find(object);
  const shown = values?.map((value) => (value instanceof TextByte ? String(value) : value));
  expect(path === '..status' ? shown?.slice(-2) : shown).toEqual(found);
});

test.each([
  '.spec[',
  '.spec[x]',
  '.a[?(@.b=="c"]',
  '....',
  '{.a}',
  '.a[1:2:3:4]',
  '.a "open',
  '.a\\',
  '.a ~',
  '[?(@.a==)]x',
  '.a[?(@.b=~"c")]',
])('%s is an invalid path', (path) => {
  expect(parseJsonPath(path)).toBeUndefined();
});

test.each([`.l[${Array(400).fill('0:').join()}][*]`, `${'..*'.repeat(300)}.x`])(
  'a path with too many values yields nothing: %.30s',
  (path) => {
    const l = Array.from({ length: 2_000 }, () => 'ab'.repeat(100));
    const nested = Array.from({ length: 200 }).reduce((inner) => ({ a: inner, b: inner }), l);
    expect(parseJsonPath(path)?.find({ l, nested })).toBeUndefined();
  },
);

test('neither paths nor objects make it throw', () => {
  const piece = fc.constantFrom(
    '.',
    '..',
    'a',
    '[',
    ']',
    '*',
    '0',
    ':',
    '-',
    ',',
    "'",
    '"',
    '?(',
    ')',
    '@',
    '==',
    ' ',
    '\\',
    '$',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.jsonValue(), (pieces, value) => {
      parseJsonPath(pieces.join(''))?.find(value);
    }),
    { numRuns: 1_000 },
  );
});

test.each<[string, string | undefined]>([
  ['spec.validations[0].expression', undefined],
  ['a}{b', undefined],
  ['a....b', 'invalid multiple recursive descent'],
  ['a[0', 'unterminated array'],
  ['a[0,x]', 'invalid array index x'],
  ['a[99999999999999999999]', 'array index 99999999999999999999 is not a number'],
  ['a[?(@.b', 'unterminated filter'],
  ['a[?(@.b)x', 'unclosed array expect ]'],
  ['"x', 'unterminated quoted string'],
  ["'x\\z'", "unquote string 'x\\z' error invalid syntax"],
  ["'x\\z", 'unterminated quoted string'],
  ['1.2.3', 'cannot parse number 1.2.3'],
  ['.a\\', 'unclosed action'],
  ['a\nb', 'unclosed action'],
  ['a,b', "unrecognized character in action: U+002C ','"],
  ['\u0001', 'unrecognized character in action: U+0001'],
  ['😀', "unrecognized character in action: U+1F600 '😀'"],
])('the reason why a path is invalid: %j', (text, why) => {
  expect(jsonPathFault(text)).toBe(why);
});
