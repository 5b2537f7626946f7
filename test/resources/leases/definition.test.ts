import { expect, test } from 'vitest';
import { leases } from '../../../src/resources/leases/definition.js';
import { cells, write } from '../write.js';

test.each([
  [{}, []],
  [{ leaseDurationSeconds: 1, leaseTransitions: 0 }, []],
  [
    { leaseDurationSeconds: 0, leaseTransitions: -1 },
    [
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
])('spec %j', (spec, violations) => {
  expect(write(leases, { spec }).violations).toEqual(violations);
  expect(write(leases, { spec }, {}).violations).toEqual(violations);
});

test('fields of coordinated leader election are dropped, zero values of others kept', () => {
  const spec = { holderIdentity: '', leaseTransitions: 0, strategy: 'Any', preferredHolder: 'h' };
  expect(write(leases, { spec }).object['spec']).toEqual({ holderIdentity: '', leaseTransitions: 0 });
});

test('times keep six fraction digits', () => {
  const spec = { renewTime: '2024-01-01T00:00:00.123456Z' };
  expect(write(leases, { spec }).object['spec']).toEqual(spec);
});

test('the table shows the holder', () => {
  expect(cells(leases, { spec: { holderIdentity: 'h' } })).toEqual({ Holder: 'h', Age: '<unknown>' });
  expect(cells(leases, {})).toMatchObject({ Holder: '' });
});
