import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.js';
import { type ApiObject, isList, isObject, type Json, type JsonObject, unstructured } from '../../src/api/object.js';
import { noDeferral, runSync } from '../../src/api/steps.js';
import { compare } from '../../src/apply/compare.js';
import { type FieldSet, has, intersection, type Path, paths, union } from '../../src/apply/field-set.js';
import { fieldSetOf, wholeNode } from '../../src/apply/field-set-of.js';
import { ignoreTimestampChanges } from '../../src/apply/ignore-timestamps.js';
import { readManagedFields } from '../../src/apply/managed-fields.js';
import { merge } from '../../src/apply/merge.js';
import { printPath } from '../../src/apply/path-element.js';
import { remove } from '../../src/apply/remove.js';
import { shapeOfObject } from '../../src/apply/shape.js';
import type { WriteContext } from '../../src/apply/write-context.js';
import { same } from '../../src/schema/same.js';
import type { Schema } from '../../src/schema/schema.js';
import { appliedAtOnce, recorded } from './at-once.js';

const text: Schema = { type: 'string' };
const fields = (members: Readonly<Record<string, Schema>>): ReadonlyMap<string, Schema> =>
  new Map(Object.entries(members));
const schema: Schema = {
  type: 'object',
  properties: fields({
    spec: {
      type: 'object',
      properties: fields({
        host: text,
        labels: { type: 'object', additionalProperties: text },
        tags: { type: 'array', listType: 'set', items: text },
        ports: {
          type: 'array',
          listType: 'map',
          listMapKeys: ['name'],
          items: { type: 'object', properties: fields({ name: text, port: { type: 'integer' }, note: text }) },
        },
        plain: { type: 'array', items: text },
        whole: { type: 'object', mapType: 'atomic', additionalProperties: text },
        open: { type: 'object', preserveUnknownFields: true },
      }),
    },
  }),
};
const shape = shapeOfObject(schema);

const letter = fc.constantFrom('a', 'b', 'c');
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const open: fc.Arbitrary<JsonObject> = fc.letrec<{ value: Json; map: JsonObject }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, fc.constantFrom<Json>(1, 'x', true, [1], []), tie('map')),
  map: fc.dictionary(letter, tie('value'), { maxKeys: 2 }) as fc.Arbitrary<JsonObject>,
})).map;
const port = fc.record({ name: letter, port: optional(fc.nat(3)), note: optional(letter) });
const spec = fc
  .record({
    host: optional(letter),
    labels: optional(fc.dictionary(letter, letter, { minKeys: 1, maxKeys: 3 })),
    tags: optional(fc.uniqueArray(letter, { minLength: 1 })),
    ports: optional(fc.uniqueArray(port, { minLength: 1, selector: ({ name }) => name })),
    plain: optional(fc.array(letter, { minLength: 1, maxLength: 2 })),
    whole: optional(fc.dictionary(letter, letter, { minKeys: 1, maxKeys: 2 })),
    open: optional(open),
  })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

const type = { apiVersion: 'g/v1', kind: 'Thing' };
const kind = { group: 'g', version: 'v1', kind: 'Thing' };
const configuration = (given: JsonObject | undefined): JsonObject => ({
  ...type,
  metadata: { name: 'a' },
  ...(given === undefined ? {} : { spec: given }),
});
const writing = (manager: string): WriteContext => ({ schema, apiVersion: 'g/v1', manager, now: 0 });
const stored = (object: ApiObject): ApiObject => ({ ...object, metadata: { ...object.metadata, uid: 'u' } });

function applyAs(
  manager: string,
  live: ApiObject | undefined,
  given: JsonObject | undefined,
  force = false,
): ApiObject {
  const { object } = appliedAtOnce({ ...writing(manager), live, config: configuration(given), kind, force });
  return live === undefined ? stored(object) : runSync(ignoreTimestampChanges(live, stored(object)));
}
function updateAs(manager: string, live: ApiObject, given: JsonObject): ApiObject {
  const next = { ...configuration(given), metadata: live.metadata } as unknown as ApiObject;
  return recorded({ ...writing(manager), live, next });
}

const specOf = (object: ApiObject): Json => (unstructured(object)['spec'] ?? {}) as Json;
const fieldsIn = (value: Json): FieldSet => runSync(fieldSetOf(shape, { spec: value }));
const owned = (object: ApiObject): readonly FieldSet[] =>
  [...runSync(readManagedFields(object.metadata.managedFields as unknown as Json)).values()].map(
    ({ fields: set }) => set,
  );
/** Returns all fields of an object, including containers. */
const everything = (object: ApiObject): FieldSet => wholeNode(shape, object as unknown as Json, noDeferral).below;
const missing = (set: FieldSet, from: FieldSet): readonly string[] =>
  [...paths(set)].filter((path: Path) => !has(from, path)).map((path) => printPath(path));

