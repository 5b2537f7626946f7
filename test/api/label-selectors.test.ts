import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { labelSelectorFrom, parseLabelSelector, validateLabelSelector } from '../../src/api/label-selectors.js';
import { runSync } from '../../src/api/steps.js';
import { collectGarbage } from '../collect-garbage.js';
import { expectShort } from '../processor-time.js';
import { messageOf } from './bad-request.js';

const wrongIn = (...given: Parameters<typeof validateLabelSelector>) => runSync(validateLabelSelector(...given));

test('selectors longer than any URL are refused before they are split', () => {
  const text = '!a,'.repeat(50_000);
  expect(messageOf(() => parseLabelSelector(text))).toContain('longer than 131072 characters');
});

test('a selector with many requirements matches if each of them matches', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'constructor');
  const value = fc.constantFrom('1', '2', '3', '');
  const values = fc.array(fc.constantFrom('1', '2', '3'), { minLength: 1, maxLength: 3 }).map((some) => some.join());
  const one = fc.oneof(
    key,
    key.map((name) => `!${name}`),
    fc.tuple(key, fc.constantFrom('=', '!='), value).map((parts) => parts.join('')),
    fc
      .tuple(key, fc.constantFrom('in', 'notin'), values)
      .map(([name, operator, some]) => `${name} ${operator} (${some})`),
    fc.tuple(key, fc.constantFrom('<', '>'), fc.constantFrom('1', '2')).map((parts) => parts.join('')),
  );
  // Most lists contain a requirement that nothing meets; lists that any object without labels meets have the same
  // weight.
  const lists = fc.oneof(fc.array(one), fc.array(one.filter((text) => parseLabelSelector(text).matches({}))));
  fc.assert(
    fc.property(lists, fc.dictionary(key, value), (some, labels) => {
      const all = [...some, ...Array.from({ length: 20 }, (_, at) => `!other${at}`)];
      const expected = some.every((text) => parseLabelSelector(text).matches(labels));
      expect(parseLabelSelector(all.join()).matches(labels)).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
});

test.each(['', '!', '=a', '!=a', '>1'])('a selector of many keys takes little memory: key%s', (rest) => {
  const keys = Array.from({ length: 10_000 }, (_, at) => `b${at}`);
  const text = keys.map((key) => (rest === '!' ? `!${key}` : `${key}${rest}`)).join();
  const made = () => {
    const selector = parseLabelSelector(text);
    selector.matches({ a: '1' });
    return selector;
  };
  made();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 10 }, made);
  collectGarbage();
  expect((process.memoryUsage().heapUsed - before) / kept.length).toBeLessThan(35 * text.length);
});

test.each(['a', 'a!=x', 'a=1', 'a in (1)', 'a>0'])(
  '%s repeated thousands of times matches as fast as once',
  async (one) => {
    const selector = parseLabelSelector(Array.from({ length: 10_000 }, () => one).join());
    await expectShort(100, () => {
      for (let at = 0; at < 1_000; at++) expect(selector.matches({ a: '1' })).toBe(true);
    });
  },
);

