import { expect, test } from 'vitest';
import { indexOf, lastIndexOf, partsBetween } from '../../src/cel/text-search.js';
import { expectShort } from '../processor-time.js';

/** Long enough for the algorithm that never goes back in the text. */
const padding = 'ab'.repeat(100_000);
const wanted = `${'ab'.repeat(40)}c`;

test.each([
  ['at the start', `${wanted}${padding}`],
  ['at the end', `${padding}${wanted}`],
  ['twice', `${padding}${wanted}${padding}${wanted}${padding}`],
  ['after an overlapping prefix', `${padding}${'ab'.repeat(40)}${wanted}c`],
  ['not at all', padding],
])('a text that occurs %s is found where the engine finds it', (_, text) => {
  for (const from of [0, 1, 200_000, text.length - 81, text.length]) {
    expect(indexOf(text, wanted, from)).toBe(text.indexOf(wanted, from));
    expect(lastIndexOf(text, wanted, from)).toBe(text.lastIndexOf(wanted, from));
  }
  expect(partsBetween(text, wanted)).toEqual(text.split(wanted));
});

test('overlapping occurrences are counted from the left', () => {
  const text = 'a'.repeat(600_001);
  const repeated = 'a'.repeat(20);
  expect(partsBetween(text, repeated)).toEqual(text.split(repeated));
  expect(lastIndexOf(text, repeated)).toBe(text.length - 20);
  expect(lastIndexOf(text, repeated, 300_000)).toBe(300_000);
});

test.each([
  ['a,b,c', ',', 2, ['a', 'b,c']],
  ['a,b,c', ',', 1, ['a,b,c']],
  ['', ',', 5, ['']],
  [`${'x'.repeat(1_200_000)},,,,,,,,,b`, ',,,,,,,,,', 2, ['x'.repeat(1_200_000), 'b']],
])('the last part contains the rest', (text, separator, limit, parts) => {
  expect(partsBetween(text, separator, limit)).toEqual(parts);
});

test('repetitive texts are searched in linear time', async () => {
  const half = `${'a'.repeat(200_000)}b${'a'.repeat(200_000)}`;
  await expectShort(3_000, () => {
    expect(indexOf('a'.repeat(700_000), half)).toBe(-1);
    expect(lastIndexOf('a'.repeat(700_000), half)).toBe(-1);
    expect(partsBetween('a'.repeat(700_000), half)).toHaveLength(1);
  });
});
