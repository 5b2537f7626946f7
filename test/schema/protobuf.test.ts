import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { goJson } from '../../src/api/go-text.js';
import { parseJson } from '../../src/api/json-text.js';
import type { Json, JsonObject } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { field, integer64, list, optional, string, struct } from '../../src/schema/builder.js';
import { compileDecoder } from '../../src/schema/decode.js';
import { ProtobufError } from '../../src/schema/protobuf/wire-format.js';
import {
  decodeEnvelope,
  decodeProtobuf,
  encodeItems,
  encodeItemsInSteps,
  encodeListMeta,
  encodeObject,
  encodeObjectInSteps,
  encodeProtobuf,
  encodeWatchEvent,
  readEnvelope,
} from '../../src/schema/protobuf.js';
import { sortByBytes } from '../../src/schema/sort-members.js';
import { countSteps } from '../count-steps.js';
import { configMap, everything, props, ruleWithOperations, signingRequest } from './kinds.js';

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ''), 'hex');
const ascii = (text: string): string => Buffer.from(text).toString('hex');

describe("bytes equal those of Kubernetes' generated code", () => {
  const emptyMeta = '0a00 1200 1a00 2200 2a00 3200 3800 4200';

  test('non-pointers are written, zero or not', () => {
    expect(encodeProtobuf(configMap, {})).toEqual(hex(`0a10 ${emptyMeta}`));
    expect(encodeProtobuf(configMap, { immutable: false })).toEqual(hex(`0a10 ${emptyMeta} 2000`));
  });

  test('a pointer that JSON shows as null is not written', () => {
    const requestSpec = struct('v1.TokenRequestSpec', {
      audiences: field(1, list(string()), { presence: 'always' }),
      expirationSeconds: optional(4, integer64(), { presence: 'null' }),
      boundObjectRef: optional(3, struct('v1.BoundObjectReference', { name: field(3, string()) }), {
        presence: 'null',
      }),
    });
    const spec = { audiences: ['a'], expirationSeconds: 600, boundObjectRef: null };
    expect(encodeProtobuf(requestSpec, spec)).toEqual(hex('0a0161 20d804'));
    expect(encodeProtobuf(requestSpec, {})).toEqual(hex(''));
    expect(encodeProtobuf(requestSpec, { boundObjectRef: {} })).toEqual(hex('1a02 1a00'));
  });

  test('map entries are sorted by key, lists are repeated fields, lists in maps are messages', () => {
    expect(encodeProtobuf(configMap, { data: { b: '2', a: '1' } })).toEqual(
      hex(`0a10 ${emptyMeta} 1206 0a0161 120131 1206 0a0162 120132`),
    );
    const spec = {
      request: 'AQI=',
      signerName: 's',
      usages: ['u', 'v'],
      extra: { k: ['x', ''] },
      expirationSeconds: 300,
    };
    expect(encodeProtobuf(signingRequest, { spec })).toEqual(
      hex(`0a10 ${emptyMeta} 1220 0a020102 1200 1a00 2a0175 2a0176 320a 0a016b 1205 0a0178 0a00 3a0173 40ac02 1a00`),
    );
  });

  test('inlined JSON fields are in their own message', () => {
    const value = { operations: ['o'], apiGroups: ['g', 'h'], scope: 's' };
    const bytes = hex(`0a01${ascii('o')} 1209 0a01${ascii('g')} 0a01${ascii('h')} 2201${ascii('s')}`);
    expect(encodeProtobuf(ruleWithOperations, value)).toEqual(bytes);
    expect(runSync(decodeProtobuf(ruleWithOperations, bytes))).toEqual(value);
    expect(encodeProtobuf(ruleWithOperations, {})).toEqual(hex('1200'));
    // Two parts of a message are merged.
    expect(runSync(decodeProtobuf(ruleWithOperations, hex(`1203 0a01${ascii('g')} 1203 0a01${ascii('h')}`)))).toEqual({
      apiGroups: ['g', 'h'],
    });
    expect(() => runSync(decodeProtobuf(ruleWithOperations, hex('1205 0a01')))).toThrow(ProtobufError);
  });

  test('times, quantities, numbers and raw JSON', () => {
    const value = {
      when: '1970-01-01T00:00:01Z',
      precisely: '1970-01-01T00:00:01.000002Z',
      port: 'http',
      amount: { a: '1' },
      free: { a: 1 },
      large: -1,
      ratio: 1.5,
    };
    expect(encodeProtobuf(everything, value)).toEqual(
      hex(
        `0a10 ${emptyMeta} 1200 1800 2800 30ffffffffffffffffff01 39000000000000f83f 4a04 0801 1000 5205 0801 10d00f
         5a0a 0801 1000 1a04${ascii('http')} 6208 0a0161 1203 0a0131 6a09 0a07${ascii('{"a":1}')}`,
      ),
    );
  });

  test('a number too large for an exact integer is still encoded as a double', () => {
    const read = parseJson('{"ratio":9007199254740992}');
    expect(encodeProtobuf(everything, read as JsonObject)).toEqual(encodeProtobuf(everything, { ratio: 2 ** 53 }));
  });

  test('unions have a flag beside the schema', () => {
    expect(encodeProtobuf(props, { additionalProperties: true })).toEqual(hex('2a00 6000 f201 02 0801'));
    expect(encodeProtobuf(props, { additionalProperties: { type: 'x' } })).toEqual(
      hex('2a00 6000 f201 09 0801 1205 2a0178 6000'),
    );
    expect(encodeProtobuf(props, { items: [{ type: 'x' }] })).toEqual(hex('2a00 6000 c201 07 1205 2a0178 6000'));
  });

  test('envelopes, lists and watch frames', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'n' } };
    const envelope = encodeObject(configMap, object);
    expect(envelope.subarray(0, 22)).toEqual(hex(`6b387300 0a0f 0a02${ascii('v1')} 1209${ascii('ConfigMap')} 12`));
    expect(readEnvelope(envelope)).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(runSync(decodeEnvelope(configMap, envelope))).toMatchObject(object);

    expect(encodeListMeta({ resourceVersion: '7' })).toEqual(hex('0a07 0a00 120137 1a00'));
    expect(encodeItems(configMap, [object, object])).toEqual(
      Buffer.concat([1, 2].flatMap(() => [hex('1213'), encodeProtobuf(configMap, object)])),
    );

    const frame = encodeWatchEvent('ADDED', envelope);
    expect(frame.readUInt32BE()).toBe(frame.length - 4);
    expect(frame.subarray(4, 11)).toEqual(hex(`0a05${ascii('ADDED')}`));
    expect(frame.subarray(-envelope.length)).toEqual(envelope);
  });
});

