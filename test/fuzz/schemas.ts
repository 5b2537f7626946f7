import type { Json, JsonObject } from '../../src/api/object.js';
import { expression, ruleParts } from './expressions.js';
import { hostileNames, hostileValues } from './hostile.js';
import type { Random } from './random.js';

/** Probabilities for generating a schema. `wrong` is true only if definitions may be wrong. */
export interface Chances extends Random {
  wrong(times: number): boolean;
}

/** Returns the probabilities: one definition in four may be wrong, and most of the others are accepted. */
export function chancesOf(random: Random): Chances {
  const wild = random.oneIn(4);
  return { ...random, wrong: (times) => wild && random.oneIn(times) };
}

/** Generates random structural schemas of definitions, and values that mostly match them. */

export type SchemaJson = Readonly<Record<string, Json>>;

const fieldNames = [
  'a',
  'b',
  'c',
  'namespace',
  'a-b',
  'a.b',
  'a__b',
  'for',
  'é',
  'x/y',
  'spec',
  'kind',
  'constructor',
  '__proto__',
];
const formats = [
  'byte',
  'date',
  'date-time',
  'duration',
  'uri',
  'email',
  'ipv4',
  'cidr',
  'uuid',
  'password',
  'hostname',
  'k8s-short-name',
  'unknown',
];
const samples: Readonly<Record<string, string>> = {
  byte: 'YQ==',
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  duration: '1h5m',
  uri: 'https://a.b/c',
  email: 'a@b.c',
  ipv4: '10.0.0.1',
  cidr: '10.0.0.0/8',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
  hostname: 'a.b',
};
const patterns = ['^a', '^(a|b)*$', '\\d+', '[^x]', 'a{2,5}', '.*', '^$', '(?i)A', '\\p{Greek}'];

const brokenPatterns = ['a{1001}', '(', '(?=a)'];

const chance = (random: Chances, times: number, members: () => SchemaJson): SchemaJson =>
  random.oneIn(times) ? members() : {};

/** Generates a schema of a node, with at most `depth` levels below it. */
function schemaOf(random: Chances, depth: number): SchemaJson {
  const kind = random.below(depth <= 0 ? 6 : 13);
  const schema =
    kind < 2
      ? textSchema(random)
      : kind === 2
        ? {
            type: 'integer',
            ...chance(random, 2, () => ({ format: random.pick(['int32', 'int64']) })),
            ...bounds(random),
          }
        : kind === 3
          ? {
              type: 'number',
              ...bounds(random),
              ...chance(random, 5, () => ({ multipleOf: random.pick([0.1, 2, 1e-9]) })),
            }
          : kind === 4
            ? { type: 'boolean' }
            : kind === 5
              ? { 'x-kubernetes-int-or-string': true }
              : kind < 8
                ? listSchema(random, depth)
                : kind === 8
                  ? mapSchema(random, depth)
                  : kind === 9
                    ? looseSchema(random)
                    : objectSchema(random, depth);
  return {
    ...schema,
    ...chance(random, 6, () => ({ nullable: true })),
    ...(schema['pattern'] !== undefined ||
    schema['minLength'] !== undefined ||
    schema['exclusiveMinimum'] === true ||
    random.oneIn(2)
      ? {}
      : chance(random, 7, () => ({ default: sampleOf(schema, random, 2) }))),
    ...chance(random, 4, () => ({ 'x-kubernetes-validations': rulesOf(schema, random) })),
    ...(random.oneIn(random.wrong(1) ? 4 : 20) ? junctors(random) : {}),
  };
}

function textSchema(random: Chances): SchemaJson {
  return {
    type: 'string',
    maxLength: random.wrong(5) ? 0 : random.pick([3, 20, 20, 50]),
    ...chance(random, 3, () => ({ format: random.pick(formats) })),
    ...chance(random, 5, () => ({
      enum: random.pick([
        ['a', 'b'],
        ['', 'a'],
        ['a', 'aa', 'é'],
      ]),
    })),
    ...chance(random, 6, () => ({ pattern: random.pick(random.wrong(3) ? brokenPatterns : patterns) })),
    ...chance(random, 6, () => ({ minLength: random.below(3) })),
  };
}

