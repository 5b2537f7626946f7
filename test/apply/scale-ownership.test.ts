import { expect, test } from 'vitest';
import type { ApiObject, JsonObject, ManagedFieldsEntry } from '../../src/api/object.js';
import { fromScale, toScale } from '../../src/apply/scale-ownership.js';

const paths = new Map([['g/v1', ['spec', 'size']]]);
const entry = (
  manager: string,
  apiVersion: string,
  fieldsV1: JsonObject,
  more: ManagedFieldsEntry = {},
): ManagedFieldsEntry => ({ manager, operation: 'Update', apiVersion, fieldsType: 'FieldsV1', fieldsV1, ...more });
const size = { 'f:spec': { 'f:size': {} } };
const replicas = { 'f:spec': { 'f:replicas': {} } };
const time = '2026-01-01T00:00:00Z';

const of = (managedFields: readonly ManagedFieldsEntry[]): ApiObject => ({
  apiVersion: 'g/v1',
  kind: 'K',
  metadata: managedFields.length === 0 ? {} : { managedFields },
});

test('a scale shows the owner of the replicas', () => {
  const object = of([
    entry('a', 'g/v1', { 'f:spec': { 'f:size': {}, 'f:x': {} } }, { time }),
    entry('b', 'g/v1', { 'f:x': {} }),
  ]);
  expect(toScale(object, of([]), paths)).toEqual(of([entry('a', 'autoscaling/v1', replicas, { time })]));
});

test('a manager that writes the scale owns the replicas of the object, in an entry without a time', () => {
  const before = of([entry('a', 'g/v1', { 'f:spec': { 'f:size': {}, 'f:x': {} } }, { time })]);
  const scale = of([entry('b', 'autoscaling/v1', replicas, { time, subresource: 'scale' })]);
  expect(fromScale(before, scale, { paths, apiVersion: 'g/v1' })).toEqual(
    of([entry('b', 'g/v1', size, { subresource: 'scale' }), entry('a', 'g/v1', { 'f:spec': { 'f:x': {} } }, { time })]),
  );
});

const unchanged = (before: ApiObject): ApiObject =>
  fromScale(before, toScale(before, of([]), paths), { paths, apiVersion: 'g/v1' });

test('a manager that applied the replicas keeps them', () => {
  const before = of([entry('a', 'g/v1', { 'f:spec': { 'f:size': {}, 'f:x': {} } }, { time, operation: 'Apply' })]);
  expect(unchanged(before)).toEqual(before);
});

test('unchanged replicas are split from an update entry, and lose their owner with the next write', () => {
  const fields = { 'f:spec': { 'f:size': {}, 'f:x': {} } };
  const others = entry('a', 'g/v1', { 'f:spec': { 'f:x': {} } }, { time });
  const once = unchanged(of([entry('a', 'g/v1', fields, { time })]));
  expect(once).toEqual(of([entry('a', 'g/v1', size), others]));
  expect(unchanged(once)).toEqual(of([others]));
});

test('a manager that wrote only the status of a scale owns no replicas', () => {
  const before = of([entry('a', 'g/v1', size, { subresource: 'scale' })]);
  const status = { 'f:status': { 'f:replicas': {} } };
  const scale = of([entry('a', 'autoscaling/v1', status, { time, subresource: 'scale' })]);
  expect(fromScale(before, scale, { paths, apiVersion: 'g/v1' })).toEqual(of([]));
});

test('a manager that writes the scale again in another version owns the replicas there', () => {
  const both = new Map([...paths, ['g/v2', ['spec', 'count']]]);
  const before = of([entry('a', 'g/v1', size, { subresource: 'scale' })]);
  expect(fromScale(before, toScale(before, of([]), both), { paths: both, apiVersion: 'g/v2' })).toEqual(
    of([entry('a', 'g/v2', { 'f:spec': { 'f:count': {} } }, { subresource: 'scale' })]),
  );
});

test('entries of unknown versions are dropped', () => {
  expect(fromScale(of([entry('a', 'g/v0', size)]), of([]), { paths, apiVersion: 'g/v1' })).toEqual(of([]));
});
