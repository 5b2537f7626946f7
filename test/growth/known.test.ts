import { describe, expect, test } from 'vitest';
import { canonicalTime } from '../../src/api/go-time.js';
import type { Json } from '../../src/api/object.js';
import { parseResourceVersion } from '../../src/api/options.js';
import { compile } from '../../src/api/regular-expression.js';
import { runSync } from '../../src/api/steps.js';
import { readYaml } from '../../src/api/yaml.js';
import { writeYaml } from '../../src/api/yaml-writer.js';
import { listFrom } from '../../src/cel/collections.js';
import { environmentOf } from '../../src/cel/environment.js';
import { program } from '../../src/cel/evaluator.js';
import { kubernetesLibraries } from '../../src/cel/kubernetes.js';
import { listOf, string } from '../../src/cel/types.js';
import { builtinDefinitions } from '../../src/resources/index.js';
import { applyDefaults, maxDefaulted } from '../../src/schema/default.js';
import { decodeEnvelope, encodeEnvelope } from '../../src/schema/protobuf.js';
import type { Schema } from '../../src/schema/schema.js';
import { compileValidator } from '../../src/schema/validate.js';
import { expectShort } from '../processor-time.js';
import { field, varint } from '../protobuf-bytes.js';

/**
 * Inputs that once took more than linear time or memory. Each took a second or more, or all memory, and takes some
 * milliseconds now.
 */

const schemaOf = (kind: string): Schema => {
  const found = builtinDefinitions().find((definition) => definition.kind === kind);
  if (found === undefined) throw new Error(kind);
  return found.schema;
};

describe('map entries in protobuf', () => {
  /** This many entries of `data`, each of which declares a value of this many bytes, which follow after all of them. */
  const beyond = (count: number, size: number): Buffer => {
    const entry = field(2, Buffer.from([0x12, ...varint(size)]));
    const raw = Buffer.concat([...Array<Buffer>(count).fill(entry), field(15, Buffer.alloc(size, 'a'))]);
    return encodeEnvelope({ apiVersion: 'v1', kind: 'ConfigMap' }, raw);
  };
  const read = (bytes: Buffer): Json => runSync(decodeEnvelope(schemaOf('ConfigMap'), bytes));

  test('may extend beyond their end, as in Go', () => {
    expect(read(beyond(1, 100))).toMatchObject({ data: { '': expect.stringMatching(/a{90}/) } });
  });
  test('do not make the reader read all that follows again and again', async () => {
    const bytes = beyond(2_000, 900_000);
    await expectShort(500, () => expect(() => read(bytes)).toThrow('unexpected EOF'));
  });
});

test('a long string with many aliases is refused as excessive aliasing', async () => {
  const text = `x: &a "${'x'.repeat(900_000)}"\ny: [${'*a,'.repeat(990)}]`;
  const reading = () => expect(readYaml(text)).rejects.toThrow('yaml: document contains excessive aliasing');
  await expectShort(1_000, reading);
  await expect(readYaml(`x: &a "${'x'.repeat(900_000)}"\ny: [*a, *a]`)).resolves.toMatchObject({ duplicates: [] });
});

test('keys that are long numbers are sorted in linear time', async () => {
  let state = 1;
  const digit = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 10;
  };
  const name = (): string => Array.from({ length: 240 }, digit).join('');
  const object = Object.fromEntries(Array.from({ length: 4_000 }, () => [name(), '']));
  await expectShort(400, () => writeYaml(object));
});

test('keys are sorted by the numeric value of their digits, however many there are', () => {
  const names = [
    'a2',
    'a10',
    'a010',
    'a0010',
    'a00',
    'a0',
    'a1',
    `a1${'0'.repeat(50)}`,
    `a1${'0'.repeat(51)}`,
    'a٣',
    'b𝟗1',
  ];
  const written = writeYaml(Object.fromEntries(names.map((name) => [name, 1])));
  expect(written.split('\n').map((line) => line.split(':')[0])).toMatchInlineSnapshot(`
    [
      "a0",
      "a٣",
      "a00",
      "a1",
      "a2",
      "a10",
      "a010",
      "a0010",
      "a100000000000000000000000000000000000000000000000000",
      "a1000000000000000000000000000000000000000000000000000",
      ""b\\U0001D7D71"",
      "",
    ]
  `);
});

