import type { ListValue, Value } from './values.js';

/** Returns a list whose items are made when they are first read. */
export function lazyList(size: number, make: (at: number) => Value): ListValue {
  const values: Value[] = [];
  return {
    kind: 'list',
    size,
    at(index) {
      const known = values[index];
      if (known !== undefined) return known;
      const value = make(index);
      values[index] = value;
      return value;
    },
  };
}
