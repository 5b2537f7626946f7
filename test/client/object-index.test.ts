import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import type { ConfigMap } from '../../src/api/kinds/config-map.js';
import type { CacheChange } from '../../src/client/cache-change.js';
import { indexBy } from '../../src/client/object-index.js';

const map = (name: string, ...colours: readonly string[]): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n' },
  data: Object.fromEntries(colours.map((colour, at) => [String(at), colour])),
});

/** Returns an index by values, and functions that report changes to it. */
function indexed(valuesOf = ({ data = {} }: ConfigMap): readonly string[] => Object.values(data)) {
  const changes = new Subject<CacheChange<ConfigMap>>();
  const index = indexBy({ changes }, valuesOf);
  const names = (value: string): readonly string[] => index.get(value).map(({ metadata }) => metadata.name ?? '');
  return {
    names,
    add: (object: ConfigMap) => changes.next({ type: 'added', object, previous: undefined }),
    modify: (previous: ConfigMap, object: ConfigMap) => changes.next({ type: 'modified', object, previous }),
    remove: (object: ConfigMap) => changes.next({ type: 'deleted', object, previous: object }),
  };
}

test('objects are found by each of their current values', () => {
  const { names, add, modify, remove } = indexed();
  expect(names('red')).toEqual([]);
  add(map('a', 'red', 'blue'));
  add(map('b', 'red', 'red'));
  expect([names('red'), names('blue'), names('green')]).toEqual([['a', 'b'], ['a'], []]);
  modify(map('a', 'red', 'blue'), map('a', 'green'));
  expect([names('red'), names('blue'), names('green')]).toEqual([['b'], [], ['a']]);
  remove(map('b', 'something', 'else'));
  expect(names('red')).toEqual([]);
});

test('an object whose values cannot be computed has none, and does not affect others', () => {
  const { names, add, modify } = indexed(({ data }) => [(data as { readonly 0: string })[0].toUpperCase()]);
  add(map('a', 'red'));
  add(map('b'));
  expect(names('RED')).toEqual(['a']);
  modify(map('a', 'red'), map('a'));
  expect(names('RED')).toEqual([]);
});

test('any string may be a value', () => {
  const { names, add } = indexed();
  add(map('a', '__proto__', ''));
  expect([names('__proto__'), names(''), names('constructor')]).toEqual([['a'], ['a'], []]);
});
