import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/api/object.js';
import { writeYaml } from '../../src/api/yaml-writer.js';
import type { ResourceDefinition } from '../../src/registry/resource-definition.js';
import { encodeObject } from '../../src/schema/protobuf.js';
import type { Schema } from '../../src/schema/schema.js';
import { expression } from './expressions.js';
import { accepts, contentTypes, hostileNames, hostileText, hostileValues, queries } from './hostile.js';
import { randomFrom } from './random.js';
import { type FuzzRequest, requestTo } from './request.js';

/** Generates requests from the schemas of kinds: mostly valid, with some errors. */

const names = ['o', 'x', 'a', 'default', 'fresh-1', 'fresh-2', 'fresh-3'];
const hostile: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Json>(...hostileValues) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json> },
);
const text = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'a',
      'b',
      'o',
      'x',
      'default',
      'v1',
      'kubernetes.io/kube-apiserver-client',
      '*',
      'get',
      'a.b.c',
      'https://127.0.0.1:1/',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(...hostileText) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 12 }) },
);
const byFormat: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  byte: fc.oneof(
    fc.constantFrom('', 'YQ==', '====', 'a', 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K'),
    fc.base64String({ maxLength: 40 }),
  ),
  'date-time': fc.constantFrom(
    '2026-01-01T00:00:00Z',
    '0000-00-00T00:00:00Z',
    '2026-01-01',
    'x',
    '9999-12-31T23:59:59.999999999Z',
  ),
  'micro-time': fc.constantFrom('2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00Z', '+999999-01-01T00:00:00Z'),
  quantity: fc.constantFrom('1', '1Gi', '1e999999999', '-0.000000001n', '1EiB', ''),
};

/** Returns an object with these members, so that any name can be one. */
const objectFrom = (pairs: readonly (readonly [string, Json])[]): JsonObject => Object.fromEntries(pairs);

const made = new WeakMap<Schema, Map<number, fc.Arbitrary<Json>>>();

/** Generates values of a schema, in which about one part in fifteen is replaced by something hostile. */
function valuesOf(schema: Schema, depth: number): fc.Arbitrary<Json> {
  const byDepth = made.get(schema) ?? new Map<number, fc.Arbitrary<Json>>();
  made.set(schema, byDepth);
  let found = byDepth.get(depth);
  if (found === undefined) {
    found = fc.oneof({ weight: 14, arbitrary: plainValuesOf(schema, depth) }, { weight: 1, arbitrary: hostile });
    byDepth.set(depth, found);
  }
  return found;
}

function plainValuesOf(schema: Schema, depth: number): fc.Arbitrary<Json> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.intOrString) return fc.constantFrom<Json>(1, '1', '50%');
  switch (schema.type) {
    case 'string':
      return byFormat[schema.format ?? ''] ?? text;
    case 'integer':
      return fc.oneof(fc.integer({ min: -1, max: 3_600 }), fc.constantFrom(2 ** 31, 2 ** 53, 1e20));
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return depth <= 0 ? fc.constant([]) : fc.array(valuesOf(schema.items ?? {}, depth - 1), { maxLength: 3 });
    case 'object':
      return depth <= 0 ? fc.constant({}) : membersOf(schema, depth);
    default:
      return fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
  }
}

const expressions: fc.Arbitrary<Json> = fc.integer().map((seed) => expression(randomFrom(seed)));
const isExpression = (name: string, { type }: Schema): boolean =>
  type === 'string' && (name === 'rule' || name === 'expression' || name === 'messageExpression');

function membersOf(schema: Schema, depth: number): fc.Arbitrary<Json> {
  const known = [...(schema.properties ?? [])].map(([name, member]) => {
    const wanted = schema.required?.includes(name) ? 10 : 4;
    return fc.option(
      (isExpression(name, member) ? expressions : valuesOf(member, depth - 1)).map((value): readonly [string, Json] => [
        name,
        value,
      ]),
      { nil: undefined, freq: wanted },
    );
  });
  const additional = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const others = fc.array(
    fc.tuple(additional === undefined ? fc.constantFrom(...hostileNames) : text, valuesOf(additional ?? {}, 1)),
    { maxLength: additional === undefined ? 1 : 3 },
  );
  // Only a few of many members, so that values stay small.
  return fc
    .tuple(
      fc.shuffledSubarray(known, { maxLength: Math.min(8, known.length) }),
      additional === undefined
        ? fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: others })
        : others,
    )
    .chain(([some, more]) =>
      fc.tuple(...some).map((pairs) => objectFrom([...pairs.filter((pair) => pair !== undefined), ...more])),
    );
}

