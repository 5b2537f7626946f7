import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import {
  difference,
  type FieldSet,
  FieldSetBuilder,
  has,
  intersection,
  type Path,
  paths,
  readFieldSet,
  recursiveDifference,
  setOf,
  union,
  writeFieldSet,
} from '../../src/apply/field-set.js';
import { printPath } from '../../src/apply/path-element.js';

const element = fc.constantFrom('f:a', 'f:b', 'f:__proto__', 'k:{"name":"x"}', 'v:"x"', 'v:1', 'i:0');
const path: fc.Arbitrary<Path> = fc.array(element, { minLength: 1, maxLength: 4 });
const pathLists = fc.array(path, { maxLength: 12 });

const spelt = (path: Path): string => path.join('\n');
const listed = (set: FieldSet): string[] => [...paths(set)].map(spelt).sort();
const plain = (list: readonly Path[]): string[] => [...new Set(list.map(spelt))].sort();

describe('field sets behave as sets of paths', () => {
  const operations: readonly [string, (a: FieldSet, b: FieldSet) => FieldSet, (p: string, b: string[]) => boolean][] = [
    ['intersection', intersection, (p, b) => b.includes(p)],
    ['difference', difference, (p, b) => !b.includes(p)],
    ['recursiveDifference', recursiveDifference, (p, b) => !b.some((q) => p === q || p.startsWith(`${q}\n`))],
  ];
  test.each(operations)('%s', (_, operation, keeps) => {
    fc.assert(
      fc.property(pathLists, pathLists, (a, b) => {
        const right = plain(b);
        expect(listed(operation(setOf(...a), setOf(...b)))).toEqual(plain(a).filter((p) => keeps(p, right)));
      }),
    );
  });

  test('union', () => {
    fc.assert(
      fc.property(pathLists, pathLists, (a, b) => {
        expect(listed(union(setOf(...a), setOf(...b)))).toEqual(plain([...a, ...b]));
      }),
    );
  });

  test('unchanged sets are shared', () => {
    fc.assert(
      fc.property(pathLists, (a) => {
        const set = setOf(...a);
        expect(union(set, setOf(...a))).toBe(set);
        expect(difference(set, setOf(['f:elsewhere']))).toBe(set);
      }),
    );
  });

  test('operations do not change their operands', () => {
    fc.assert(
      fc.property(pathLists, pathLists, (a, b) => {
        const left = setOf(...a);
        const builder = new FieldSetBuilder();
        for (const [element, node] of left) builder.graft([], element, node);
        for (const path of b) builder.add(path);
        expect(listed(builder.set())).toEqual(plain([...a, ...b]));
        expect(listed(left)).toEqual(plain(a));
      }),
    );
  });

  test('has', () => {
    fc.assert(
      fc.property(pathLists, path, (a, p) => {
        expect(has(setOf(...a), p)).toBe(plain(a).includes(spelt(p)));
      }),
    );
  });
});

describe('the FieldsV1 form', () => {
  test('reads back what it writes', () => {
    fc.assert(
      fc.property(pathLists, (a) => {
        const set = setOf(...a);
        const written = JSON.parse(JSON.stringify(runSync(writeFieldSet(set)))) as JsonObject;
        expect(listed(readFieldSet(written))).toEqual(listed(set));
      }),
    );
  });

  test('is sorted: members, keys, values, indexes, with the dot first', () => {
    const set = setOf(
      ['f:z'],
      ['f:z', 'i:10'],
      ['f:z', 'i:9'],
      ['f:z', 'v:"b"'],
      ['f:z', 'v:10'],
      ['f:z', 'v:9'],
      ['f:z', 'v:"a"'],
      ['f:z', 'k:{"b":1}'],
      ['f:z', 'k:{"a":2}'],
      ['f:z', 'k:{"a":10}'],
      ['f:z', 'f:x'],
      ['f:\u{1f600}'],
      ['f:\ufb01'],
    );
    expect(JSON.stringify(runSync(writeFieldSet(set)))).toBe(
      JSON.stringify({
        'f:z': {
          '.': {},
          'f:x': {},
          'k:{"a":2}': {},
          'k:{"a":10}': {},
          'k:{"b":1}': {},
          'v:9': {},
          'v:10': {},
          'v:"a"': {},
          'v:"b"': {},
          'i:9': {},
          'i:10': {},
        },
        'f:\ufb01': {},
        'f:\u{1f600}': {},
      }),
    );
  });

  test.each<[string, JsonObject, string]>([
    ['spacing and order of keys are ignored', { 'k:{ "b":1, "a":"x" }': {} }, '[a="x",b=1]'],
    ['path elements of unknown kinds are dropped', { 'x:y': {}, 'f:a': { 'q:1': {} } }, '.a'],
    ['numbers are read as numbers', { 'v:1.0': {} }, '[=1]'],
    ['null is a leaf', { 'f:a': null }, '.a'],
    ['a lone dot is a leaf', { 'f:a': { '.': {} } }, '.a'],
  ])('%s', (_, fields, printed) => {
    expect([...paths(readFieldSet(fields))].map((path) => printPath(path))).toEqual([printed]);
  });

  test.each<[JsonObject]>([
    [{ nonsense: {} }],
    [{ f: {} }],
    [{ 'f:a': 'x' }],
    [{ 'k:[1]': {} }],
    [{ 'v:{': {} }],
    [{ 'i:x': {} }],
  ])('%j is refused', (fields) => {
    expect(() => readFieldSet(fields)).toThrow();
  });

  test('nesting is limited', () => {
    let fields: JsonObject = {};
    for (let depth = 0; depth < 5_000; depth++) fields = { 'f:a': fields };
    expect(() => readFieldSet(fields)).toThrow('nested too deeply');
  });
});
