import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NumberLiteral } from '../../src/api/json-exact.js';
import { maxDepth, parseJson } from '../../src/api/json-text.js';
import type { Json } from '../../src/api/object.js';
import { maxYamlBytes, readStrictYaml, readYaml, strictWarnings, YamlError } from '../../src/api/yaml.js';
import { writeYaml, writeYamlInSteps } from '../../src/api/yaml-writer.js';
import { countSteps } from '../count-steps.js';

test('escapes that only look like ones unsupported by go-yaml are read from JSON', async () => {
  expect((await readYaml('{"a":"\\\\/","b":"\\u00e9\\\\ud800"}')).value).toEqual({ a: '\\/', b: 'é\\ud800' });
});

describe('a scalar has the value that Kubernetes gives it', () => {
  test.each<[string, Json]>([
    ['yes', true],
    ['n', false],
    ['Off', false],
    ['yEs', 'yEs'],
    ['"yes"', 'yes'],
    ['~', null],
    ['', null],
    ['12', 12],
    ['1_000', 1000],
    ['017', 15],
    ['0o17', 15],
    ['0x1F', 31],
    ['0b101', 5],
    ['08', 8],
    ['+1', 1],
    ['1.50', 1.5],
    ['1e3', 1000],
    ['.5', 0.5],
    ['.2_5e1', 2.5],
    ['.2_e1', '.2_e1'],
    ['1e400', '1e400'],
    ['1:30', '1:30'],
    ['2001-01-01', '2001-01-01'],
    ['2001-01-01T00:00:00Z', '2001-01-01T00:00:00Z'],
    ['1.2.3', '1.2.3'],
    ['!!str 5', '5'],
    ['!!int "5"', 5],
    ['!!float 5', 5],
    ['!!binary aGk=', 'hi'],
    ['!custom x', 'x'],
    ['|\n  a\n  b\n', 'a\nb\n'],
    ['>-\n  a\n  b\n', 'a b'],
    ['|\n  a\n  b', 'a\nb'],
    ['|+\n  a', 'a'],
    ['|-\n  a', 'a'],
    ['>\n  a\n  b', 'a b'],
    ['|\n  a\n  ', 'a\n'],
    ['|\n  a\n   ', 'a\n '],
    ['\n- |\n  a\n- |\n  b', ['a\n', 'b']],
    ['|\n  a\n# b', 'a\n'],
    ['|\r\n  a\r\n  b', 'a\nb'],
    ['"a\\\r\n  b"', 'ab'],
    ['[a, {b: c}]', ['a', { b: 'c' }]],
    ['18446744073709551616', 2 ** 64],
    ['"a \u0085 b"', 'a b'],
    ['"a \\\n  \n\n  b \\\n c\\\\\n\n d"', 'a \n\nb c\\\nd'],
    ['{"l": "a \u2028\t \u2029 b"}', { l: 'a\u2028\u2029b' }],
  ])('%j is %j', async (text, value) => {
    expect((await readYaml(`k: ${text}`)).value).toEqual({ k: value });
  });

  test.each([
    ['.inf: 1\n.nan: 2\n-.inf: 3', { '.inf': 1, '.nan': 2, '-.inf': 3 }],
    ['1.23456789: x\n1e-7: w', { '1.2345679': 'x', '1e-07': 'w' }],
    ['3.4e39: x\n1234567.0: z', { '.inf': 'x', '1.234567e+06': 'z' }],
    ['d: .nan\nd: 1', { d: 1 }],
  ])('a float as a member name has 32 bits: %j', async (text, value) => {
    expect((await readYaml(text)).value).toEqual(value);
  });

  test('line breaks of YAML 1.1 are line breaks in JSON as well', async () => {
    const text = '{"a": "x \u2028 y", "b": "x\u0085y", "c": "x \\u2028 y"}';
    expect((await readYaml(text)).value).toEqual({ a: 'x\u2028y', b: 'x y', c: 'x \u2028 y' });
  });

  test('long blanks beside a line separator are read in linear time', async () => {
    const blanks = ' '.repeat(500_000);
    expect((await readYaml(`{"a": "x${blanks}\u2028${blanks}y"}`)).value).toEqual({ a: 'x\u2028y' });
  });

  test('whole numbers keep their digits within 64 bits', async () => {
    expect((await readYaml('a: 9223372036854775808')).exact).toEqual({ a: new NumberLiteral('9223372036854775808') });
    expect((await readYaml('{"a": 10.0, "b": 9007199254740993}')).exact).toEqual({
      a: 10,
      b: 9_007_199_254_740_993n,
    });
    const floats = { a: 10n ** 16n, b: -(10n ** 16n), c: 2n ** 53n, d: 1e19 };
    expect((await readYaml('{"a": 1e16, "b": -1e16, "c": 9007199254740993.0, "d": 1e19}')).exact).toEqual(floats);
    expect((await readYaml('a: 1e16\nb: -1e16\nc: 09007199254740992\nd: 1e19')).exact).toEqual(floats);
  });

  test.each<[string, bigint | number]>([
    ['1.2345678901234567e18', 1_234_567_890_123_456_800n],
    ['9223372036854774784.0', 9_223_372_036_854_775_000n],
    // The shortest digits of -2^63 are beyond 64 bits.
    ['-9223372036854775809', -(2 ** 63)],
    ['-9223372036854775808.0', -(2 ** 63)],
    ['-9223372036854775808', -(2n ** 63n)],
  ])('a float becomes a whole number by its shortest digits: %s', async (text, value) => {
    expect((await readYaml(`a: ${text}`)).exact).toEqual({ a: value });
  });
});

