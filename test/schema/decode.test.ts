import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Complaints } from '../../src/api/complaints.js';
import { readJson } from '../../src/api/json-text.js';
import type { Json, JsonObject } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { bytes, list, field as member, microTime, optional, string, struct, time } from '../../src/schema/builder.js';
import { compileDecoder, decodeText, typeMetaOf } from '../../src/schema/decode.js';
import { objectMeta } from '../../src/schema/meta.js';
import type { Schema } from '../../src/schema/schema.js';
import { expectShort } from '../processor-time.js';
import { configMap, everything, props, ruleWithOperations, signingRequest } from './kinds.js';

const decode = (schema: Schema, text: string): Json => runSync(decodeText(schema, readJson(text))).value;
const strict = (schema: Schema, text: string): readonly string[] => runSync(decodeText(schema, readJson(text))).strict;
const textOf = (schema: Schema, text: string): string => JSON.stringify(decode(schema, text));

test('the minus of -0 is dropped from integers', () => {
  expect(textOf(everything, '{"large":-0,"port":-0}')).toBe(textOf(everything, '{"large":0,"port":0}'));
});

test('unknown fields found by a converter are reported sorted and without map keys', () => {
  const text = '{"zz":1,"properties":{"b":{"x":1},"a":{"x":1,"properties":{"c":{"\\"y":1}}}}}';
  const found = (converts: boolean) => runSync(decodeText(props, readJson(text), { converts })).strict;
  expect(found(true)).toEqual([
    'unknown field "properties.properties."y"',
    'unknown field "properties.x"',
    'unknown field "properties.x"',
    'unknown field "zz"',
  ]);
  expect(found(false)).toEqual([
    'unknown field "zz"',
    'unknown field "properties.b.x"',
    'unknown field "properties.a.x"',
    'unknown field "properties.a.properties.c.\\"y"',
  ]);
});

test('a converter reports any number of unknown fields', () => {
  const text = JSON.stringify(Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`no${at}`, 1])));
  const found = (converts: boolean) => runSync(decodeText(props, readJson(text), { converts })).strict.length;
  expect([found(true), found(false)]).toEqual([150, 100]);
});

