import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import type { Schema } from '../../src/schema/schema.js';
import { compileValidator, type ValidatorOptions } from '../../src/schema/validate.js';
import { object } from './object-schema.js';

const failures = (schema: Schema, value: Json, previous?: Json, options?: ValidatorOptions) =>
  runSync(compileValidator(schema, options)(value, '', previous));
const texts = (schema: Schema, value: Json, field?: string): readonly string[] =>
  runSync(compileValidator(schema)(value, field)).map((violation) => `${violation.field}: ${violation.body}`);

const keyed: Schema = {
  type: 'array',
  listType: 'map',
  listMapKeys: ['k'],
  items: object({ k: { type: 'string', maxLength: 2 }, v: { type: 'integer' } }, { required: ['k'] }),
};

describe('violations have the messages of Kubernetes', () => {
  test.each<[string, Schema, Json, readonly string[]]>([
    [
      'type',
      object({ a: { type: 'integer' } }),
      { a: 'x' },
      ['a: Invalid value: "string": a in body must be of type integer: "string"'],
    ],
    ['null', { type: 'string' }, null, ['<nil>: Invalid value: "null":  in body must be of type string: "null"']],
    ['nullable', { type: 'string', nullable: true }, null, []],
    [
      'nullable does not override an enum',
      { nullable: true, enum: ['a', null] },
      null,
      ['<nil>: Unsupported value: null: supported values: "a", "null"'],
    ],
    [
      'int or string',
      { intOrString: true },
      true,
      ['<nil>: Invalid value: "boolean":  in body must be of type integer,string: "boolean"'],
    ],
    ['a whole number is an integer', { type: 'integer' }, 1, []],
    [
      'a fraction is not an integer',
      { type: 'integer' },
      1.5,
      [
        '<nil>: Invalid value: "number":  in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in ',
      ],
    ],
    ['an integer is a number', { type: 'number', format: 'double' }, 1, []],
    ['length in code points', { type: 'string', maxLength: 2 }, '\u{1f600}\u{1f600}', []],
    ['too long', { type: 'string', maxLength: 1 }, 'ab', ['<nil>: Too long: may not be more than 1 byte']],
    [
      'too short comes before the pattern',
      { type: 'string', minLength: 2, pattern: '^b' },
      'a',
      ['<nil>: Invalid value: "a":  in body should be at least 2 chars long'],
    ],
    ['pattern', { type: 'string', pattern: '^b' }, 'ab', ['<nil>: Invalid value: "ab":  in body should match \'^b\'']],
    [
      'format',
      { type: 'string', format: 'date' },
      'x',
      ['<nil>: Invalid value: "x":  in body must be of type date: "x"'],
    ],
    [
      'format of another type',
      { type: 'string', format: 'date' },
      1,
      ['<nil>: Invalid value: "int64":  in body must be of type date: "int64"'],
    ],
    ['unknown format', { type: 'string', format: 'shoe' }, 'x', []],
    [
      'integers are compared with the integer part of limits',
      { type: 'number', maximum: 1.5 },
      2,
      ['<nil>: Invalid value: 2:  in body should be less than or equal to 1'],
    ],
    ['multiple of a fraction', { type: 'number', multipleOf: 0.1 }, 0.3, []],
    [
      'not a multiple',
      { type: 'number', multipleOf: 0.1 },
      0.35,
      ['<nil>: Invalid value: 0.35:  in body should be a multiple of 0.1'],
    ],
    [
      'small numbers as Go prints them',
      { type: 'number', minimum: 1 },
      1e-7,
      ['<nil>: Invalid value: 1e-07:  in body should be greater than or equal to 1'],
    ],
    [
      'large floats as Go prints them, limits too',
      { type: 'number', maximum: 1e20 },
      1e30,
      ['<nil>: Invalid value: 1e+30:  in body should be less than or equal to 1e+20'],
    ],
    [
      'an integer with a fractional limit is printed as a float',
      { type: 'integer', minimum: 5e9 + 0.5 },
      2147483648,
      [
        '<nil>: Invalid value: "": Minimum boundary value must be of type integer (default format) in ',
        '<nil>: Invalid value: 2.147483648e+09:  in body should be greater than or equal to 5.0000000005e+09',
      ],
    ],
    [
      'also with a fractional multipleOf',
      { type: 'integer', multipleOf: 0.3 },
      9007199254740993n,
      [
        '<nil>: Invalid value: "": MultipleOf value must be of type integer (default format) in ',
        '<nil>: Invalid value: 9.007199254740992e+15:  in body should be a multiple of 0.3',
      ],
    ],
    [
      'limits of integers outside int64 become the smallest int64',
      { type: 'number', maximum: 1e20 },
      1,
      ['<nil>: Invalid value: 1:  in body should be less than or equal to -9223372036854775808'],
    ],
    [
      'a nearly whole number is an integer, and out of range',
      { intOrString: true, anyOf: [{ type: 'integer' }] },
      1.0000000001,
      [
        '<nil>: Invalid value: "": "" must validate at least one schema (anyOf)',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in ',
      ],
    ],
    ['numbers are converted to the type of the enum: fractions are truncated', { enum: [1] }, 1.5, []],
    ['numbers are converted to the type of the enum: characters', { enum: ['a'] }, 97, []],
    [
      'items',
      { type: 'array', items: { type: 'string' }, maxItems: 1 },
      ['a', 1],
      [
        '<nil>: Invalid value: "integer": [1] in body must be of type string: "integer"',
        '<nil>: Too many: 2: must have at most 1 item',
      ].map((text) => text.replace('<nil>: Invalid', '[1]: Invalid')),
    ],
    [
      'no string satisfies a negative limit',
      { type: 'string', maxLength: -1 },
      '',
      ['<nil>: Too long: value is too long'],
    ],
    ['no list does', { type: 'array', maxItems: -1 }, [], ['<nil>: Too many: 0: has too many items']],
    ['no object does', { type: 'object', maxProperties: -1 }, {}, ['<nil>: Too many: 0: has too many items']],
    [
      'map values',
      object({ m: { type: 'object', additionalProperties: { type: 'integer' } } }),
      { m: { 'a/b': '' } },
      ['m.a/b: Invalid value: "string": m.a/b in body must be of type integer: "string"'],
    ],
    [
      'forbidden members',
      object({ m: { type: 'object', additionalProperties: false } }),
      { m: { k: 1 } },
      ['m: Invalid value: "k": m.k in body is a forbidden property'],
    ],
    ['required', object({}, { required: ['a'] }), {}, ['a: Required value']],
    [
      'inherited members do not count',
      object({}, { required: ['toString', '__proto__'] }),
      {},
      ['toString: Required value', '__proto__: Required value'],
    ],
    [
      'anyOf reports the branch that matched furthest',
      { anyOf: [{ required: ['a'] }, { required: ['b'], properties: new Map([['c', { pattern: '.' }]]) }] },
      { c: 'x' },
      ['<nil>: Invalid value: "": "" must validate at least one schema (anyOf)', 'b: Required value'],
    ],
    [
      'oneOf must match exactly once',
      { oneOf: [{ minimum: 1 }, { minimum: 2 }] },
      3,
      ['<nil>: Invalid value: "": "" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      'allOf',
      { allOf: [{ minimum: 5 }, { maximum: 9 }] },
      3,
      [
        '<nil>: Invalid value: 3:  in body should be greater than or equal to 5',
        '<nil>: Invalid value: "": "" must validate all the schemas (allOf)',
      ],
    ],
    ['not', { not: { minimum: 1 } }, 3, ['<nil>: Invalid value: "": "" must not validate the schema (not)']],
  ])('%s', (_, schema, value, expected) => {
    expect(texts(schema, value)).toEqual(expected);
  });
});

test('the path prefix is in the field, but not in the text', () => {
  const schema = object({ l: { type: 'array', items: { type: 'string' } } }, { not: { required: ['l'] } });
  expect(texts(schema, { l: [1] }, 'status')).toEqual([
    'status: Invalid value: "": "" must not validate the schema (not)',
    'status.l[0]: Invalid value: "integer": l[0] in body must be of type string: "integer"',
  ]);
});

test.each<[Schema, Json, string[]]>([
  [{ intOrString: true }, true, []],
  [{ type: 'boolean', format: 'any' }, 'x', []],
  [{ type: 'object', format: 'date' }, 'x', ['Invalid value: "x":  in body must be of type date: "x"']],
])('defaults: any type for int-or-string, formats for any type: %j', (schema, value, expected) => {
  expect(failures(schema, value, undefined, { forDefaults: true }).map(({ body }) => body)).toEqual(expected);
});

test.each<[string, Schema]>([
  ['branches', { items: {}, anyOf: Array.from({ length: 500 }, (_, i) => ({ items: { maximum: -i } })) }],
  ['members', { items: object({}, { required: Array.from({ length: 500 }, (_, i) => `m${i}`) }) }],
])('validation of many items with many %s yields', (_, schema) => {
  const items = Array.from({ length: 200 }, (_item, at) => ({ n: at }));
  const numbers = items.map(({ n }) => n + 1);
  const steps = [...compileValidator(schema)(schema.anyOf ? numbers : items)];
  expect(steps.length).toBeGreaterThan(100);
});

test('a string that would take seconds to match is refused', () => {
  const schema: Schema = { type: 'string', pattern: 'a[ab]{900}[cd]' };
  expect(texts(schema, 'ab'.repeat(20_000))).toEqual([
    '<nil>: Invalid value: "":  in body is too long to be matched against \'a[ab]{900}[cd]\'',
  ]);
});

test('a large unchanged value is compared once, however deeply nested', () => {
  let looks = 0;
  const big = new Proxy(Array.from({ length: 1_000 }, (_, at) => at) as readonly Json[], {
    get: (target, name) => {
      if (name === '999') looks++;
      return Reflect.get(target, name);
    },
  });
  let schema = object({ big: { type: 'array', items: { type: 'integer' } }, text: { type: 'string', maxLength: 1 } });
  let [value, previous]: readonly Json[] = [
    { big, text: 'new' },
    { big: [...big], text: 'old' },
  ];
  looks = 0;
  for (let level = 0; level < 50; level++) {
    schema = object({ a: schema });
    [value, previous] = [{ a: value ?? null }, { a: previous ?? null }];
  }
  expect(failures(schema, value ?? null, previous).map(({ field }) => field)).toEqual([`${'a.'.repeat(50)}text`]);
  expect(looks).toBeLessThan(10);
});

test('a failure is reported once', () => {
  const schema: Schema = { type: 'string', pattern: '^a', allOf: [{ pattern: '^a' }] };
  expect(texts(schema, 'b').filter((text) => text.includes('should match'))).toHaveLength(1);
});

test('recursive schemas are supported', () => {
  const properties = new Map<string, Schema>();
  const tree: Schema = { type: 'object', properties };
  properties.set('child', tree).set('n', { type: 'integer' });
  expect(texts(tree, { child: { child: { n: 'x' } } })).toEqual([
    'child.child.n: Invalid value: "string": child.child.n in body must be of type integer: "string"',
  ]);
});

const scalar = fc.jsonValue({ maxDepth: 0 });
test('stored values pass and changed values do not, whatever was stored', () => {
  const schema = object({ a: { type: 'string', maxLength: 1 }, b: { type: 'string', maxLength: 1 } });
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(scalar, fc.array(fc.jsonValue()))), (value) => {
      expect(failures(schema, value as Json, value as Json)).toEqual([]);
      const changed = { ...value, a: 'long' } as Json;
      const found = failures(schema, changed, value as Json);
      expect(found.map(({ field }) => field)).toEqual(value['a'] === 'long' ? [] : ['a']);
    }),
    { numRuns: 100 },
  );
});

test.each<[string, Schema, Json, Json, readonly string[]]>([
  [
    'items of an untyped list have no old value',
    { type: 'array', items: { type: 'string', maxLength: 1 } },
    ['ab', 'c'],
    ['ab'],
    ['[0]: Too long: may not be more than 1 byte'],
  ],
  [
    'a map list is unchanged in any order',
    { ...keyed, maxItems: 1 },
    [{ k: 'a' }, { k: 'b' }],
    [{ k: 'b' }, { k: 'a' }],
    [],
  ],
  ['items of a map list have an old value', keyed, [{ k: 'abc' }], [{ k: 'a' }, { k: 'abc' }], []],
  ['except those without a key', keyed, [{ v: 1 }], [{ v: 1 }], ['[0].k: Required value']],
  ['and objects with unknown members', object({}, { required: ['a'] }), { b: 1 }, { b: 1 }, ['a: Required value']],
])('ratcheting: %s', (_, schema, previous, value, expected) => {
  const found = failures(schema, value, previous);
  expect(found.map(({ field, body }) => `${field}: ${body}`)).toEqual(expected);
});