test('member names become text, and members are sorted', async () => {
  const { value } = await readYaml('z: 1\n1: a\nyes: b\n1.5: c\n"q": d\n__proto__: e\n');
  expect(Object.entries(value as object)).toEqual([
    ['1', 'a'],
    ['1.5', 'c'],
    ['__proto__', 'e'],
    ['q', 'd'],
    ['true', 'b'],
    ['z', 1],
  ]);
});

test('indentation within braces, brackets and quotes does not matter', async () => {
  expect((await readYaml('a:\n  b: {c: d,\n e: [f,\n\tg\n],\n h: "i\nj"\n}\nk: \'l\n  m\'\n')).value).toEqual({
    a: { b: { c: 'd', e: ['f', 'g'], h: 'i j' } },
    k: 'l m',
  });
  expect((await readYaml('a:\n  b: "c\n  "\nd: \'e\n\'\n')).value).toEqual({ a: { b: 'c ' }, d: 'e ' });
  await expect(readYaml('a: {b: c,\nd: "e}\n')).rejects.toThrow('yaml: line 3: found unexpected end of stream');
  expect((await readYaml('a:\n- - b: {\nc: d\n}\n- e\n')).value).toEqual({ a: [[{ b: { c: 'd' } }], 'e'] });
  const names = Array.from({ length: 500 }, (_, at) => `n${at}`);
  const { value } = await readYaml(`a:\n  b: [ # {\n${names.join(',\n')}\n]\n  c: "${names.join('\n')}"\nd: e\n`);
  expect(value).toEqual({ a: { b: names, c: names.join(' ') }, d: 'e' });
});

test('a name in braces may span lines if no colon follows or a question mark precedes it', async () => {
  expect((await readYaml('a: {x y\n  z, b: c}')).value).toEqual({ a: { 'x y z': null, b: 'c' } });
  expect((await readYaml('a: {? b\n  : c}')).value).toEqual({ a: { b: 'c' } });
  const names = Array.from({ length: 5_000 }, (_, at) => `?${' '.repeat(20)}n${at}\n  ${'#'.repeat(100)}\n  : 1`);
  expect(Object.keys((await readYaml(`a: {${names.join()}}`)).value as object)).toEqual(['a']);
});

test('a faulty long text is refused in linear time', async () => {
  await expect(readYaml(`a: ${'\\"'.repeat(200_000)}\n\tb: [`)).rejects.toThrow(YamlError);
  await expect(readYaml(`{a: ${'b\n'.repeat(200_000)}:c`)).rejects.toThrow(YamlError);
  await expect(readYaml(`a: {b: ${'[{'.repeat(100)}\n${'x\n'.repeat(5_000)}`)).rejects.toThrow(YamlError);
});

test.each([
  ["'a''b", ''],
  ["'a''b\n", 'line 2: '],
  ["'''", ''],
  ["a: '''", ''],
  ['"a\\"', ''],
  ['x: 1\na: "b\n  c\\"\n', 'line 4: '],
  ["'f\nk: ''d", 'line 2: '],
  ["'d''\n  : &a k: {", 'line 2: '],
])('escaped quotes do not end a string: %j', async (text, line) => {
  let turns = 0;
  const turn = async (): Promise<void> => {
    if (++turns > 10) throw new Error('reads on and on');
  };
  await expect(readYaml(text, turn)).rejects.toThrow(new YamlError(`yaml: ${line}found unexpected end of stream`));
  expect(turns).toBeLessThan(10);
});

