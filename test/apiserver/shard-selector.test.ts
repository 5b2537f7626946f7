import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import { fnv1a64, parseShardSelector } from '../../src/apiserver/shard-selector.js';
import { type Served, serve } from './served.js';

const parse = (text: string) => runSync(parseShardSelector(text));
const low = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
const high = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";
const of = (field: string, from: string, to: string): string => `shardRange(${field}, ${from}, ${to})`;
const uid = 'object.metadata.uid';
const zero = "'0x0000000000000000'";
const end = "'0x10000000000000000'";

test.each([
  ['', 'cbf29ce484222325'],
  ['default', 'ebada5168620c5fe'],
  ['a', 'af63dc4c8601ec8c'],
  ['foobar', '85944171f73967e8'],
])('the hash of %j is computed', (text, hash) => {
  expect(fnv1a64(text)).toBe(hash);
});

test('any text is hashed as by FNV-1a', () => {
  const plain = (text: string): string => {
    let hash = 0xcbf29ce484222325n;
    for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    return hash.toString(16).padStart(16, '0');
  };
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => fnv1a64(text) === plain(text)));
});

test.each([
  [low, low],
  [`${low} || ${high}`, `${low} || ${high}`],
  [`  ((${low})||${high} )`, `${low} || ${high}`],
  [`shardRange( object . metadata . uid ,"0x0000000000000000",${end})`, of(uid, zero, end)],
  [`x.${low}`, low],
  [`${low} // and no more`, low],
  [of(uid, "r'0x0000000000000000'", "'''0x8000000000000000'''"), low],
  [of(uid, String.raw`'\x30x0000000000000000'`, "'0x8000000000000000'"), low],
])('%s is accepted', (text, normal) => {
  expect(parse(text).text).toBe(normal);
});

test.each([
  ['  ', 'empty shard selector is not allowed; omit the parameter for unfiltered lists'],
  [
    of(uid, "'0x0'", end),
    'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)',
  ],
  [of(uid, "'0000000000000000'", end), `hexStart must have '0x' prefix, got "0000000000000000"`],
  [of(uid, zero, "'0x'"), "hexEnd: hex value is required after '0x'"],
  [of(uid, "'0x000000000000000000'", end), 'hexStart: hex value too long (18 chars, max 17): "000000000000000000"'],
  [of(uid, "'0x0000000000000A00'", end), 'hexStart: invalid hex character "A" in "0x0000000000000A00"'],
  [
    of(uid, zero, "'0x20000000000000000'"),
    `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x20000000000000000"`,
  ],
  [of(uid, end, end), 'shard range start 0x10000000000000000 must be less than end 0x10000000000000000'],
  [of(uid, zero, zero), 'shard range start 0x0000000000000000 must be less than end 0x0000000000000000'],
  [of(uid, '0', end), 'hexStart must be a string literal, got int64'],
  [of(uid, 'true', end), 'hexStart must be a string literal, got bool'],
  [of(uid, 'hex(0)', end), "hexStart must be a string literal (e.g. '0xff'), got expression kind 1"],
  [
    of('object.metadata.name', zero, end),
    'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace',
  ],
  [
    of('object.__proto__', zero, end),
    'unsupported field path "object.__proto__"; supported: object.metadata.uid, object.metadata.namespace',
  ],
  [
    of("'x'", zero, end),
    'shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5',
  ],
  [`shardRange(${uid}, ${zero})`, 'shardRange() requires exactly 3 arguments, got 2'],
  [`${low} && ${high}`, 'unsupported function "_&&_"; only shardRange() and || are allowed'],
  [`!${low}`, 'unsupported function "!_"; only shardRange() and || are allowed'],
  [`${uid} > ${zero}`, 'unsupported function "_>_"; only shardRange() and || are allowed'],
  [`other(${uid})`, 'unsupported function "other"; only shardRange() and || are allowed'],
  [`true ? ${low} : ${low}`, 'unsupported function "_?_:_"; only shardRange() and || are allowed'],
  [`.${low}`, 'unsupported function ".shardRange"; only shardRange() and || are allowed'],
  ['has(a.b)', 'unsupported function "has"; only shardRange() and || are allowed'],
  ["{'a':1}", 'unexpected expression kind 6; expected shardRange() call or || operator'],
  ['a.b{c:1}', 'unexpected expression kind 8; expected shardRange() call or || operator'],
  [of(uid, "b'abc'", end), 'hexStart must be a string literal, got []uint8'],
  [of(uid, '1u', end), 'hexStart must be a string literal, got uint64'],
  [of(uid, '1.5e3', end), 'hexStart must be a string literal, got float64'],
  [of(uid, 'null', end), 'hexStart must be a string literal, got structpb.NullValue'],
  [String.raw`"a\qb"`, String.raw`CEL parse error: Syntax error: token recognition error at: '"a\q'`],
  [`${low} ${high}`, `CEL parse error: Syntax error: mismatched input 'shardRange' expecting <EOF>`],
  [uid, 'unexpected expression kind 7; expected shardRange() call or || operator'],
  ['uid', 'unexpected expression kind 3; expected shardRange() call or || operator'],
  [
    `${low} || ${of('object.metadata.namespace', zero, end)}`,
    'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"',
  ],
])('%s is refused', (text, why) => {
  expect(() => parse(text)).toThrow(new Error(why));
});

