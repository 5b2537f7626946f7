import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeFieldValue, parseFieldSelector } from '../../src/api/field-selectors.js';
import { expectShort } from '../processor-time.js';
import { messageOf } from './bad-request.js';

test('selectors longer than any URL are refused before they are split', () => {
  expect(messageOf(() => parseFieldSelector('a=b,'.repeat(50_000)))).toContain('longer than 131072 characters');
});

describe('field selectors', () => {
  const read = (field: string): string | undefined =>
    new Map([
      ['metadata.name', 'a'],
      ['spec.x', 'p,q=r\\'],
    ]).get(field);

  test.each([
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name==a', true],
    ['metadata.name!=a', false],
    ['metadata.name=a,metadata.name=b', false],
    ['metadata.name=a,', true],
    [',metadata.name=a', true],
    ['=,!=,==', true],
    ['=,metadata.name=b', false],
    ['spec.absent=', true],
    ['spec.absent!=x', true],
    ['spec.x=p\\,q\\=r\\\\', true],
  ])('%s matches: %s', (text, expected) => {
    expect(parseFieldSelector(text).matches(read)).toBe(expected);
  });

  test.each([
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['b=1,a', "invalid selector: 'b=1,a'; can't understand 'a'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=a\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['a=\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('%s is refused', (text, message) => {
    expect(messageOf(() => parseFieldSelector(text))).toBe(message);
  });

  test('any value survives escaping', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const selector = parseFieldSelector(`spec.x=${escapeFieldValue(value)}`);
        expect(selector.exactly('spec.x')).toBe(value);
        expect(parseFieldSelector(selector.text).exactly('spec.x')).toBe(value);
      }),
    );
  });

  test('any text is parsed or refused quickly', async () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ',', '(', ')', '!', '=', ' ', '\0', 'é') }), (text) => {
        messageOf(() => parseFieldSelector(text));
      }),
    );
    for (const piece of ['a,', '!', '(', 'a in (b),', '=', ' ', `a=${'x'.repeat(50)},`]) {
      const text = piece.repeat(20_000);
      await expectShort(3_000, () => messageOf(() => parseFieldSelector(text)));
    }
  });
});