describe('YAML 1.1 is read as libyaml reads it', () => {
  test.each<[string, Json]>([
    // Comments and the ends of documents.
    ['a: "b"# c', { a: 'b' }],
    ['[a,#b\n]', ['a']],
    ['a: |#b\n  c\n', { a: 'c\n' }],
    ['a: b\n... c', { a: 'b' }],
    ['a: b\n%YAML 1.2\n---\n', { a: 'b' }],
    ['%YAML 1.1#a\n---\nb', 'b'],
    ['a # b\nc', 'a'],
    // Quotes.
    [String.raw`"it\'s \x41\u00e9\U0001f600\N\_\e\0"`, "it's Aé😀\x85\xa0\x1b\0"],
    ['"a\\\n\n  b"', 'a\nb'],
    ["'a\n\n\n  b '", 'a\n\nb '],
    // Plain scalars, and signs in braces and brackets.
    ['[-, -a, a-b]', ['-', '-a', 'a-b']],
    ['[-]', ['-']],
    ['{?a: b}', { a: 'b' }],
    ['[?a]', [{ a: null }]],
    ['[a: b, c]', [{ a: 'b' }, 'c']],
    ['{a:, b: 1}', { 'a:': null, b: 1 }],
    ['a: &b:c d', { a: ':c d' }],
    ['a: http://b:1/#c', { a: 'http://b:1/#c' }],
    ['a:\n- b\n-\n- - c\nd: e', { a: ['b', null, ['c']], d: 'e' }],
    ['? a\n: b\n? c', { a: 'b', c: null }],
    // Block scalars.
    ['--- >\na\n', ''],
    ['a: >\n \n  \n # b\n', { a: '' }],
    ['a: >2\n    b\n   c\n  d\n', { a: '  b\n c\nd\n' }],
    ['- |+\n   ', ['']],
    ['a: >+\n  b\n  c\n\n   d\n\n', { a: 'b c\n\n d\n\n' }],
    // Tags and anchors.
    ['- !!str, a', ['a']],
    ['!<tag:yaml.org,2002:str> 1', '1'],
    ['%TAG !e! tag:yaml.org,2002:\n---\n!e!str 1', '1'],
    ['!!s%74r 1', '1'],
    ['&a !!str &b', ''],
    ['- &a [b]\n- *a\n- &a c\n- *a', [['b'], ['b'], 'c', 'c']],
    // Line breaks of YAML 1.1, which other versions do not have.
    ['a: b # c\u2028d: e', { a: 'b', d: 'e' }],
    ['a: |\n  b\u2028  c\u2029', { a: 'b\u2028c\u2029' }],
  ])('%j', async (text, value) => {
    expect((await readYaml(text)).value).toEqual(value);
  });

  test.each([
    // Tabs.
    ['a:\n \tb', 'line 2: found character that cannot start any token'],
    ['-\ta', 'found character that cannot start any token'],
    ['\t{}', 'found character that cannot start any token'],
    ['a: |\n \tb', 'line 2: found a tab character where an indentation space is expected'],
    ['a: b\n\tc', 'line 2: found a tab character that violates indentation'],
    // Names and values.
    ['a: b: c', 'mapping values are not allowed in this context'],
    ['a:\n  - b\n c', 'line 2: did not find expected key'],
    ['- a\nb', "line 3: could not find expected ':'"],
    ['a: - b', 'block sequence entries are not allowed in this context'],
    ['a: "b" ? c', 'mapping keys are not allowed in this context'],
    ['a: "b" c', 'did not find expected key'],
    ['- a\n b: c', 'line 2: mapping values are not allowed in this context'],
    [`{"${'a'.repeat(1_100)}": 1}`, "did not find expected ',' or '}'"],
    [`{"${String.raw`\"`.repeat(550)}": 1}`, "did not find expected ',' or '}'"],
    ['? []: a', 'did not find expected key'],
    // Braces and brackets.
    ['{a: b\n', "line 1: did not find expected ',' or '}'"],
    ['[a?b]', "did not find expected ',' or ']'"],
    ['[:a]', 'did not find expected node content'],
    ['[a, , b]', 'did not find expected node content'],
    // Scalars.
    ['a: "\\q"', 'found unknown escape character'],
    ['a: "\\u12"', 'did not find expected hexdecimal number'],
    ['a: "\\ud800"', 'found invalid Unicode character escape code'],
    ['"a\n---\n"', 'line 2: found unexpected document indicator'],
    ['a: |0\n', 'found an indentation indicator equal to 0'],
    ['a: > b', 'did not find expected comment or line break'],
    ['@a', 'found character that cannot start any token'],
    // Anchors, tags and directives.
    ['&é a', 'did not find expected alphabetic or numeric character'],
    ['!a{} b', 'did not find expected whitespace or line break'],
    ['!e!a b', 'found undefined tag handle'],
    ['!<a b', "did not find the expected '>'"],
    ['!%4 a', 'did not find URI escaped octet'],
    ['!%ff a', 'found an incorrect leading UTF-8 octet'],
    ['!%c3%41 a', 'found an incorrect trailing UTF-8 octet'],
    ['%YAML 1.2\n---\n', 'found incompatible YAML document'],
    ['%YAML 1.1\n%YAML 1.1\n---\n', 'line 1: found duplicate %YAML directive'],
    ['%YAML 1\n', "did not find expected digit or '.' character"],
    ['%YAML 111.1\n', 'found extremely long version number'],
    ['%TAG !a! b\n%TAG !a! c\n---\n', 'line 1: found duplicate %TAG directive'],
    ['%TAG a b\n', "did not find expected '!'"],
    ['%a b\n', 'found unknown directive name'],
    ['%YAML 1.1\na', 'line 1: did not find expected <document start>'],
    ['...\na', 'did not find expected node content'],
    // Values that have no form in JSON, which count after everything else.
    ['{? {: a} : b, c: *d}', 'did not find expected node content'],
    ['? &a : b\n? [c] : d', 'invalid map key: map[interface {}]interface {}{interface {}(nil):"b"}'],
    ['? [c]\n: d', 'invalid map key: []interface {}{"c"}'],
    ['a: &a {<<: *a}', "anchor 'a' value contains itself"],
    ['!!int 2001-01-01', 'cannot decode !!str `2001-01-01` as a !!int'],
  ])('%j is refused', async (text, problem) => {
    await expect(readYaml(text)).rejects.toThrow(new YamlError(`yaml: ${problem}`));
  });

  test.each([
    ['utf-16le', [0xff, 0xfe]],
    ['utf-16be', [0xfe, 0xff]],
  ] as const)('a text in %s begins with a byte order mark', async (encoding, mark) => {
    const bytes = Buffer.from('a: é😀\n', 'utf16le');
    if (encoding === 'utf-16be') bytes.swap16();
    expect((await readYaml(Buffer.concat([Buffer.from(mark), bytes]))).value).toEqual({ a: 'é😀' });
    await expect(readYaml(Buffer.concat([Buffer.from(mark), bytes.subarray(1)]))).rejects.toThrow(YamlError);
  });

  test('a repeated name is reported with the line of its value, or of the colon if there is none', async () => {
    const { duplicates } = await readYaml('a: 1\na:\n  2\na:\nb: 1');
    expect(strictWarnings(duplicates)).toEqual([
      'line 3: key "a" already set in map',
      'line 4: key "a" already set in map',
    ]);
  });
});

test('any text of special characters is read in a few turns', async () => {
  const quotes = ["'", "''", '"', '\\"'];
  const others = ['\\', 'a', ': ', '{', '}', '[', ']', ',', ' ', '\n', '- ', '#', '!', '&a ', '*a', '| ', '? '];
  const sign = fc.oneof(fc.constantFrom(...quotes), fc.constantFrom(...others));
  await fc.assert(
    fc.asyncProperty(fc.array(sign, { maxLength: 12 }), async (parts) => {
      let turns = 0;
      const turn = async (): Promise<void> => {
        if (++turns > 10) throw new Error('reads on and on');
      };
      await readYaml(parts.join(''), turn).catch((error: unknown) => {
        if (!(error instanceof YamlError)) throw error;
      });
      expect(turns).toBeLessThan(10);
    }),
    { numRuns: 3_000 },
  );
});

test('only the first document is read', async () => {
  expect((await readYaml('---\na: 1\n---\nb: [')).value).toEqual({ a: 1 });
  expect((await readYaml('  a: 1\n  c: 2\nb: [')).value).toEqual({ a: 1, c: 2 });
  expect((await readYaml('{"a": 1}{"b": [')).value).toEqual({ a: 1 });
  expect((await readYaml('{a: 1}, {b: [')).value).toEqual({ a: 1 });
  expect((await readYaml('{a: 1},\nb: 2')).value).toEqual({ a: 1 });
  expect((await readYaml('"a"]')).value).toBe('a');
  expect((await readYaml('a: 1\rb: 2\r')).value).toEqual({ a: 1, b: 2 });
  expect((await readYaml('')).value).toBeNull();
  expect((await readYaml('\ufeffa: 1')).value).toEqual({ a: 1 });
});

describe('the strict reader refuses anything behind the first document', () => {
  test.each([
    [' a: 1\nb: 2\nc: 3', 2],
    ['{a: 1}\nb: 2', 2],
    ['{"a": 1}\n# c\n{"b": 2}', 3],
    ['{"a": 1}{"b": 2}', 1],
    ['{"a": 1}}', 1],
    ['a: 1\n...\nb: 2', 3],
    ['a: 1\n...\n...\n%YAML 1.1\n---\nb: 2', 4],
    ['# c\n---\na: 1\n--- # c\n\nb: 2', 6],
    ['---\n---\nb: 2', 3],
    ['---\n--- b', 2],
    ['a: 1\n---\n---\nb: [', 4],
  ])('%j', async (text, line) => {
    expect((await readYaml(text)).lineBehind()).toBe(line);
    await expect(readStrictYaml(text)).rejects.toThrow(`must be one document: line ${line} has more behind its end`);
  });

  test.each([
    '# c\n---\na: 1\n# c\n\n',
    'a: 1\n... # c\n# c\n',
    'a: 1\n...\n...\n',
    '%YAML 1.1\n---\na: 1\n',
    'a: 1\n---\n',
    '  a: 1\n # c\n# c\n',
    '{"a": 1}\n',
    '{a: 1} # c\n# c\n...\n',
    '{a:\n1}\n# c\n',
  ])('%j is one document', async (text) => {
    expect(await readStrictYaml(text)).toEqual({ a: 1 });
  });
});

test('anchors, aliases and merges are resolved', async () => {
  expect((await readYaml('a: &x {p: 1, q: 2}\nb: *x\nc:\n  <<: *x\n  q: 3\nd:\n  <<: [{q: 9}, *x]\n')).value).toEqual({
    a: { p: 1, q: 2 },
    b: { p: 1, q: 2 },
    c: { p: 1, q: 3 },
    d: { p: 1, q: 9 },
  });
  expect((await readYaml('a: &x 1\nb: &x 2\nc: *x')).value).toEqual({ a: 1, b: 2, c: 2 });
});

test('repeated names are reported with the line of the value', async () => {
  const read = await readYaml(
    'apiVersion: v1\nspec:\n  a: one\n  a: two\n  b:\n    - x: 1\n      x:\n        w: 2\n1: a\n1: b\n',
  );
  expect(read.duplicates).toEqual([
    'yaml: unmarshal errors:\n  line 4: key "a" already set in map\n  line 8: key "x" already set in map\n  line 10: key 1 already set in map',
  ]);
  expect(strictWarnings([...read.duplicates, 'unknown field "x"'])).toEqual([
    'line 4: key "a" already set in map',
    'line 8: key "x" already set in map',
    'line 10: key 1 already set in map',
    'unknown field "x"',
  ]);
  expect(read.value).toMatchObject({ spec: { a: 'two', b: [{ x: { w: 2 } }] } });
  // The rest of the text is ignored.
  for (const text of ['{"a":1}}', '{"a":1}x', '{"a":1},']) expect((await readYaml(text)).value).toEqual({ a: 1 });
  expect((await readYaml('{"a": 1, "a": 2}')).duplicates).toEqual([
    'yaml: unmarshal errors:\n  line 1: key "a" already set in map',
  ]);
});

test.each([
  ['a: b: c', 'yaml: mapping values are not allowed in this context'],
  ['x: 1\na: b: c', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a: @b', 'yaml: found character that cannot start any token'],
  ['{"a":"\\/"}', 'yaml: found unknown escape character'],
  ['{"a":\n"b\\\\\\/"}', 'yaml: line 2: found unknown escape character'],
  ['{"a":"\\ud83d\\ude00"}', 'yaml: found invalid Unicode character escape code'],
  ['x: 1\ny: "\\uD800"', 'yaml: line 2: found invalid Unicode character escape code'],
  ['\t', 'yaml: found character that cannot start any token'],
  ['# x\n\t', 'yaml: line 2: found character that cannot start any token'],
  ['a:\n\tb: c', 'yaml: line 2: found character that cannot start any token'],
  ['a: "x"\n\tb: c', 'yaml: line 2: found character that cannot start any token'],
  ['a:\n  b: c\n\td: e', 'yaml: line 3: found a tab character that violates indentation'],
  ['a: {b: c}\n\td: e', 'yaml: line 2: found character that cannot start any token'],
  ['- {,}', 'yaml: did not find expected node content'],
  ['- }x', 'yaml: did not find expected node content'],
  [']a', 'yaml: did not find expected node content'],
  ['-\nz: 1', 'yaml: line 1: did not find expected node content'],
  ['"q": 1\n]', 'yaml: line 1: did not find expected key'],
  ['{a: b}: [', 'yaml: line 1: did not find expected node content'],
  ['a: {x\nz: 1\n', "yaml: line 1: did not find expected ',' or '}'"],
  ['a: {x\n  z: 1}', "yaml: line 1: did not find expected ',' or '}'"],
  ['a: {b\n\n  c: d}', "yaml: line 2: did not find expected ',' or '}'"],
  ['a: {"b"\n  : c}', "yaml: line 1: did not find expected ',' or '}'"],
  ['a: {b # c\n  : d}', "yaml: line 1: did not find expected ',' or '}'"],
  ['x: 1\ny: [a,', 'yaml: line 2: did not find expected node content'],
  ['{"a":1', "yaml: line 1: did not find expected ',' or '}'"],
  ['{', 'yaml: line 1: did not find expected node content'],
  ['{"a":[1]', "yaml: line 1: did not find expected ',' or '}'"],
  ['{"a":{"b":1},\n"c":[1,\n2]\n', "yaml: line 3: did not find expected ',' or '}'"],
  ['[{"a":1}', "yaml: line 1: did not find expected ',' or ']'"],
  ['[1,2\n', "yaml: line 1: did not find expected ',' or ']'"],
  ['{"a":1]', "yaml: did not find expected ',' or '}'"],
  ['{"a":"b"c"}', "yaml: did not find expected ',' or '}'"],
  ['{"a":{"b":1}x}', "yaml: did not find expected ',' or '}'"],
  ['{\n "a": 1\n "b": 2\n}', "yaml: line 2: did not find expected ',' or '}'"],
  ['{"a":1,,"b":2}', 'yaml: did not find expected node content'],
  ['- a\nb: c', "yaml: line 1: did not find expected '-' indicator"],
  ['a: b\nc', "yaml: line 3: could not find expected ':'"],
  ['a: |x\n b', 'yaml: did not find expected comment or line break'],
  ['a: b\nc: | d\n', 'yaml: line 2: did not find expected comment or line break'],
  ['a: b\n>c: d\ne: f\n', 'yaml: line 2: did not find expected comment or line break'],
  ['a: b\n{c: d', "yaml: line 3: could not find expected ':'"],
  ['a: b\n{c: d\n\n', "yaml: line 4: could not find expected ':'"],
  ['a: b\n[c, # no\n\nd]\ne: f', "yaml: line 4: could not find expected ':'"],
  ['a: b\n{c: d\ne: f\n', "yaml: line 3: could not find expected ':'"],
  ['a: b\n"c\nd: e\n', 'yaml: line 4: found unexpected end of stream'],
  ['x:\n  a: b\n  c # no\n\ny: 1', "yaml: line 5: could not find expected ':'"],
  ['x:\n- a: b\n  c\n  d: 1', "yaml: line 4: could not find expected ':'"],
  ['a: b\n\nc\n\nd: 1', "yaml: line 5: could not find expected ':'"],
  ['a: b\n- c', 'yaml: line 1: did not find expected key'],
  ['a: 1\nb: - c', 'yaml: line 2: block sequence entries are not allowed in this context'],
  ['a: 1\nb: ? c', 'yaml: line 2: mapping keys are not allowed in this context'],
  ['a: 1\nb: }', 'yaml: line 1: did not find expected node content'],
  ['a: 1\nb: ]', 'yaml: line 1: did not find expected node content'],
  ['a: 1\nb: ,', 'yaml: line 1: did not find expected node content'],
  ['a:\n  b: {c: d}\n  - e\n', 'yaml: line 2: did not find expected key'],
  ['a: 1\nb: {c: d}- ', 'yaml: line 2: block sequence entries are not allowed in this context'],
  ['a: 1\n: b: 2', 'yaml: line 1: did not find expected key'],
  ['a: 1\n: b', 'yaml: line 1: did not find expected key'],
  ['a:\n  b: {: 1}', 'yaml: line 1: did not find expected node content'],
  ['{\n"a": {"b": 1,]}', 'yaml: line 1: did not find expected node content'],
  ['{\n"a": 1,: "b": 2}', 'yaml: line 1: did not find expected node content'],
  ['{\n"a": 1,\n- "b": 2}', 'yaml: line 2: did not find expected node content'],
  ['{\n"a": : "b"}', 'yaml: line 1: did not find expected node content'],
  ['{\n"a": 1 : "b"}', "yaml: line 1: did not find expected ',' or '}'"],
  ['a: 1\nb: {c: "d" "e"}', "yaml: line 1: did not find expected ',' or '}'"],
  ['a: 1\nb: ["c" "e"]', "yaml: line 1: did not find expected ',' or ']'"],
  ['a: 1\nb: {c: d}}', 'yaml: line 1: did not find expected key'],
  ['a:\n  - b\n  c: d', "yaml: line 2: did not find expected '-' indicator"],
  ['a: 1\nb: |x\n  c', 'yaml: line 2: did not find expected comment or line break'],
  ['a: 1\nb: >0\n  c', 'yaml: line 2: found an indentation indicator equal to 0'],
  ['a: 1\nb: *\n', 'yaml: line 2: did not find expected alphabetic or numeric character'],
  ['a: 1\nb: !c!d e\n', 'yaml: line 1: found undefined tag handle'],
  ['a: 1\nb: "\\xz"\n', 'yaml: line 2: did not find expected hexdecimal number'],
  ['a: 1\nb: "\\U00110000"\n', 'yaml: line 2: found invalid Unicode character escape code'],
  ['--- a: b\nc: d', 'yaml: mapping values are not allowed in this context'],
  ['...\na: b', 'yaml: did not find expected node content'],
  ['%FOO x\n---\na: b', 'yaml: found unknown directive name'],
  ['%YAML 1.1\na: b', 'yaml: line 1: did not find expected <document start>'],
  ['a b\nc: d', 'yaml: line 2: mapping values are not allowed in this context'],
  ['# a\n---\na b\nc: d', 'yaml: line 4: mapping values are not allowed in this context'],
  ['a:\n- b\n  c: d', 'yaml: line 3: mapping values are not allowed in this context'],
  ['a: "b\n--- c"', 'yaml: line 2: found unexpected document indicator'],
  ['- a: 1\nb: 2', "yaml: line 1: did not find expected '-' indicator"],
  ['%YAML 1.2\n---\na: 1', 'yaml: found incompatible YAML document'],
  ['# a\n%YAML 2.0\n---\na: 1', 'yaml: line 1: found incompatible YAML document'],
  ['a:\n  b\n c:\n', 'yaml: line 3: mapping values are not allowed in this context'],
  ['a: v1\n  b: c', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a:\n - b\n c: d', "yaml: line 2: did not find expected '-' indicator"],
  ['x: {{ .Values.y }}', 'yaml: invalid map key: map[interface {}]interface {}{".Values.y":interface {}(nil)}'],
  ['a: *nope', "yaml: unknown anchor 'nope' referenced"],
  ['a: &x [*x]', "yaml: anchor 'x' value contains itself"],
  ['a: &x\n  <<: *x', 'yaml: anchor'],
  ['<<: 1', 'yaml: map merge requires map or sequence of maps as the value'],
  ['a: !!int x', 'yaml: cannot decode !!str `x` as a !!int'],
  ['a: .nan', 'json: unsupported value: NaN'],
  ['~: 1', 'unsupported map key of type'],
  ['a: \u0001', 'yaml: control characters are not allowed'],
])('%j is refused', async (text, message) => {
  await expect(readYaml(text)).rejects.toThrow(message);
});

describe('a hostile document', () => {
  test('of bytes that are not UTF-8 is refused', async () => {
    await expect(readYaml(Buffer.from([0x61, 0xff]))).rejects.toThrow('yaml: invalid leading UTF-8 octet');
  });

  test('that is too large is refused, unless it is JSON', async () => {
    const text = 'a'.repeat(maxYamlBytes);
    await expect(readYaml(`k: ${text}`)).rejects.toThrow('larger than');
    expect((await readYaml(`{"k":"${text}"}`)).value).toEqual({ k: text });
  });

  test('with too many tokens is refused', async () => {
    await expect(readYaml('- a\n'.repeat(200_000))).rejects.toThrow('too complex');
  });

  test.each(['- ', '? ', '[', 'a: ', '{a: '])('nested by %j is refused', async (opening) => {
    await expect(readYaml(opening.repeat(3_000))).rejects.toThrow(/^yaml: /);
  });

  // At the end of the stack, a regular expression ends the process instead of throwing an error.
  test.each(['- ', '? ', '[', '{a: '])('nested 100,000 times by %j is refused', async (opening) => {
    await expect(readYaml(opening.repeat(100_000))).rejects.toThrow('exceeded max depth');
  });

  test('is read up to the maximum depth', async () => {
    const text = `${'[ '.repeat(maxDepth - 1)}&a x${' ]'.repeat(maxDepth - 1)}`;
    expect(JSON.stringify((await readYaml(text)).value)).toHaveLength(2 * maxDepth + 1);
  });

  test('with aliases that nest their anchors is refused', async () => {
    const refused = /exceeded max depth|excessive aliasing|too complex/;
    // Enough values that are not aliases, so that many aliases are permitted.
    const plain = Array.from({ length: 60_000 }, () => 'x').join(',');
    const lists = Array.from({ length: 1_000 }, (_, i) => `- &l${i + 1} [*l${i}]`);
    await expect(readYaml([`- [${plain}]`, '- &l0 x', ...lists].join('\n'))).rejects.toThrow(refused);
    const merges = Array.from({ length: 1_000 }, (_, i) => `- &m${i + 1} {<<: *m${i}}`);
    await expect(readYaml([`- [${plain}]`, '- &m0 {a: b}', ...merges].join('\n'))).rejects.toThrow(refused);
  });

  test('with aliases that grow exponentially is refused', async () => {
    const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(10)}]`);
    await expect(readYaml(['l0: &l0 x', ...levels].join('\n'))).rejects.toThrow('excessive aliasing');
    const merges = Array.from({ length: 30 }, (_, i) => `m${i + 1}: &m${i + 1} {<<: [${`*m${i},`.repeat(10)}]}`);
    await expect(readYaml(['m0: &m0 {a: b}', ...merges].join('\n'))).rejects.toThrow('excessive aliasing');
  });
});

