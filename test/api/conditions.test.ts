import { expect, test } from 'vitest';
import {
  type Condition,
  findCondition,
  hasCondition,
  isTrue,
  removeCondition,
  sameConditions,
  setCondition,
} from '../../src/api/conditions.js';

const then = '2024-01-01T00:00:00Z';
const now = '2024-05-06T07:08:09Z';
const ready: Condition = { type: 'Ready', status: 'True', reason: 'Up', message: 'm', lastTransitionTime: then };
const other: Condition = { type: 'Other', status: 'False', lastTransitionTime: then };

test('conditions are found by type', () => {
  expect(findCondition([other, ready], 'Ready')).toBe(ready);
  expect(findCondition([other], 'Ready')).toBeUndefined();
  expect(findCondition(null, 'Ready')).toBeUndefined();
});

test.each([
  { conditions: [ready], type: 'Ready', expected: true },
  { conditions: [other], type: 'Other', expected: false },
  { conditions: [{ type: 'Denied' }], type: 'Denied', expected: true },
  { conditions: [{ type: 'Denied', status: 'Unknown' }], type: 'Denied', expected: false },
  { conditions: undefined, type: 'Ready', expected: false },
])('$type of $conditions is true: $expected', ({ conditions, type, expected }) => {
  expect(isTrue(conditions, type)).toBe(expected);
  expect(hasCondition({ status: { conditions: conditions ?? null } }, type)).toBe(expected);
});

test('an undefined object has no condition', () => {
  expect(hasCondition(undefined, 'Ready')).toBe(false);
});

test('a new condition is appended with the current time', () => {
  expect(setCondition([other], { type: 'Ready', status: 'True' }, now)).toEqual([
    other,
    { type: 'Ready', status: 'True', lastTransitionTime: now },
  ]);
});

test('a changed condition keeps its position, and its transition time unless the status changes', () => {
  expect(setCondition([ready, other], { type: 'Ready', status: 'True', reason: 'New' }, now)).toEqual([
    { type: 'Ready', status: 'True', reason: 'New', lastTransitionTime: then },
    other,
  ]);
  expect(setCondition([ready, other], { type: 'Ready', status: 'False', reason: 'Down' }, now)).toEqual([
    { type: 'Ready', status: 'False', reason: 'Down', lastTransitionTime: now },
    other,
  ]);
});

test('setting a condition that is present already returns the same list', () => {
  const list = [ready, other];
  expect(setCondition(list, { type: 'Ready', status: 'True', reason: 'Up', message: 'm' }, now)).toBe(list);
  expect(removeCondition(list, 'Absent')).toBe(list);
  expect(removeCondition(list, 'Ready')).toEqual([other]);
});

test.each([
  [[ready], [{ ...ready, observedGeneration: 0 }], true],
  [[ready], [{ ...ready, reason: 'Else' }], false],
  [[ready, other], [other, ready], false],
  [undefined, [], true],
])('the conditions %j and %j are equal: %s', (a, b, same) => {
  expect(sameConditions(a, b)).toBe(same);
});

test('types of code generators are accepted: mutable lists, and a required lastTransitionTime', () => {
  interface Generated {
    type: string;
    status: 'True' | 'False' | 'Unknown';
    reason: string;
    lastTransitionTime: string;
  }
  const list: Generated[] = setCondition<Generated>([], { type: 'Ready', status: 'True', reason: 'Up' }, now);
  expect(list).toEqual([{ type: 'Ready', status: 'True', reason: 'Up', lastTransitionTime: now }]);
  const none: Generated[] = removeCondition(list, 'Ready');
  expect(none).toEqual([]);
  // @ts-expect-error: it has a reason
  setCondition<Generated>(list, { type: 'Ready', status: 'True' }, now);
});
