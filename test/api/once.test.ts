import { expect, test } from 'vitest';
import { oncePer } from '../../src/api/once.js';

test('oncePer computes a value once per object, even if it is undefined or computed recursively', () => {
  const asked: object[] = [];
  const of = oncePer((object: { readonly value?: number }) => {
    asked.push(object);
    return object.value;
  });
  const [one, none] = [{ value: 1 }, {}];
  expect([of(one), of(none), of(one), of(none)]).toEqual([1, undefined, 1, undefined]);
  expect(asked).toEqual([one, none]);

  interface Node {
    readonly next?: Node;
  }
  const length: (node: Node) => number = oncePer(({ next }) => (next === undefined ? 1 : 1 + length(next)));
  expect(length({ next: { next: {} } })).toBe(3);
});
