import { describe, expect, test } from 'vitest';
import { Complaints } from '../../../src/api/complaints.js';
import { ApiError } from '../../../src/api/errors.js';
import type { ApiObject, JsonObject } from '../../../src/api/object.js';
import type { FieldValidation } from '../../../src/api/options.js';
import { runSync } from '../../../src/api/steps.js';
import { readApplyConfiguration } from '../../../src/apiserver/patch/apply.js';
import { applyPatch, patchTypeOf, readPatch } from '../../../src/apiserver/patch/index.js';
import { configMapSchema } from '../../../src/resources/configmaps/definition.js';
import { compileDecoder } from '../../../src/schema/decode.js';

const failure = async (act: () => unknown): Promise<ApiError> => {
  try {
    await act();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('patchTypeOf', () => {
  test.each([
    ['application/strategic-merge-patch+json', 'custom'],
    ['application/json', 'custom'],
    ['', 'custom'],
  ] as const)('refuses %j on a custom resource', async (mediaType, origin) => {
    expect(await failure(() => patchTypeOf(mediaType, origin))).toMatchObject({
      code: 415,
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    });
  });

  test.each(['application/json', 'application/apply-patch+json', 'constructor', ''])(
    'refuses %j on a built-in kind',
    async (type) => {
      expect(await failure(() => patchTypeOf(type, 'built-in'))).toMatchObject({
        code: 415,
        message: '415: Unsupported Media Type',
        details: {},
      });
    },
  );

  test('knows the other media types', () => {
    expect(patchTypeOf('application/apply-patch+yaml', 'custom')).toBe('apply');
    expect(patchTypeOf('application/strategic-merge-patch+json', 'built-in')).toMatchObject({ for: 'built-in' });
  });
});

describe('patched', () => {
  const current: JsonObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } };
  const run = (name: 'merge' | 'json' | 'strategic-merge', body: string, fieldValidation: FieldValidation = 'Warn') => {
    const type = patchTypeOf(`application/${name}-patch+json`, 'built-in');
    if (type === 'apply') throw new Error('no');
    const patch = readPatch(type, { bytes: Buffer.from(body), contentType: undefined }, { fieldValidation });
    const steps = applyPatch(patch, {
      current,
      schema: configMapSchema,
      fieldValidation,
      converts: name === 'strategic-merge',
      *decode(_, { exact }) {
        yield;
        const strict = new Complaints();
        const object = compileDecoder(configMapSchema)(exact, { strict }) as unknown as ApiObject;
        return { object, strict: strict.texts };
      },
    });
    return runSync(steps);
  };

  test.each([
    ['strategic-merge', '{"data":"x"}', 'map[data:x]', 'cannot restore map from string'],
    [
      'merge',
      '{"data":"x"}',
      '{"apiVersion":"v1","data":"x","kind":"ConfigMap","metadata":{"name":"a"}}',
      'json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      'json',
      '[{"op":"add","path":"/data","value":{"z":1,"a":1}}]',
      '{"apiVersion":"v1","data":{"z":1,"a":1},"kind":"ConfigMap","metadata":{"name":"a"}}',
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'json',
      '[{"op":"add","path":"/data","value":{"a":1.0,"a":"<"}}]',
      '{"apiVersion":"v1","data":{"a":1.0,"a":"\\u003c"},"kind":"ConfigMap","metadata":{"name":"a"}}',
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'json',
      '[{"op":"add","path":"/zzz","value":1},{"op":"add","path":"/metadata/uid","value":1},{"op":"add","path":"/data","value":1}]',
      '{"apiVersion":"v1","data":1,"kind":"ConfigMap","metadata":{"name":"a","uid":1},"zzz":1}',
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      'json',
      '[{"op":"replace","path":"","value":["x"]}]',
      '["x"]',
      `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    ],
    [
      'merge',
      '{"metadata":{"generation":3.0,"labels":{"a":"\\u00e9"}},"data":null}',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generation":3,"labels":{"a":"é"},"name":"a"}}',
      'json: cannot unmarshal number 3.0 into Go struct field ObjectMeta.metadata.generation of type int64',
    ],
    [
      'json',
      '[{"op":"add","path":"/metadata/generation","value":1e3},{"op":"add","path":"/metadata/uid","value":"a<b"}]',
      '{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"generation":1e3,"name":"a","uid":"a\\u003cb"}}',
      'json: cannot unmarshal number 1e3 into Go struct field ObjectMeta.metadata.generation of type int64',
    ],
    [
      'strategic-merge',
      '{"$retainKeys":["metadata","data"],"metadata":{"$setElementOrder/finalizers":["a"],"labels":{"x":null}},"data":7}',
      'map[data:7 metadata:map[labels:map[]]]',
      'cannot restore map from int64',
    ],
    [
      'strategic-merge',
      '{"binaryData":{"k":"***"}}',
      'map[binaryData:map[k:***]]',
      'error decoding from json: illegal base64 data at input byte 0',
    ],
  ] as const)('refuses %s %s, whose result does not decode', async (name, body, shown, why) => {
    const text = `Invalid value: ${JSON.stringify(shown)}: ${why}`;
    expect(await failure(() => run(name, body))).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: ` "" is invalid: patch: ${text}`,
      details: { causes: [{ reason: 'FieldValueInvalid', field: 'patch', message: text }] },
    });
  });

  test('truncates numbers that are too large for their field in a strategic merge patch', () => {
    const { object } = run('strategic-merge', '{"metadata":{"generation":1e20}}');
    expect(object.metadata.generation).toBe(-(2n ** 63n));
  });

  test.each([
    ['merge', 'error decoding patch: json: cannot unmarshal number 1e400 into Go value of type float64'],
    ['strategic-merge', 'json: cannot unmarshal number 1e400 into Go value of type float64'],
  ] as const)('refuses a number beyond any float: %s', async (name, message) => {
    const body = '{"metadata":{"generation":1e400}}';
    expect(await failure(() => run(name, body))).toMatchObject({ code: 400, message });
  });

  test('quotes only the beginning of a large result in a refusal', async () => {
    const { message } = await failure(() => run('merge', JSON.stringify({ data: 'x'.repeat(1_000_000) })));
    expect(message).toContain('xxx...": json: cannot unmarshal string');
    expect(message.length).toBeLessThan(70_000);
  });

  test.each([
    ['merge', '{"unknown":1,"data":{"k":"1","k":"2"}}', ['duplicate field "data.k"', 'unknown field "unknown"']],
    [
      'json',
      '[{"op":"add","path":"/unknown","value":1,"x":1}]',
      ['json patch unknown field "[0].x"', 'unknown field "unknown"'],
    ],
    [
      'json',
      '[{"op":"add","path":"/z","value":1},{"op":"add","path":"/metadata/b","value":1},{"op":"add","path":"/metadata/a","value":1},{"op":"add","path":"/k","value":1}]',
      ['unknown field "k"', 'unknown field "metadata.a"', 'unknown field "metadata.b"', 'unknown field "z"'],
    ],
    [
      'json',
      '[{"op":"add","path":"/data","value":{"k":"1","k":"2"}}]',
      ['json patch duplicate field "[0].value.k"', 'duplicate field "data.k"'],
    ],
    [
      'json',
      '[{"op":"add","path":"/data","value":{"k":"1","k":"2"}},{"op":"copy","from":"/data","path":"/metadata/labels"}]',
      ['json patch duplicate field "[0].value.k"', 'duplicate field "data.k"', 'duplicate field "metadata.labels.k"'],
    ],
    [
      'json',
      '[{"op":"add","path":"/data","value":{"k":"1","k":"2"}},{"op":"add","path":"/data/l","value":"3"}]',
      ['json patch duplicate field "[0].value.k"'],
    ],
    ['strategic-merge', '{"unknown":1}', ['unknown field "unknown"']],
  ] as const)('warns about, ignores or refuses, by fieldValidation: %s %s', async (name, body, warnings) => {
    expect(run(name, body).warnings).toEqual(warnings);
    expect(run(name, body, 'Ignore').warnings).toEqual([]);
    const refused = await failure(() => run(name, body, 'Strict'));
    expect(refused.code).toBe(422);
    expect(refused.message).toContain(`strict decoding error: ${warnings.join(', ')}`);
  });
});

describe('readApplyConfiguration', () => {
  const read = (body: string) => readApplyConfiguration({ bytes: Buffer.from(body), contentType: undefined });

  test('reads YAML and JSON alike', async () => {
    const config = { apiVersion: 'v1', data: { k: 'v' } };
    expect((await read(JSON.stringify(config))).config).toEqual(config);
    expect((await read('apiVersion: v1\ndata: {k: v}\n')).config).toEqual(config);
    expect((await read('')).config).toEqual({});
  });

  test('reports repeated members', async () => {
    expect((await read('a: 1\na: 2\n')).repeated).toBe(
      'error converting YAML to JSON: yaml: unmarshal errors:\n  line 2: key "a" already set in map',
    );
    expect((await read('a: 1')).repeated).toBeUndefined();
  });

  test('refuses lists and invalid YAML', async () => {
    expect((await failure(() => read('- 1'))).message).toBe(
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
    expect(await failure(() => read('a: ['))).toMatchObject({
      code: 400,
      message: expect.stringMatching(/^error decoding YAML: error converting YAML to JSON: yaml: /) as string,
    });
  });
});
