import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/errors.js';
import { readJson } from '../../../src/api/json-text.js';
import type { Json, JsonObject } from '../../../src/api/object.js';
import type { FieldValidation } from '../../../src/api/options.js';
import { DeferredWork, resultOf, runSync } from '../../../src/api/steps.js';
import { jsonPatch } from '../../../src/apiserver/patch/json.js';
import { maxOperations } from '../../../src/apiserver/patch/json-operations.js';
import type { Schema } from '../../../src/schema/schema.js';
import { countSteps } from '../../count-steps.js';
import { expectShort } from '../../processor-time.js';

const schema: Schema = {};
const read = (body: string, fieldValidation: FieldValidation = 'Warn') =>
  jsonPatch.read(() => readJson(body), { fieldValidation });
const patch = (document: JsonObject, operations: readonly Json[]): JsonObject =>
  runSync(resultOf(read(JSON.stringify(operations)).apply(document, schema, new DeferredWork()))) as JsonObject;
const failure = (act: () => unknown): ApiError => {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

test('a copied value has its members in order if it was changed before, and unchanged otherwise', () => {
  const document = { from: { b: { d: 1, c: 2 }, a: 3 }, to: null };
  const copied = (operations: readonly Json[]): string =>
    JSON.stringify(patch(document, [...operations, { op: 'copy', from: '/from', path: '/to' }])['to']);
  expect(copied([])).toBe('{"b":{"d":1,"c":2},"a":3}');
  expect(copied([{ op: 'replace', path: '/from/a', value: 4 }])).toBe('{"a":4,"b":{"d":1,"c":2}}');
  expect(copied([{ op: 'replace', path: '/from/b/d', value: 4 }])).toBe('{"a":3,"b":{"c":2,"d":4}}');
});

describe('operations', () => {
  test.each<[string, JsonObject, readonly Json[], JsonObject]>([
    ['add a member', { a: 1 }, [{ op: 'add', path: '/b', value: [2] }], { a: 1, b: [2] }],
    ['add over a member', { a: 1 }, [{ op: 'add', path: '/a', value: null }], { a: null }],
    ['add without a value adds null', {}, [{ op: 'add', path: '/a' }], { a: null }],
    ['insert into a list', { l: [1, 3] }, [{ op: 'add', path: '/l/1', value: 2 }], { l: [1, 2, 3] }],
    ['append to a list', { l: [1] }, [{ op: 'add', path: '/l/-', value: 2 }], { l: [1, 2] }],
    ['add at the length of a list', { l: [1] }, [{ op: 'add', path: '/l/1', value: 2 }], { l: [1, 2] }],
    ['add at an index from the end', { l: [1, 2] }, [{ op: 'add', path: '/l/-1', value: 3 }], { l: [1, 2, 3] }],
    [
      'remove',
      { a: 1, l: [1, 2] },
      [
        { op: 'remove', path: '/a' },
        { op: 'remove', path: '/l/0' },
      ],
      { l: [2] },
    ],
    ['replace', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: 2 }], { a: { b: 2 } }],
    ['replace adds a missing member', {}, [{ op: 'replace', path: '/a', value: 2 }], { a: 2 }],
    ['replace at an index from the end', { l: [1, 2] }, [{ op: 'replace', path: '/l/-1', value: 3 }], { l: [1, 3] }],
    [
      'an index with leading zeros and a sign',
      { l: [1, 2] },
      [{ op: 'replace', path: '/l/+01', value: 3 }],
      { l: [1, 3] },
    ],
    ['move', { a: { x: 1 }, b: {} }, [{ op: 'move', from: '/a/x', path: '/b/y' }], { a: {}, b: { y: 1 } }],
    ['move in a list', { l: [1, 2, 3] }, [{ op: 'move', from: '/l/0', path: '/l/2' }], { l: [2, 3, 1] }],
    ['copy', { a: { x: 1 } }, [{ op: 'copy', from: '/a', path: '/b' }], { a: { x: 1 }, b: { x: 1 } }],
    ['copy of a missing member adds null', { a: {} }, [{ op: 'copy', from: '/a/x', path: '/b' }], { a: {}, b: null }],
    [
      'test',
      { a: { b: [1, { c: null }] } },
      [{ op: 'test', path: '/a', value: { b: [1, { c: null }] } }],
      { a: { b: [1, { c: null }] } },
    ],
    ['test of null on a missing member', {}, [{ op: 'test', path: '/a', value: null }], {}],
    ['test of the whole document', { a: 1 }, [{ op: 'test', path: '', value: { a: 1 } }], { a: 1 }],
    [
      'escapes',
      { 'a/b': 1, 'c~d': 2, '~1': 3 },
      [
        { op: 'remove', path: '/a~1b' },
        { op: 'remove', path: '/c~0d' },
        { op: 'test', path: '/~01', value: 3 },
      ],
      { '~1': 3 },
    ],
    ['the empty key', { '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
    ['text before the first slash is ignored', {}, [{ op: 'add', path: 'x/a', value: 1 }], { a: 1 }],
    ['replace of the whole document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    ['no operations', { a: 1 }, [], { a: 1 }],
  ])('%s', (_, document, operations, result) => {
    const before = JSON.stringify(document);
    expect(patch(document, operations)).toEqual(result);
    expect(JSON.stringify(document)).toBe(before);
  });

  test('copies share nothing', () => {
    const operations = [
      { op: 'add', path: '/a/x', value: 1 },
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/y', value: 2 },
      { op: 'add', path: '/a/z', value: 3 },
    ];
    expect(patch({ a: {} }, operations)).toEqual({ a: { x: 1, z: 3 }, b: { x: 1, y: 2 } });
  });

  test('a patch can be applied again', () => {
    const ready = read('[{"op":"add","path":"/a","value":{}},{"op":"add","path":"/a/b","value":1}]');
    expect(runSync(resultOf(ready.apply({}, schema, new DeferredWork())))).toEqual({ a: { b: 1 } });
    expect(runSync(resultOf(ready.apply({}, schema, new DeferredWork())))).toEqual({ a: { b: 1 } });
  });

  test.each<[string, JsonObject, readonly Json[]]>([
    ['removing a missing member', {}, [{ op: 'remove', path: '/a' }]],
    ['a missing parent', {}, [{ op: 'add', path: '/a/b', value: 1 }]],
    ['a null parent', { a: null }, [{ op: 'add', path: '/a/b', value: 1 }]],
    ['a scalar parent', { a: 1 }, [{ op: 'add', path: '/a/b', value: 1 }]],
    ['an index beyond the end', { l: [] }, [{ op: 'add', path: '/l/1', value: 1 }]],
    ['an index before the start', { l: [1] }, [{ op: 'remove', path: '/l/-2' }]],
    ['replacing beyond the end', { l: [1] }, [{ op: 'replace', path: '/l/1', value: 1 }]],
    ['an invalid index', { l: [1] }, [{ op: 'replace', path: '/l/1e0', value: 1 }]],
    ['an index that is too large', { l: [1] }, [{ op: 'add', path: '/l/99999999999999999999', value: 1 }]],
    ['a failed test', { a: 1 }, [{ op: 'test', path: '/a', value: 2 }]],
    ['an unknown operation', {}, [{ op: 'jump', path: '/a' }]],
    ['an inherited name as operation', {}, [{ op: 'constructor', path: '/a' }]],
    ['a missing op', {}, [{ path: '/a' }]],
    ['a missing path', {}, [{ op: 'add', value: 1 }]],
    ['adding the whole document', {}, [{ op: 'add', path: '', value: {} }]],
    ['replacing the whole document with a scalar', {}, [{ op: 'replace', path: '', value: 1 }]],
    ['inherited members', {}, [{ op: 'add', path: '/constructor/prototype/x', value: 1 }]],
    ['the inherited prototype', {}, [{ op: 'add', path: '/__proto__/x', value: 1 }]],
    ['a null operation', {}, [null]],
  ])('%s does not apply', (_, document, operations) => {
    expect(failure(() => patch(document, operations))).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
      details: {},
    });
  });

  test('members named like prototypes are ordinary members', () => {
    const result = patch({}, [{ op: 'add', path: '/__proto__', value: { x: 1 } }]);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"x":1}}');
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  });
});

