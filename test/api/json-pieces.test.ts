import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseInPieces } from '../../src/api/json-pieces.js';
import { runSync } from '../../src/api/steps.js';
import { countSteps } from '../count-steps.js';

/** Returns a parsed value in a form that preserves member names and their order, or the error of parsing. */
function outcome(parse: () => unknown): string {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    if (error instanceof SyntaxError) return 'SyntaxError';
    throw error;
  }
}

const same = (text: string, length: number): void =>
  expect(outcome(() => runSync(parseInPieces(text, length)))).toBe(outcome(() => JSON.parse(text)));

test.each([
  '{"a":1,"b":2,"c":3}',
  '{"a":1,"b":2,}',
  '{,"a":1,"b":2}',
  '{"a":1,,"b":2}',
  '[1,2,3,4,5,6,7]',
  '[1,2,3,4,5,6,]',
  '[,1,2,3,4,5,6]',
  '[[1,2,3,4,5,6],]',
  '[[1,2,3,4,5,6],7]',
  '[[1,2,3,4,5,6] 7]',
  '[7 [1,2,3,4,5,6]]',
  '[[1,2,3,4,5,6]7,8]',
  '{"a":[1,2,3,4,5,6],"b":1}',
  '{"a":[1,2,3,4,5,6],}',
  '{"a":[1,2,3,4,5,6]"b":1}',
  '{"a" [1,2,3,4,5,6]}',
  '{"a":1 [1,2,3,4,5,6]}',
  '{"a":1[1,2,3,4,5,6]}',
  '{"a":-{"b":1,"c":2}}',
  '{"a":1e{"b":1,"c":2}}',
  '{"a":"b"{"b":1,"c":2}}',
  '{"a":{}[1,2,3,4,5,6]}',
  '{[1,2,3,4,5,6]:1}',
  '{"a":[1,2,3,4,5,6}]',
  '{"a":[1,2,3,4,5,6]]',
  '[1,2,3,4],5]',
  '[1,2,3,4][5]',
  '[          ]',
  '{          }',
  '[  1  ,  2  ]',
  ' \n[1,2,3,4,5]\t ',
  '\u00a0[1,2,3,4,5]',
  '[[1,2,3,4,5]\u00a0]',
  '{"__proto__":{"a":1,"b":2},"c":{"__proto__":3,"d":4}}',
  '{"a":"]}[{,\\"","b":"\\\\","c":"\\\\\\""}',
  '{"b":1,"a":2,"b":[1,2,3,4,5],"a":[6,7,8,9,0]}',
  '{"2":1,"1":2,"a":3,"0":4}',
  '["unfinished',
  '"a text that is longer than a piece"',
  '12345678901234567890',
  '',
])('%s is parsed as by JSON.parse', (text) => {
  for (const length of [0, 1, 2, 4, 8, 1_000]) same(text, length);
});

test('any text, valid or not, is parsed as by JSON.parse', () => {
  const fault = fc.record({
    at: fc.nat(),
    remove: fc.nat({ max: 2 }),
    insert: fc.constantFrom('', ',', '{', '}', '[', ']', '"', ':', ' ', '\\', '1', 'null', '{}', '[],'),
  });
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 4 }),
      fc.option(fault),
      fc.nat({ max: 20 }),
      fc.boolean(),
      (value, wrong, length, wide) => {
        let text = JSON.stringify(value, undefined, wide ? 1 : 0);
        if (wrong !== null) {
          const at = wrong.at % (text.length + 1);
          text = text.slice(0, at) + wrong.insert + text.slice(at + wrong.remove);
        }
        same(text, length);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a long text is parsed in steps, wherever its length comes from', () => {
  const many = Array.from({ length: 20_000 }, (_, n) => `name-${n}`);
  const labels = Object.fromEntries(many.map((name) => [name, 'x']));
  for (const value of [many, labels, { metadata: { labels } }, { spec: [{ items: many }] }]) {
    const { pauses, result } = countSteps(parseInPieces(JSON.stringify(value)));
    expect(result).toEqual(value);
    expect(pauses).toBeGreaterThan(2);
  }
});
