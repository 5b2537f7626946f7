import { expect, test } from 'vitest';
import { deviceClasses } from '../../../src/resources/deviceclasses/definition.js';
import { read, write } from '../write.js';

const definition = deviceClasses;
const nope = "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^";

const config = (parameters: unknown, driver = 'driver.example.com') => ({
  config: [{ opaque: { driver, parameters } }],
});
const parametersAt = 'spec.config[0].opaque.parameters';
const long = { s: 'x'.repeat(10_240) };

test.each<[object, readonly string[]]>([
  [{}, []],
  [{ selectors: [{ cel: { expression: 'true' } }], ...config({ a: 1 }, 'Driver.Example.com') }, []],
  [{ selectors: [{}] }, ['spec.selectors[0].cel: Required value']],
  [
    { selectors: [{ cel: {} }] },
    [
      `spec.selectors[0].cel.expression: Invalid value: "": compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`,
    ],
  ],
  [
    { selectors: [{ cel: { expression: 'x'.repeat(10_241) } }] },
    ['spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes'],
  ],
  [
    { selectors: [{ cel: { expression: 'nope' } }] },
    [`spec.selectors[0].cel.expression: Invalid value: "nope": ${nope}`],
  ],
  [
    { selectors: [{ cel: { expression: 'int("x") == 1' } }] },
    [
      "spec.selectors[0].cel.expression: Internal error: program instantiation failed: type conversion error from 'string' to 'int'",
    ],
  ],
  [
    { selectors: Array(33).fill({}), config: Array(33).fill({}) },
    [
      'spec.selectors: Too many: 33: must have at most 32 items',
      'spec.config: Too many: 33: must have at most 32 items',
    ],
  ],
  [{ config: [{}] }, ['spec.config[0].opaque: Required value']],
  [{ config: [{ opaque: {} }] }, ['spec.config[0].opaque.driver: Required value', `${parametersAt}: Required value`]],
  [config(null), [`${parametersAt}: Required value`]],
  [config('hello'), [`${parametersAt}: Invalid value: "<value omitted>": must be a valid JSON object`]],
  [config([1]), [`${parametersAt}: Invalid value: "<value omitted>": must be a valid JSON object`]],
  [config(long), [`${parametersAt}: Too long: may not be more than 10240 bytes`]],
  [config({}, 'a'.repeat(64)), ['spec.config[0].opaque.driver: Too long: may not be more than 63 bytes']],
])('spec %j', (spec, violations) => {
  expect(write(definition, { spec }).violations).toEqual(violations);
});

const loops = (count: number): string => {
  let text = 'a0 != a1';
  for (let at = count - 1; at >= 0; at--) text = `device.attributes.all(a${at}, ${text})`;
  return text;
};
const wrongType = (text: string, type: string): string =>
  `Invalid value: "${text}": must evaluate to bool or the unknown type, not ${type}`;

test.each<[string, string | undefined]>([
  ['device.attributes["a.example.com"].model == "x"', undefined],
  ['device.attributes["a.example.com"].model', undefined],
  ['device.allowMultipleAllocations', undefined],
  ['cel.bind(dra, device.attributes["a.example.com"], dra.count > 1)', undefined],
  ['device.capacity["a.example.com"].memory.isGreaterThan(quantity("1Gi"))', undefined],
  ['device.driver', wrongType('device.driver', 'string')],
  ['1', wrongType('1', 'int')],
  ['[device.attributes["a"].b][0]', undefined],
  ['device.attributes["a"].?b.orValue(true)', undefined],
  ['device.attributes["a"].b in [1] || device.attributes["a"].b > 1', undefined],
  ['dyn(true)', wrongType('dyn(true)', 'dyn')],
  ['device.attributes.a.b.c', wrongType('device.attributes.a.b.c', 'dyn')],
  ['device.attributes.a', wrongType('device.attributes.a', 'map(string, google.protobuf.Any)')],
  [
    'device.attributes.a.b.all(x, x)',
    `Invalid value: "device.attributes.a.b.all(x, x)": compilation failed: ERROR: <input>:1:20: expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)\n | device.attributes.a.b.all(x, x)\n | ...................^`,
  ],
  [
    '"%d".format([device.attributes.a.b]) == ""',
    `Invalid value: "\\"%d\\".format([device.attributes.a.b]) == \\"\\"": compilation failed: ERROR: <input>:1:33: error during formatting: decimal clause can only be used on integers, was given google.protobuf.Any\n | "%d".format([device.attributes.a.b]) == ""\n | ................................^`,
  ],
  ['type(device.driver) == string', 'Forbidden: too complex, exceeds cost limit'],
  [
    'device.nope == 1',
    `Invalid value: "device.nope == 1": compilation failed: ERROR: <input>:1:7: undefined field 'nope'\n | device.nope == 1\n | ......^`,
  ],
  [loops(3), undefined],
  [loops(5), 'Forbidden: too complex, exceeds cost limit'],
])('selector %s', (expression, wrong) => {
  const at = 'spec.selectors[0].cel.expression';
  const violations = wrong === undefined ? [] : [`${at}: ${wrong}`];
  expect(write(definition, { spec: { selectors: [{ cel: { expression } }] } }).violations).toEqual(violations);
});

test.each([
  ['example.com/gpu', true],
  ['gpu', false],
  ['kubernetes.io/gpu', false],
  ['requests.example.com/gpu', false],
  ['a b', false],
])('extendedResourceName %s', (name, valid) => {
  const why = `spec.extendedResourceName: Invalid value: "${name}": must be a valid extended resource name`;
  expect(write(definition, { spec: { extendedResourceName: name } }).violations).toEqual(valid ? [] : [why]);
});

test('parameters that are too long may stay while nothing else changes', () => {
  const spec = config(long);
  expect(write(definition, { spec: { ...spec, selectors: [] } }, { spec }).violations).toEqual([]);
  const more = { config: [...config({ a: 1 }).config, ...spec.config] };
  expect(write(definition, { spec: more }, { spec }).violations).toEqual([
    'spec.config[1].opaque.parameters: Too long: may not be more than 10240 bytes',
  ]);
});

test('the generation grows when the spec changes', () => {
  const class_ = (spec: object) => read(definition, { spec });
  expect(definition.newGeneration?.(class_({}), class_({}))).toBe(false);
  expect(definition.newGeneration?.(class_(config({ a: 1 })), class_(config({ a: 2 })))).toBe(true);
});
