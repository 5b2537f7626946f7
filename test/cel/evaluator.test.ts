import { describe, expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import { listFrom, mapFrom } from '../../src/cel/collections.js';
import { type Environment, environmentOf } from '../../src/cel/environment.js';
import { type Outcome, ProgramFailed, program } from '../../src/cel/evaluator.js';
import { lists } from '../../src/cel/library/lists.js';
import { mapInsert } from '../../src/cel/library/map-insert.js';
import { optionals } from '../../src/cel/library/optionals.js';
import { regex } from '../../src/cel/library/regex.js';
import { standard } from '../../src/cel/library/standard.js';
import { strings } from '../../src/cel/library/strings.js';
import { dyn, int, listOf, string, type Type } from '../../src/cel/types.js';
import { Failure, type OpaqueValue, Optional, type StructValue, type Value } from '../../src/cel/values.js';
import { written } from './written.js';

const text45 = 'x'.repeat(45);
const variables: Readonly<Record<string, readonly [Type, Value]>> = {
  o: [
    dyn,
    mapFrom([
      ['a', mapFrom([['b', 1n]])],
      ['t', true],
      ['n', null],
    ]),
  ],
  j: [dyn, mapFrom([['k', 1n]])],
  l: [listOf(int), listFrom([3n, 1n, 2n])],
  s: [string, 'abc'],
  t: [string, text45],
  i: [int, 2n],
};
const libraries = [standard, optionals, mapInsert, strings, lists];
const environmentWith = (more: Readonly<Record<string, Type>> = {}): Environment =>
  environmentOf({
    variables: new Map([
      ...Object.entries(variables).map(([name, [type]]) => [name, type] as const),
      ...Object.entries(more),
    ]),
    libraries,
    bindings: true,
  });

function evaluated(
  expression: string,
  more: Readonly<Record<string, readonly [Type, Value]>> = {},
  limit = 1_000_000,
): Outcome {
  const environment = environmentWith(Object.fromEntries(Object.entries(more).map(([name, [type]]) => [name, type])));
  const compiled = runSync(environment.compile(expression));
  if (compiled.issues !== undefined) throw new Error(compiled.issues.map(({ message }) => message).join());
  const all = { ...variables, ...more };
  return runSync(program(compiled.checked, environment)).evaluate((name) => all[name]?.[1], { limit });
}

/** Values, failures and costs are those of cel-go in Kubernetes' environment. */
test.each<readonly [string, string, number]>([
  ['1 + 2 * 3', '7', 2],
  ['l[0]', '3', 2],
  ['l[size(l) - 1]', '2', 5],
  ['l[9]', 'failed: index out of bounds: 9', 2],
  ['l[-1]', 'failed: index out of bounds: -1', 2],
  ['l[i]', '2', 2],
  ['l[j.k]', '1', 3],
  ['o.a.b', '1', 3],
  ['o.a.x', 'failed: no such key: x', 3],
  ['o["a"]["b"]', '1', 3],
  ['o[s]', 'failed: no such key: abc', 2],
  ['has(o.a.b)', 'true', 2],
  ['has(o.a.x)', 'false', 2],
  ['has(o.x.y)', 'failed: no such key: x', 1],
  ['o.?a.?b', 'optional(1)', 3],
  ['o.?a.x', 'optional.none', 2],
  ['o.?x.y.z', 'optional.none', 1],
  ['o.?x.y.orValue(5)', '5', 1],
  ['o.?a.b.orValue(5)', '1', 3],
  ['o.a.b > 0 ? o.a.b : l[0]', '1', 6],
  ['(o.a.b > 0 ? o : o).a.b', '1', 6],
  ['(i > 1 ? l : [1])[0]', '3', 3],
  ['true || o.x', 'true', 0],
  ['o.x || true', 'true', 2],
  ['o.x && false', 'false', 2],
  ['false && o.x', 'false', 0],
  ['o.x || false', 'failed: no such key: x', 2],
  ['o.x && o.y', 'failed: no such key: x', 4],
  ['i in l', 'true', 5],
  ['i in [1, 2, 3]', 'true', 1],
  ['i in [1, i]', 'true', 14],
  ['s in {"abc": 1}', 'true', 2],
  ['s == "abc"', 'true', 2],
  ['s + "def" == "abcdef"', 'true', 3],
  ['t.size()', '45', 2],
  ['t == t', 'true', 7],
  ['l == l', 'true', 3],
  ['l == [3, 1, 2]', 'true', 2],
  ['{"a": [1, 2]} == {"a": [1, i]}', 'true', 42],
  ['[1, 2, 3]', '[1, 2, 3]', 0],
  ['[i]', '[2]', 11],
  ['{"a": i}', '{"a": 2}', 31],
  ['[1, i].map(x, x * 2)', '[2, 4]', 40],
  ['l.map(x, x + 1)', '[4, 2, 3]', 44],
  ['l.map(x, x > 1, x + 1)', '[4, 3]', 36],
  ['l.filter(x, x > 1)', '[3, 2]', 34],
  ['l.all(x, x > 0)', 'true', 17],
  ['l.all(x, x > 1)', 'false', 14],
  ['l.exists(x, x == 1)', 'true', 17],
  ['l.exists(x, x / 0 == 1)', 'failed: division by zero', 23],
  ['l.exists(x, x == 3 || x / 0 == 1)', 'true', 11],
  ['l.exists_one(x, x > 2)', 'true', 11],
  ['[].all(x, x)', 'true', 1],
  ['l.map(x, l.map(y, x * y))', '[[9, 3, 6], [3, 1, 2], [6, 2, 4]]', 179],
  ['l.all(x, l.exists(y, y == x))', 'true', 65],
  ['l.all(i, i > 0) && i == 2', 'true', 19],
  ['{"a": 1}.map(k, k)', '["a"]', 14],
  ['{"a": 1}.all(k, v, v == 1)', 'true', 6],
  ['l.transformList(i, v, i * v)', '[0, 1, 4]', 47],
  ['{"a": 1}.transformMap(k, v, v + 1)', '{"a": 2}', 6],
  ['["a"].transformMapEntry(i, v, {v: i})', '{"a": 0}', 35],
  ['["a", "a"].transformMapEntry(i, v, {v: i})', 'failed: insert failed: key a already exists', 69],
  ['[?o.?a.?b, ?o.?x]', '[1]', 14],
  ['optional.of(i).optMap(x, x + 1)', 'optional(3)', 9],
  ['optional.none().optMap(x, x + 1)', 'optional.none', 3],
  ['o.?a.optFlatMap(a, a.?b).orValue(0)', '1', 8],
  ['optional.none().value()', 'failed: optional.none() dereference', 2],
  ['optional.of(1).or(optional.none()).value()', '1', 2],
  ['dyn(1).or(optional.none())', 'failed: no such overload', 0],
  ['dyn(1).orValue(2)', 'failed: no such overload', 0],
  ['optional.of(1 / 0).orValue(2)', 'failed: division by zero', 2],
  ['[{"i": 5}].map(i, i.i)', '[5]', 15],
  ['[{"i": 5}].map(i, .i)', '[2]', 14],
  ['[optional.of(1), optional.none()].unwrapOpt()', '[1]', 13],
  ['l.first().value() + l.last().value()', '5', 7],
  ['dyn(1) + dyn("a")', 'failed: no such overload', 1],
  ['dyn(null) + dyn(1)', 'failed: no such overload: _+_', 1],
  ['dyn("a") < 1', 'failed: no such overload', 1],
  ['dyn(1) < 1.5', 'true', 1],
  ['dyn(1u) == 1.0', 'true', 1],
  ['-dyn(duration("1s"))', 'duration(-1000000000)', 1],
  ['size(dyn(1))', 'failed: no such overload: size', 1],
  ['dyn(s).startsWith("a")', 'true', 3],
  ['o.a.startsWith("a")', 'failed: no such overload', 3],
  ['int(s)', "failed: type conversion error from 'string' to 'int'", 2],
  ['timestamp("2020-01-01T00:00:00Z") - duration("1h")', 'timestamp(2019-12-31T23:00:00Z)', 1],
  ['s.startsWith("ab")', 'true', 2],
  ['s.contains("bc")', 'true', 2],
  ['s.endsWith("c")', 'true', 2],
  ['t.matches("^x+$")', 'true', 6],
  ['s.matches(s)', 'true', 3],
  ['s < t', 'true', 3],
  ['s.indexOf("c")', '2', 1],
  ['!o.t', 'false', 3],
  ['!dyn(1)', 'failed: no such overload', 1],
  ['o.t ? 1 : 2', '1', 2],
  ['o.n == null', 'true', 3],
  ['type(l) == list', 'true', 3],
  ['type(o.a) == map', 'true', 4],
  ['dyn([1])[1.0]', 'failed: index out of bounds: 1', 2],
  ['dyn([1])[0.0]', '1', 2],
  ['dyn([1])[1.5]', 'failed: unsupported index value 1.5 in list', 2],
  ['dyn([1])[-9223372036854775808.0]', 'failed: unsupported index value -9.223372036854776e+18 in list', 2],
  ['dyn([1])[-9223372036854774784.0]', 'failed: index out of bounds: -9.223372036854775e+18', 2],
  ['dyn([1])["a"]', "failed: unsupported index type 'string' in list", 2],
  ['dyn([1])[dyn([1])[0] == 1]', "failed: unsupported index type 'bool' in list", 5],
  ['dyn({1: 2})[1.0]', '2', 2],
  ['dyn({1.0: 2})[1.0]', '2', 2],
  ['dyn({1.0: 2})[1u]', 'failed: no such key: 1', 2],
  ['dyn(1).x', 'failed: no such key: x', 2],
  ['[1][0u == 0u ? 0 : 1]', '1', 3],
  ['l[1] + l[2] > o.a.b && s != ""', 'true', 10],
  ['[string].all(int, int == string)', 'false', 5],
  ['[dyn(string)].all(t, t == string)', 'true', 6],
])('%s evaluates to %s and costs %d', (expression, value, cost) => {
  const found = evaluated(expression);
  expect([written(found.value), found.cost]).toEqual([value, cost]);
});

describe('constants', () => {
  test.each([
    ['int("x")', "type conversion error from 'string' to 'int'"],
    ['[1][null == null ? 0 : 1] + int("9223372036854775808")', "type conversion error from 'string' to 'int'"],
    ['string(dyn([]))', 'no such overload: string(list)'],
    ['"a".matches("" + "[") || "a".find("[") == ""', 'error parsing regexp: missing closing ]: `[`'],
    ['{"a": 1}[dyn([1])]', 'invalid qualifier type: *types.baseList'],
    ['type(duration("1s")) == duration', 'reference to undefined type: duration'],
    ['true || [timestamp].size() == 1', 'reference to undefined type: timestamp'],
    ['[int].all(t, t == int)', 'reference to undefined type: t'],
    ['{"a": int}.exists(k, v, v == int)', 'reference to undefined type: v'],
  ])('%s fails before it is evaluated', (expression, message) => {
    const environment = environmentOf({ variables: new Map(), libraries: [...libraries, regex] });
    const { checked } = runSync(environment.compile(expression));
    if (checked === undefined) throw new Error('refused');
    expect(() => runSync(program(checked, environment))).toThrow(new ProgramFailed(message));
  });
});

describe('limits', () => {
  test('an evaluation ends when it exceeds its cost limit', () => {
    const expression = 'l.all(x, l.all(y, x + y > 0))';
    const { cost } = evaluated(expression);
    expect(evaluated(expression, {}, cost)).toEqual({ value: true, cost });
    const limit = cost - 1;
    expect(evaluated(expression, {}, limit).isOverLimit).toBe(true);
    const value = new Failure('operation cancelled: actual cost limit exceeded');
    expect(evaluated(expression, {}, 50)).toEqual({ value, cost: 51, isOverLimit: true });
  });

  test('work that is not part of the cost is limited too', () => {
    const long = listFrom([listFrom(Array.from({ length: 100_000 }, (_, index) => BigInt(index)))]);
    const many = listFrom(Array.from({ length: 10_000 }, () => 0n));
    const { isOverLimit } = evaluated('many.all(x, long[0] in long)', {
      many: [listOf(int), many],
      long: [listOf(listOf(int)), long],
    });
    expect(isOverLimit).toBe(true);
  });

  test.each([
    `[l]${'.map(x, x + x)'.repeat(60)}[0].size()`,
    `[l]${'.map(x, x + x)'.repeat(60)}[0] == [l]${'.map(x, x + x)'.repeat(60)}[0]`,
    `[i]${'.map(x, [x, x])'.repeat(60).replaceAll('[x, x]', '[dyn(x), dyn(x)]')} == [1]`,
    `cel.bind(m, [], m + [l]${'.map(x, x + x)'.repeat(60)}[0])`,
  ])('%s ends without a crash', (expression) => {
    expect(() => {
      const { value } = evaluated(expression);
      if (typeof value !== 'bigint' && typeof value !== 'boolean') throw new Error(written(value));
    }).not.toThrow(RangeError);
  });

  test('the next evaluation starts with fresh limits', () => {
    expect(evaluated('1 + 1').value).toBe(2n);
  });
});

describe('depth', () => {
  const terms = (count: number, operator: string): string => Array(count).fill('i').join(` ${operator} `);
  test.each([
    ['sums of the maximum length', terms(250, '+'), 500n],
    ['nested parentheses', `${'(i + '.repeat(120)}i${')'.repeat(120)}`, 242n],
    ['a thousand conditions, balanced', Array(1_000).fill('i>0').join('&&'), true],
    ['nested conditional operators', `${'i > 5 ? 0 : '.repeat(110)}i`, 2n],
    ['nested comprehensions', `${'[1].all(x, '.repeat(40)}true${')'.repeat(40)}`, true],
    ['long paths', `${'{"a": '.repeat(60)}i${'}'.repeat(60)}${'.a'.repeat(60)}`, 2n],
  ])('%s are evaluated', (_, expression, value) => {
    expect(evaluated(expression).value).toBe(value);
  });
});

describe('variables', () => {
  test('that are undefined fail where they are used', () => {
    expect(written(evaluated('gone == 1', { gone: [int, undefined as unknown as Value] }).value)).toBe(
      'failed: no such attribute(s): gone',
    );
    expect(evaluated('gone == 1 || true', { gone: [int, undefined as unknown as Value] }).value).toBe(true);
  });

  test('may be null', () => {
    expect(evaluated('nothing == null', { nothing: [dyn, null] }).value).toBe(true);
  });

  test('are looked up once per evaluation, and only if needed', () => {
    const environment = environmentWith();
    const { checked } = runSync(environment.compile('i > 0 ? i + i : l[0]'));
    if (checked === undefined) throw new Error('refused');
    const made = runSync(program(checked, environment));
    const asked: string[] = [];
    const ask = (name: string): Value | undefined => {
      asked.push(name);
      return variables[name]?.[1];
    };
    expect(made.evaluate(ask, { limit: 100 }).value).toBe(4n);
    expect(made.evaluate(ask, { limit: 100 }).value).toBe(4n);
    expect(asked).toEqual(['i', 'i']);
  });

  test('of a comprehension shadow others, but not in its range', () => {
    expect(written(evaluated('l.map(l, l)').value)).toBe('[3, 1, 2]');
    expect(written(evaluated('[1, 2].map(i, [i].map(i, i * 10)) + [[i]]').value)).toBe('[[10], [20], [2]]');
  });

  test('and keys may be named like prototypes', () => {
    const odd = mapFrom([['__proto__', 1n]]);
    expect(written(evaluated('[odd.__proto__, dyn(has(odd.constructor) ? 1 : 0)]', { odd: [dyn, odd] }).value)).toBe(
      '[1, 0]',
    );
    expect(written(evaluated('odd.toString', { odd: [dyn, odd] }).value)).toBe('failed: no such key: toString');
  });
});

describe('opaque and foreign values', () => {
  const point: Type = {
    kind: 'struct',
    name: 'point',
    fields: new Map([
      ['x', int],
      ['y', int],
    ]),
  };
  const struct: StructValue = {
    kind: 'struct',
    name: 'point',
    get: (field) => (field === 'x' ? 7n : undefined),
    fields: () => ['x'],
  };
  const given = { p: [point, struct] } as const;

  test.each([
    ['p.x', '7', 2],
    ['p.y', 'failed: no such key: y', 2],
    ['has(p.x) && !has(p.y)', 'true', 3],
    ['p.?y.orValue(1) + p.?x.orValue(1)', '8', 4],
    ['p == p', 'true', 3],
    ['type(p) == map', 'true', 3],
  ])('on a structure, %s is %s', (expression, value, cost) => {
    const found = evaluated(expression, given);
    expect([written(found.value), found.cost]).toEqual([value, cost]);
  });

  test('a variable may be an optional, and paths continue inside it', () => {
    const optional = { kind: 'opaque', name: 'optional_type', parameters: [point] } as const;
    expect(written(evaluated('q.?x', { q: [optional, new Optional(struct)] }).value)).toBe('optional(7)');
    expect(written(evaluated('q.x', { q: [optional, new Optional(struct)] }).value)).toBe('optional(7)');
    expect(written(evaluated('q.x', { q: [optional, new Optional()] }).value)).toBe('optional.none');
  });

  test('an opaque value is compared by its own method, for one unit of cost', () => {
    const opaque: OpaqueValue = { kind: 'opaque', name: 'thing', size: 1000, equals: (other) => other === opaque };
    const thing = { thing: [{ kind: 'opaque', name: 'thing', parameters: [] }, opaque] } as const;
    expect(evaluated('thing == thing', thing)).toEqual({ value: true, cost: 3 });
    expect(evaluated('thing != thing', thing)).toEqual({ value: false, cost: 102 });
  });
});

test('a list grown in a comprehension does not change afterwards', () => {
  expect(written(evaluated('cel.bind(m, l.map(x, x), [m + [1], m + [2], m])').value)).toBe(
    '[[3, 1, 2, 1], [3, 1, 2, 2], [3, 1, 2]]',
  );
});
