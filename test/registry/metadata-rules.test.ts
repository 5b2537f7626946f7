import { expect, test } from 'vitest';
import { nameRules } from '../../src/api/names.js';
import type { ApiObject } from '../../src/api/object.js';
import { validateMetadata } from '../../src/registry/metadata-rules.js';

const rules = { namespaced: false, nameRule: nameRules.dnsSubdomain, strictFinalizers: true };
const many = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const violationsOf = (metadata: object) =>
  validateMetadata({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', ...metadata } } as ApiObject, rules);
const controller = (at: number) => ({
  apiVersion: 'v1',
  kind: 'Thing',
  name: `n${at}`,
  uid: `u${at}`,
  controller: true,
});

test('a second controller is told with the whole list of owners', () => {
  const [violation, ...others] = violationsOf({ ownerReferences: many(2, controller) });
  expect(others).toEqual([]);
  expect(violation?.body).toContain('Found "true" in references for Thing/n0 and Thing/n1');
  expect(violation?.body).toContain('"uid":"u1"');
});

test('complaints that each show the whole list end before they are larger than any list', () => {
  const violations = violationsOf({ ownerReferences: many(20_000, controller) });
  const size = violations.reduce((sum, { body }) => sum + body.length, 0);
  expect(size).toBeLessThan(10_000_000);
});

test.each<[string, object]>([
  ['labels', { labels: Object.fromEntries(many(20_000, (at) => [`k${at}`, 'not good!'])) }],
  ['annotations', { annotations: Object.fromEntries(many(20_000, (at) => [`/${at}`, ''])) }],
  ['finalizers', { finalizers: many(20_000, () => '!') }],
  ['managed fields', { managedFields: many(20_000, () => ({ operation: 'other' })) }],
])('of thousands of wrong %s some are told', (_, metadata) => {
  const { length } = violationsOf(metadata);
  expect(length).toBeGreaterThan(500);
  expect(length).toBeLessThan(3_000);
});