describe('reading', () => {
  test('merges split messages, takes the last scalar, and skips unknown fields', () => {
    const bytes = hex(
      `0a03 0a0161 0a03 1a016e 0a03 0a0162 2001 2000 5a00 9801 05 7b 08 01 7c 6d 00000000 71 0000000000000000`,
    );
    expect(runSync(decodeProtobuf(configMap, bytes))).toEqual({
      metadata: { name: 'b', namespace: 'n' },
      immutable: false,
    });
  });

  test('takes the last of duplicate values of a map', () => {
    const read = runSync(decodeProtobuf(signingRequest, hex('120f 320d 0a0161 1203 0a0162 1203 0a0163')));
    expect(read).toMatchObject({ spec: { extra: { a: ['c'] } } });
  });

  test('accepts packed numbers in lists', () => {
    const schema = {
      ...everything,
      properties: new Map([['numbers', { type: 'array', items: { type: 'integer' }, wire: { number: 1 } }]] as const),
    };
    expect(runSync(decodeProtobuf(schema, hex('0a03 01 9601 0805')))).toEqual({ numbers: [1, 150, 5] });
  });

  test('returns only the type of an envelope of another kind', () => {
    const envelope = encodeObject(signingRequest, { apiVersion: 'v1', kind: 'CertificateSigningRequest' });
    expect(runSync(decodeEnvelope(configMap, envelope))).toEqual({
      apiVersion: 'v1',
      kind: 'CertificateSigningRequest',
    });
  });

  test('keeps keys named __proto__', () => {
    const data = JSON.parse('{"__proto__":"x"}') as JsonObject;
    const { data: read } = runSync(decodeProtobuf(configMap, encodeProtobuf(configMap, { data })));
    expect(Object.entries(read as object)).toEqual([['__proto__', 'x']]);
  });

  test('reads large messages in steps, also inside others', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`name-${n}`, 'x'.repeat(20)]));
    const fieldsV1 = { 'f:a': 'x'.repeat(70_000) };
    for (const value of [
      { metadata: {}, data: many },
      { metadata: { labels: many }, data: { k: 'x' } },
      { metadata: { name: 'n', managedFields: [{ fieldsV1 }, { manager: 'm' }] } },
    ]) {
      const { pauses, result } = countSteps(decodeProtobuf(configMap, encodeProtobuf(configMap, value)));
      const canonical = compileDecoder(configMap);
      expect(canonical(result)).toEqual(canonical(value));
      if (!('managedFields' in value.metadata)) expect(pauses).toBeGreaterThan(5);
    }
    const truncated = encodeProtobuf(configMap, { metadata: { labels: many } }).subarray(0, -1);
    expect(() => runSync(decodeProtobuf(configMap, truncated))).toThrow(new ProtobufError('unexpected EOF'));
  });

  test.each([
    ['a single entry', `12d0fd05${'1200'.repeat(49_000)}`, 90],
    ['several entries', `12c0b802${'1200'.repeat(20_000)}`.repeat(20), 8],
  ])('reads map entries with many fields in steps: %s', (_, bytes, least) => {
    const { pauses, result } = countSteps(decodeProtobuf(configMap, hex(bytes)));
    expect(result).toEqual({ data: { '': '' } });
    expect(pauses).toBeGreaterThan(least);
  });

  test('writes large messages in steps, also inside others', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`name-${n}`, 'x'.repeat(20)]));
    const parts = Array.from({ length: 5_000 }, (_, id) => ({ id }));
    for (const [schema, value] of [
      [configMap, { metadata: {}, data: many }],
      [configMap, { metadata: { labels: many }, data: { k: 'x' } }],
      [everything, { metadata: { labels: many }, parts, counts: { a: 1 } }],
    ] as const) {
      const one = countSteps(encodeObjectInSteps(schema, value));
      expect(one.result.equals(encodeObject(schema, value))).toBe(true);
      expect(one.pauses).toBeGreaterThan(2);
      const list = countSteps(encodeItemsInSteps(schema, [value, {}, value]));
      expect(list.result.equals(encodeItems(schema, [value, {}, value]))).toBe(true);
      expect(list.pauses).toBeGreaterThan(2 * one.pauses - 2);
    }
  });

  test('refuses a message with too many fields', () => {
    const bytes = Buffer.concat(Array.from({ length: 50_001 }, () => Buffer.from([0x12, 0])));
    expect(() => runSync(decodeProtobuf(configMap, bytes))).toThrow('exceeded 50000 fields');
  });

  test('reads a quantity without text as zero', () => {
    expect(runSync(decodeProtobuf(everything, hex('62 05 0a0161 1200')))).toEqual({ amount: { a: '0' } });
  });

  test('an error within an embedded struct names that struct', () => {
    expect(() => runSync(decodeProtobuf(ruleWithOperations, hex('1201 0c')))).toThrow(
      new ProtobufError('proto: Rule: wiretype end group for non-group'),
    );
  });

  test('replaces invalid UTF-8 with replacement characters', () => {
    expect(runSync(decodeProtobuf(configMap, hex('0a03 0a01ff')))).toEqual({ metadata: { name: '\ufffd' } });
  });

  test.each([
    ['0a05 0a01', 'unexpected EOF'],
    ['0aff', 'unexpected EOF'],
    ['0affffffffffffffffff01', 'proto: negative length found during unmarshaling'],
    ['0affffffffffffffff7f', 'proto: negative length found during unmarshaling'],
    ['0aebffffffffffffff7f', 'unexpected EOF'],
    ['0a8080808008', 'unexpected EOF'],
    ['0affffffffffffffffffff01', 'proto: integer overflow'],
    ['0801', 'proto: wrong wireType = 0 for field ObjectMeta'],
    ['2200', 'proto: wrong wireType = 2 for field Immutable'],
    ['00', 'proto: ConfigMap: illegal tag 0 (wire type 0)'],
    ['0c', 'proto: ConfigMap: wiretype end group for non-group'],
    ['7b0801', 'unexpected EOF'],
    ['7e', 'proto: illegal wireType 6'],
  ])('refuses the bytes %s', (bytes, message) => {
    expect(() => runSync(decodeProtobuf(configMap, hex(bytes)))).toThrow(new ProtobufError(message));
  });

  test('reads map entries as Go does, which checks neither wire types nor the end of an entry', () => {
    const read = (bytes: string): Json => runSync(decodeProtobuf(configMap, hex(bytes)));
    expect(read('1206 08016b 120176')).toEqual({ data: { k: 'v' } });
    // The value continues after the entry, where the next field would begin; what follows the entry is read
    // nevertheless.
    expect(read('1205 0a016b 1202 2001')).toEqual({ data: { k: ' \u0001' }, immutable: true });
    expect(read('1208 1805 0a016b 120176')).toEqual({ data: { k: 'v' } });
    expect(runSync(decodeProtobuf(signingRequest, hex('1205 3203 0a016b')))).toEqual({ spec: { extra: { k: [] } } });
    expect(() => read('1204 081a 1200')).toThrow(new ProtobufError('unexpected EOF'));
    expect(() => read('1201 00')).toThrow(new ProtobufError('unexpected EOF'));
    expect(() => read('1201 1c')).toThrow(new ProtobufError('proto: unexpected end of group'));
    expect(() => read(`12${'90ce06'}${'0a00'.repeat(51_000)}`)).toThrow('unexpected EOF');
    expect(() => read(`12${'e29c06'}${'0a00'.repeat(51_000)}`)).toThrow('exceeded 50000 fields');
  });

  test.each([
    [everything, '4a020a00', 'Seconds'],
    [everything, '52021200', 'Nanos'],
    [everything, '5a020a00', 'Type'],
    [everything, '5a021801', 'StrVal'],
    [everything, '62 07 0a0161 1202 0801', 'String_'],
    [everything, '6a020801', 'Raw'],
    [ruleWithOperations, '1001', 'Rule'],
    [ruleWithOperations, '1202 0801', 'APIGroups'],
    [signingRequest, '1202 1801', 'UID'],
  ])('refuses a wrong wire type within a message', (schema, bytes, name) => {
    expect(() => runSync(decodeProtobuf(schema, hex(bytes)))).toThrow(
      new RegExp(`^proto: wrong wireType = \\d for field ${name}$`),
    );
  });

  test.each([
    ['0801', 'TypeMeta'],
    ['0a020801', 'APIVersion'],
    ['0a021001', 'Kind'],
    ['1001', 'Raw'],
    ['1801', 'ContentEncoding'],
    ['2001', 'ContentType'],
  ])('refuses an envelope with %s', (bytes, name) => {
    const message = `proto: wrong wireType = 0 for field ${name}`;
    expect(() => readEnvelope(hex(`6b387300 ${bytes}`))).toThrow(new ProtobufError(message));
  });

  test('refuses bytes that are not an envelope', () => {
    expect(() => readEnvelope(Buffer.from('{}'))).toThrow('expected prefix [107 56 115 0]');
    expect(() => readEnvelope(Buffer.alloc(0))).toThrow('empty data');
  });

  test('refuses nesting bombs', () => {
    let bytes = hex('2a00');
    for (let level = 0; level < 2_000; level++) bytes = Buffer.from(encodeNested(bytes));
    expect(() => runSync(decodeProtobuf(props, bytes))).toThrow('exceeded max depth');
    const groups = Buffer.alloc(1_000_000, 0x7b);
    expect(() => runSync(decodeProtobuf(props, groups))).toThrow('unexpected EOF');
  });

  /** Wraps a schema as `items` of another. */
  const encodeNested = (inner: Buffer): readonly number[] => {
    const length = (size: number): readonly number[] =>
      size < 0x80 ? [size] : [(size & 0x7f) | 0x80, ...length(size >> 7)];
    const union = [0x0a, ...length(inner.length), ...inner];
    return [0xc2, 0x01, ...length(union.length), ...union];
  };

  test('reads or refuses any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        for (const schema of [configMap, everything, props]) {
          try {
            runSync(decodeProtobuf(schema, bytes));
          } catch (error) {
            expect(error).toBeInstanceOf(ProtobufError);
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

test('written objects are read back unchanged', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 5 });
  const seconds = fc
    .integer({ min: 0, max: 4_000_000_000 })
    .map((at) => `${new Date(at * 1000).toISOString().slice(0, 19)}Z`);
  const value = fc.record(
    {
      metadata: fc.record(
        { name: text, labels: fc.dictionary(text, text), creationTimestamp: seconds },
        { requiredKeys: [] },
      ),
      text,
      flag: fc.boolean(),
      maybeFlag: fc.boolean(),
      small: fc.integer(),
      large: fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
      blob: fc.uint8Array({ minLength: 1, maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString('base64')),
      when: seconds,
      precisely: seconds.map((at) => at.replace('Z', '.012345Z')),
      port: fc.oneof(fc.integer(), text),
      free: fc.jsonValue({ maxDepth: 2 }).filter((json) => json !== null),
      names: fc.array(text, { minLength: 1 }),
      counts: fc.dictionary(text, fc.maxSafeInteger()),
      owner: fc.record({ name: text }),
      parts: fc.array(fc.record({ id: fc.integer() })),
    },
    { requiredKeys: [] },
  );
  const canonical = compileDecoder(everything);
  fc.assert(
    fc.property(value, (given) => {
      const object = canonical(parseJson(goJson(given))) as JsonObject;
      const read = canonical(runSync(decodeProtobuf(everything, encodeProtobuf(everything, object))));
      // Maps are sorted by bytes, and decoded objects by code units.
      expect(goJson(sortByBytes(read))).toBe(goJson(sortByBytes(object)));
      expect(runSync(encodeObjectInSteps(everything, object))).toEqual(encodeObject(everything, object));
    }),
  );
});
