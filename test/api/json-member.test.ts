import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memberText, memberTexts } from '../../src/api/json-member.js';

const member = (json: string, name: string): string | undefined => memberText(Buffer.from(json), name)?.toString();

test.each([
  ['{"a":1,"b":{"c":[1,"}"]},"d":null}', 'b', '{"c":[1,"}"]}'],
  ['{"a":1,"b":2}', 'a', '1'],
  ['{"a":1,"b":2}', 'b', '2'],
  ['{"a":"\\"b\\":3,","b":"\\\\"}', 'b', '"\\\\"'],
  ['{"x":{"b":1}}', 'b', undefined],
  ['{"bb":1}', 'b', undefined],
  ['{}', 'b', undefined],
  ['[1]', 'b', undefined],
  ['"b"', 'b', undefined],
  ['{"b":', 'b', ''],
  ['', 'b', undefined],
])('in %s the member %s is %s', (json, name, expected) => {
  expect(member(json, name)).toBe(expected);
});

test('every member of any object is found with its text', () => {
  const name = fc.oneof(fc.constantFrom('metadata', 'a', '__proto__'), fc.stringMatching(/^[\w é€]{0,4}$/u));
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.jsonValue()), { maxLength: 6 }), name, (members, other) => {
      const known = new Map(members);
      const json = `{${[...known].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`;
      for (const [name, value] of known) expect(member(json, name)).toBe(JSON.stringify(value));
      if (!known.has(other)) expect(member(json, other)).toBeUndefined();
      expect([...memberTexts(Buffer.from(json))].map(({ name, value }) => `${name}:${value}`).join()).toBe(
        json.slice(1, -1),
      );
    }),
  );
});
