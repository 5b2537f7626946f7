import { expect, test } from 'vitest';
import { goFixed, goScientific } from '../../src/api/go-float.js';

test.each<[number, number, string]>([
  [5.25, 1, '5.2'],
  [5.35, 1, '5.3'],
  [5.75, 1, '5.8'],
  [0.5, 0, '0'],
  [1.5, 0, '2'],
  [-2.5, 0, '-2'],
  [1.0078125, 6, '1.007812'],
  [1e21, 1, '1000000000000000000000.0'],
  [-0, 2, '-0.00'],
  [5e-324, 2, '0.00'],
])('%d with %d digits is %s', (value, digits, text) => {
  expect(goFixed(value, digits)).toBe(text);
});

test.each<[number, string]>([
  [12345665, '1.234566e+7'],
  [12345675, '1.234568e+7'],
  [-12345665, '-1.234566e+7'],
  [1234.5678, '1.234568e+3'],
  [0, '0.000000e+0'],
])('%d in scientific notation is %s', (value, text) => {
  expect(goScientific(value, 6)).toBe(text);
});
