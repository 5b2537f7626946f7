import { expect, test } from 'vitest';
import { outcome } from './outcome.js';

/** Each with its actual and its estimated cost. */
test.each([
  [`quantity('1.5Gi')`, 'kubernetes.Quantity(1536Mi)', 1, 1],
  [
    `quantity('x')`,
    `! quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    1,
    1,
  ],
  [
    `quantity('1x')`,
    `! quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    1,
    1,
  ],
  [
    `quantity('')`,
    `! quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    0,
    0,
  ],
  [`isQuantity('20Mi')`, 'true', 1, 1],
  [`isQuantity('20Mo')`, 'false', 1, 1],
  [`sign(quantity('-1'))`, '-1', 2, 2],
  [`quantity('200M').isGreaterThan(quantity('100M'))`, 'true', 3, 3],
  [`quantity('50M').isLessThan(quantity('50000000'))`, 'false', 3, 3],
  [`quantity('1k').compareTo(quantity('1Ki'))`, '-1', 3, 3],
  [`quantity('50k').asInteger()`, '50000', 2, 2],
  [`quantity('1.5').asInteger()`, '! cannot convert value to integer', 2, 2],
  [`quantity('0.5Ki').asInteger()`, '! cannot convert value to integer', 2, 2],
  [`quantity('9999999999999999999G').isInteger()`, 'false', 3, 3],
  [`quantity('1.507').asApproximateFloat()`, '1.5070000000000001d', 2, 2],
  [`quantity('1n').asApproximateFloat()`, '1e-09d', 2, 2],
  [`quantity('1e400').asApproximateFloat()`, '+Infd', 2, 2],
  [`quantity('50k').add(quantity('20')).asInteger()`, '50020', 4, 4],
  [`quantity('50k').add(20).asInteger()`, '50020', 3, 3],
  [`quantity('50k').sub(quantity('1.5')).asApproximateFloat()`, '49998.5d', 4, 4],
  [`quantity('50k').sub(-20).compareTo(quantity('50020'))`, '0', 4, 4],
  [`quantity('0.1Ki').add(quantity('0.9Ki')).isInteger()`, 'false', 4, 4],
  [`quantity('1Ki') == quantity('1024')`, 'true', 3, 3],
  [`quantity('1').add(1) == quantity('2')`, 'true', 4, 4],
  [`quantity('2') == quantity('1').add(1)`, '! no such overload', 4, 4],
  [`quantity('2') != quantity('1').add(1)`, 'true', 4, '4..'],
  [`quantity('1') == dyn(1)`, '! no such overload', 2, 3],
  [`quantity('1') == null`, 'false', 2, 2],
  [`dyn(quantity('1')).isLessThan(quantity('2'))`, 'true', 4, 4],
  [`quantity('1').add(dyn('1'))`, '! no such overload: add(kubernetes.Quantity, string)', 2, 3],
] as const)('%s returns %s at cost %i', (expression, answer, cost, estimate) => {
  expect(outcome(expression)).toEqual({ answer, cost, estimate });
});