const bounds = (random: Chances): SchemaJson =>
  chance(random, 3, () => ({
    minimum: random.wrong(2) ? 1e15 : random.pick([0, -5]),
    maximum: random.pick([5, 1e15]),
    ...chance(random, 3, () => ({ exclusiveMinimum: true })),
  }));

function listSchema(random: Chances, depth: number): SchemaJson {
  const type = random.pick(['atomic', 'set', 'map', undefined, undefined]);
  const limits = { maxItems: random.pick([2, 5, 20]), ...chance(random, 6, () => ({ minItems: 1 })) };
  if (type === 'map') {
    const items = objectSchema(random, depth - 1);
    const properties = {
      ...(items['properties'] as JsonObject),
      k: { type: 'string', maxLength: 10, ...chance(random, 4, () => ({ default: 'd' })) },
    };
    const required = random.wrong(3) ? [] : ['k'];
    return {
      type: 'array',
      ...limits,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': random.wrong(4) ? ['k', 'a'] : ['k'],
      items: { ...items, properties, required },
    };
  }
  const items = type === 'set' && !random.wrong(3) ? textSchema(random) : schemaOf(random, depth - 1);
  return { type: 'array', ...limits, ...(type === undefined ? {} : { 'x-kubernetes-list-type': type }), items };
}

const mapSchema = (random: Chances, depth: number): SchemaJson => ({
  type: 'object',
  maxProperties: random.pick([2, 5, 20]),
  additionalProperties: schemaOf(random, depth - 1),
  ...chance(random, 6, () => ({ 'x-kubernetes-map-type': random.pick(['atomic', 'granular']) })),
});

const looseSchema = (random: Chances): SchemaJson => ({
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  ...chance(random, 2, () => ({ 'x-kubernetes-embedded-resource': true })),
  ...chance(random, 3, () => ({ properties: { a: textSchema(random) } })),
});

export function objectSchema(random: Chances, depth: number): SchemaJson {
  const names = [...new Set(Array.from({ length: 1 + random.below(4) }, () => random.pick(fieldNames)))];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, schemaOf(random, depth - 1)])),
    ...chance(random, 4, () => ({ required: [random.wrong(4) ? 'none' : random.pick(names)] })),
    ...chance(random, 9, () => ({ 'x-kubernetes-map-type': 'atomic' })),
    ...chance(random, 12, () => ({ 'x-kubernetes-preserve-unknown-fields': true })),
  };
}

/** Generates additional conditions, in the forms that structural schemas permit there. */
function junctors(random: Chances): SchemaJson {
  const some = (): SchemaJson =>
    random.pick<SchemaJson>([
      { minLength: 1 },
      { required: ['a'] },
      { maximum: 3 },
      { properties: { a: { pattern: '^a' } } },
      { enum: ['a', 1, null] },
      { not: { maxLength: 1 } },
      { items: { minimum: 1 } },
      {},
    ]);
  return {
    [random.pick(['allOf', 'anyOf', 'oneOf'])]: [some(), some()],
    ...chance(random, 3, () => ({ not: some() })),
  };
}

/** Returns the name of a field as expressions have it. */
const escaped = (name: string): string =>
  /^(?:namespace|for)$/.test(name)
    ? `__${name}__`
    : name.replace(
        /__|[./-]/g,
        (found) => `__${{ __: 'underscores', '.': 'dot', '-': 'dash', '/': 'slash' }[found]}__`,
      );

