import { expect, test } from 'vitest';
import { invalidObject } from '../../src/api/errors.js';
import { nameRules } from '../../src/api/names.js';
import type { ApiObject } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { validateMetadata, validateMetadataUpdate } from '../../src/registry/metadata-rules.js';
import { many } from '../many.js';

const rules = { namespaced: false, nameRule: nameRules.dnsSubdomain, strictFinalizers: true };
const violationsOf = (metadata: object) =>
  runSync(
    validateMetadata({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', ...metadata } } as ApiObject, rules),
  );
const controller = (at: number) => ({
  apiVersion: 'v1',
  kind: 'Thing',
  name: `n${at}`,
  uid: `u${at}`,
  controller: true,
});

test('finalizers added during deletion are reported as Go prints them, in its order', () => {
  const of = (finalizers: readonly string[]): ApiObject => ({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers },
  });
  const [violation] = runSync(validateMetadataUpdate(of(['a/b', 'z/\u0001', '\u{1f600}', '\uffe0']), of(['a/b'])));
  expect(violation?.body).toBe(
    'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"z/\\x01", "\uffe0", "\u{1f600}"}',
  );
});

test('a second controller is reported with the whole list of owners', () => {
  const [violation, ...others] = violationsOf({ ownerReferences: many(2, controller) });
  expect(others).toEqual([]);
  expect(violation?.body).toContain('Found "true" in references for Thing/n0 and Thing/n1');
  expect(violation?.body).toContain('"uid":"u1"');
});

test.each<[object, readonly string[]]>([
  [{ operation: 'Apply', manager: 'm', fieldsType: 'FieldsV1', subresource: 'status' }, []],
  [
    { operation: 'Apply', manager: 'a\nb' },
    ['manager: Invalid value: "a\\nb": invalid character U+000A (at position 1)'],
  ],
  [{ operation: 'Update', manager: 'm'.repeat(129) }, ['manager: Too long: may not be more than 128 bytes']],
  [{ operation: 'Update', subresource: 's'.repeat(257) }, ['subresource: Too long: may not be more than 256 bytes']],
  [
    { operation: 'x', fieldsType: 'y', manager: '\t' },
    [
      'operation: Invalid value: "x": must be `Apply` or `Update`',
      'fieldsType: Invalid value: "y": must be `FieldsV1`',
      'manager: Invalid value: "\\t": invalid character U+0009 (at position 0)',
    ],
  ],
])('an entry of managedFields: %o', (entry, wrong) => {
  const texts = violationsOf({ managedFields: [entry] }).map(({ field, body }) => `${field}: ${body}`);
  expect(texts).toEqual(wrong.map((text) => `metadata.managedFields[0].${text}`));
});

test('violations that quote the whole list are reported once if it is long', () => {
  const violations = violationsOf({ ownerReferences: many(20_000, controller) });
  expect(violations.length).toBeGreaterThan(500);
  expect(invalidObject({ group: '', kind: 'Thing' }, violations).message.length).toBeLessThan(4_000_000);
});

test('the check of many labels yields between them', () => {
  const labels = Object.fromEntries(many(1_000, (at) => [`k${at}`, 'v']));
  const object = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', labels } };
  expect([...validateMetadata(object, rules)].length).toBeGreaterThan(500);
});

test.each<[string, object]>([
  ['labels', { labels: Object.fromEntries(many(20_000, (at) => [`k${at}`, 'not good!'])) }],
  ['annotations', { annotations: Object.fromEntries(many(20_000, (at) => [`/${at}`, ''])) }],
  ['finalizers', { finalizers: many(20_000, () => '!') }],
  ['managed fields', { managedFields: many(20_000, () => ({ operation: 'other' })) }],
])('of thousands of wrong %s only some are reported', (_, metadata) => {
  const { length } = violationsOf(metadata);
  expect(length).toBeGreaterThan(500);
  expect(length).toBeLessThan(3_000);
});

test.each([
  [-1, ['must be greater than or equal to 0']],
  [0, []],
  [1, []],
])('a generation of %d', (generation, wrong) => {
  const found = violationsOf({ generation });
  expect(found).toEqual(
    wrong.map((why) => expect.objectContaining({ field: 'metadata.generation', body: expect.stringContaining(why) })),
  );
});
