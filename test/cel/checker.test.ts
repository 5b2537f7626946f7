import { describe, expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import { type Environment, environmentOf } from '../../src/cel/environment.js';
import { kubernetesLibraries } from '../../src/cel/kubernetes.js';
import { fullTypeText, typeText } from '../../src/cel/type-text.js';
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  optionalOf,
  string,
  type Type,
  timestamp,
  uint,
} from '../../src/cel/types.js';

const spec: Type = {
  kind: 'struct',
  name: 'selfType123.spec',
  fields: new Map<string, Type>([
    ['replicas', int],
    ['names', listOf(string)],
    ['labels', mapOf(string, string)],
    ['__proto__', string],
  ]),
};
const self: Type = { kind: 'struct', name: 'selfType123', fields: new Map([['spec', spec]]) };

const environment: Environment = environmentOf({
  variables: new Map<string, Type>([
    ['self', self],
    ['oldSelf', optionalOf(self)],
    ['i', int],
    ['u', uint],
    ['d', double],
    ['s', string],
    ['y', bytes],
    ['b', bool],
    ['any', dyn],
    ['dur', duration],
    ['ts', timestamp],
    ['ls', listOf(string)],
    ['m', mapOf(string, int)],
    ['authorizer.requestResource', int],
  ]),
  libraries: kubernetesLibraries,
});

/** Returns the type of an expression, or each issue as its position and message. */
function said(text: string): string | readonly string[] {
  const { checked, issues } = runSync(environment.compile(text));
  if (issues === undefined) return typeText(checked.type);
  return issues.map((issue) => /^ERROR: <input>:(\d+:\d+: [^\n]*)/.exec(issue.text)?.[1] ?? issue.text);
}

describe('types', () => {
  test.each([
    ['self.spec.replicas + 1', 'int'],
    ['self.spec', 'selfType123.spec'],
    ['self.spec.__proto__', 'string'],
    ['oldSelf.spec.names', 'optional_type(list(string))'],
    ['oldSelf.?spec.labels[?"a"]', 'optional_type(string)'],
    ['has(self.spec.names)', 'bool'],
    ['authorizer.requestResource', 'int'],
    ['any.a.b[0]', 'dyn'],
    ['[]', 'list(dyn)'],
    ['{}', 'map(dyn, dyn)'],
    ['[[], [1]]', 'list(list(int))'],
    ['[1] + [2]', 'list(int)'],
    ['{"a": [null]}', 'map(string, list(null))'],
    ['null == ts', 'bool'],
    ['type(1)', 'type(int)'],
    ['int', 'type(int)'],
    ['timestamp', 'type(timestamp)'],
    ['type(dur) == duration', 'bool'],
    ['type(ip("::1")) == net.IP', 'bool'],
    ['list', 'type(list(dyn))'],
    ['b ? any : 1', 'dyn'],
    ['1 < 1.5 && 1u < 2', 'bool'],
    ['ls.map(x, size(x))', 'list(int)'],
    ['m.filter(k, k != "a")', 'list(string)'],
    ['m.transformMap(k, v, string(v))', 'map(string, string)'],
    ['ls.transformList(index, v, index)', 'list(int)'],
    ['optional.of(1).optMap(v, v + 1)', 'optional_type(int)'],
    ['optional.none()', 'optional_type(dyn)'],
    ['[?optional.of(1)]', 'list(int)'],
    ['{?"a": optional.none(), "b": 1}', 'map(string, int)'],
    ['quantity("1").add(1)', 'kubernetes.Quantity'],
    ['authorizer.requestResource == .i', 'bool'],
    ['ls.map(i, i)', 'list(string)'],
    ['ls.map(i, .i)', 'list(int)'],
    ['ls.map(self, .self.spec.replicas)', 'list(int)'],
    ['ls.map(x, ls.map(y, .s + x + y))', 'list(list(string))'],
    ['ls.map(int, type(1) == .int)', 'list(bool)'],
    ['[{"requestResource": s}].map(authorizer, authorizer.requestResource)', 'list(string)'],
    ['[{"requestResource": s}].map(authorizer, .authorizer.requestResource)', 'list(int)'],
    ['optional_type', 'type(optional_type(dyn))'],
    ['type(oldSelf) == optional_type', 'bool'],
    ['dyn(1) + "a"', 'string'],
  ])('%s is of type %s', (text, type) => {
    expect(said(text)).toBe(type);
  });

  test.each([
    ['ts', 'google.protobuf.Timestamp'],
    ['[dur]', 'list(google.protobuf.Duration)'],
    ['{"a": null}', 'map(string, null_type)'],
    ['type(ts)', 'type(google.protobuf.Timestamp)'],
    ['oldSelf.spec', 'optional_type(selfType123.spec)'],
  ])('%s has a type with the full name %s', (text, type) => {
    const { checked } = runSync(environment.compile(text));
    expect(checked && fullTypeText(checked.type)).toBe(type);
  });
});