function rulesOf(schema: SchemaJson, random: Chances): Json {
  const names = Object.keys((schema['properties'] as JsonObject | undefined) ?? {}).filter(
    (name) => name !== 'é' || random.wrong(2),
  );
  const field = names.length === 0 ? 'a' : random.pick(names);
  const self = `self.${escaped(field)}`;
  const fitting: Readonly<Record<string, readonly string[]>> = {
    string: [
      'self.size() < 5',
      'self != "a"',
      'self == oldSelf',
      'self.startsWith("a")',
      'self.matches("^a")',
      'self.split("").size() > 1',
    ],
    integer: ['self > 1', 'self % 2 == 0', 'self >= oldSelf', '10 / self > 1'],
    number: ['self > 1.0', 'self == self', 'double(int(self)) == self'],
    boolean: ['self', 'self == oldSelf'],
    array: [
      'self.size() < 3',
      'self.all(x, x == x)',
      'self == oldSelf',
      'self.all(x, x in self)',
      'self + self == self',
      'self[1] == self[0]',
      'oldSelf.all(x, self.exists(y, x == y))',
    ],
    object:
      names.length === 0
        ? ['self.size() < 3', 'self.all(k, self[k] == self[k])', 'self == oldSelf', 'self.a == self.b', '"a" in self']
        : [
            `has(${self})`,
            `${self} == ${self}`,
            `!has(oldSelf.${escaped(field)}) || has(${self})`,
            `${self} == oldSelf.${escaped(field)}`,
            `self == oldSelf`,
          ],
  };
  const one = (): SchemaJson => ({
    rule: random.oneIn(12)
      ? expression(random, ruleParts)
      : random.pick(
          fitting[
            /^(?:byte|date|date-time|duration)$/.test(String(schema['format'])) ? 'other' : String(schema['type'])
          ] ?? ['self == self', 'type(self) == int'],
        ),
    ...chance(random, 3, () => ({ message: random.pick(['no', 'é', 'a b']) })),
    ...chance(random, 4, () => ({
      messageExpression: random.pick([
        '"a" + string(1)',
        'string(self)',
        '"%s".format([self])',
        '""',
        '"\\n"',
        'self.none',
      ]),
    })),
    ...chance(random, 4, () => ({
      reason: random.pick(['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate']),
    })),
    ...chance(random, names.length > 0 || random.wrong(3) ? 4 : 1e9, () => ({
      fieldPath: /^[a-c]$/.test(field) && !random.wrong(3) ? `.${field}` : `['${field}']`,
    })),
    ...(random.wrong(3) ? { optionalOldSelf: random.oneIn(2) } : {}),
  });
  return Array.from({ length: 1 + random.below(2) }, one);
}

/** Generates a value of a schema, with some errors. */
export function sampleOf(schema: SchemaJson, random: Chances, depth: number): Json {
  if (random.wrong(25)) return random.pick(hostileValues);
  if (schema['nullable'] === true && random.oneIn(5)) return null;
  const choices = schema['enum'] as readonly Json[] | undefined;
  if (choices !== undefined && !random.wrong(9)) return random.pick(choices);
  if (schema['x-kubernetes-int-or-string'] === true) return random.pick<Json>([1, '1', '50%']);
  switch (schema['type']) {
    case 'string':
      return (
        samples[String(schema['format'])] ??
        random.pick(['a', 'b', 'aa', 'ab1', '', 'é', ...(random.wrong(3) ? ['\ud800'] : [])])
      );
    case 'integer':
      return random.wrong(5) ? random.pick([-1, 100, 2 ** 31, 2 ** 53]) : random.below(6);
    case 'number':
      return random.wrong(5) ? random.pick([-0, 1e21, 0.1, -7]) : random.pick([0, 2, 4]);
    case 'boolean':
      return random.oneIn(2);
    case 'array':
      return Array.from({ length: depth <= 0 ? 0 : random.below(random.wrong(2) ? 4 : 3) }, () =>
        sampleOf((schema['items'] ?? {}) as SchemaJson, random, depth - 1),
      );
    case 'object':
      return objectOf(schema, random, depth);
    default:
      return random.pick(hostileValues);
  }
}

function objectOf(schema: SchemaJson, random: Chances, depth: number): Json {
  if (schema['x-kubernetes-embedded-resource'] === true && !random.wrong(3))
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: random.wrong(2) ? random.pick(['A!', '']) : 'a' },
      a: 'a',
    };
  const properties = Object.entries((schema['properties'] as JsonObject | undefined) ?? {});
  const pairs: [string, Json][] = properties
    .filter(() => depth > 0 && !random.oneIn(4))
    .map(([name, member]) => [name, sampleOf(member as SchemaJson, random, depth - 1)]);
  const values = schema['additionalProperties'];
  if (typeof values === 'object' && values !== null && depth > 0) {
    for (let left = random.below(4); left > 0; left--)
      pairs.push([
        random.wrong(6) ? random.pick(hostileNames) : random.pick(['a', 'b', 'k']),
        sampleOf(values as SchemaJson, random, depth - 1),
      ]);
  }
  if (random.wrong(15)) pairs.push([random.pick(hostileNames), random.pick(hostileValues)]);
  return Object.fromEntries(pairs);
}
