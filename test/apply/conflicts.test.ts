import { expect, test } from 'vitest';
import { conflictError, FieldConflicts } from '../../src/apply/conflicts.js';
import { setOf } from '../../src/apply/field-set.js';
import type { Owner } from '../../src/apply/managed-fields.js';
import { fieldElement } from '../../src/apply/path-element.js';

const owner = (manager: string): Owner => ({
  manager,
  operation: 'Apply',
  apiVersion: 'v1',
  subresource: '',
  time: undefined,
  fields: setOf(),
});
const fields = (...paths: readonly string[]) => setOf(...paths.map((path) => path.split('.').map(fieldElement)));

test('a conflict error counts all conflicts, and lists as many as an answer can hold', () => {
  const under = 'p'.repeat(2_830);
  const taken = fields(...Array.from({ length: 350 }, (_, at) => `spec.${under}.a${at}`));
  const conflicts = Array.from({ length: 300 }, (_, at) => ({ owner: owner(`m${at}`), fields: taken }));
  const { message, details } = conflictError(new FieldConflicts(conflicts)).toStatus();
  expect(message).toMatch(/^Apply failed with 105000 conflicts: conflicts with "m0":\n- \.spec\.p/);
  expect(JSON.stringify(details).length + (message ?? '').length).toBeLessThan(1_100_000);
});

test('conflicts without some fields keep the others', () => {
  const conflicts = new FieldConflicts([
    { owner: owner('b'), fields: fields('a.x', 'a.y') },
    { owner: owner('a'), fields: fields('a.x', 'a.z') },
  ]);
  const left = conflicts.without(fields('a.x', 'a.y'));
  expect(left && conflictError(left).message).toBe('Apply failed with 1 conflict: conflict with "a": .a.z');
  expect(conflicts.without(fields('a.x', 'a.y', 'a.z'))).toBeUndefined();
});
