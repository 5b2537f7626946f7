import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/api/object.js';
import type { Steps } from '../../../src/api/steps.js';
import { readSchemaProps } from '../../../src/schema/json-schema-props.js';
import { compileRules, type RuleFindings } from '../../../src/schema/rules/evaluate.js';
import { toSchema } from '../../../src/schema/to-schema.js';

function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const findings = (schema: JsonObject, object: JsonObject, previous?: JsonObject): RuleFindings =>
  finish(
    compileRules(toSchema(readSchemaProps(schema, ['x-kubernetes-'])), { isRoot: true })(object, {
      previous,
      ratcheting: true,
    }),
  );

/** Returns an object schema with these members, and rules about the object. */
const struct = (properties: JsonObject, rules?: readonly Json[]): JsonObject => ({
  type: 'object',
  properties,
  ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules }),
});
const withSpec = (spec: JsonObject): JsonObject => struct({ spec });
const told = (violations: readonly string[]) => ({ violations, warnings: [] as readonly string[] });

/** The errors, with the texts of kube-apiserver 1.36. */
test.each<
  [
    string,
    JsonObject,
    JsonObject,
    JsonObject | undefined,
    { readonly violations: readonly string[]; readonly warnings: readonly string[] },
  ]
>([
  [
    'a rule that holds reports nothing',
    withSpec(struct({ a: { type: 'integer' } }, [{ rule: 'self.a > 0' }])),
    { spec: { a: 1 } },
    undefined,
    told([]),
  ],
  [
    'a failed rule is named, without the value of an object',
    withSpec(struct({ a: { type: 'integer' } }, [{ rule: 'self.a > 0' }])),
    { spec: { a: 0 } },
    undefined,
    told(['spec: Invalid value: failed rule: self.a > 0']),
  ],
  [
    'a failed rule is reported with the value of a scalar',
    withSpec(struct({ a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0' }] } })),
    { spec: { a: 0 } },
    undefined,
    told(['spec.a: Invalid value: 0: failed rule: self > 0']),
  ],
  [
    'a message is trimmed',
    withSpec(
      struct({
        a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0', message: ' more! ' }] },
      }),
    ),
    { spec: { a: 0 } },
    undefined,
    told(['spec.a: Invalid value: 0: more!']),
  ],
  [
    'a message expression takes precedence',
    withSpec(
      struct({
        a: {
          type: 'integer',
          'x-kubernetes-validations': [{ rule: 'self > 0', message: 'no', messageExpression: "'got ' + string(self)" }],
        },
      }),
    ),
    { spec: { a: 0 } },
    undefined,
    told(['spec.a: Invalid value: 0: got 0']),
  ],
  [
    'unless it is blank, has line breaks or fails',
    withSpec(
      struct({
        a: {
          type: 'integer',
          'x-kubernetes-validations': [
            { rule: 'self > 0', messageExpression: "' '", message: 'm' },
            { rule: 'self > 1', messageExpression: "'a\\nb'" },
            { rule: 'self > 2', messageExpression: 'string(1 / self)' },
          ],
        },
      }),
    ),
    { spec: { a: 0 } },
    undefined,
    told([
      'spec.a: Invalid value: 0: m',
      'spec.a: Invalid value: 0: failed rule: self > 1',
      'spec.a: Invalid value: 0: failed rule: self > 2',
    ]),
  ],
  [
    'reason FieldValueForbidden',
    withSpec(
      struct(
        {
          a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0', reason: 'FieldValueForbidden' }] },
        },
        [{ rule: 'false', reason: 'FieldValueForbidden', message: 'm' }],
      ),
    ),
    { spec: { a: 0 } },
    undefined,
    told(['spec: Forbidden: m', 'spec.a: Forbidden: failed rule: self > 0']),
  ],
  [
    'reason FieldValueRequired',
    withSpec(
      struct(
        {
          a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0', reason: 'FieldValueRequired' }] },
        },
        [{ rule: 'false', reason: 'FieldValueRequired', message: 'm' }],
      ),
    ),
    { spec: { a: 0 } },
    undefined,
    told(['spec: Required value: m', 'spec.a: Required value: failed rule: self > 0']),
  ],
  [
    'reason FieldValueDuplicate',
    withSpec(
      struct(
        {
          a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0', reason: 'FieldValueDuplicate' }] },
        },
        [{ rule: 'false', reason: 'FieldValueDuplicate', message: 'm' }],
      ),
    ),
    { spec: { a: 0 } },
    undefined,
    told(['spec: Duplicate value', 'spec.a: Duplicate value: 0']),
  ],
  [
    'reason FieldValueInvalid',
    withSpec(
      struct(
        {
          a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0', reason: 'FieldValueInvalid' }] },
        },
        [{ rule: 'false', reason: 'FieldValueInvalid', message: 'm' }],
      ),
    ),
    { spec: { a: 0 } },
    undefined,
    told(['spec: Invalid value: m', 'spec.a: Invalid value: 0: failed rule: self > 0']),
  ],
  [
    'fieldPath determines the reported field',
    withSpec(
      struct({ a: { type: 'integer' }, m: { type: 'object', additionalProperties: { type: 'integer' } } }, [
        { rule: 'false', fieldPath: '.a' },
        { rule: 'false', fieldPath: ".m['x.y']" },
      ]),
    ),
    { spec: { a: 0 } },
    undefined,
    told(['spec.a: Invalid value: failed rule: false', 'spec.m[x.y]: Invalid value: failed rule: false']),
  ],
  [
    'every item and every member is validated',
    withSpec(
      struct({
        l: { type: 'array', items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1' }] } },
        m: {
          type: 'object',
          additionalProperties: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1' }] },
        },
      }),
    ),
    { spec: { l: [1, 2, 0], m: { 'a.b': 1, c: 2 } } },
    undefined,
    told([
      'spec.l[0]: Invalid value: 1: failed rule: self > 1',
      'spec.l[2]: Invalid value: 0: failed rule: self > 1',
      'spec.m[a.b]: Invalid value: 1: failed rule: self > 1',
    ]),
  ],
  [
    'null is not validated',
    withSpec(
      struct({ a: { type: 'string', nullable: true, 'x-kubernetes-validations': [{ rule: 'false' }] } }, [
        { rule: '!has(self.a)' },
      ]),
    ),
    { spec: { a: null } },
    undefined,
    told([]),
  ],
  [
    'names are escaped',
    withSpec(
      struct(
        {
          'a-b': { type: 'integer' },
          'c.d': { type: 'integer' },
          namespace: { type: 'string' },
          x__y: { type: 'integer' },
        },
        [
          {
            rule: "self.a__dash__b == 1 && self.c__dot__d == 2 && self.__namespace__ == 'n' && self.x__underscores__y == 3",
          },
        ],
      ),
    ),
    { spec: { 'a-b': 1, 'c.d': 2, namespace: 'n', x__y: 3 } },
    undefined,
    told([]),
  ],
  [
    'the root has apiVersion, kind and metadata.name, but no labels',
    struct({ spec: { type: 'object' } }, [
      { rule: "self.kind == 'K' && self.metadata.name == 'n'" },
      { rule: 'self.metadata.labels.size() > 0' },
    ]),
    { kind: 'K', apiVersion: 'g/v1', metadata: { name: 'n', labels: { a: 'b' } } },
    undefined,
    told([
      '<nil>: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:14: undefined field \'labels\'\n | self.metadata.labels.size() > 0\n | .............^',
    ]),
  ],
  [
    'an embedded resource has them, too',
    withSpec(
      struct({
        e: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
          'x-kubernetes-validations': [{ rule: "self.kind == 'Pod'" }],
        },
      }),
    ),
    { spec: { e: { kind: 'Service', apiVersion: 'v1', metadata: { name: 'x' } } } },
    undefined,
    told(["spec.e: Invalid value: failed rule: self.kind == 'Pod'"]),
  ],
  [
    'int-or-string has either type',
    withSpec(
      struct({ p: { 'x-kubernetes-int-or-string': true } }, [
        { rule: 'type(self.p) == string' },
        { rule: 'self.p > 5' },
        { rule: 'size(self.p) > 1' },
      ]),
    ),
    { spec: { p: 7 } },
    undefined,
    told([
      'spec: Invalid value: failed rule: type(self.p) == string',
      'spec: Invalid value: "object": \'no such overload: size\': call arguments did not match a supported operator, function or macro signature for rule: size(self.p) > 1',
    ]),
  ],
  [
    'formats determine types',
    withSpec(
      struct(
        {
          t: { type: 'string', format: 'date-time' },
          d: { type: 'string', format: 'duration' },
          b: { type: 'string', format: 'byte' },
          y: { type: 'string', format: 'date' },
        },
        [
          {
            rule: "self.t > timestamp('2024-01-01T00:00:00Z') && self.d == duration('90m') && size(self.b) == 3 && self.y.getFullYear() == 2024",
          },
          { rule: 'self.d < duration("1h")' },
        ],
      ),
    ),
    { spec: { t: '2024-01-01T02:00:00.5+01:00', d: '1h30m', b: 'YWJj', y: '2024-02-29' } },
    undefined,
    told(['spec: Invalid value: failed rule: self.d < duration("1h")']),
  ],
  [
    'a time keeps its zone as a string',
    withSpec(
      struct({ t: { type: 'string', format: 'date-time' }, d: { type: 'string', format: 'duration' } }, [
        { rule: 'false', messageExpression: "string(self.t) + ' ' + string(self.d)" },
      ]),
    ),
    { spec: { t: '2024-01-01T02:00:00.5+01:00', d: '2 weeks 3 min' } },
    undefined,
    told(['spec: Invalid value: 2024-01-01T02:00:00.5+01:00 1209780s']),
  ],
  [
    'numbers are doubles, even whole ones',
    withSpec(struct({ n: { type: 'number' } }, [{ rule: 'self.n / 2.0 == 0.5' }])),
    { spec: { n: 1 } },
    undefined,
    told([]),
  ],
  [
    'order is irrelevant in sets and keyed lists',
    withSpec(
      struct(
        {
          s: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          k: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['n'],
            items: struct({ n: { type: 'string' }, v: { type: 'integer' } }),
          },
          a: { type: 'array', items: { type: 'string' } },
        },
        [
          { rule: "self.s == ['b', 'a']" },
          { rule: "(self.s + ['a', 'c']).size() == 3" },
          { rule: 'self.k == oldSelf.k' },
          { rule: '(self.k + oldSelf.k).size() == 2' },
          { rule: 'self.a == oldSelf.a' },
        ],
      ),
    ),
    {
      spec: {
        s: ['a', 'b'],
        k: [
          { n: 'x', v: 1 },
          { n: 'y', v: 2 },
        ],
        a: ['1', '2'],
      },
    },
    {
      spec: {
        s: ['a'],
        k: [
          { n: 'y', v: 2 },
          { n: 'x', v: 1 },
        ],
        a: ['2', '1'],
      },
    },
    told(['spec: Invalid value: failed rule: self.a == oldSelf.a']),
  ],
  [
    'transition rules are skipped for new values',
    withSpec(struct({ a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= oldSelf' }] } })),
    { spec: { a: 1 } },
    undefined,
    told([]),
  ],
  [
    'and refuse changes',
    withSpec(struct({ a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= oldSelf' }] } })),
    { spec: { a: 1 } },
    { spec: { a: 2 } },
    told(['spec.a: Invalid value: 1: failed rule: self >= oldSelf']),
  ],
  [
    'with optionalOldSelf they run for both',
    withSpec(
      struct({
        a: {
          type: 'integer',
          'x-kubernetes-validations': [{ rule: '!oldSelf.hasValue()', optionalOldSelf: true, message: 'm' }],
        },
      }),
    ),
    { spec: { a: 1 } },
    { spec: { a: 1 } },
    told(['spec.a: Invalid value: 1: m']),
  ],
  [
    'inside the optional, the stored value has no schema',
    withSpec(
      struct({ t: { type: 'string', format: 'date-time' } }, [
        { rule: 'oldSelf.value().t == self.t', optionalOldSelf: true },
      ]),
    ),
    { spec: { t: '2024-01-01T00:00:00Z' } },
    { spec: { t: '2024-01-01T00:00:00Z' } },
    told(['spec: Invalid value: failed rule: oldSelf.value().t == self.t']),
  ],
  [
    'items of keyed lists have an oldSelf, others do not',
    withSpec(
      struct({
        k: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['n'],
          items: struct({
            n: { type: 'string' },
            v: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
          }),
        },
        a: {
          type: 'array',
          items: {
            type: 'integer',
            'x-kubernetes-validations': [{ rule: 'oldSelf.hasValue()', optionalOldSelf: true }],
          },
        },
      }),
    ),
    {
      spec: {
        k: [
          { n: 'y', v: 2 },
          { n: 'x', v: 9 },
        ],
        a: [1],
      },
    },
    {
      spec: {
        k: [
          { n: 'x', v: 1 },
          { n: 'y', v: 2 },
        ],
        a: [1],
      },
    },
    told([
      'spec.k[1].v: Invalid value: 9: failed rule: self == oldSelf',
      'spec.a[0]: Invalid value: 1: failed rule: oldSelf.hasValue()',
    ]),
  ],
  [
    'a failure that existed before is a warning',
    withSpec(
      struct({
        a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 5' }] },
        b: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 5' }] },
      }),
    ),
    { spec: { a: 1, b: 2 } },
    { spec: { a: 1, b: 1 } },
    {
      violations: ['spec.b: Invalid value: 2: failed rule: self > 5'],
      warnings: ['spec.a: Invalid value: 1: failed rule: self > 5'],
    },
  ],
  [
    'also inside an unchanged value, even in lists without keys',
    withSpec(
      struct({
        l: { type: 'array', items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 5' }] } },
      }),
    ),
    { spec: { l: [1, 9] } },
    { spec: { l: [1, 9] } },
    { violations: [], warnings: ['spec.l[0]: Invalid value: 1: failed rule: self > 5'] },
  ],
  [
    'failures of transition rules are never just warnings',
    withSpec(struct({ a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > oldSelf' }] } })),
    { spec: { a: 1 } },
    { spec: { a: 1 } },
    told(['spec.a: Invalid value: 1: failed rule: self > oldSelf']),
  ],
  [
    'an evaluation error is reported',
    withSpec(
      struct(
        {
          l: { type: 'array', items: { type: 'integer' } },
          m: { type: 'object', additionalProperties: { type: 'integer' } },
        },
        [{ rule: 'self.l[9] == 1' }, { rule: "self.m['x'] == 1" }, { rule: 'self.l[0] / 0 == 1', message: 'divided' }],
      ),
    ),
    { spec: { l: [1], m: {} } },
    undefined,
    told([
      'spec: Invalid value: "object": index out of bounds: 9 evaluating rule: self.l[9] == 1',
      'spec: Invalid value: "object": no such key: x evaluating rule: self.m[\'x\'] == 1',
      'spec: Invalid value: "object": division by zero evaluating rule: divided',
    ]),
  ],
  [
    'a compilation error is reported on use',
    withSpec(struct({ a: { type: 'integer' } }, [{ rule: 'self.b' }])),
    { spec: { a: 1 } },
    undefined,
    told([
      'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field \'b\'\n | self.b\n | ....^',
    ]),
  ],
  [
    'rules within allOf apply to the same value',
    withSpec({
      type: 'object',
      properties: { a: { type: 'integer' } },
      allOf: [
        {
          'x-kubernetes-validations': [{ rule: 'self.a > 5' }],
          properties: { a: { 'x-kubernetes-validations': [{ rule: 'self > 6' }] } },
        },
      ],
      'x-kubernetes-validations': [{ rule: 'true' }],
    }),
    { spec: { a: 1 } },
    undefined,
    told(['spec: Invalid value: failed rule: self.a > 5', 'spec.a: Invalid value: 1: failed rule: self > 6']),
  ],
  [
    'parents come before children, rules are in order',
    struct(
      {
        spec: struct(
          {
            a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1' }, { rule: 'self > 2' }] },
          },
          [{ rule: 'false', message: 'outer' }],
        ),
      },
      [{ rule: 'false', message: 'root' }],
    ),
    { spec: { a: 0 } },
    undefined,
    told([
      '<nil>: Invalid value: root',
      'spec: Invalid value: outer',
      'spec.a: Invalid value: 0: failed rule: self > 1',
      'spec.a: Invalid value: 0: failed rule: self > 2',
    ]),
  ],
  [
    'exceeding the cost budget ends validation',
    withSpec(
      struct(
        {
          l: { type: 'array', items: { type: 'integer' } },
          z: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'false' }] },
        },
        [{ rule: 'self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))' }, { rule: 'false' }],
      ),
    ),
    { spec: { l: Array.from({ length: 120 }, (_, at) => at), z: 1 } },
    undefined,
    told([
      'spec: Invalid value: "object": \'operation cancelled: actual cost limit exceeded\': no further validation rules will be run due to call cost exceeds limit for rule: self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))',
    ]),
  ],
  [
    'unknown members can be compared, but not accessed',
    withSpec(
      struct({ u: { 'x-kubernetes-preserve-unknown-fields': true }, a: { type: 'integer' } }, [
        { rule: 'self == oldSelf' },
      ]),
    ),
    { spec: { u: { x: 1 }, a: 1 } },
    { spec: { u: { x: 2 }, a: 1 } },
    told(['spec: Invalid value: failed rule: self == oldSelf']),
  ],
  [
    'a value of the wrong type is reported with its actual type',
    struct({
      a: { type: 'boolean', 'x-kubernetes-validations': [{ rule: 'self' }] },
      b: { type: 'boolean', 'x-kubernetes-validations': [{ rule: 'self' }] },
    }),
    { a: 1, b: 1.5 },
    undefined,
    told([
      'a: Invalid value: "boolean": invalid data, expected bool, got int64 evaluating rule: self',
      'b: Invalid value: "boolean": invalid data, expected bool, got float64 evaluating rule: self',
    ]),
  ],
  [
    'properties with names of Object.prototype are ordinary properties',
    withSpec(
      struct({ constructor: { type: 'integer' }, __proto__x: { type: 'integer' } }, [
        { rule: '!has(self.constructor)' },
      ]),
    ),
    { spec: {} },
    undefined,
    told([]),
  ],
])('%s', (_title, schema, object, previous, expected) => {
  const { violations, warnings } = findings(schema, object, previous);
  expect({ violations: violations.map(({ field, body }) => `${field}: ${body}`), warnings }).toEqual(expected);
});

/** Items are looked up by their Go values, with the results of kube-apiserver 1.36.3. */
const hash = (type: string): string => `internal error: runtime error: hash of unhashable type ${type}`;
const letters = { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' } } };
const numbers = { type: 'number' };
const durations = { type: 'string', format: 'duration' };
test.each<readonly [string, JsonObject, readonly Json[], string | undefined]>([
  ['self == self', letters, [{ a: 'x' }], hash('map[string]interface {}')],
  ['self == self || true', letters, [{ a: 'x' }], hash('map[string]interface {}')],
  ['(self + self).size() == 1', letters, [{ a: 'x' }], hash('map[string]interface {}')],
  ['(self + self).size() == 0', letters, [], undefined],
  ['self == self', { type: 'array', items: { type: 'integer' } }, [[1]], hash('[]interface {}')],
  ['self == self', { type: 'string', format: 'byte' }, ['YQ=='], hash('[]uint8')],
  ['self != self', { type: 'string', format: 'date' }, ['2026-01-01'], undefined],
  ['self != self', { type: 'string', format: 'date-time' }, ['2026-01-01T00:00:00Z'], undefined],
  ['self != self', durations, ['1h'], undefined],
  ['self != [duration("1h")] && [duration("1h")] == self', durations, ['1h'], undefined],
  ['(self + self).size() == 2', durations, ['1h'], undefined],
  ['(self + self)[0] == duration("1h")', durations, ['1h'], undefined],
  ['(self + self)[1] == duration("1h")', durations, ['1h'], 'invalid data, expected string, got time.Duration'],
  ['self != self && !(self in [self])', numbers, [1], undefined],
  ['self == self', numbers, [1.5], undefined],
  ['(self + self + self).size() == 2 && (self + self)[1] == 1.0', numbers, [1], undefined],
  ['(self + [2.0, 2.0, 1.0]).size() == 3', numbers, [1], undefined],
  ['self == self', { 'x-kubernetes-int-or-string': true }, ['1', 1], undefined],
])('in a set, %s for items of %o in %o', (rule, items, value, failure) => {
  const spec = { type: 'array', 'x-kubernetes-list-type': 'set', items, 'x-kubernetes-validations': [{ rule }] };
  const { violations } = findings(struct({ spec }), { spec: value });
  expect(violations.map(({ body }) => body)).toEqual(
    failure === undefined ? [] : [`Invalid value: "array": ${failure} evaluating rule: ${rule}`],
  );
});

/** A key is looked up under its name in expressions; more than three keys are joined to one text. */
test.each<readonly [string, readonly string[], readonly JsonObject[]]>([
  ['self == self', ['x'], [{ x: 'a' }, { x: 'b' }]],
  ['self != self', ['x-y'], [{ 'x-y': 'a' }, { 'x-y': 'b' }]],
  ['self == self', ['x-y'], [{ 'x-y': 'a' }]],
  ['self != self', ['namespace'], [{ namespace: 'a' }, { namespace: 'b' }]],
  [
    'self == self',
    ['namespace', 'x'],
    [
      { namespace: 'a', x: 'a' },
      { namespace: 'b', x: 'b' },
    ],
  ],
  [
    'self != self',
    ['a', 'b', 'c', 'd'],
    [
      { a: '1 2', b: '3', c: 'x', d: 'x' },
      { a: '1', b: '2 3', c: 'x', d: 'x' },
    ],
  ],
])('in a keyed list, %s for the keys %o of %o', (rule, keys, value) => {
  const spec = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    items: struct(Object.fromEntries(keys.map((key) => [key, { type: 'string' }]))),
    'x-kubernetes-validations': [{ rule }],
  };
  expect(findings(struct({ spec }), { spec: value }).violations).toEqual([]);
});

const emptyThings: JsonObject = struct({
  l: { type: 'array', items: { type: 'string' } },
  s: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  m: { type: 'object', additionalProperties: { type: 'string' } },
  o: struct({ a: { type: 'string' } }),
  t: { type: 'string' },
  n: { type: 'integer' },
});
/** Recorded with kube-apiserver 1.36.3. */
test.each([
  ['self.l', true],
  ['self.s', true],
  ['self.m', true],
  ['self.o', true],
  ['self', true],
  ['self.t', false],
  ['self.n', false],
  ['[]', false],
  ['self.l + self.l', true],
  ['self.s + self.s', true],
  ['self.l + []', true],
  ['[] + self.l', true],
  ['self.l.filter(x, true)', false],
  ['self.l.slice(0, 0)', false],
])('if empty, %s is non-zero: %s', (expression, expected) => {
  const rule = `optional.ofNonZeroValue(${expression}).hasValue()`;
  const spec = { ...emptyThings, 'x-kubernetes-validations': [{ rule, message: 'nothing' }] };
  const object = { spec: { l: [], s: [], m: {}, o: {}, t: '', n: 0 } };
  const { violations } = findings(struct({ spec }), object);
  expect(violations.map(({ body }) => body)).toEqual(expected ? [] : ['Invalid value: nothing']);
});

/** The results of kube-apiserver 1.36.3 for values that are older than their schema. */
test.each([
  ['date', 'b', 'Invalid date formatted string b: parsing time "b" as "2006-01-02": cannot parse "b" as "2006"'],
  ['date', '2020-02-30', 'Invalid date formatted string 2020-02-30: parsing time "2020-02-30": day out of range'],
  ['date', '2020-01-01x', 'Invalid date formatted string 2020-01-01x: parsing time "2020-01-01x": extra text: "x"'],
  [
    'date-time',
    '2020-01-01',
    'Invalid date-time formatted string 2020-01-01: parsing time "2020-01-01" as "2006-01-02T15:04:05": cannot parse "" as "T"',
  ],
  [
    'date-time',
    '2020-01-01T00:00:00.5+25:00',
    'Invalid date-time formatted string 2020-01-01T00:00:00.5+25:00: parsing time "2020-01-01T00:00:00.5+25:00": extra text: "+25:00"',
  ],
  ['date-time', '', undefined],
  // Beyond the years that expressions can represent.
  ['date-time', '9999-12-31T23:59:59-01:00', undefined],
  ['date', '0000-01-01', undefined],
  ['byte', 'YWJj', undefined],
  ['byte', '+/+/', 'Invalid byte formatted string +/+/: illegal base64 data at input byte 0'],
  ['byte', 'YWI', 'Invalid byte formatted string YWI: illegal base64 data at input byte 0'],
])('with format %s, %j fails its rules with the reason', (format, v, why) => {
  const schema = { type: 'string', format, 'x-kubernetes-validations': [{ rule: 'self == self' }] };
  const { violations } = findings(struct({ v: schema }), { v });
  expect(violations.map(({ body }) => body)).toEqual(
    why === undefined ? [] : [`Invalid value: "string": ${why} evaluating rule: self == self`],
  );
});

/**
 * The results of kube-apiserver 1.36.3: an invalid value cannot be compared, and is not found to differ from itself.
 */
test.each([
  ['self == self', 'failed'],
  ['self != self', 'true'],
  ['self.m == self.m', 'failed'],
  ['self.l == self.r', 'failed'],
  ['self.r == self.l', 'false'],
  ['self.l != self.r', 'true'],
  ['self.k == self.k', 'failed'],
  ['[self.m] == [self.m]', 'true'],
  ['[self.l] == [self.r]', 'true'],
  ['b"z" in self.l', 'failed'],
  ['b"a" in self.l', 'true'],
  ['sets.contains(self.l, self.l)', 'failed'],
  ['sets.equivalent(self.l, [b"a"])', 'false'],
  ['sets.equivalent([b"a"], self.l)', 'false'],
  ['sets.intersects(self.l, self.r)', 'true'],
  ['null in self.k', 'no such overload'],
])('with invalid bytes, %s is %s', (rule, expected) => {
  const byte = { type: 'string', format: 'byte' };
  const failed = 'Invalid byte formatted string +/+/: illegal base64 data at input byte 0';
  const spec = struct(
    {
      l: { type: 'array', items: byte },
      r: { type: 'array', items: byte },
      m: { type: 'object', additionalProperties: byte },
      k: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['n'],
        items: struct({ n: { type: 'string' }, v: byte }),
      },
    },
    [{ rule }],
  );
  const value = { l: ['+/+/', 'YQ=='], r: ['YQ==', '+/+/'], m: { a: '+/+/' }, k: [{ n: 'a', v: '+/+/' }] };
  const { violations } = findings(struct({ spec }), { spec: value });
  expect(violations.map(({ body }) => body)).toEqual(
    expected === 'true'
      ? []
      : expected === 'false'
        ? [`Invalid value: failed rule: ${rule}`]
        : expected === 'failed'
          ? [`Invalid value: "object": ${failed} evaluating rule: ${rule}`]
          : [expect.stringContaining(expected)],
  );
});

/**
 * The results of kube-apiserver 1.36.3: lists and objects of a resource can only be compared with lists and objects.
 */
test.each([
  ['self.l == self.n', 'no such overload'],
  ['self.n == self.l', 'false'],
  ['self.l != self.n', 'true'],
  ['self.l + self.l == self.n', 'no such overload'],
  ['self.s == self.n', 'no such overload'],
  ['self.k == self.n', 'no such overload'],
  ['self.k[0] == self.n', 'no such overload'],
  ['self.m == dyn([])', 'no such overload'],
  ['self.m == {"a": dyn(1)}', 'false'],
  ['dyn(self.l) == null', 'false'],
  ['[self.l] == [self.n]', 'true'],
  ['{"a": self.m} == {"a": self.n}', 'true'],
  ['[self.l] == [dyn(null)]', 'false'],
  ['[dyn(self.l), dyn(1)] == [self.n, dyn(2)]', 'false'],
  ['[dyn(quantity("1"))] == [self.n]', 'true'],
  ['self.n in self.k', 'no such overload'],
  ['self.n in self.l', 'false'],
  ['self.n in [dyn(self.l)]', 'false'],
  ['[dyn(self.l)].indexOf(self.n)', '-1'],
  ['self.l.map(x, x) == self.n', 'false'],
])('%s is %s', (expression, expected) => {
  const list = { type: 'array', items: { type: 'string' } };
  const spec = struct(
    {
      l: list,
      s: { ...list, 'x-kubernetes-list-type': 'set' },
      k: {
        type: 'array',
        items: struct({ k: { type: 'string' } }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      },
      m: { type: 'object', additionalProperties: { type: 'string' } },
      n: { 'x-kubernetes-int-or-string': true },
    },
    [
      {
        rule: `dyn(${expression}) == dyn("none")`,
        messageExpression: `"%s".format([dyn(${expression})])`,
        message: 'none',
      },
    ],
  );
  const object = { spec: { l: ['a'], s: ['a'], k: [{ k: 'a' }], m: { a: 'b' }, n: 1 } };
  const { violations } = findings(struct({ spec }), object);
  const [said] = violations.map(({ body }) => body);
  expect(said?.includes('no such overload') ? 'no such overload' : said).toBe(
    expected === 'no such overload' ? expected : `Invalid value: ${expected}`,
  );
});

test.each([
  ['dyn(self.o)', ['error during formatting: could not find key: "n"']],
  ['[dyn(self)]', ['error during formatting: could not find key: "n"']],
  ['self.m', []],
])('an object with a null field cannot be formatted, a map can: %s', (expression, said) => {
  const nullable = { type: 'integer', nullable: true };
  const spec = struct({ o: struct({ n: nullable }), m: { type: 'object', additionalProperties: nullable } }, [
    { rule: `"%s".format([${expression}]) == "{\\"k\\":null}"` },
  ]);
  const { violations } = findings(struct({ spec }), { spec: { o: { n: null }, m: { k: null } } });
  expect(violations.map(({ body }) => body)).toEqual(said.map((text) => expect.stringContaining(`"object": ${text}`)));
});

test.each([
  ['self.?o.or(self.?o).?t.hasValue() && optional.of(self).?o.hasValue()', undefined],
  ['optional.of(self).?o.optMap(o, string(o.t)).orValue("") == ""', 'no such overload: string(string)'],
  ['optional.of(self.o).?x__dash__y.hasValue()', 'failed rule'],
  ['optional.of(self.o).?n.hasValue()', undefined],
  ['optional.of(self.o).?d.optMap(d, d > 1).orValue(true)', 'failed rule'],
  ['optional.of(self.o).?d.optMap(d, d < 2.5 && -d < 0 && d >= 1).orValue(false)', undefined],
  ['optional.of(self.o).?d.optMap(d, d + 1.0).orValue(0.0) == 2.0', 'no such overload'],
  ['optional.of(self.o).?b.optMap(b, b.size()).orValue(0) == 4', undefined],
  ['optional.of(self.o).?t.optMap(t, t.getFullYear()).orValue(0) == 2024', 'no such overload: getFullYear(string)'],
])(
  'a value taken from an object in an optional is plain JSON with the operators of its actual type: %s',
  (rule, said) => {
    const o = struct({
      t: { type: 'string', format: 'date-time' },
      n: { type: 'integer', nullable: true },
      d: { type: 'number' },
      b: { type: 'string', format: 'byte' },
      'x-y': { type: 'integer' },
    });
    const object = { spec: { o: { t: '2024-01-01T00:00:00Z', n: null, d: 1, b: 'YQ==', 'x-y': 1 } } };
    const { violations } = findings(struct({ spec: struct({ o }, [{ rule }]) }), object);
    expect(violations.map(({ body }) => body)).toEqual(said === undefined ? [] : [expect.stringContaining(said)]);
  },
);

test.each(['distinct', 'sort'])('for a missing list of times, %s fails as in Kubernetes', (name) => {
  const times = { type: 'array', items: { type: 'string', format: 'date-time' } };
  const { violations } = findings(struct({ spec: struct({ l: times }, [{ rule: `self.l.${name}() == self.l` }]) }), {
    spec: {},
  });
  expect(violations.map(({ body }) => body)).toEqual([expect.stringContaining('*types.Err is not traits.Lister')]);
});

test.each([
  ['x1 y2', 'x1 y3', '[x1, y3]'],
  ['x1', 'y2 y3', '[x1, y2, y3]'],
  ['x1 x2', 'x3', '[x1, x3]'],
  ['y2 x1 y2', 'x1 y2', '[y2, x1, y2]'],
])('keyed lists are added as in Kubernetes, also with duplicate keys: %s and %s are %s', (left, right, sum) => {
  const list = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: struct({ k: { type: 'string' }, v: { type: 'integer' } }),
  };
  const items = (text: string) => text.split(' ').map((item) => ({ k: item.slice(0, 1), v: Number(item.slice(1)) }));
  const spec = struct({ m: { type: 'array', items: list } }, [
    { rule: 'false', messageExpression: '"%s".format([(self.m[0] + self.m[1]).map(x, x.k + string(x.v))])' },
  ]);
  const object = { spec: { m: [items(left), items(right)] } };
  const [said] = findings(struct({ spec }), object).violations.map(({ body }) => body);
  expect(said?.replaceAll('"', '')).toBe(`Invalid value: ${sum}`);
});

test.each([
  ['self.o == {"namespace": "n", "a-b": "q"}', 'true'],
  ['self.o == {"__namespace__": "n", "a__dash__b": "q"}', 'false'],
  ['{"namespace": "n", "a-b": "q"} == self.o', 'true'],
  ['self.o != {"namespace": "n", "a-b": "q"}', 'false'],
  ['self.o in [{"namespace": "n", "a-b": "q"}]', 'true'],
  ['[self.o] == [{"namespace": "n", "a-b": "q"}]', 'true'],
  ['{"k": self.o} == {"k": {"namespace": "n", "a-b": "q"}}', 'true'],
  ['self.outer == {"in": {"x.y": 1}}', 'true'],
  ['self.twice == {"a__dash__b": 1}', 'false'],
  ['self.p == {"q": 1, "z": 1}', 'no such overload'],
  ['self.p == {"q": 1, "y": 1}', 'no such overload'],
  ['self.p in [{"q": 1, "z": 1}]', 'false'],
  ['self.p == {"q": 1}', 'false'],
  ['{"q": 1, "z": 1} == self.p', 'false'],
  ['self.p == self.same', 'true'],
  ['self.p == self.other', 'false'],
])('objects and maps are compared by their member names: %s is %s', (expression, expected) => {
  const untyped = expression.replaceAll(/self\.(\w+)/g, 'dyn(self.$1)');
  const loose = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { q: { type: 'integer' } },
  };
  const integers = (name: string) => struct({ [name]: { type: 'integer' } });
  const spec = struct(
    {
      o: struct({ namespace: { type: 'string' }, 'a-b': { type: 'string' } }),
      outer: struct({ in: integers('x.y') }),
      twice: integers('a__dash__b'),
      p: loose,
      same: loose,
      other: loose,
    },
    [{ rule: `dyn(${untyped}) == dyn("none")`, messageExpression: `"%s".format([${untyped}])` }],
  );
  const object = {
    spec: {
      o: { namespace: 'n', 'a-b': 'q' },
      outer: { in: { 'x.y': 1 } },
      twice: { a__dash__b: 1 },
      p: { q: 1, z: 1 },
      same: { q: 1, z: 1 },
      other: { q: 1, z: 2 },
    },
  };
  const [said] = findings(struct({ spec }), object).violations.map(({ body }) => body);
  expect(said?.includes('no such overload') ? 'no such overload' : said).toBe(
    expected === 'no such overload' ? expected : `Invalid value: ${expected}`,
  );
});

test.each<[string, Json, Json, string | undefined]>([
  ['a changed member without a schema', { x: '1', secret: 'old' }, { x: '1', secret: 'new' }, 'no such overload'],
  ['an unchanged member without a schema', { x: '1', secret: 'old' }, { x: '1', secret: 'old' }, 'no such overload'],
  ['no change', { x: '1', namespace: 'n' }, { x: '1', namespace: 'n' }, undefined],
  ['a changed member', { x: '1', namespace: 'n' }, { x: '1', namespace: 'm' }, 'changed'],
  ['an unchanged keyed list', { k: [{ n: 'a', in: 1 }] }, { k: [{ n: 'a', in: 1 }] }, undefined],
  ['a keyed list in another order', { k: [{ n: 'a' }, { n: 'b' }] }, { k: [{ n: 'b' }, { n: 'a' }] }, undefined],
  ['a changed item of a keyed list', { k: [{ n: 'a', in: 1 }] }, { k: [{ n: 'a', in: 2 }] }, 'changed'],
])('immutability with an optional oldSelf: %s', (_, previous, spec, expected) => {
  const schema = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: {
      x: { type: 'string' },
      namespace: { type: 'string' },
      k: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['n'],
        items: struct({ n: { type: 'string' }, in: { type: 'integer' } }),
      },
    },
    'x-kubernetes-validations': [
      { rule: '!oldSelf.hasValue() || self == oldSelf.value()', optionalOldSelf: true, message: 'changed' },
    ],
  };
  const { violations } = findings(withSpec(schema), { spec }, { spec: previous });
  const [said] = violations.map(({ body }) => body);
  expect(said?.includes('no such overload') ? 'no such overload' : said).toBe(
    expected === 'changed' ? 'Invalid value: changed' : expected,
  );
});

test('an item added to a keyed list from an optional oldSelf has the schema of the list', () => {
  const k = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['n'],
    items: struct({ n: { type: 'string' }, in: { type: 'integer' } }),
    'x-kubernetes-validations': [{ rule: '(self + oldSelf.value()).all(x, x.__in__ == 1)', optionalOldSelf: true }],
  };
  const schema = withSpec(struct({ k }));
  const { violations } = findings(schema, { spec: { k: [{ n: 'a', in: 2 }] } }, { spec: { k: [{ n: 'a', in: 1 }] } });
  expect(violations).toEqual([]);
});

test.each<[string, Json, string, string | undefined]>([
  ['times', { type: 'string', format: 'date-time' }, '2020-01-01T00:00:00Z', 'expected string, got time.Time'],
  ['durations', { type: 'string', format: 'duration' }, '1s', 'expected string, got time.Duration'],
  ['bytes', { type: 'string', format: 'byte' }, 'YQ==', 'expected string, got []uint8'],
  ['strings', { type: 'string' }, 'a', undefined],
])('items added to a list are plain JSON after its own items: %s', (_, items, item, expected) => {
  const rule = (text: string): string | undefined => {
    const l = { type: 'array', items: items as JsonObject };
    const { violations } = findings(
      withSpec(struct({ l }, [{ rule: text, message: 'm' }])),
      { spec: { l: [item] } },
      { spec: { l: [item] } },
    );
    return violations[0]?.body;
  };
  expect(rule('(self.l + oldSelf.l)[0] == oldSelf.l[0] && (self.l + oldSelf.l + self.l).size() == 3')).toBe(undefined);
  const said = rule('(self.l + oldSelf.l)[1] == oldSelf.l[0]');
  expect(said === undefined ? said : /expected string, got \S+[a-zA-Z0-9]/.exec(said)?.[0]).toBe(expected);
});

test.each<[number | bigint, string | undefined]>([
  [2n ** 63n - 1n, undefined],
  [-(2n ** 63n), undefined],
  [2 ** 63, 'invalid data, expected int, got float64'],
  [-1e20, 'invalid data, expected int, got float64'],
])('%s is an integer for rules if it fits into 64 bits', (a, problem) => {
  const rule = 'self.a != 1';
  const { violations } = findings(withSpec(struct({ a: { type: 'integer' } }, [{ rule }])), { spec: { a } });
  expect(violations.map(({ body }) => body)).toEqual(
    problem === undefined ? [] : [`Invalid value: "object": ${problem} evaluating rule: ${rule}`],
  );
});

test('null added to a list is a protobuf null', () => {
  const l = { type: 'array', items: { type: 'integer', nullable: true } };
  const schema = withSpec(struct({ l }, [{ rule: '(self.l + self.l)[1] == 1' }]));
  const { violations } = findings(schema, { spec: { l: [null] } });
  expect(violations[0]?.body).toContain('invalid data, expected int, got structpb.NullValue');
});

test.each([
  ['self.l[dyn(1)]', undefined],
  ['dyn(self.l)[1.0]', 'unsupported index: 1'],
  ['dyn(self.l)[1u]', 'unsupported index: 1'],
  ['dyn(self.l + self.l)[1u]', 'unsupported index: 1'],
  ['dyn(self.k)[0u].n', 'unsupported index: 0'],
  ['dyn(self.l)[9u]', 'index out of bounds: 9'],
  ['dyn(self.l)[1.5]', 'unsupported index value 1.5 in list'],
  ['[1, 2][dyn(1u)]', undefined],
  ['dyn(self.l.map(x, x))[1.0]', undefined],
])('a list of a custom resource can be indexed only with ints, as in Kubernetes: %s', (expression, why) => {
  const rule = `dyn(${expression}) != dyn("none")`;
  const integers = { type: 'array', items: { type: 'integer' } };
  const keyed = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['n'],
    items: struct({ n: { type: 'string' } }),
  };
  const { violations } = findings(struct({ spec: struct({ l: integers, k: keyed }, [{ rule }]) }), {
    spec: { l: [1, 2], k: [{ n: 'a' }] },
  });
  expect(violations.map(({ body }) => body)).toEqual(
    why === undefined ? [] : [`Invalid value: "object": ${why} evaluating rule: ${rule}`],
  );
});