/** Generates objects of a kind, with names that other requests use. */
function objectsOf(definition: ResourceDefinition): fc.Arbitrary<JsonObject> {
  const { group, version, kind, schema } = definition;
  const members = [...(schema.properties ?? [])].filter(([name]) => !['apiVersion', 'kind', 'metadata'].includes(name));
  const metadata = schema.properties?.get('metadata');
  return fc
    .tuple(
      fc.tuple(
        ...members.map(([name, member]) =>
          fc.option(
            valuesOf(member, 5).map((value): readonly [string, Json] => [name, value]),
            { nil: undefined, freq: 8 },
          ),
        ),
      ),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: metadata === undefined ? fc.constant({}) : plainValuesOf(metadata, 4) },
      ),
      fc.constantFrom(...names),
      fc.oneof({ weight: 20, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: hostile }),
      fc.boolean(),
    )
    .map(([parts, extra, name, wrong, named]) =>
      objectFrom([
        ['apiVersion', wrong ?? (group === '' ? version : `${group}/${version}`)],
        ['kind', kind],
        ['metadata', named ? { ...(extra as JsonObject), name } : { name, ...(extra as JsonObject) }],
        ...parts.filter((pair) => pair !== undefined),
      ]),
    );
}

const pathOf = (definition: ResourceDefinition): string =>
  `${definition.group === '' ? '/api' : `/apis/${definition.group}`}/${definition.version}${definition.namespaced ? '/namespaces/default' : ''}/${definition.plural}`;

const query = fc
  .array(fc.constantFrom(...queries), { maxLength: 2 })
  .map((some) => (some.length === 0 ? '' : `?${some.join('&')}`));
const headers = fc.oneof(
  { weight: 3, arbitrary: fc.constant<FuzzRequest['headers']>([]) },
  { weight: 2, arbitrary: fc.constantFrom(...accepts).map((accept): FuzzRequest['headers'] => [['accept', accept]]) },
);

/** Returns a part of an object for a patch, with directives of strategic merge patches inserted. */
function partOf(value: Json, choices: readonly number[], directives: boolean): Json {
  let at = 0;
  const next = (): number => choices[at++ % choices.length] ?? 0;
  const walk = (node: Json): Json => {
    if (Array.isArray(node)) {
      const items = node.map((item: Json) => walk(item));
      if (!directives) return items;
      const choice = next() % 12;
      if (choice === 0) return [{ $patch: 'replace' }, ...items];
      if (choice === 1)
        return items.map((item) =>
          typeof item === 'object' && item !== null && !Array.isArray(item) ? { ...item, $patch: 'delete' } : item,
        );
      return items;
    }
    if (typeof node !== 'object' || node === null) return next() % 9 === 0 ? null : node;
    const pairs: [string, Json][] = Object.entries(node as JsonObject)
      .filter(() => next() % 4 !== 0)
      .map(([name, member]): [string, Json] => [name, walk(member)]);
    if (directives && next() % 8 === 0) {
      const [name, member] = pairs[0] ?? ['a', []];
      const items = Array.isArray(member) ? member : ['a'];
      const more: readonly (readonly [string, Json])[] = [
        ['$patch', ['replace', 'delete', 'merge', ''][next() % 4] as string],
        ['$retainKeys', [name]],
        [`$setElementOrder/${name}`, items],
        [`$deleteFromPrimitiveList/${name}`, items],
      ];
      pairs.push([...(more[next() % more.length] as readonly [string, Json])]);
    }
    return objectFrom(pairs);
  };
  return walk(value);
}

/** Generates JSON Patch operations on paths that the object has, or nearly has. */
function operationsOn(object: JsonObject): fc.Arbitrary<Json> {
  const paths: string[] = [
    '',
    '/',
    '/-',
    '/metadata/labels/__proto__',
    '/constructor/prototype/a',
    '/metadata/~2',
    '/data/a~1b',
  ];
  const collect = (node: Json, path: string, depth: number): void => {
    if (depth === 0 || typeof node !== 'object' || node === null) return;
    for (const [name, member] of Object.entries(node)) {
      const below = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      paths.push(below);
      if (Array.isArray(member))
        paths.push(`${below}/-`, `${below}/0`, `${below}/01`, `${below}/-1`, `${below}/99999999999`);
      collect(member as Json, below, depth - 1);
    }
  };
  collect(object, '', 5);
  const path = fc.constantFrom(...paths);
  const operation = fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'nonsense'),
      path,
      from: path,
      value: hostile,
    },
    { requiredKeys: ['op', 'path'] },
  );
  return fc.array(operation, { maxLength: 6 }) as fc.Arbitrary<Json>;
}