test('defaults of long strings count for more than one value', async () => {
  const item: Schema = {
    type: 'object',
    properties: new Map([['a', { type: 'string', default: 'x'.repeat(500_000) }]]),
  };
  const schema: Schema = { type: 'object', properties: new Map([['l', { type: 'array', items: item }]]) };
  const left = (count: number): number => {
    const room = { left: maxDefaulted };
    applyDefaults({ l: Array.from({ length: count }, () => ({})) }, schema, room);
    return room.left;
  };
  expect(left(6)).toBeGreaterThanOrEqual(0);
  expect(left(7)).toBeLessThan(0);
});

test('an item is looked up quickly in an enum of many objects', async () => {
  const schema: Schema = {
    type: 'array',
    items: { type: 'object', enum: Array.from({ length: 10_000 }, (_, a) => ({ a, b: [null, 1.5] })) },
  };
  const check = compileValidator(schema);
  const items = Array.from({ length: 2_000 }, () => ({ b: [null, 1.5], a: 9_999 }));
  await expectShort(500, () => expect(runSync(check(items))).toEqual([]));
  expect(runSync(check([{ a: 10_000, b: [null, 1.5] }]))).toHaveLength(1);
});

test('a resource version of millions of digits is refused quickly', async () => {
  const text = '9'.repeat(3_000_000);
  const reading = () =>
    expect(parseResourceVersion(text)).toMatchObject({ wrong: expect.stringContaining('out of range') });
  await expectShort(300, reading);
  expect(parseResourceVersion(`${'0'.repeat(30)}12`)).toBe(12n);
  expect(parseResourceVersion('18446744073709551615')).toBe(18446744073709551615n);
  expect(parseResourceVersion('18446744073709551616')).toHaveProperty('wrong');
});

test('an invalid time is quoted as in Go', () => {
  expect(canonicalTime('é"\\\x7f\n\ud800')).toMatchObject({
    wrong: expect.stringContaining('parsing time "\\xc3\\xa9\\"\\\\\x7f\\x0a\\xef\\xbf\\xbd"'),
  });
});

test('Unicode classes count by the cost of compiling them, and once', async () => {
  const pattern = `[${'\\pL'.repeat(33_000)}]`;
  await expectShort(500, () => expect(compile(pattern).error).toContain('too large'));
  expect(compile('^[\\p{L}\\p{N}_-]{1,253}$').expression?.test('äöü')).toBe(true);
});

test('an evaluation does not compile hundreds of large patterns', async () => {
  const environment = environmentOf({ variables: new Map([['l', listOf(string)]]), libraries: kubernetesLibraries });
  const { checked } = runSync(environment.compile('l.all(x, "a".matches(x))'));
  if (checked === undefined) throw new Error('it does not compile');
  const patterns = listFrom(Array.from({ length: 400 }, (_, at) => `a|${'(?i)[a-z]'.repeat(800)}${at}`));
  const evaluated = () => runSync(program(checked, environment)).evaluate(() => patterns);
  await expectShort(900, () => expect(evaluated().isOverLimit).toBe(true));
});

test('a YAML text with thousands of misplaced characters is read or refused in short turns', async () => {
  let longest = 0;
  let since = process.cpuUsage();
  await readYaml('"a""b"&c {['.repeat(20_000), async () => {
    const { user, system } = process.cpuUsage(since);
    longest = Math.max(longest, (user + system) / 1_000);
    since = process.cpuUsage();
  }).catch(() => undefined);
  const { user, system } = process.cpuUsage(since);
  expect(Math.max(longest, (user + system) / 1_000)).toBeLessThan(400);
});
