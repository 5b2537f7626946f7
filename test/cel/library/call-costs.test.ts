import { expect, test } from 'vitest';
import { listFrom, mapFrom } from '../../../src/cel/collections.js';
import { kubernetesLibraries } from '../../../src/cel/kubernetes.js';
import {
  Duration,
  Failure,
  type OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../../../src/cel/values.js';

const opaque: OpaqueValue = { kind: 'opaque', name: 'other', equals: () => false };
const values: readonly Value[] = [
  null,
  true,
  1n,
  -(2n ** 63n),
  new Uint(1n),
  1.5,
  Number.NaN,
  'text',
  new Uint8Array([1]),
  new Timestamp(0n),
  new Duration(0n),
  listFrom([]),
  listFrom([null, 1n]),
  mapFrom([['a', 1n]]),
  new Optional(),
  new TypeValue('int'),
  opaque,
  new Failure('failed'),
];

const functions = kubernetesLibraries.flatMap((library) => library.functions);

test.each(functions)('the cost of $name is a finite number for any arguments', ({ overloads }) => {
  const costs = new Set<number>();
  for (const { parameters, cost, undecidedCost } of overloads) {
    for (const first of values) {
      for (const others of values) {
        const given = parameters.map((_, place) => (place === 0 ? first : others));
        for (const asked of [cost, undecidedCost]) if (asked !== undefined) costs.add(asked(given, others));
      }
    }
  }
  expect([...costs].filter((units) => !(units >= 0 && units < Number.POSITIVE_INFINITY))).toEqual([]);
});