test('any text is parsed or refused with a message', () => {
  const piece = fc.constantFrom(
    '(',
    ')',
    '[',
    '!',
    '-',
    '||',
    ',',
    '.',
    "'",
    '"',
    '\\',
    'shardRange',
    uid,
    zero,
    low,
    ' ',
    '\u0000',
    '1',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(400), (pieces, times) => {
      const text = `${'('.repeat(times)}${pieces.join('')}${'!'.repeat(times)}`;
      try {
        expect(parse(text).text).toMatch(/^shardRange/);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        expect((error as Error).message).not.toMatch(/undefined|Maximum call/);
      }
    }),
  );
});

describe('a shard selector over HTTP', () => {
  let on: Served;
  let off: Served;
  const where = '/api/v1/namespaces/default/configmaps';
  const ask = (of: Served, text: string, more = ''): ReturnType<Served['ask']> =>
    of.ask('GET', `${where}?shardSelector=${encodeURIComponent(text)}${more}`);
  const names = (list: { items: readonly { metadata: { name: string } }[] }): readonly string[] =>
    list.items.map(({ metadata }) => metadata.name);

  beforeAll(async () => {
    [on, off] = await Promise.all([serve({ featureGates: { ShardedListAndWatch: true } }), serve()]);
    for (const server of [on, off]) {
      for (let at = 0; at < 12; at++)
        await server.ask('POST', where, { body: { metadata: { name: `m${String(at).padStart(2, '0')}` } } });
    }
  });
  afterAll(() => Promise.all([on.stop(), off.stop()]));

  test('is ignored if the feature is off', async () => {
    for (const text of [low, 'nonsense(']) {
      const { code, json } = await ask(off, text);
      const list = json();
      expect([code, list.items.length, list.metadata.shardInfo]).toEqual([200, 12, undefined]);
    }
  });

  test('splits a list into shards that state their selector', async () => {
    const [first, second] = [(await ask(on, low)).json(), (await ask(on, high)).json()];
    expect(first.metadata.shardInfo).toEqual({ selector: low });
    expect([...names(first), ...names(second)].sort()).toEqual(names((await on.ask('GET', where)).json()));
    for (const { metadata } of first.items) expect(fnv1a64(metadata.uid) < '8').toBe(true);
  });

  test('omits remainingItemCount from pages, and combines with other selectors', async () => {
    const page = (await ask(on, of(uid, zero, end), '&limit=3')).json();
    expect(page.metadata.continue).toBeDefined();
    expect(page.metadata.remainingItemCount).toBeUndefined();
    const one = (await ask(on, of(uid, zero, end), '&fieldSelector=metadata.name%3Dm03')).json();
    expect(names(one)).toEqual(['m03']);
  });

  test('selects rows of tables, without stating the selector', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = (
      await on.ask('GET', `${where}?shardSelector=${encodeURIComponent(low)}`, { headers: { accept } })
    ).json();
    expect(table.metadata.shardInfo).toBeUndefined();
    expect(table.rows.length).toBe((await ask(on, low)).json().items.length);
  });

  test('selects events of watches', async () => {
    const shown = (await ask(on, low)).json();
    const { events } = await on.ask('GET', `${where}?watch=1&shardSelector=${encodeURIComponent(low)}`, {
      lines: shown.items.length,
    });
    expect(events().map(({ object }) => object.metadata.name)).toEqual(names(shown));
  });

  test('that is invalid is answered with a Status without a reason', async () => {
    const { code, json } = await ask(on, 'nonsense()');
    expect([code, json()]).toEqual([
      500,
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'invalid shard selector: unsupported function "nonsense"; only shardRange() and || are allowed',
        code: 500,
      },
    ]);
  });

  test('limits deletecollection to its shard', async () => {
    const [kept, gone] = [(await ask(on, low)).json(), (await ask(on, high)).json()];
    const answer = await on.ask('DELETE', `${where}?shardSelector=${encodeURIComponent(high)}`);
    expect(names(answer.json())).toEqual(names(gone));
    expect(names((await on.ask('GET', where)).json())).toEqual(names(kept));
  });
});

test('a selector of many ranges is parsed, and its errors are reported', () => {
  const many = `a${' || a'.repeat(15_000)}`;
  expect(() => parse(many)).toThrow('expected shardRange() call or || operator');
  expect(parse(Array.from({ length: 1_200 }, () => low).join(' || ')).text.split('||')).toHaveLength(1_200);
});

test('a selector that is too long or too deep is refused', () => {
  expect(() => parse(`${low}${' '.repeat(100_000)}|| ${high}`)).toThrow(
    'CEL parse error: expression code point size exceeds limit: size: 100154, limit 100000',
  );
  expect(() => parse('('.repeat(300))).toThrow('CEL parse error: expression recursion limit exceeded: 250');
});
