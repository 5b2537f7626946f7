import { maxJsonValues } from '../../src/api/json-text.js';
import type { Json, JsonObject } from '../../src/api/object.js';
import { writeYaml } from '../../src/api/yaml-writer.js';
import type { ResourceDefinition } from '../../src/registry/resource-definition.js';
import { encodeObject } from '../../src/schema/protobuf.js';
import type { Schema } from '../../src/schema/schema.js';
import type { Random } from './random.js';
import { type FuzzRequest, requestTo } from './request.js';

/**
 * Objects in which one list or map is as long as a body permits, so that work per item is done as often as possible.
 */

/** The items: none, all equal, all valid and different, all wrong, or wrong in all their members. */
const fillings = ['empty', 'alike', 'different', 'wrong'] as const;
export type Filling = (typeof fillings)[number];

/** A list or map of a kind: its path, with `0` for an item of a list and `k` for a member of a map. */
export interface Place {
  readonly definition: ResourceDefinition;
  readonly path: readonly (string | 0)[];
  readonly schema: Schema;
}

const deepest = 6;

/** Returns every list and map of a kind, including those in items of others. */
function placesOf(definition: ResourceDefinition): readonly Place[] {
  const found: Place[] = [];
  const visit = (schema: Schema, path: readonly (string | 0)[], within: readonly Schema[]): void => {
    if (path.length > deepest || within.includes(schema)) return;
    const { properties, additionalProperties, items } = schema;
    const members = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    if (schema.type === 'array' || members !== undefined || schema.preserveUnknownFields)
      found.push({ definition, path, schema });
    const below = [...within, schema];
    if (items !== undefined) visit(items, [...path, 0], below);
    if (members !== undefined) visit(members, [...path, 'k'], below);
    for (const [name, member] of properties ?? []) visit(member, [...path, name], below);
  };
  visit(definition.schema, [], []);
  return found;
}

/** The maximum number of values in a body, beyond which it is rejected. */
const mostValues = maxJsonValues - 1_000;

/** Returns an object of a kind with as many items in a list or map as fit into a body of this size. */
function filled({ definition, path, schema }: Place, filling: Filling, size: number): JsonObject {
  const items: Json[] = [];
  const isList = schema.type === 'array';
  const of = isList
    ? (schema.items ?? {})
    : typeof schema.additionalProperties === 'object'
      ? schema.additionalProperties
      : {};
  let bytes = 0;
  let values = 0;
  for (let at = 0; ; at++) {
    const item = sample(of, filling, at, 3);
    const text = JSON.stringify(item);
    bytes += text.length + (isList ? 1 : 10);
    values += 1 + (text.match(/[,{[]/g)?.length ?? 0);
    if (bytes > size || values > mostValues) break;
    items.push(item);
  }
  const key = filling === 'wrong' ? (at: number) => `/${at}!` : (at: number) => `k${at}`;
  let value: Json = isList ? items : Object.fromEntries(items.map((item, at) => [key(at), item]));
  for (const segment of path.toReversed()) value = segment === 0 ? [value] : { [segment]: value };
  const { group, version, kind } = definition;
  const { metadata, ...rest } = value as JsonObject & { readonly metadata?: JsonObject };
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    metadata: { name: 'o', ...metadata },
    ...rest,
  };
}

const byFormat: Readonly<Record<string, Json>> = {
  byte: 'YQ==',
  'date-time': '2026-01-01T00:00:00Z',
  'micro-time': '2026-01-01T00:00:00.000000Z',
  quantity: '1',
};

function sample(schema: Schema, filling: Filling, at: number, depth: number): Json {
  const { type, properties, items, additionalProperties } = schema;
  if (filling !== 'wrong' && schema.enum !== undefined) return schema.enum[0] ?? null;
  if (type === 'string')
    return byFormat[schema.format ?? ''] ?? { empty: '', alike: 'a', different: `a${at}`, wrong: '!' }[filling];
  if (type === 'integer' || type === 'number') return { empty: 0, alike: 1, different: at, wrong: -1 }[filling];
  if (type === 'boolean') return filling !== 'empty';
  if (type === 'array') return filling === 'empty' || depth === 0 ? [] : [sample(items ?? {}, filling, at, depth - 1)];
  if (filling === 'empty' || depth === 0) return {};
  if (properties === undefined) {
    return typeof additionalProperties === 'object'
      ? { [filling === 'wrong' ? '/!' : `k${at}`]: sample(additionalProperties, filling, at, depth - 1) }
      : { a: at };
  }
  return Object.fromEntries([...properties].map(([name, member]) => [name, sample(member, filling, at, depth - 1)]));
}

const verbs = ['create', 'create strictly', 'update', 'apply', 'merge', 'strategic', 'json'] as const;
const forms = ['json', 'yaml', 'protobuf'] as const;

/** Returns a request with such an object. */
function largeRequest(
  place: Place,
  given: {
    readonly filling: Filling;
    readonly size: number;
    readonly verb: (typeof verbs)[number];
    readonly form: (typeof forms)[number];
  },
): FuzzRequest {
  const { definition } = place;
  const object = filled(place, given.filling, given.size);
  const collection = `${definition.group === '' ? '/api' : `/apis/${definition.group}`}/${definition.version}${definition.namespaced ? '/namespaces/default' : ''}/${definition.plural}`;
  const one = `${collection}/o`;
  const origin = `${given.verb} ${given.form} ${definition.plural} ${place.path.join('.')} ${given.filling}`;
  const send = (method: string, url: string, body: unknown = object, type = 'application/json'): FuzzRequest =>
    requestTo(method, url, { body, type, origin });
  switch (given.verb) {
    case 'merge':
      return send('PATCH', one, object, 'application/merge-patch+json');
    case 'strategic':
      return send('PATCH', one, object, 'application/strategic-merge-patch+json');
    case 'json':
      return send(
        'PATCH',
        one,
        Object.entries(object).map(([name, value]) => ({ op: 'add', path: `/${name}`, value })),
        'application/json-patch+json',
      );
    case 'apply':
      return send(
        'PATCH',
        `${one}?fieldManager=m&force=true`,
        given.form === 'yaml' ? writeYaml(object) : object,
        'application/apply-patch+yaml',
      );
    default: {
      const method = given.verb === 'update' ? 'PUT' : 'POST';
      const url = `${given.verb === 'update' ? one : collection}${given.verb === 'create strictly' ? '?fieldValidation=Strict' : ''}`;
      if (given.form === 'yaml') return send(method, url, writeYaml(object), 'application/yaml');
      if (given.form === 'protobuf' && definition.origin === 'built-in')
        return send(method, url, encodeObject(definition.schema, object), 'application/vnd.kubernetes.protobuf');
      return send(method, url);
    }
  }
}

/** The formats of responses, in which the object is as large again. */
const answers = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf, application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
];

