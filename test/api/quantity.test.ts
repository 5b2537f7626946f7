import { expect, test } from 'vitest';
import {
  approximate,
  canonicalQuantity,
  compareQuantities,
  difference,
  parseQuantity,
  type Quantity,
  quantityText,
  sum,
  wholeOf,
} from '../../src/api/quantity.js';

const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

test.each([
  ['0', '0'],
  ['-', '0'],
  ['.', '0'],
  ['+5', '+5'],
  ['01', '01'],
  ['1.5', '1500m'],
  ['1.500', '1.500'],
  ['1500', '1500'],
  ['1000', '1k'],
  ['1e3', '1e3'],
  ['10e3', '10e3'],
  ['1e4294967299', '1e4294967299'],
  ['1000e4294967296', '1e3'],
  ['1.5Gi', '1536Mi'],
  ['1000Ki', '1000Ki'],
  ['1024Ki', '1Mi'],
  ['0.5Ki', '512'],
  ['1023', '1023'],
  ['1.5Ki', '1536'],
  ['0.0001Ki', '102400u'],
  ['0.0000000001', '1n'],
  ['-0.0000000001', '-1n'],
  ['9999999999999999999', '9999999999999999999'],
  ['9999999999999999999Ei', '9223372036854775807'],
  ['-9999999999999999999Ei', '-9223372036854775807'],
  // There is no suffix for a thousand exa, and Kubernetes prints none.
  ['1000E', '1'],
])('%s is printed as %s', (text, printed) => {
  expect(canonicalQuantity(text)).toBe(printed);
});

test.each([
  ['', format],
  ['x', format],
  ['1 ', format],
  ['1.2.3', format],
  ['1Kii', "unable to parse quantity's suffix"],
  ['1e', "unable to parse quantity's suffix"],
  ['1e99999999999999999999', "unable to parse quantity's suffix"],
  ['.e-20', 'unable to parse numeric part of quantity'],
])('%j is not a quantity: %s', (text, wrong) => {
  expect(parseQuantity(text)).toEqual({ wrong });
});

function read(text: string): Quantity {
  const quantity = parseQuantity(text);
  if ('wrong' in quantity) throw new Error(quantity.wrong);
  return quantity;
}

test.each([
  ['1', '2', '3', '-1', -1],
  ['1k', '1', '1001', '999', 1],
  ['0', '1Ki', '1Ki', '-1Ki', -1],
  ['1Ki', '0', '1Ki', '1Ki', 1],
  ['1.5', '500m', '2', '1', 1],
  ['1Ki', '1024', '2Ki', '0', 0],
  ['9223372036854775807', '1', '9223372036854775808', '9223372036854775806', 1],
  ['1E', '1n', '1000000000000000000000000001n', '999999999999999999999999999n', 1],
  ['-1', '-1', '-2', '0', 0],
])('%s and %s: sum %s, difference %s, order %i', (a, b, added, subtracted, order) => {
  const [left, right] = [read(a), read(b)];
  expect([sum(left, right), difference(left, right)].map((result) => result && quantityText(result))).toEqual([
    added,
    subtracted,
  ]);
  expect(compareQuantities(left, right)).toBe(order);
  expect(compareQuantities(right, left)).toBe(0 - order);
});

test.each([
  ['50k', 50_000n, 50_000],
  ['1.5', undefined, 1.5],
  ['1Gi', 1_073_741_824n, 1_073_741_824],
  ['0.5Ki', undefined, 512],
  ['9223372036854775807', undefined, 2 ** 63],
  ['10E', undefined, 1e19],
  ['1n', undefined, 1e-9],
  ['1e400', undefined, Number.POSITIVE_INFINITY],
])('%s is the whole number %s and about %d', (text, whole, about) => {
  expect(wholeOf(read(text))).toBe(whole);
  expect(approximate(read(text))).toBe(about);
});

test('powers of ten that are too large to expand are compared, but not added', () => {
  const [huge, larger] = [read('1e2147483646'), read('-1e2147483647')];
  expect(compareQuantities(huge, read('1n'))).toBe(1);
  expect(compareQuantities(larger, read('-1'))).toBe(-1);
  expect(compareQuantities(huge, larger)).toBe(1);
  expect(sum(huge, read('1'))).toBeUndefined();
});