test('applying the same configuration twice changes nothing', () => {
  fc.assert(
    fc.property(spec, spec, (first, second) => {
      const live = applyAs('other', undefined, first);
      const once = applyAs('m', live, second, true);
      expect(applyAs('m', once, second)).toEqual(once);
    }),
  );
});

test('applied fields are present in the result', () => {
  fc.assert(
    fc.property(spec, spec, (first, second) => {
      const object = applyAs('m', applyAs('other', undefined, first), second, true);
      expect(missing(fieldsIn(second), union(fieldsIn(specOf(object)), everything(object)))).toEqual([]);
      expect(runSync(compare(shape, { spec: second }, { spec: specOf(object) })).modified.size).toBe(0);
    }),
  );
});

test('managers of disjoint fields never conflict', () => {
  fc.assert(
    fc.property(spec, fc.func(fc.boolean()), (all, isFirst) => {
      const half = (of: boolean): JsonObject =>
        Object.fromEntries(Object.entries(all).filter(([name]) => isFirst(name) === of));
      const [first, second] = [half(true), half(false)];
      const object = applyAs('b', applyAs('a', undefined, first), second);
      expect(same(specOf(object), all)).toBe(true);
    }),
  );
});

test('fields dropped by their last owner disappear, and no others', () => {
  fc.assert(
    fc.property(spec, spec, (first, second) => {
      const both = applyAs('b', applyAs('a', undefined, first), second, true);
      const left = applyAs('a', both, undefined);
      const bOwns = owned(applyAs('b', undefined, second))[0] ?? new Map();
      expect(missing(fieldsIn(specOf(left)), union(bOwns, everything(left)))).toEqual([]);
      expect(missing(bOwns, union(fieldsIn(specOf(left)), everything(left)))).toEqual([]);
      expect(specOf(applyAs('b', left, undefined))).toEqual({});
    }),
  );
});

const manager = fc.constantFrom('m1', 'm2', 'm3');
const action = fc.record({ manager, given: spec, as: fc.constantFrom('apply', 'force', 'update') });

test('no sequence of writes loses an owned field', () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 1, maxLength: 8 }), (actions) => {
      let live = stored(applyAs('m0', undefined, { host: 'a' }));
      for (const { manager: by, given, as } of actions) {
        const before = live;
        try {
          live = as === 'update' ? updateAs(by, live, given) : applyAs(by, live, given, as === 'force');
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
          expect((error as ApiError).reason).toBe('Conflict');
          expect(live).toBe(before);
        }
        const there = union(everything(live), runSync(fieldSetOf(shape, live as unknown as Json)));
        for (const set of owned(live)) expect(missing(set, there)).toEqual([]);
      }
    }),
  );
});

test('a comparison is empty exactly for equal objects, apart from the order of list items', () => {
  fc.assert(
    fc.property(spec, spec, (left, right) => {
      const { added, modified, removed } = runSync(compare(shape, { spec: left }, { spec: right }));
      const differs = added.size + modified.size + removed.size > 0;
      expect(differs).toBe(!same(inOrder(left), inOrder(right)));
      const back = runSync(compare(shape, { spec: right }, { spec: left }));
      const listed = (...sets: readonly FieldSet[]): unknown => sets.map((set) => [...paths(set)]);
      expect(listed(back.added, back.removed, back.modified)).toEqual(listed(removed, added, modified));
    }),
  );
});
const inOrder = (given: JsonObject): JsonObject => ({
  ...given,
  ...(Array.isArray(given['tags']) ? { tags: [...given['tags']].sort() } : {}),
  ...(Array.isArray(given['ports']) ? { ports: [...given['ports']].sort((a, b) => (a.name < b.name ? -1 : 1)) } : {}),
});

test('merging adds every field of a configuration, and removing takes them away again', () => {
  fc.assert(
    fc.property(spec, spec, (live, config) => {
      const merged = runSync(merge(shape, { spec: live }, { spec: config }));
      expect(runSync(compare(shape, { spec: live }, merged)).removed.size).toBeLessThanOrEqual(1);
      const set = runSync(fieldSetOf(shape, { spec: config }));
      const left = runSync(fieldSetOf(shape, remove(shape, merged, set)));
      const atomic = [...paths(intersection(left, set))].filter((path) => !isEmptied(remove(shape, merged, set), path));
      expect(atomic.map((path) => printPath(path))).toEqual([]);
    }),
  );
});

/** Whether a container has become empty because its last member was removed; such a container counts as owned. */
function isEmptied(value: Json, path: Path): boolean {
  let at: Json | undefined = value;
  for (const element of path) at = (at as JsonObject | undefined)?.[element.slice(2)];
  return isObject(at) ? Object.keys(at).length === 0 : isList(at) && at.length === 0;
}
