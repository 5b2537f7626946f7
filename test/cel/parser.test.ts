import { describe, expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import type { Expr } from '../../src/cel/ast.js';
import { bindMacros, optionalMacros, standardMacros, twoVariableMacros } from '../../src/cel/macros.js';
import { parse } from '../../src/cel/parser.js';
import type { Macro } from '../../src/cel/tree-builder.js';
import { Uint } from '../../src/cel/values.js';

const macros = [...standardMacros, ...twoVariableMacros, ...optionalMacros];

/** Returns a tree as one line: calls by the names of their functions, folds with all their parts. */
function lineOf(expr: Expr): string {
  const lines = (exprs: readonly Expr[]): string => exprs.map(lineOf).join(', ');
  const mark = (optional: boolean): string => (optional ? '?' : '');
  switch (expr.kind) {
    case 'literal':
      if (expr.value instanceof Uint) return `${expr.value.value}u`;
      if (expr.value instanceof Uint8Array) return `b${JSON.stringify([...expr.value])}`;
      return typeof expr.value === 'bigint' ? `${expr.value}` : JSON.stringify(expr.value);
    case 'ident':
      return expr.name;
    case 'select':
      return expr.test ? `has(${lineOf(expr.operand)}.${expr.field})` : `${lineOf(expr.operand)}.${expr.field}`;
    case 'call':
      return `${expr.target === undefined ? '' : `${lineOf(expr.target)}.`}${expr.name}(${lines(expr.args)})`;
    case 'list':
      return `[${expr.elements.map((element, index) => mark(expr.optional.has(index)) + lineOf(element)).join(', ')}]`;
    case 'map':
      return `{${expr.entries.map((one) => `${mark(one.optional)}${lineOf(one.key)}: ${lineOf(one.value)}`).join(', ')}}`;
    case 'struct':
      return `${expr.name}{${expr.fields.map((one) => `${mark(one.optional)}${one.name}: ${lineOf(one.value)}`).join(', ')}}`;
    case 'comprehension': {
      const variables = [expr.variable, ...(expr.second === undefined ? [] : [expr.second])].join(' ');
      const parts = [expr.start, expr.condition, expr.step, expr.result].map(lineOf).join('; ');
      return `fold ${variables} in ${lineOf(expr.range)} as ${expr.accumulator} (${parts})`;
    }
  }
}

function read(text: string, more: readonly Macro[] = macros): string {
  const { expr, issues } = runSync(parse(text, more));
  return issues === undefined ? lineOf(expr) : issues.map((issue) => issue.text).join('\n');
}

test.each([
  ['1 + 2 * 3 - -4', '_-_(_+_(1, _*_(2, 3)), -4)'],
  ['a == b < c', '_<_(_==_(a, b), c)'],
  ['a && b && c && d || e', '_||_(_&&_(_&&_(a, b), _&&_(c, d)), e)'],
  ['a ? b : c ? d : e', '_?_:_(a, b, _?_:_(c, d, e))'],
  ['!a && !!b', '_&&_(!_(a), b)'],
  ['---a', '-_(a)'],
  ['-a.b(-1)', '-_(a.b(-1))'],
  ['1 in [1, 2,]', '@in(1, [1, 2])'],
  ["{'a': 1, ?b: c,}", '{"a": 1, ?b: c}'],
  ['[?a, b, ?c]', '[?a, b, ?c]'],
  ['[,]', '[]'],
  ['a.?b[?c].d', '_[?_](_?._(a, "b"), c).d'],
  ['.a.b(c)', '.a.b(c)'],
  ['a.b{c: 1, ?d: e}', 'a.b{c: 1, ?d: e}'],
  ['0x1F + 7u + 0xffu', '_+_(_+_(31, 7u), 255u)'],
  ['-9223372036854775808', '-9223372036854775808'],
  ['.5 + 1e3 + -2.5e-1', '_+_(_+_(0.5, 1000), -0.25)'],
  ['"a" + \'b\' // more', '_+_("a", "b")'],
])('%s is parsed', (text, line) => {
  expect(read(text)).toBe(line);
});

test.each([
  [String.raw`'\a\b\f\n\r\t\v\\\'\"\?\x41\u00e9\U0001F600\101'`, '\x07\b\f\n\r\t\v\\\'"?Aé😀A'],
  [String.raw`r'\n' + ""`, '\\n'],
  [`'''a'b\n''c'''`, "a'b\n''c"],
  [`"""\r\na\r"""`, '\na\n'],
])('the string literal %s is decoded', (text, value) => {
  const { expr } = runSync(parse(text, macros));
  const literal = expr?.kind === 'call' ? expr.args[0] : expr;
  expect(literal).toMatchObject({ kind: 'literal', value });
});

test.each([
  [String.raw`b'é\xff\377\n'`, [0xc3, 0xa9, 0xff, 0xff, 0x0a]],
  [String.raw`br"\x"`, [0x5c, 0x78]],
])('the bytes literal %s is decoded', (text, bytes) => {
  expect(runSync(parse(text, macros)).expr).toMatchObject({ value: Buffer.from(bytes) });
});

describe('macros', () => {
  test.each([
    ['has(a.b)', 'has(a.b)'],
    ['a.all(x, p)', 'fold x in a as @result (true; @not_strictly_false(@result); _&&_(@result, p); @result)'],
    ['a.exists(x, p)', 'fold x in a as @result (false; @not_strictly_false(!_(@result)); _||_(@result, p); @result)'],
    ['a.exists_one(x, p)', 'fold x in a as @result (0; true; _?_:_(p, _+_(@result, 1), @result); _==_(@result, 1))'],
    ['a.map(x, t)', 'fold x in a as @result ([]; true; _+_(@result, [t]); @result)'],
    ['a.map(x, p, t)', 'fold x in a as @result ([]; true; _?_:_(p, _+_(@result, [t]), @result); @result)'],
    ['a.filter(x, p)', 'fold x in a as @result ([]; true; _?_:_(p, _+_(@result, [x]), @result); @result)'],
    ['a.all(i, v, p)', 'fold i v in a as @result (true; @not_strictly_false(@result); _&&_(@result, p); @result)'],
    ['a.transformMap(k, v, t)', 'fold k v in a as @result ({}; true; cel.@mapInsert(@result, k, t); @result)'],
    [
      'a.transformMapEntry(k, v, p, t)',
      'fold k v in a as @result ({}; true; _?_:_(p, cel.@mapInsert(@result, t), @result); @result)',
    ],
    [
      'a.optMap(x, t)',
      '_?_:_(a.hasValue(), optional.of(fold #unused in [] as x (a.value(); false; x; t)), optional.none())',
    ],
    ['a.existsOne(x, p)', 'a.existsOne(x, p)'],
    ['has(a.`b-c/d.e`)', 'has(a.b-c/d.e)'],
    ['cel.bind(x, 1, x)', 'cel.bind(x, 1, x)'],
  ])('%s is expanded', (text, line) => {
    expect(read(text)).toBe(line);
  });

  test('cel.bind is expanded if it is enabled', () => {
    expect(read('cel.bind(x, 1, x)', bindMacros)).toBe('fold #unused in [] as x (1; false; x; x)');
  });
});

const startOfValue =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Returns each issue as its position and message. */
const issuesOf = (text: string): readonly string[] =>
  (runSync(parse(text, macros)).issues ?? []).map(
    (issue) => /^ERROR: <input>:(-?\d+:\d+: [^\n]*)/.exec(issue.text)?.[1] ?? issue.text,
  );

describe('syntax errors', () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['', [`1:0: Syntax error: mismatched input '<EOF>' expecting ${startOfValue}`]],
    ['1 2', ["1:3: Syntax error: extraneous input '2' expecting <EOF>"]],
    ['1 +', [`1:4: Syntax error: mismatched input '<EOF>' expecting ${startOfValue}`]],
    ['* 1', [`1:1: Syntax error: extraneous input '*' expecting ${startOfValue}`]],
    ['a.', ["1:3: Syntax error: no viable alternative at input '.'"]],
    ['a.true', ["1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER"]],
    ['f(1', ["1:4: Syntax error: missing ')' at '<EOF>'"]],
    ['(1 2)', ["1:4: Syntax error: extraneous input '2' expecting ')'"]],
    ['a[1', ["1:4: Syntax error: missing ']' at '<EOF>'"]],
    ["{'a' 1}", ["1:6: Syntax error: missing ':' at '1'"]],
    ['[1, 2 3]', ["1:7: Syntax error: extraneous input '3' expecting {']', ','}"]],
    [
      'a = b',
      [
        "1:3: Syntax error: token recognition error at: '= '",
        "1:5: Syntax error: extraneous input 'b' expecting <EOF>",
      ],
    ],
    [
      "'abc",
      [
        "1:1: Syntax error: token recognition error at: ''abc'",
        `1:5: Syntax error: mismatched input '<EOF>' expecting ${startOfValue}`,
      ],
    ],
    [
      'x{?.',
      ['1:3: unsupported ident kind', "1:4: Syntax error: mismatched input '.' expecting {IDENTIFIER, ESC_IDENTIFIER}"],
    ],
    ['has(.)', ['1:0: invalid argument to has() macro', "1:6: Syntax error: no viable alternative at input '.)'"]],
    ['while + a', ['1:1: reserved identifier: while']],
    ['9223372036854775808', ['1:1: invalid int literal']],
    ['18446744073709551616u', ['1:1: invalid uint literal']],
    ['1e999', ['1:1: invalid double literal']],
    [String.raw`'\ud800' + b'\u0041'`, ['1:1: invalid unicode code point', '1:12: unable to unescape string']],
    ['has(a)', ['1:5: invalid argument to has() macro']],
    ['a.all(b.c, true)', ['1:8: argument must be a simple name']],
    ['a.map(1, true)', ['1:7: argument is not an identifier']],
    ['a.all(x, x, true)', ['1:10: duplicate variable name: x']],
    ['a.exists(__result__, true)', ['1:10: iteration variable overwrites accumulator variable']],
    ['a.optMap(1, 2)', ['1:10: optMap() variable name must be a simple identifier']],
    [`[${'['.repeat(300)}`, ['-1:0: expression recursion limit exceeded: 250']],
    ['1'.concat('+1'.repeat(251)), ['-1:0: max recursion depth exceeded']],
    [
      'a '.repeat(300),
      [
        '-1:0: error recovery token lookahead limit exceeded: 256',
        "1:3: Syntax error: mismatched input 'a' expecting <EOF>",
      ],
    ],
    ['1'.repeat(100_001), ['-1:0: expression code point size exceeds limit: size: 100001, limit 100000']],
  ];

  test.each(rows.map(([text, issues]) => ({ shown: text.slice(0, 40), text, issues })))(
    'in $shown are reported',
    ({ text, issues }) => {
      expect(issuesOf(text)).toEqual(issues);
    },
  );

  test('are limited to a hundred, and the rest is counted', () => {
    const issues = issuesOf('$'.repeat(500));
    expect(issues).toHaveLength(101);
    expect(issues.at(-1)).toBe('1 more errors were truncated');
  });

  test('show the line with a caret, which is wide below wide characters', () => {
    expect(read("a +\n\t'é😀' 1")).toBe(
      ["ERROR: <input>:2:7: Syntax error: extraneous input '1' expecting <EOF>", " |  'é😀' 1", ' | ..．．..^'].join(
        '\n',
      ),
    );
  });

  test('do not show a line that is too long', () => {
    expect(read(`${' '.repeat(16_384)}$`)).not.toContain('\n |');
  });
});

test.each([
  ['parentheses', `${'('.repeat(249)}a${')'.repeat(249)}`],
  ['lists', '['.repeat(249) + ']'.repeat(249)],
  ['macros', `${'[1].all(x, '.repeat(249)}true${')'.repeat(249)}`],
  ['sums', `1${'+1'.repeat(250)}`],
  ['many operands', `a${'||a'.repeat(30_000)}`],
])('%s are parsed at great depth or length', (_, text) => {
  expect(runSync(parse(text, macros)).issues).toBeUndefined();
});

test('a chain of optMap, which doubles with each step, is refused', () => {
  expect(read(`a${'.optMap(x, x)'.repeat(100)}`)).toContain('more than 100000 nodes');
});

test('lone surrogates and names like prototypes are parsed', () => {
  expect(read("'\ud800' + __proto__.constructor")).toBe('_+_("\\ud800", __proto__.constructor)');
});