describe('wrong types are refused with the messages of Go', () => {
  const field = (rest: string): string => `json: cannot unmarshal ${rest}`;
  test.each<[Schema, string, string]>([
    [configMap, '{"data":{"k":1}}', field('number into Go struct field ConfigMap.data of type string')],
    [configMap, '{"data":[]}', field('array into Go struct field ConfigMap.data of type map[string]string')],
    [
      configMap,
      '{"binaryData":""}',
      field('string into Go struct field ConfigMap.binaryData of type map[string][]uint8'),
    ],
    [configMap, '{"metadata":"a"}', field('string into Go struct field ConfigMap.metadata of type v1.ObjectMeta')],
    [
      configMap,
      '{"metadata":{"labels":{"x":true}}}',
      field('bool into Go struct field ObjectMeta.metadata.labels of type string'),
    ],
    [
      configMap,
      '{"metadata":{"name":5}}',
      field('number into Go struct field ObjectMeta.metadata.name of type string'),
    ],
    [configMap, '{"immutable":"true"}', field('string into Go struct field ConfigMap.immutable of type bool')],
    [
      configMap,
      '{"metadata":{"creationTimestamp":5}}',
      field('number into Go struct field ObjectMeta.metadata.creationTimestamp of type string'),
    ],
    [objectMeta, '{"labels":{"a":1}}', field('number into Go struct field ObjectMeta.labels of type string')],
    [
      signingRequest,
      '{"spec":{"usages":"x"}}',
      field('string into Go struct field CertificateSigningRequestSpec.spec.usages of type []v1.KeyUsage'),
    ],
    [
      signingRequest,
      '{"spec":{"usages":[1]}}',
      field('number into Go struct field CertificateSigningRequestSpec.spec.usages of type v1.KeyUsage'),
    ],
    [
      signingRequest,
      '{"spec":{"request":5}}',
      field('number into Go struct field CertificateSigningRequestSpec.spec.request of type []uint8'),
    ],
    [
      signingRequest,
      '{"spec":{"request":["a"]}}',
      field('string into Go struct field CertificateSigningRequestSpec.spec.request of type uint8'),
    ],
    [
      signingRequest,
      '{"spec":{"extra":{"a":"b"}}}',
      field('string into Go struct field CertificateSigningRequestSpec.spec.extra of type v1.ExtraValue'),
    ],
    [
      signingRequest,
      '{"spec":{"expirationSeconds":1.5}}',
      field('number 1.5 into Go struct field CertificateSigningRequestSpec.spec.expirationSeconds of type int32'),
    ],
    [
      signingRequest,
      '{"spec":{"expirationSeconds":10.0}}',
      field('number 10.0 into Go struct field CertificateSigningRequestSpec.spec.expirationSeconds of type int32'),
    ],
    [
      signingRequest,
      '{"spec":{"expirationSeconds":4294967296}}',
      field(
        'number 4294967296 into Go struct field CertificateSigningRequestSpec.spec.expirationSeconds of type int32',
      ),
    ],
    [
      signingRequest,
      '{"status":{"conditions":[{"lastUpdateTime":1}]}}',
      field(
        'number into Go struct field CertificateSigningRequestCondition.status.conditions.lastUpdateTime of type string',
      ),
    ],
    [
      everything,
      '{"large":9223372036854775808}',
      field('number 9223372036854775808 into Go struct field Everything.large of type int64'),
    ],
    [everything, '{"large":-0.0}', field('number -0.0 into Go struct field Everything.large of type int64')],
    [everything, '{"large":3.6e3}', field('number 3.6e3 into Go struct field Everything.large of type int64')],
    [everything, '{"ratio":1e400}', field('number 1e400 into Go struct field Everything.ratio of type float64')],
    [everything, '{"port":1.5}', field('number 1.5 into Go struct field Everything.port of type int32')],
    [everything, '{"port":true}', field('bool into Go struct field Everything.port of type int32')],
    [
      props,
      '{"properties":{"a":{"exclusiveMinimum":1}}}',
      field('number into Go struct field JSONSchemaProps.properties.exclusiveMinimum of type bool'),
    ],
    [
      props,
      '{"properties":{"a":{"items":{"type":1}}}}',
      field('number into Go struct field JSONSchemaProps.properties.items.type of type string'),
    ],
    [
      props,
      '{"items":{"additionalProperties":{"items":[{"type":1}]}}}',
      field('number into Go struct field JSONSchemaProps.items.additionalProperties.items.type of type string'),
    ],
    [
      ruleWithOperations,
      '{"apiGroups":[1]}',
      field('number into Go struct field RuleWithOperations.Rule.apiGroups of type string'),
    ],
    [props, '{"additionalProperties":1}', 'boolean or JSON schema expected'],
    [configMap, '{"binaryData":{"k":"***"}}', 'illegal base64 data at input byte 0'],
    [
      configMap,
      '{"metadata":{"creationTimestamp":"yesterday"}}',
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    ],
    [
      everything,
      '{"amount":{"a":"x"}}',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      everything,
      '{"amount":{"a":"1Zi"}}',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [everything, '{"amount":{"a":"1mi"}}', "unable to parse quantity's suffix"],
  ])('case %#', (schema, text, message) => {
    expect(() => decode(schema, text)).toThrow(expect.objectContaining({ name: 'DecodeError', message }));
  });

  test('a type with its own UnmarshalJSON does not know its path', () => {
    const text = '{"properties":{"a":{"items":{"properties":{"b":{"additionalProperties":{"type":1}}}}}}}';
    const own = field(
      'number into Go struct field JSONSchemaProps.properties.additionalProperties.type of type string',
    );
    expect(() => decode(props, text)).toThrow(expect.objectContaining({ innerMessage: own }));
    const whole = field('number into Go struct field JSONSchemaProps.properties.type of type string');
    expect(() => decode(props, '{"properties":{"a":{"type":1}}}')).toThrow(
      expect.objectContaining({ innerMessage: whole }),
    );
  });

  test('the first wrong type in document order is reported, but an invalid time before all', () => {
    expect(() => decode(configMap, '{"data":{"k":1},"metadata":{"name":5}}')).toThrow('ConfigMap.data of type string');
    expect(() => decode(configMap, '{"metadata":{"name":5},"data":{"k":1}}')).toThrow('ObjectMeta.metadata.name');
    expect(() => decode(configMap, '{"data":{"k":1},"metadata":{"creationTimestamp":""}}')).toThrow('parsing time ""');
  });
});

describe('unknown and duplicate fields', () => {
  test('are reported in document order', () => {
    const text =
      '{"apiVersion":"v1","metadata":{"labels":{"l":"1","l":"2"},"nonsense":1},"data":{"k":"1","k":"2"},"unknown":true,"data":{"z":"3"}}';
    expect(strict(configMap, text)).toEqual([
      'duplicate field "metadata.labels.l"',
      'unknown field "metadata.nonsense"',
      'duplicate field "data.k"',
      'unknown field "unknown"',
      'duplicate field "data"',
    ]);
    expect(textOf(configMap, text)).toBe(
      '{"apiVersion":"v1","metadata":{"labels":{"l":"2"}},"data":{"k":"2","z":"3"}}',
    );
  });

  test('field names are case-sensitive', () => {
    expect(strict(signingRequest, '{"spec":{"Request":"","signername":"x"}}')).toEqual([
      'unknown field "spec.Request"',
      'unknown field "spec.signername"',
    ]);
  });

  test('list indexes and map keys are part of the path', () => {
    expect(strict(signingRequest, '{"status":{"conditions":[{},{"x":1}]}}')).toEqual([
      'unknown field "status.conditions[1].x"',
    ]);
    expect(strict(props, '{"properties":{"spec":{"readOnly":true}}}')).toEqual([
      'unknown field "properties.spec.readOnly"',
    ]);
  });

  test('below a union and inside unknown fields nothing is reported', () => {
    expect(strict(props, '{"items":{"readOnly":true}}')).toEqual([]);
    expect(strict(configMap, '{"x":{"a":1,"a":2}}')).toEqual(['unknown field "x"']);
  });

  test('paths may have a prefix', () => {
    const report = { strict: new Complaints(), path: 'metadata' };
    compileDecoder(objectMeta)({ zebra: 1 }, report);
    expect(report.strict.texts).toEqual(['unknown field "metadata.zebra"']);
  });

  test('null after a value removes what is a pointer in Go, and nothing else', () => {
    const kind = struct('v1.Kind', {
      text: member(1, string()),
      maybe: optional(2, string()),
      shown: optional(3, string(), { presence: 'null' }),
    });
    const given = '{"text":"t","text":null,"maybe":"m","maybe":null,"shown":"s","shown":null}';
    expect(textOf(kind, given)).toBe('{"text":"t"}');
  });

  test('duplicate structs are merged', () => {
    expect(textOf(signingRequest, '{"spec":{"username":"u","uid":"1"},"spec":{"uid":"2"}}')).toContain(
      '"username":"u","uid":"2"',
    );
  });

  test.each([
    ['of structs is merged item by item', '[{"a":"1","b":"2"},{"a":"3"}],"items":[{"a":"4"}]', '[{"a":"4","b":"2"}]'],
    ['of null among structs keeps those', '[{"a":"1"}],"items":[null,{"b":"2"}]', '[{"a":"1"},{"b":"2"}]'],
    ['with an empty one in between starts over', '[{"a":"1"}],"items":[],"items":[{"b":"2"}]', '[{"b":"2"}]'],
    ['with null in between starts over', '[{"a":"1"}],"items":null,"items":[{"b":"2"}]', '[{"b":"2"}]'],
    [
      'shows hidden items again when it gets longer',
      '[{},{"a":"1"}],"items":[{}],"items":[{},{"b":"2"}]',
      '[{},{"a":"1","b":"2"}]',
    ],
    [
      'of structs merges repeated members, too',
      '[{"a":"1","a":"2"}],"items":[{"b":"3","b":null}]',
      '[{"a":"2","b":"3"}]',
    ],
  ])('a duplicate list %s', (_, items, expected) => {
    const item = struct('v1.Item', { a: member(1, string()), b: member(2, string()) });
    expect(textOf(struct('v1.Kind', { items: member(1, list(item)) }), `{"items":${items}}`)).toBe(
      `{"items":${expected}}`,
    );
  });

  test('bytes followed by null are unset', () => {
    expect(textOf(struct('v1.Kind', { blob: member(1, bytes()) }), '{"blob":"AA==","blob":null}')).toBe('{}');
  });

  test('a time followed by null is unset', () => {
    const kind = struct('v1.Kind', { when: member(1, time()), exactly: member(2, microTime()) });
    const given = '{"when":"2025-01-01T00:00:00Z","when":null,"exactly":"2025-01-01T00:00:00.000001Z","exactly":null}';
    expect(textOf(kind, given)).toBe('{}');
  });

  test('a thousand repetitions are merged in one go, and more are refused', () => {
    const labels = (count: number): string =>
      `{"metadata":{${Array.from({ length: count }, (_, at) => `"labels":{"k${at}":"v"}`).join()}}}`;
    const decoded = decode(configMap, labels(1_001)) as { metadata: { labels: JsonObject } };
    expect(Object.keys(decoded.metadata.labels)).toHaveLength(1_001);
    expect(() => decode(configMap, labels(1_002))).toThrow('json: fields are repeated more than 1000 times');
  });

  test.each([
    ['before', (inner: string) => `{"properties":{"p":${inner}},"properties":{}}`],
    ['after', (inner: string) => `{"items":{},"items":${inner}}`],
  ])('%s a member repeated at every level, the rest is decoded once more, not once a level', async (_, around) => {
    const wide = Array.from({ length: 8_000 }, (_, at) => `"p${at}":{"type":"string"}`);
    let nested = `{"properties":{${wide.join()}}}`;
    for (let depth = 0; depth < 400; depth++) nested = around(nested);
    await expectShort(3_000, () => expect(textOf(props, nested)).toContain('"p7999":{"type":"string"}'));
  });
});

describe('the canonical form', () => {
  test('has fields in declared order, zero values by presence, and no empty values', () => {
    expect(textOf(signingRequest, '{"status":{"conditions":[]},"metadata":{"labels":{},"name":"a"},"kind":"K"}')).toBe(
      '{"kind":"K","metadata":{"name":"a"},"spec":{"request":null,"signerName":""},"status":{}}',
    );
  });

  test('fills in fields that are always present', () => {
    expect(textOf(everything, '{}')).toBe(
      '{"metadata":{},"text":"","flag":false,"small":0,"blob":null,"when":null,"names":null}',
    );
    expect(textOf(everything, 'null')).toBe(textOf(everything, '{}'));
  });

  test('keeps zero values of pointers, and empty lists that are always present', () => {
    expect(decode(everything, '{"maybeFlag":false,"large":0,"port":0,"free":{},"names":[],"owner":{}}')).toMatchObject({
      maybeFlag: false,
      large: 0,
      port: 0,
      free: {},
      names: [],
      owner: { name: '' },
    });
  });

  test('takes null as absent, and as the zero value in maps and lists', () => {
    expect(decode(configMap, '{"data":{"a":null},"immutable":null,"metadata":null}')).toEqual({
      metadata: {},
      data: { a: '' },
    });
    expect(decode(signingRequest, '{"spec":{"usages":[null]},"status":{"conditions":[null]}}')).toMatchObject({
      spec: { usages: [''] },
      status: { conditions: [{ type: '', status: '' }] },
    });
  });

  test('takes undefined as absent, as in objects made by code', () => {
    const given = { metadata: { name: 'a', labels: undefined }, immutable: undefined } as unknown as Json;
    expect(compileDecoder(configMap)(given)).toEqual({ metadata: { name: 'a' } });
  });

  test('sorts maps, whatever their keys', () => {
    const value = decode(configMap, '{"data":{"b":"1","__proto__":"2","a":"3","constructor":"4"}}') as { data: object };
    expect(Object.entries(value.data)).toEqual([
      ['__proto__', '2'],
      ['a', '3'],
      ['b', '1'],
      ['constructor', '4'],
    ]);
  });

  test.each([
    ['2026-07-01T10:00:00Z', '2026-07-01T10:00:00Z'],
    ['2026-07-01T12:00:00.999+02:00', '2026-07-01T10:00:00Z'],
    ['2024-02-29T23:59:59-01:30', '2024-03-01T01:29:59Z'],
    ['2026-07-01T1:00:00Z', '2026-07-01T01:00:00Z'],
    ['0001-01-01T00:00:00Z', undefined],
  ])('time %s is kept as %s', (given, kept) => {
    const { metadata } = decode(configMap, `{"metadata":{"creationTimestamp":"${given}"}}`) as { metadata: Json };
    expect(metadata).toEqual(kept === undefined ? {} : { creationTimestamp: kept });
  });

  test.each([
    ['2026-13-01T00:00:00Z', 'parsing time "2026-13-01T00:00:00Z": month out of range'],
    ['2026-02-30T00:00:00Z', 'parsing time "2026-02-30T00:00:00Z": day out of range'],
    ['2026-01-01T24:00:00Z', 'parsing time "2026-01-01T24:00:00Z": hour out of range'],
    ['2026-01-01T00:00:00', 'cannot parse "" as "Z07:00"'],
    ['2026-01-01T00:00:00Zx', 'parsing time "2026-01-01T00:00:00Zx": extra text: "x"'],
    ['2026-01-01', 'cannot parse "" as "T"'],
  ])('time %s is refused', (given, message) => {
    expect(() => decode(configMap, `{"metadata":{"creationTimestamp":"${given}"}}`)).toThrow(message);
  });

  test('micro times must have six fraction digits, and keep them', () => {
    expect(decode(everything, '{"precisely":"2026-07-01T12:00:00.123456+02:00"}')).toMatchObject({
      precisely: '2026-07-01T10:00:00.123456Z',
    });
    expect(() => decode(everything, '{"precisely":"2026-07-01T10:00:00.1234567Z"}')).toThrow(
      'cannot parse "7Z" as "Z07:00"',
    );
    expect(() => decode(everything, '{"precisely":"2026-07-01T10:00:00Z"}')).toThrow(
      'parsing time "2026-07-01T10:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    );
  });

  test.each([
    ['"QUJD\\r\\nREVG\\n"', 'QUJDREVG'],
    ['"QR=="', 'QQ=='],
    ['[1,2,3]', 'AQID'],
    ['""', ''],
  ])('bytes %s are kept as %s', (given, kept) => {
    expect(decode(signingRequest, `{"spec":{"request":${given}}}`)).toMatchObject({ spec: { request: kept } });
  });

  test.each([
    ['YWI', 0],
    ['QQ', 0],
    ['QUJDRA', 4],
    ['QQ==QQ==', 4],
    ['QQ=x', 2],
    ['QQ=', 3],
    ['=AAA', 0],
    ['YWJjZA=====', 8],
    ['Q===', 1],
    ['QUJD-', 4],
    ['QUJD\\nQ!', 6],
  ])('bytes "%s" are refused at %i', (given, at) => {
    expect(() => decode(signingRequest, `{"spec":{"request":"${given}"}}`)).toThrow(
      new RegExp(`^illegal base64 data at input byte ${at}$`),
    );
  });

  test.each([
    ['1.5', '1500m'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['1024Ki', '1Mi'],
    ['1000k', '1M'],
    ['1e3', '1e3'],
    ['12e6', '12e6'],
    ['-2.50', '-2500m'],
    ['0.0000000001', '1n'],
    ['00', '0'],
    ['9999999999999999999E', '9999999999999999999E'],
    ['9999999999999999999Ei', '9223372036854775807'],
    ['1.500', '1.500'],
  ])('quantity %s is kept as %s', (given, kept) => {
    expect(decode(everything, `{"amount":{"a":"${given}"}}`)).toMatchObject({ amount: { a: kept } });
  });

  test('decoding is idempotent', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        tie('object'),
        fc.array(tie('any'), { maxLength: 3 }),
      ),
      object: fc.dictionary(
        fc.constantFrom(
          'kind',
          'metadata',
          'name',
          'labels',
          'text',
          'small',
          'parts',
          'id',
          'free',
          'names',
          'counts',
        ),
        tie('any'),
      ),
    })).object;
    let decoded = 0;
    fc.assert(
      fc.property(value, (given) => {
        let once: Json;
        try {
          once = compileDecoder(everything)(given as Json);
        } catch (error) {
          expect(error).toMatchObject({ name: 'DecodeError' });
          return;
        }
        decoded++;
        expect(JSON.stringify(compileDecoder(everything)(once))).toBe(JSON.stringify(once));
      }),
    );
    expect(decoded).toBeGreaterThan(0);
  });
});