describe('hostile patches', () => {
  test('copies that double are stopped', () => {
    const operations = Array.from({ length: 60 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }));
    expect(failure(() => patch({ a: ['x'] }, operations)).code).toBe(422);
  });

  test('nesting by operations is stopped', () => {
    const deep = (levels: number): Json => Array.from({ length: levels }).reduce<Json>((inner) => ({ x: inner }), {});
    const operations = [
      { op: 'add', path: '/a', value: deep(600) },
      { op: 'copy', from: '/a', path: `/a${'/x'.repeat(600)}/x` },
    ];
    expect(failure(() => patch({}, operations)).code).toBe(422);
    expect(patch({}, operations.slice(0, 1))).toEqual({ a: deep(600) });
  });

  test('nesting by copies is stopped, also with exact number literals', () => {
    const put = '{"op":"add","path":"/a","value":{"x":1.0}}';
    const copies = Array.from({ length: 14 }, (_, at) => ({
      op: 'copy',
      from: '/a',
      path: `/a${'/x'.repeat(2 ** at)}`,
    }));
    const body = `[${put},${copies.map((copy) => JSON.stringify(copy)).join()}]`;
    const reading = jsonPatch.read(() => ({ ...readJson(body), bytes: Buffer.from(body) }), {
      fieldValidation: 'Warn',
    });
    expect(failure(() => runSync(resultOf(reading.apply({}, schema, new DeferredWork())))).code).toBe(422);
  });

  test('too many operations are refused', () => {
    const operations = Array.from({ length: maxOperations + 1 }, () => ({ op: 'test', path: '', value: 0 }));
    expect(failure(() => patch({}, operations))).toMatchObject({
      code: 413,
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
  });

  test('insertions into a long list are stopped in bounded time', async () => {
    const list = Array.from({ length: 400_000 }, () => 0);
    const operations = Array.from({ length: maxOperations }, () => ({ op: 'add', path: '/l/0', value: 1 }));
    await expectShort(10_000, () => expect(failure(() => patch({ l: list }, operations)).code).toBe(422));
  });
});

describe('test compares values by their text', () => {
  const document = { i: 1, f: 1.5, html: 'a<b', plain: 'é', list: [1, 2], long: 9_007_199_254_740_993n };
  const reading = (body: string, fieldValidation: FieldValidation = 'Warn') =>
    jsonPatch.read(() => ({ ...readJson(body), bytes: Buffer.from(body) }), { fieldValidation });
  const run = (body: string) => runSync(resultOf(reading(body).apply(document, schema, new DeferredWork())));
  const value = (path: string, spelling: string) => `[{"op":"test","path":"/${path}","value":${spelling}}]`;

  test.each([
    ['i', '1'],
    ['f', '1.5'],
    ['html', '"a\\u003cb"'],
    ['plain', '"é"'],
    ['list', '[ 1 , 2 ]'],
    ['long', '9007199254740993'],
  ])('%s equals %s', (path, spelling) => {
    expect(run(value(path, spelling))).toEqual(document);
  });

  test.each([
    ['i', '1.0'],
    ['i', '1e0'],
    ['f', '1.50'],
    ['html', '"a<b"'],
    ['plain', '"\\u00e9"'],
    ['list', '[1, 2.0]'],
  ])('%s differs from %s, which Go would write differently', (path, spelling) => {
    expect(failure(() => run(value(path, spelling))).code).toBe(422);
  });

  test('a value added by the patch is compared as it was written', () => {
    expect(run('[{"op":"add","path":"/html","value":"x<y"},{"op":"test","path":"/html","value":"x<y"}]')).toEqual({
      ...document,
      html: 'x<y',
    });
    const [put, copied] = ['{"op":"add","path":"/i","value":2.0}', '{"op":"copy","from":"/i","path":"/k"}'];
    expect(run(`[${put},${copied}]`)).toMatchObject({ i: 2, k: 2 });
    expect(failure(() => run(`[${put},{"op":"test","path":"/i","value":2}]`)).code).toBe(422);
  });

  test('a copy is encoded as by Go, with HTML characters escaped', () => {
    const copied = (spelling: string, expected: string): unknown =>
      run(
        `[{"op":"add","path":"/i","value":[${spelling}]},{"op":"copy","from":"/i","path":"/k"},{"op":"test","path":"/k","value":[${expected}]}]`,
      );
    expect(copied('"\\u00e9"', '"\\u00e9"')).toMatchObject({ k: ['é'] });
    expect(copied('1.0', '1.0')).toMatchObject({ k: [1] });
    expect(copied('"<"', '"\\u003c"')).toMatchObject({ k: ['<'] });
    expect(failure(() => copied('"<"', '"<"')).code).toBe(422);
  });

  test('a lone surrogate becomes the replacement character', () => {
    expect(run('[{"op":"add","path":"/i","value":"\\ud800"}]')).toMatchObject({ i: '\ufffd' });
    expect(run('[{"op":"add","path":"/i","value":"\\ud83d\\ude00"}]')).toMatchObject({ i: '😀' });
  });

  test('a number beyond any float is refused, unless validation is off', () => {
    const body = '[{"op":"add","path":"/f","value":1e400}]';
    expect(failure(() => reading(body)).message).toBe(
      'error decoding patch: json: cannot unmarshal number 1e400 into Go struct field jsonPatchOp.value of type float64',
    );
    expect(() => reading(body, 'Ignore')).not.toThrow();
  });
});

describe('a body', () => {
  test.each<[string, FieldValidation, string]>([
    ['{}', 'Warn', 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    ['{}', 'Ignore', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    ['[1]', 'Strict', 'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    [
      '[{"op":1}]',
      'Warn',
      'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    ],
    [
      '[{"op":"add","path":[],"path":"/a","value":1}]',
      'Warn',
      'error decoding patch: json: cannot unmarshal array into Go struct field jsonPatchOp.path of type string',
    ],
    [
      '[{"from":{},"op":1}]',
      'Strict',
      'error decoding patch: json: cannot unmarshal object into Go struct field jsonPatchOp.from of type string',
    ],
    ['', 'Warn', 'error decoding patch: unexpected end of JSON input'],
    ['x', 'Warn', "error decoding patch: invalid character 'x' looking for beginning of value"],
  ])('%s is refused with fieldValidation %s', (body, validation, message) => {
    expect(failure(() => read(body, validation))).toMatchObject({ code: 400, reason: 'BadRequest', message });
  });

  test('null changes nothing', () => {
    expect(runSync(resultOf(read('null').apply({ a: 1 }, schema, new DeferredWork())))).toEqual({ a: 1 });
  });

  test('with unknown and repeated members is reported in strict validation', () => {
    const body = '[{"op":"add","path":"/a","path":"/b","value":1,"note":"x"}]';
    expect(read(body).strict).toEqual(['json patch duplicate field "[0].path"', 'json patch unknown field "[0].note"']);
    expect(read(body, 'Ignore').strict).toEqual([]);
    const odd = '[{"op":"test","path":"/a","value":{"k":1,"k":2},"x":{"y":1,"y":2},"x":3,"\\t\\\\":4}]';
    expect(read(odd).strict).toEqual([
      'json patch duplicate field "[0].value.k"',
      'json patch unknown field "[0].x"',
      'json patch unknown field "[0].\\t\\\\"',
    ]);
    const mixed =
      '[{"value":{"k":1,"k":2},"x":1,"value":{"l":1,"l":2},"value":3,"op":"test"},{"z":1,"op":"test","op":"add","path":"/a"}]';
    expect(read(mixed).strict).toEqual([
      'json patch duplicate field "[0].value.k"',
      'json patch unknown field "[0].x"',
      'json patch duplicate field "[0].value"',
      'json patch duplicate field "[0].value.l"',
      'json patch unknown field "[1].z"',
      'json patch duplicate field "[1].op"',
    ]);
    expect(runSync(resultOf(read(body).apply({}, schema, new DeferredWork())))).toEqual({ b: 1 });
  });
});

describe('compared with an oracle that copies everything', () => {
  const key = fc.constantFrom('a', 'b', '0', '1', '-', '-1');
  const pointer = fc.array(key, { minLength: 1, maxLength: 3 }).map((keys) => `/${keys.join('/')}`);
  const value = fc.oneof(fc.constantFrom<Json>(null, 1, 'x', {}, []), fc.constant<Json>({ a: [1, { b: 2 }] }));
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value }),
    fc.record({ op: fc.constant('remove'), path: pointer }),
    fc.record({ op: fc.constantFrom('move', 'copy'), from: pointer, path: pointer }),
  );

  test('a patch has the same result, or fails in both', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (operations) => {
        const document: JsonObject = { a: { a: [1, 2], b: {} }, b: ['x', { a: 1 }] };
        expect(outcome(() => patch(document, operations as Json[]))).toEqual(
          outcome(() => oracle(document, operations)),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  type Operation = { readonly op: string; readonly path: string; readonly from?: string; readonly value?: Json };
  const outcome = (act: () => Json): Json | 'fails' => {
    try {
      return act();
    } catch {
      return 'fails';
    }
  };

  function oracle(document: Json, operations: readonly Operation[]): Json {
    return operations.reduce<Json>((at, { op, path, from = '', value: given = null }) => {
      const keys = path.split('/').slice(1);
      const source = from.split('/').slice(1);
      if (op === 'add') return changed(at, keys, (parent, key) => insert(parent, key, given));
      if (op === 'replace') return changed(at, keys, (parent, key) => assign(parent, key, given));
      if (op === 'remove') return changed(at, keys, drop);
      if (op === 'test') {
        expect(JSON.stringify(found(at, keys) ?? null) === JSON.stringify(given) || fail()).toBe(true);
        return at;
      }
      const moved = found(at, source) ?? null;
      const rest = op === 'move' ? changed(at, source, drop) : at;
      return changed(rest, keys, (parent, key) => insert(parent, key, moved));
    }, document);
  }
  const fail = (): never => {
    throw new Error('does not apply');
  };
  function changed(
    at: Json,
    keys: readonly string[],
    act: (parent: Json[] | Record<string, Json>, key: string) => void,
  ): Json {
    const copy = structuredClone(at) as Record<string, Json>;
    act(found(copy, keys.slice(0, -1), true) as Record<string, Json>, keys.at(-1) ?? '');
    return copy;
  }
  function found(at: Json, keys: readonly string[], container = false): Json | undefined {
    let here: Json | undefined = at;
    for (const [depth, key] of keys.entries()) {
      if (typeof here !== 'object' || here === null) return fail();
      if (Array.isArray(here))
        here = (here as readonly Json[])[place(here, key, 0)] ?? (depth < keys.length - 1 ? fail() : null);
      else here = (here as JsonObject)[key];
    }
    if (container && (typeof here !== 'object' || here === null)) return fail();
    return here;
  }
  function place(list: readonly Json[], key: string, more: number): number {
    if (!/^-?\d+$/.test(key)) return fail();
    const at = Number(key) < 0 ? Number(key) + list.length + more : Number(key);
    return at >= 0 && at < list.length + more ? at : fail();
  }
  function insert(parent: Json[] | Record<string, Json>, key: string, given: Json): void {
    if (!Array.isArray(parent)) parent[key] = given;
    else if (key === '-') parent.push(given);
    else parent.splice(place(parent, key, 1), 0, given);
  }
  function assign(parent: Json[] | Record<string, Json>, key: string, given: Json): void {
    if (Array.isArray(parent)) parent[place(parent, key, 0)] = given;
    else parent[key] = given;
  }
  function drop(parent: Json[] | Record<string, Json>, key: string): void {
    if (Array.isArray(parent)) parent.splice(place(parent, key, 0), 1);
    else if (Object.hasOwn(parent, key)) delete parent[key];
    else fail();
  }
});

test('each operation of a long patch is a separate step', () => {
  const operations = Array.from({ length: 1_000 }, (_, at) => ({ op: 'add', path: `/a${at}`, value: at }));
  const work = read(JSON.stringify(operations)).apply({}, schema, new DeferredWork());
  const { pauses, result } = countSteps(resultOf(work));
  expect([pauses, Object.keys(result ?? {}).length]).toEqual([1_000, 1_000]);
});