/** Generates a request with an object of a kind, in one of the formats of bodies. */
function withObject(definition: ResourceDefinition): fc.Arbitrary<FuzzRequest> {
  const collection = pathOf(definition);
  const subresources = Object.keys(definition.subresources ?? {}).map((name) => `/${name}`);
  const subresource = fc.constantFrom('', '', '', ...subresources, '/status', '/none');
  const origin = `${definition.plural}.${definition.group}`;
  return fc
    .record({
      object: objectsOf(definition),
      subresource,
      name: fc.constantFrom(...names),
      query,
      headers,
      verb: fc.constantFrom('create', 'create', 'update', 'merge', 'strategic', 'apply', 'apply', 'json', 'delete'),
      form: fc.constantFrom('json', 'json', 'json', 'yaml', 'protobuf', 'odd'),
      choices: fc.array(fc.nat(1_000), { minLength: 4, maxLength: 12 }),
      odd: fc.constantFrom(...contentTypes),
    })
    .chain(({ object, subresource, name, query: asked, headers: more, verb, form, choices, odd }) => {
      const own = (object['metadata'] as JsonObject)['name'];
      const one = `${collection}/${typeof own === 'string' && choices[0] !== 0 ? encodeURIComponent(own.replace(/\p{Surrogate}/gu, '?')) : name}${subresource}`;
      const to = (method: string, url: string, body: unknown, type: string): fc.Arbitrary<FuzzRequest> =>
        fc.constant(requestTo(method, `${url}${asked}`, { body, type, headers: more, origin: `${verb} ${origin}` }));
      if (verb === 'merge') return to('PATCH', one, partOf(object, choices, false), 'application/merge-patch+json');
      if (verb === 'strategic')
        return to('PATCH', one, partOf(object, choices, true), 'application/strategic-merge-patch+json');
      if (verb === 'json')
        return operationsOn(object).chain((body) => to('PATCH', one, body, 'application/json-patch+json'));
      if (verb === 'apply') {
        const manager = asked === '' ? '?fieldManager=m&force=true' : '&fieldManager=m';
        const body = form === 'yaml' ? yamlOf(object) : object;
        return to('PATCH', one, body, 'application/apply-patch+yaml').map((request) => ({
          ...request,
          url: request.url + manager,
        }));
      }
      const method = verb === 'create' ? 'POST' : verb === 'update' ? 'PUT' : 'DELETE';
      const [bytes, type] = bodyIn(form, definition, object, odd);
      return to(method, verb === 'create' && subresource === '' ? collection : one, bytes, type);
    });
}

function bodyIn(
  form: string,
  definition: ResourceDefinition,
  object: JsonObject,
  odd: string,
): readonly [unknown, string] {
  if (form === 'yaml') return [yamlOf(object), 'application/yaml'];
  if (form === 'odd') return [object, odd];
  if (form === 'protobuf') {
    try {
      return [encodeObject(definition.schema, object), 'application/vnd.kubernetes.protobuf'];
    } catch {
      // An object that is too wrong for this format is sent in another.
    }
  }
  return [object, 'application/json'];
}

function yamlOf(object: JsonObject): unknown {
  try {
    return writeYaml(object);
  } catch {
    return object;
  }
}

/** Generates a request without an object: reads, lists, watches, deletions, and paths that are not resources. */
function withoutObject(definitions: readonly ResourceDefinition[]): fc.Arbitrary<FuzzRequest> {
  const fixed = [
    '/',
    '/api',
    '/apis',
    '/version',
    '/healthz',
    '/readyz',
    '/livez/ping',
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/openid/v1/jwks',
    '/.well-known/openid-configuration',
    '/apis/',
    '/api/v2',
    '/none',
    '/api/v1/watch',
    '/api/v1/watch/namespaces/default/configmaps',
  ];
  const collections = definitions.map(pathOf);
  const path = fc.oneof(
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ...fixed,
        ...definitions.map(({ group, version }) => (group === '' ? '/api/v1' : `/apis/${group}/${version}`)),
        ...definitions.map(({ group, version }) =>
          group === '' ? '/openapi/v3/api/v1' : `/openapi/v3/apis/${group}/${version}`,
        ),
      ),
    },
    { weight: 3, arbitrary: fc.constantFrom(...collections) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          fc.constantFrom(...collections),
          fc.constantFrom(
            ...names,
            ...hostileText.map((some) => encodeURIComponent(some.replace(/\p{Surrogate}/gu, '?'))),
          ),
          fc.constantFrom('', '', '/status', '/scale', '/__proto__'),
        )
        .map(([collection, name, subresource]) => `${collection}/${name}${subresource}`),
    },
  );
  return fc
    .record({ method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'DELETE', 'OPTIONS'), path, query, headers })
    .map(({ method, path: at, query: asked, headers: more }) =>
      requestTo(method, `${at}${asked}`, { headers: more, origin: 'without object' }),
    );
}

/** Generates requests for these kinds. */
export function requestsFor(definitions: readonly ResourceDefinition[]): fc.Arbitrary<FuzzRequest> {
  return fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...definitions).chain(withObject) },
    { weight: 2, arbitrary: withoutObject(definitions) },
  );
}
