import { describe, expect, test } from 'vitest';
import { compileCondition } from '../../src/cel/environments/admission.js';
import { hostileExpressions } from '../fuzz/expression-bombs.js';

/** Returns how often compiling an expression pauses for other work. */
function pausesOf(text: string): number {
  const compiling = compileCondition(text);
  let pauses = 0;
  while (!compiling.next().done) pauses++;
  return pauses;
}

describe('long expressions are compiled in many steps', () => {
  test.each([
    'sums',
    'conjunctions',
    'negations',
    'calls of members',
    '5,500 folds',
    '12 folds that stand twice',
    '24 optMap after each other',
    '150 lists 240 deep',
    'a list of 49,000',
    'a map of equal keys',
    'a structure of many fields',
    'many arguments',
    'an unknown name in a long line, often',
    '16,000 errors of types',
    'folds with wrong names',
  ])('%s', (name) => {
    expect(pausesOf(hostileExpressions[name] ?? '')).toBeGreaterThanOrEqual(40);
  });
});

test('a short expression is compiled in few steps', () => {
  expect(pausesOf('object.metadata.name == "a"')).toBeLessThan(5);
});
