import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object.js';
import { customResourceDefinitions } from '../../../src/resources/customresourcedefinitions/definition.js';
import { write } from '../write.js';

const crds = customResourceDefinitions();

/**
 * The errors of the rules in a schema of `spec`, with the texts of kube-apiserver 1.36; S is the path of the schema.
 */
test.each<[string, JsonObject, readonly string[]]>([
  [
    'valid expressions pass',
    { type: 'object', properties: { a: { type: 'integer' } }, 'x-kubernetes-validations': [{ rule: 'self.a > 0' }] },
    [],
  ],
  [
    'invalid expressions are reported with their path',
    {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.b > 0' }, { rule: "self.a == 'x'" }, { rule: 'self.a >' }],
    },
    [
      'S.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b \\u003e 0","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'b\'\n | self.b > 0\n | ....^',
      'S.properties[spec].x-kubernetes-validations[1].rule: Invalid value: {"Rule":"self.a == \'x\'","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:8: found no matching overload for \'_==_\' applied to \'(int, string)\'\n | self.a == \'x\'\n | .......^',
      'S.properties[spec].x-kubernetes-validations[2].rule: Invalid value: {"Rule":"self.a \\u003e","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:9: Syntax error: mismatched input \'<EOF>\' expecting {\'[\', \'{\', \'(\', \'.\', \'-\', \'!\', \'true\', \'false\', \'null\', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | self.a >\n | ........^',
    ],
  ],
  [
    'no default has an unknown type, and without defaults nothing is compiled',
    {
      type: 'object',
      properties: { a: { type: 'int', default: 1 } },
      'x-kubernetes-validations': [{ rule: 'self.b > 0' }],
    },
    [
      'S.properties[spec].properties[a].default: Invalid value: "integer":  in body must be of type int: "integer"',
      'S.properties[spec].properties[a].type: Unsupported value: "int": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  ],
  [
    'a rule must be a bool, a message expression a string',
    {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [
        { rule: 'self.a' },
        { rule: 'dyn(true)' },
        { rule: 'self.a > 0', messageExpression: 'self.a' },
      ],
    },
    [
      'S.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.a","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool',
      'S.properties[spec].x-kubernetes-validations[1].rule: Invalid value: {"Rule":"dyn(true)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool',
      'S.properties[spec].x-kubernetes-validations[2].messageExpression: Invalid value: {"Rule":"self.a \\u003e 0","Message":"","MessageExpression":"self.a","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string',
    ],
  ],
  [
    'a message expression is not checked beside an invalid rule',
    {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.b', messageExpression: 'self.c' }],
    },
    [
      'S.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b","Message":"","MessageExpression":"self.c","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'b\'\n | self.b\n | ....^',
    ],
  ],
  [
    'constants that fail to evaluate',
    {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [
        { rule: "int('a') == 1" },
        { rule: "duration('x') == duration('1h')" },
        { rule: "'a'.matches('(')" },
      ],
    },
    [
      'S.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"int(\'a\') == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: program instantiation failed: type conversion error from \'string\' to \'int\'',
      'S.properties[spec].x-kubernetes-validations[1].rule: Invalid value: {"Rule":"duration(\'x\') == duration(\'1h\')","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:10: invalid duration argument\n | duration(\'x\') == duration(\'1h\')\n | .........^',
      'S.properties[spec].x-kubernetes-validations[2].rule: Invalid value: {"Rule":"\'a\'.matches(\'(\')","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:13: invalid matches argument\n | \'a\'.matches(\'(\')\n | ............^',
    ],
  ],
  [
    'oldSelf requires correlatable values',
    {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              a: {
                type: 'integer',
                'x-kubernetes-validations': [{ rule: 'self == oldSelf' }, { rule: 'true', optionalOldSelf: true }],
              },
            },
          },
        },
        k: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['n'],
          items: {
            type: 'object',
            required: ['n'],
            properties: {
              n: { type: 'string' },
              a: { type: 'integer', maximum: 9, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
            },
          },
          maxItems: 5,
        },
        m: {
          type: 'object',
          'x-kubernetes-map-type': 'atomic',
          properties: { a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
        },
      },
    },
    [
      'S.properties[spec].properties[l].items.properties[a].x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[spec].properties[l]',
      'S.properties[spec].properties[l].items.properties[a].x-kubernetes-validations[1].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule',
    ],
  ],
  ...['', 'other'].map((mapType): [string, JsonObject, readonly string[]] => [
    `within an object whose map type is "${mapType}" nothing is compared with what is stored`,
    {
      type: 'object',
      'x-kubernetes-map-type': mapType,
      properties: { a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
    },
    [
      `S.properties[spec].x-kubernetes-map-type: Unsupported value: "${mapType}": supported values: "atomic", "granular"`,
      'S.properties[spec].properties[a].x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[spec]',
    ],
  ]),
  [
    'optionalOldSelf makes oldSelf an optional',
    {
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [
        { rule: 'oldSelf.orValue(self).a == 1', optionalOldSelf: true },
        { rule: 'self.a == oldSelf.a', optionalOldSelf: true },
        { rule: 'self.a == 1', optionalOldSelf: false },
      ],
    },
    [
      'S.properties[spec].x-kubernetes-validations[1].rule: Invalid value: {"Rule":"self.a == oldSelf.a","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":true}: compilation failed: ERROR: <input>:1:8: found no matching overload for \'_==_\' applied to \'(int, optional_type(int))\'\n | self.a == oldSelf.a\n | .......^',
      'S.properties[spec].x-kubernetes-validations[1].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule',
      'S.properties[spec].x-kubernetes-validations[2].optionalOldSelf: Invalid value: false: may not be set if oldSelf is not used in rule',
    ],
  ],
  [
    'a value without a type has no rules',
    {
      type: 'object',
      properties: {
        a: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'true' }] },
        b: {
          type: 'array',
          items: { 'x-kubernetes-preserve-unknown-fields': true },
          'x-kubernetes-validations': [{ rule: 'true' }],
        },
      },
    },
    [
      'S.properties[spec].properties[a].x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
      'S.properties[spec].properties[b].x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
    ],
  ],
  [
    'and is not a field of its parent',
    {
      type: 'object',
      properties: { a: { 'x-kubernetes-preserve-unknown-fields': true } },
      'x-kubernetes-validations': [{ rule: 'has(self.a)' }],
    },
    [
      'S.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"has(self.a)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:4: undefined field \'a\'\n | has(self.a)\n | ...^',
    ],
  ],
  [
    'slightly too expensive',
    {
      type: 'object',
      properties: { s: { type: 'string' } },
      'x-kubernetes-validations': [
        { rule: "self.s == 'a' && self.s.contains('b') && self.s.contains('c') && self.s.contains('d')" },
      ],
    },
    [],
  ],
  [
    'too expensive',
    {
      type: 'object',
      properties: { l: { type: 'array', items: { type: 'string' } } },
      'x-kubernetes-validations': [{ rule: "self.l.all(x, x.contains('a'))" }],
    },
    [
      'S.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'S.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'S: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  [
    'far too expensive, also in total',
    {
      type: 'object',
      properties: {
        l: { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [{ rule: "self.matches('^a+$')" }] } },
      },
      'x-kubernetes-validations': [
        { rule: 'self.l.all(x, self.l.all(y, x == y))' },
        { rule: 'size(self.l) > 0', messageExpression: "'is ' + string(size(self.l))" },
      ],
    },
    [
      'S.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'S.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'S.properties[spec].x-kubernetes-validations[1].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'S.properties[spec].x-kubernetes-validations[1].messageExpression: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'S.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'S.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'S: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  [
    'limits lower the cost',
    {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          maxItems: 10,
          items: { type: 'string', maxLength: 10, 'x-kubernetes-validations': [{ rule: "self.matches('^a+$')" }] },
        },
      },
      'x-kubernetes-validations': [{ rule: 'self.l.all(x, self.l.all(y, x == y))' }],
    },
    [],
  ],
  [
    'an enum lowers the cost, too',
    {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          maxItems: 100,
          items: { type: 'string', enum: ['a', 'bcd'], 'x-kubernetes-validations': [{ rule: "self.matches('^a+$')" }] },
        },
      },
    },
    [],
  ],
  [
    'the cost is multiplied by the values of a map',
    {
      type: 'object',
      properties: {
        m: {
          type: 'object',
          maxProperties: 1000,
          additionalProperties: {
            type: 'string',
            maxLength: 5000,
            'x-kubernetes-validations': [{ rule: "self.contains('a') && self.contains('b') && self.contains('c')" }],
          },
        },
      },
    },
    [],
  ],
  [
    'defaults must satisfy the rules',
    {
      type: 'object',
      properties: {
        a: { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 1' }] },
        b: {
          type: 'integer',
          default: 2,
          'x-kubernetes-validations': [{ rule: '!oldSelf.hasValue() || self > 5', optionalOldSelf: true }],
        },
      },
    },
    [
      'S.properties[spec].properties[a].default: Invalid value: 1: failed rule: self > 1',
      'S.properties[spec].properties[b].default: Invalid value: 2: failed rule: !oldSelf.hasValue() || self > 5',
    ],
  ],
  [
    'names that need escaping',
    {
      type: 'object',
      properties: { 'a-b': { type: 'integer' }, namespace: { type: 'integer' } },
      'x-kubernetes-validations': [
        { rule: 'self.a__dash__b > 0 && self.__namespace__ > 0 && self.namespace > 0' },
        { rule: 'self.a-b > 0' },
      ],
    },
    [
      'S.properties[spec].x-kubernetes-validations[1].rule: Invalid value: {"Rule":"self.a-b \\u003e 0","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'a\'\n | self.a-b > 0\n | ....^\nERROR: <input>:1:8: undeclared reference to \'b\' (in container \'\')\n | self.a-b > 0\n | .......^',
    ],
  ],
])('%s', (_title, spec, expected) => {
  const { violations } = write(crds, {
    metadata: { name: 'ks.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'ks', kind: 'K' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  });
  expect(violations.map((text) => text.replace('spec.validation.openAPIV3Schema', 'S'))).toEqual(expected);
});