describe('writeYaml', () => {
  test.each<[string, Json, string]>([
    ['an empty object', {}, '{}\n'],
    ['a scalar', 'a', 'a\n'],
    [
      'sorted members and lists without indentation',
      { b: [1, { d: 2, c: [] }], a: {} },
      'a: {}\nb:\n- 1\n- c: []\n  d: 2\n',
    ],
    ['lists of lists', { a: [['x', 'y'], [{ b: 1 }]] }, 'a:\n- - x\n  - "y"\n- - b: 1\n'],
    [
      'texts that would be read as another type',
      { n: 'yes', a: '12', b: '2026-01-01T00:00:00Z', c: '', d: '1:30', e: '~' },
      'a: "12"\nb: "2026-01-01T00:00:00Z"\nc: ""\nd: "1:30"\ne: "~"\n"n": "yes"\n',
    ],
    [
      'texts with indicators',
      { a: '- x', b: 'a: b', c: 'a #b', d: ' a', e: '{a', f: "it's", g: "'", h: 'a:b', i: '-x', j: '*' },
      "a: '- x'\nb: 'a: b'\nc: 'a #b'\nd: ' a'\ne: '{a'\nf: it's\ng: ''''\nh: a:b\ni: -x\nj: '*'\n",
    ],
    [
      'control characters',
      { a: 'x\ty', b: 'a\rb', c: '\u{1f600}', d: 'é' },
      'a: "x\\ty"\nb: "a\\rb"\nc: "\\U0001F600"\nd: é\n',
    ],
    [
      'texts of several lines',
      { a: 'x\ny\n', b: 'x\ny', c: 'x\n\n', d: ' x\n', e: 'x \ny', f: 'x\n\ny\n' },
      'a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2\n   x\ne: "x \\ny"\nf: |\n  x\n\n  y\n',
    ],
    [
      'numbers',
      { a: 1e21, b: 1.5, c: 1234567.5, d: 0.00001, e: -0, f: true, g: null },
      'a: 1e+21\nb: 1.5\nc: 1.2345675e+06\nd: 1e-05\ne: 0\nf: true\ng: null\n',
    ],
    [
      'names sorted by the value of their numbers, letters last',
      { a10: 1, a9: 1, '.': 1, 'f:x': 1, B: 1 },
      '.: 1\nB: 1\na9: 1\na10: 1\nf:x: 1\n',
    ],
    ['names with line breaks', { 'a\rb': { c: 1 }, 'a\u2028b': 1 }, '? "a\\rb"\n: c: 1\n? "a\\Lb"\n: 1\n'],
    ['long names', { ['k'.repeat(129)]: { a: 1 } }, `? ${'k'.repeat(129)}\n: a: 1\n`],
    [
      'a long quoted text, folded',
      {
        message:
          'configmaps is forbidden: User "forb-user" cannot list resource "configmaps" in API group "" in the namespace "default"',
      },
      'message: \'configmaps is forbidden: User "forb-user" cannot list resource "configmaps"\n  in API group "" in the namespace "default"\'\n',
    ],
    [
      'a long plain text, folded',
      { a: `${'x'.repeat(90)} ${'y'.repeat(90)}` },
      `a: ${'x'.repeat(90)}\n  ${'y'.repeat(90)}\n`,
    ],
  ])('writes %s', (_, value, text) => {
    expect(writeYaml(value)).toBe(text);
  });

  test.each<[string, Json]>([
    ['a merge key as a name', { '<<': false, a: [{ '<<': { b: '<<' } }] }],
    ['an empty name', { '': { '': 1 } }],
    ['__proto__', parseJson('{"__proto__":{"__proto__":[]}}')],
  ])('reads back %s', async (_, value) => {
    expect((await readYaml(writeYaml(value))).value).toEqual(value);
  });

  test('reads back any value', async () => {
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => parseJson(JSON.stringify(value)));
    await fc.assert(
      fc.asyncProperty(json, async (value) => {
        expect((await readYaml(writeYaml({ value }))).value).toEqual({ value });
      }),
      { numRuns: 100 },
    );
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '\n', ':', '#', '-', '"', "'", '\\', '\t', 'é', '1', '\u2028'),
    });
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        expect((await readYaml(writeYaml({ value, list: [value] }))).value).toEqual({ value, list: [value] });
      }),
      { numRuns: 250 },
    );
  });
});