/** Objects that are stored in one form, and the collections in which they are read in that and in others. */
const readables: readonly { readonly object: JsonObject; readonly collections: readonly string[] }[] = [
  { object: { apiVersion: 'v1', kind: 'ConfigMap' }, collections: ['/api/v1/namespaces/default/configmaps'] },
  {
    object: { apiVersion: 'v1', kind: 'Event', involvedObject: { namespace: 'default' } },
    collections: ['/api/v1/namespaces/default/events', '/apis/events.k8s.io/v1/namespaces/default/events'],
  },
  {
    object: { apiVersion: 'fuzz.example.com/v1', kind: 'Widget' },
    collections: ['/apis/fuzz.example.com/v1/widgets', '/apis/fuzz.example.com/v2/widgets'],
  },
];

/** Returns a read of a large object that has just been written, alone or in a list. */
function largeRead(random: Random): FuzzRequest {
  const { object, collections } = random.pick(readables);
  const [collection = ''] = collections;
  const labels = Object.fromEntries(
    Array.from({ length: random.pick([20_000, 48_000]) }, (_, at) => [`key-${at}-${'x'.repeat(20)}`, 'v']),
  );
  const made = requestTo('POST', collection, { body: { ...object, metadata: { name: 'large', labels } } });
  // Invalidates what is cached for the object.
  const touched = requestTo('PATCH', `${collection}/large`, {
    body: { metadata: { annotations: { touched: String(random.below(1_000_000)) } } },
    type: 'application/merge-patch+json',
  });
  const from = random.pick(collections);
  const accept = random.pick(answers);
  return {
    ...requestTo('GET', random.oneIn(2) ? from : `${from}/large`, {
      headers: [['accept', accept]],
      origin: `large object read from ${from} as ${accept}`,
    }),
    before: [made, touched],
    after: [requestTo('DELETE', `${collection}/large`)],
  };
}

/** Watches of these collections in every format, to which every write is sent. */
export const largeWatches: readonly FuzzRequest[] = readables.flatMap(({ collections }) =>
  collections.flatMap((collection) =>
    answers.flatMap((accept) =>
      accept.startsWith('application/yaml')
        ? []
        : [requestTo('GET', `${collection}?watch=true`, { headers: [['accept', accept]] })],
    ),
  ),
);

/** Returns any request with such an object for one of these kinds, or for an existing object. */
export function largeRequests(definitions: readonly ResourceDefinition[]): (random: Random) => FuzzRequest {
  const places = definitions.flatMap(placesOf);
  return (random) => {
    if (random.oneIn(3)) return largeRead(random);
    const request = largeRequest(random.pick(places), {
      filling: random.pick(fillings),
      size: random.pick([262_144, 1_048_576, 3_100_000]),
      verb: random.pick(verbs),
      form: random.pick(forms),
    });
    return { ...request, headers: [...request.headers, ['accept', random.pick(answers)]] };
  };
}
