import { expect, test } from 'vitest';
import { oncePer } from '../../src/api/once.js';

test('what is made of an object is made once, also where it is undefined or made of itself', () => {
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
