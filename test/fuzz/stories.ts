import type { Json, JsonObject } from '../../src/api/object.js';
import { writeYaml } from '../../src/api/yaml-writer.js';
import { accepts, queries } from './hostile.js';
import type { Random } from './random.js';
import { type FuzzRequest, requestTo } from './request.js';
import { type Chances, chancesOf, objectSchema, type SchemaJson, sampleOf } from './schemas.js';

/**
 * The life of a kind: it is defined, objects of it are created, changed and read in every format, the definition
 * changes, and the objects are read and changed again. Requests are in the order in which they are sent.
 */

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = 'story.example.com';
const merge = 'application/merge-patch+json';

/** Returns the requests of a story; `at` distinguishes it from others that run at the same time. */
export function story(chances: Random, at: number): readonly FuzzRequest[] {
  const random = chancesOf(chances);
  // Even with valid definitions, some objects are wrong.
  const wild: Chances = { ...random, wrong: random.oneIn };
  const plural = `s${at % 97}`;
  const kind = `S${at % 97}`;
  const origin = `story ${at}`;
  const first = versionsOf(random);
  const crd = definitionOf(plural, kind, first, random);
  const send = (
    method: string,
    url: string,
    body?: unknown,
    type?: string,
    headers: FuzzRequest['headers'] = [],
  ): FuzzRequest =>
    requestTo(method, url, {
      ...(body === undefined ? {} : { body }),
      ...(type === undefined ? {} : { type }),
      headers,
      origin,
    });

  const names = ['o', 'p', 'fresh'];
  const base = (): string => `/apis/${group}/${random.oneIn(4) ? 'v2' : 'v1'}/${plural}`;
  const objectOf = (versions: readonly Version[], name: string, url: string): JsonObject => {
    const { schema } = versions.find((version) => url.includes(`/${version.name}/`)) ?? versions[0]!;
    const version = url.includes('/v2/') ? 'v2' : 'v1';
    const value = sampleOf({ ...schema, type: 'object' }, wild, 5);
    const members =
      typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : { spec: value };
    return { ...members, apiVersion: `${group}/${version}`, kind, metadata: { name } };
  };
  const query = (): string => (random.oneIn(4) ? `?${random.pick(queries)}` : '');
  const write = (versions: readonly Version[]): FuzzRequest => {
    const name = random.pick(names);
    const collection = base();
    const one = `${collection}/${name}${random.oneIn(6) ? '/status' : ''}`;
    const object = objectOf(versions, name, collection);
    const { metadata: _, ...members } = object;
    switch (random.below(9)) {
      case 0:
      case 1:
      case 2:
        return random.oneIn(4)
          ? send('POST', collection + query(), yamlOf(object), 'application/yaml')
          : send('POST', collection + query(), object);
      case 3:
        return send('PUT', one + query(), object);
      case 4:
        return send('PATCH', one + query(), members, merge);
      case 5:
      case 6:
        return send(
          'PATCH',
          `${one}?fieldManager=${random.pick(['m', 'n'])}${random.oneIn(2) ? '&force=true' : ''}`,
          object,
          'application/apply-patch+yaml',
        );
      case 7:
        return send('PATCH', one, operations(members, random), 'application/json-patch+json');
      default:
        return send(
          'PATCH',
          `${collection}/${name}/scale`,
          { spec: { replicas: random.pick([1, -1, 2 ** 31]) } },
          merge,
        );
    }
  };
  const reads = (): readonly FuzzRequest[] =>
    [
      random.pick(accepts),
      random.pick(accepts),
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/yaml',
    ].map((accept) =>
      send('GET', random.oneIn(3) ? `${base()}/${random.pick(names)}` : `${base()}${query()}`, undefined, undefined, [
        ['accept', accept],
      ]),
    );
  const times = (count: number, make: () => FuzzRequest): readonly FuzzRequest[] => Array.from({ length: count }, make);

  const second = random.oneIn(2) ? versionsOf(random) : changed(first, random);
  const { spec } = definitionOf(plural, kind, second, random) as { readonly spec: JsonObject };
  return [
    send('POST', crds, crd),
    ...times(8, () => write(first)),
    ...reads(),
    send('GET', `/openapi/v3/apis/${group}/v1`),
    ...times(3, () => write(first)),
    send('PATCH', `${crds}/${plural}.${group}`, { spec }, merge),
    ...reads(),
    ...times(6, () => write(second)),
    ...reads(),
    send('DELETE', random.oneIn(2) ? base() : `${crds}/${plural}.${group}`),
    send('DELETE', `${crds}/${plural}.${group}`),
  ];
}