test('writes large values in steps, the same as small ones', () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `k${(at * 7_919) % 5_000}`);
  const large = { map: Object.fromEntries(names.map((name, at) => [name, at])), list: names.map((name) => ({ name })) };
  const { pauses, result } = countSteps(writeYamlInSteps(large));
  expect(pauses).toBeGreaterThan(5);
  const lines = result.split('\n');
  expect(lines).toHaveLength(2 * names.length + 3);
  const written = lines.slice(names.length + 2, -1).map((line) => line.trim().replace(/:.*/, ''));
  expect(written).toEqual(Array.from({ length: 5_000 }, (_, at) => `k${at}`));
});

test.each([
  ['a1', 'a2', 'a10', 'a010x', 'aa', 'ab'],
  ['_', '1', '1a', '01', '2', '10', 'A', 'Z', 'a', 'é', '\u{10400}', '\u{10401}'],
  ['k', 'k\u{1f600}', 'k\u{1f601}', 'k\u{1d7d8}', 'k\u{1d7d9}', 'ka'],
])('sorts names as go-yaml does: %j', (...names) => {
  const object = Object.fromEntries(names.toReversed().map((name) => [name, null]));
  const lines = writeYaml(object).trimEnd().split('\n');
  const plain = (line: string): string =>
    line
      .replace(/^"|"?: null$/g, '')
      .replace(/\\U([0-9A-F]{8})/g, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)));
  expect(lines.map(plain)).toEqual(names);
});