describe('compilation errors', () => {
  test.each<[string, readonly string[]]>([
    ['self.foo', ["1:5: undefined field 'foo'"]],
    ['self.constructor', ["1:5: undefined field 'constructor'"]],
    ['__proto__', ["1:1: undeclared reference to '__proto__' (in container '')"]],
    ['x.y.z', ["1:1: undeclared reference to 'x' (in container '')"]],
    ['foo(1)', ["1:4: undeclared reference to 'foo' (in container '')"]],
    ['list || true', ["1:1: expected type 'bool' but found 'type(list(dyn))'"]],
    ['map.s', ["1:4: type 'type(map(dyn, dyn))' does not support field selection"]],
    [
      's.foo(x)',
      ["1:6: undeclared reference to 'foo' (in container '')", "1:7: undeclared reference to 'x' (in container '')"],
    ],
    [
      'ls.existsOne(x, true)',
      [
        "1:13: undeclared reference to 'existsOne' (in container '')",
        "1:14: undeclared reference to 'x' (in container '')",
      ],
    ],
    ['i + s', ["1:3: found no matching overload for '_+_' applied to '(int, string)'"]],
    ['s.startsWith(1)', ["1:13: found no matching overload for 'startsWith' applied to 'string.(int)'"]],
    ['size()', ["1:5: found no matching overload for 'size' applied to '()'"]],
    ['i && b', ["1:1: expected type 'bool' but found 'int'"]],
    ['[1, "a"]', ["1:5: expected type 'int' but found 'string'"]],
    ['[dyn(1), "a"]', ["1:10: expected type 'dyn' but found 'string'"]],
    ['[[], 1]', ["1:6: expected type 'list(dyn)' but found 'int'"]],
    [
      '{"a": 1, 2: "b"}',
      ["1:10: expected type 'string' but found 'int'", "1:13: expected type 'int' but found 'string'"],
    ],
    ['[?1]', ["1:3: expected type 'optional_type(int)' but found 'int'"]],
    ['i.a', ["1:2: type 'int' does not support field selection"]],
    ['url(s).a', ["1:7: unexpected failed resolution of 'kubernetes.URL'"]],
    ['ip(s).a', ["1:6: type 'net.IP' does not support field selection"]],
    [
      'i.all(x, true)',
      ["1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"],
    ],
    ['ls.all(x, x)', ["1:11: expected type 'bool' but found 'string'"]],
    ['Foo{a: 1}', ["1:4: undeclared reference to 'Foo' (in container '')"]],
    ['i{a: x}', ["1:2: undeclared reference to 'i' (in container '')"]],
    ['.i{}', ["1:3: undeclared reference to '.i' (in container '')"]],
    ['ls.map(x, x{})', ["1:12: undeclared reference to 'x' (in container '')"]],
    ['ls.map(int, int{})', ["1:16: 'int' is not a message type"]],
    ['ls.all(x, .x == s)', ["1:12: undeclared reference to '.x' (in container '')"]],
    ['ls.all(authorizer, authorizer.requestResource == 1)', ["1:30: type 'string' does not support field selection"]],
    ['int{a: 1}', ["1:4: 'int' is not a message type", "1:6: unexpected failed resolution of 'int'"]],
    [
      'cel.bind(x, 1, x)',
      [
        "1:1: undeclared reference to 'cel' (in container '')",
        "1:9: undeclared reference to 'bind' (in container '')",
        "1:10: undeclared reference to 'x' (in container '')",
        "1:16: undeclared reference to 'x' (in container '')",
      ],
    ],
    ['self.spec.replicas == null', ["1:20: found no matching overload for '_==_' applied to '(int, null)'"]],
    ['duration("x") == dur', ['1:10: invalid duration argument']],
    ['timestamp("x") == ts', ['1:11: invalid timestamp argument']],
    ['timestamp(null) == ts', ['1:11: invalid timestamp argument']],
    ['duration(null) == dur', ['1:10: invalid duration argument']],
    ['s.matches("[")', ['1:11: invalid matches argument']],
    [
      '"%d %s".format(["a", 1])',
      ['1:17: error during formatting: decimal clause can only be used on integers, was given string'],
    ],
    ['"%q".format([1])', ['1:12: could not parse formatting clause: unrecognized formatting clause "q"']],
    ['"%s".format([])', ['1:12: index 0 out of range']],
    ['"%".format([])', ['1:11: unexpected end of string']],
    ['"".format([1])', ['1:10: too many arguments supplied to string.format (expected 0, got 1)']],
    [
      '"%s".format([[ts, ip(s)]])',
      [
        '1:21: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given net.IP',
      ],
    ],
  ])('%s', (text, issues) => {
    expect(said(text)).toEqual(issues);
  });

  test('elements of different types may be formatted', () => {
    expect(said('"%s %d".format([s, 1])')).toBe('string');
  });

  test('types that double with each step are refused', () => {
    expect(said(`[i]${'.map(x, {x: x})'.repeat(40)}`)).toContainEqual(
      expect.stringContaining('type has more than 10000 parts'),
    );
  });
});

test('qualified names and namespaced functions become a single name', () => {
  const { checked } = runSync(environment.compile('optional.of(authorizer.requestResource)'));
  expect(checked?.expr).toMatchObject({
    kind: 'call',
    name: 'optional.of',
    target: undefined,
    args: [{ kind: 'ident', name: 'authorizer.requestResource' }],
  });
  const call = checked?.expr;
  expect(checked?.references.get(call?.id ?? 0)).toEqual({ overloads: ['optional_of'] });
});

test('with arguments of type dyn, all overloads that may match are recorded', () => {
  const { checked } = runSync(environment.compile('any + 1'));
  expect(checked?.references.get(checked.expr.id)?.overloads).toEqual(['add_int64']);
  const both = runSync(environment.compile('any + any'));
  expect(both.checked?.references.get(both.checked.expr.id)?.overloads).toHaveLength(9);
});

test('cel.bind is available if the environment enables it', () => {
  const binding = environmentOf({ variables: new Map(), libraries: kubernetesLibraries, bindings: true });
  const { checked } = runSync(binding.compile('cel.bind(x, [1], x + x)'));
  expect(checked && typeText(checked.type)).toBe('list(int)');
});