interface Version {
  readonly name: string;
  readonly schema: SchemaJson;
}

const versionsOf = (random: Chances): readonly Version[] =>
  (random.oneIn(3) ? ['v1', 'v2'] : ['v1']).map((name) => ({
    name,
    schema: {
      type: 'object',
      properties: {
        spec: objectSchema(random, 4),
        ...(random.oneIn(2) ? { status: objectSchema(random, 2) } : {}),
        ...(random.oneIn(4) ? { a: objectSchema(random, 1) } : {}),
      },
    },
  }));

/** Returns the versions with one part replaced. */
const changed = (versions: readonly Version[], random: Chances): readonly Version[] =>
  versions.map(({ name, schema }) => {
    const properties = schema['properties'] as JsonObject;
    const spec = properties['spec'] as SchemaJson;
    const members = Object.entries(spec['properties'] as JsonObject);
    const [given] = Object.entries(objectSchema(random, 3)['properties'] as JsonObject);
    const next = Object.fromEntries([...members.slice(random.below(2)), ...(given === undefined ? [] : [given])]);
    return { name, schema: { ...schema, properties: { ...properties, spec: { ...spec, properties: next } } } };
  });

function definitionOf(plural: string, kind: string, versions: readonly Version[], random: Chances): object {
  const paths = [
    '.spec.a',
    '.spec.b',
    '.spec.c',
    '.metadata.creationTimestamp',
    '.spec.a[*].k',
    '.spec.b.a',
    '.status.a',
    '.spec.a[?(@.k=="a")].b',
    ...(random.wrong(3) ? ['..a', '.spec.a[-1:]', '.spec..', ".spec['a-b']"] : []),
  ];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural, kind, ...(random.oneIn(3) ? { shortNames: ['s'], categories: ['all'] } : {}) },
      ...(random.oneIn(12) ? { preserveUnknownFields: false } : {}),
      versions: versions.map(({ name, schema }, place) => ({
        name,
        served: !random.oneIn(15),
        storage: place === 0,
        schema: { openAPIV3Schema: schema },
        ...(random.oneIn(2)
          ? {
              subresources: {
                status: {},
                ...(random.oneIn(2)
                  ? {
                      scale: {
                        specReplicasPath: random.pick(['.spec.a', '.spec.b']),
                        statusReplicasPath: '.status.a',
                        ...(random.oneIn(2) ? { labelSelectorPath: '.status.b' } : {}),
                      },
                    }
                  : {}),
              },
            }
          : {}),
        ...(random.oneIn(2)
          ? {
              additionalPrinterColumns: Array.from({ length: 1 + random.below(3) }, (_, at) => ({
                name: `C${at}`,
                type: random.pick(['string', 'integer', 'number', 'boolean', 'date']),
                jsonPath: random.pick(paths),
              })),
            }
          : {}),
        ...(random.oneIn(8)
          ? { selectableFields: [{ jsonPath: random.pick(['.spec.a', '.spec.b', '.spec.c.a']) }] }
          : {}),
      })),
    },
  };
}

function operations(members: JsonObject, random: Chances): Json {
  const spec = members['spec'];
  const names = typeof spec === 'object' && spec !== null && !Array.isArray(spec) ? Object.keys(spec) : [];
  const paths = [
    '/spec',
    '/spec/a',
    '/spec/b/0',
    '/spec/b/-',
    '/status',
    ...names.map((name) => `/spec/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  ];
  return Array.from({ length: 1 + random.below(3) }, () => ({
    op: random.pick(['add', 'replace', 'remove', 'copy', 'move', 'test']),
    path: random.pick(paths),
    from: random.pick(paths),
    value: (spec as JsonObject)?.[names[0] ?? ''] ?? 'a',
  }));
}

function yamlOf(object: JsonObject): unknown {
  try {
    return writeYaml(object);
  } catch {
    // A lone surrogate cannot be encoded.
    return JSON.stringify(object);
  }
}