describe('label selectors', () => {
  const labels = { env: 'prod', n: '7', empty: '', 'example.com/team': 'blue' };

  test.each([
    ['', true],
    ['env', true],
    ['!env', false],
    ['missing', false],
    ['!missing', true],
    ['env=prod', true],
    ['env==prod', true],
    [' env = prod , n', true],
    ['env!=prod', false],
    ['missing!=prod', true],
    ['env in (dev,prod)', true],
    ['env in(dev,prod)', true],
    ['env notin (dev)', true],
    ['missing notin (dev)', true],
    ['missing in ()', false],
    ['empty in ()', true],
    ['env in (prod,,)', true],
    ['empty in (a,,,b)', true],
    ['empty=', true],
    ['empty', true],
    ['n>6', true],
    ['n>7', false],
    ['n<8', true],
    ['env>1', false],
    ['missing>1', false],
    ['n>06', true],
    ['example.com/team=blue,env=prod', true],
    ['in=x', false],
    ['env in (in,notin,prod)', true],
    ['constructor', false],
    ['!toString', true],
  ])('%s matches: %s', (text, expected) => {
    expect(parseLabelSelector(text).matches(labels)).toBe(expected);
  });

  test.each([
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['env in prod', "unable to parse requirement: found 'prod' expected: '('"],
    ['env in (prod', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['env in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['env in (,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['(a)', "found '(', expected: !, identifier, or 'end of string'"],
    ['env=prod,', "found '', expected: identifier after ','"],
    [',env=prod', "found ',', expected: !, identifier, or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['!!a', "unable to parse requirement: found '!', expected: identifier"],
    ['!env=prod', "found '=', expected: ',' or 'end of string'"],
    ['a===b', "unable to parse requirement: found '=', expected: identifier"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    [
      'n>x',
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'n>',
      "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'n>9223372036854775808',
      "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      `env=${'v'.repeat(64)}`,
      `unable to parse requirement: values[0][env]: Invalid value: "${'v'.repeat(64)}": must be no more than 63 bytes`,
    ],
  ])('%s is refused', (text, message) => {
    expect(messageOf(() => parseLabelSelector(text))).toBe(message);
  });

  test('two problems of one requirement are joined in one message', () => {
    const message = messageOf(() => parseLabelSelector('n>a_'));
    expect(message).toMatch(/^unable to parse requirement: \[values\[0\]: .*integer, values\[0\]\[n\]: .*\]$/);
  });

  test.each([
    ['b=2,a=1', 'a=1,b=2'],
    ['a in (z,y,z)', 'a in (y,z)'],
    ['a notin ()', 'a notin ()'],
    ['a,!b,c!=d,e>1', 'a,!b,c!=d,e>1'],
    ['a in (,x)', 'a in (,x)'],
    ['a in (x,,)', 'a in (,x)'],
    ['a in (,,,)', 'a in ()'],
  ])('%s prints as %s', (text, printed) => {
    expect(parseLabelSelector(text).text).toBe(printed);
  });

  test('a printed selector parses to the same selector', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
    const value = fc.stringMatching(/^[a-z0-9]{0,6}$/);
    const term = fc.oneof(
      name,
      name.map((key) => `!${key}`),
      fc.tuple(name, fc.constantFrom('=', '!=', '=='), value).map((parts) => parts.join('')),
      fc.tuple(name, fc.constantFrom('in', 'notin'), fc.array(value)).map(([k, op, vs]) => `${k} ${op} (${vs.join()})`),
    );
    fc.assert(
      fc.property(fc.array(term), (terms) => {
        let first: ReturnType<typeof parseLabelSelector>;
        try {
          first = parseLabelSelector(terms.join(','));
        } catch {
          return;
        }
        expect(parseLabelSelector(first.text).text).toBe(first.text);
      }),
    );
  });

  test('any text is parsed or refused quickly', async () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ',', '(', ')', '!', '=', ' ', '\0', 'é') }), (text) => {
        messageOf(() => parseLabelSelector(text));
      }),
    );
    for (const piece of ['a,', '!', '(', 'a in (b),', '=', ' ', `a=${'x'.repeat(50)},`]) {
      const text = piece.repeat(20_000);
      await expectShort(3_000, () => messageOf(() => parseLabelSelector(text)));
    }
  });
});

describe('label selector objects', () => {
  test('that are undefined match nothing, empty ones match everything', () => {
    expect(labelSelectorFrom(undefined).matches({})).toBe(false);
    expect(labelSelectorFrom({}).matches({ a: 'b' })).toBe(true);
  });

  test('match if all labels and expressions hold', () => {
    const selector = labelSelectorFrom({
      matchLabels: { b: '1' },
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['y', 'x'] },
        { key: 'c', operator: 'DoesNotExist' },
      ],
    });
    expect(selector.text).toBe('a in (x,y),b=1,!c');
    expect(selector.matches({ a: 'x', b: '1' })).toBe(true);
    expect(selector.matches({ a: 'x', b: '1', c: '' })).toBe(false);
  });

  test.each([
    [
      { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] },
      '"Gt" is not a valid label selector operator',
    ],
    [{ matchExpressions: [{ key: 'a', operator: 'toString' }] }, '"toString" is not a valid label selector operator'],
    [
      { matchExpressions: [{ key: 'a', operator: 'In' }] },
      "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
    ],
  ])('%j is refused', (spec, message) => {
    expect(messageOf(() => labelSelectorFrom(spec))).toBe(message);
  });

  test('report at most a thousand violations', () => {
    const matchLabels = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`!${at}`, '']));
    expect(wrongIn({ matchLabels }, '')).toHaveLength(1_000);
    const matchExpressions = Array.from({ length: 2_000 }, () => ({ key: 'a', operator: 'In' }));
    expect(wrongIn({ matchExpressions }, '')).toHaveLength(1_000);
  });

  test('report violations with their paths', () => {
    const violations = wrongIn(
      {
        matchLabels: { 'a/b/c': 'ok' },
        matchExpressions: [
          { key: 'a', operator: 'In' },
          { key: 'a', operator: 'Exists', values: ['x'] },
          { key: '', operator: 'Near', values: ['_'] },
        ],
      },
      'spec.selector',
    );
    expect(violations.map(({ field, reason }) => `${field} ${reason}`)).toEqual([
      'spec.selector.matchLabels FieldValueInvalid',
      'spec.selector.matchExpressions[0].values FieldValueRequired',
      'spec.selector.matchExpressions[1].values FieldValueForbidden',
      'spec.selector.matchExpressions[2].operator FieldValueInvalid',
      'spec.selector.matchExpressions[2].key FieldValueInvalid',
      'spec.selector.matchExpressions[2].key FieldValueInvalid',
      'spec.selector.matchExpressions[2].values[0] FieldValueInvalid',
    ]);
  });
});