describe('kind and apiVersion of a body', () => {
  test.each([
    ['{"kind":"A","apiVersion":"v1"}', { kind: 'A', apiVersion: 'v1' }],
    ['{"Kind":"A"}', { kind: 'A', apiVersion: '' }],
    ['{"kind":"A","kind":"B"}', { kind: 'B', apiVersion: '' }],
    ['null', { kind: '', apiVersion: '' }],
  ])('%s', (text, found) => {
    expect(typeMetaOf(readJson(text).exact)).toEqual(found);
  });

  const type =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  test.each([
    ['[]', `json: cannot unmarshal array into Go value of type ${type}`],
    ['"x"', `json: cannot unmarshal string into Go value of type ${type}`],
    ['42', `json: cannot unmarshal number into Go value of type ${type}`],
    ['{"kind":5}', 'json: cannot unmarshal number into Go struct field .kind of type string'],
  ])('%s is refused', (text, message) => {
    expect(() => typeMetaOf(readJson(text).exact)).toThrow(`couldn't get version/kind; json parse error: ${message}`);
  });
});

describe('large lists and maps', () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `k${at}`);
  const texts = Object.fromEntries(names.map((name) => [name, 'x']));
  const inOrder = Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1)));
  const stepsOf = (object: Json): { readonly steps: number; readonly text: string } => {
    const decoding = decodeText(configMap, readJson(JSON.stringify(object)));
    for (let steps = 1; ; steps++) {
      const { done, value } = decoding.next();
      if (done) return { steps, text: JSON.stringify(value.value) };
    }
  };

  test('are decoded in steps', () => {
    const decoded = stepsOf({ data: texts, immutable: true });
    expect(decoded.steps).toBe(9);
    expect(decoded.text === JSON.stringify({ metadata: {}, data: inOrder, immutable: true })).toBe(true);
    expect(stepsOf({ data: inOrder }).text === JSON.stringify({ metadata: {}, data: inOrder })).toBe(true);
    expect(stepsOf({ data: { k: 'x' } }).steps).toBe(1);
    const lists = { metadata: { finalizers: names } };
    expect(stepsOf(lists).text === JSON.stringify(lists)).toBe(true);
  });

  test('errors inside have their path', () => {
    expect(() => stepsOf({ data: { ...texts, k4999: 5 } })).toThrow(
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    );
    const owners = names.map((name) => ({ name, uid: name, x: name }));
    const found = strict(configMap, JSON.stringify({ metadata: { ownerReferences: owners }, data: {} }));
    expect(found).toHaveLength(100);
    expect(found[99]).toBe('unknown field "metadata.ownerReferences[99].x"');
    const repeated = `{"data":{${names.map((name) => `"${name}":"x"`).join()},"k7":"y"}}`;
    expect(strict(configMap, repeated)).toEqual(['duplicate field "data.k7"']);
    expect(decode(configMap, repeated)).toMatchObject({ data: { k7: 'y', k8: 'x' } });
  });
});
