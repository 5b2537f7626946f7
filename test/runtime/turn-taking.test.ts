import { expect, test } from 'vitest';
import { runInTurns, TurnTaking } from '../../src/runtime/turn-taking.js';

const work = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

test('a turn is due after long work, and again after more of it', async () => {
  const turns = new TurnTaking();
  expect(turns.isDue).toBe(false);
  work(20);
  expect(turns.isDue).toBe(true);
  let others = 0;
  setImmediate(() => others++);
  await turns.next();
  expect(others).toBe(1);
  expect(turns.isDue).toBe(false);
  work(20);
  expect(turns.isDue).toBe(true);
});

test('of several long tasks, one continues per turn of the event loop', async () => {
  let loops = 0;
  let counting = true;
  const count = (): void => {
    loops++;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const ranIn: number[] = [];
  function* steps(): Generator<void, void, void> {
    for (let step = 0; step < 3; step++) {
      work(10);
      ranIn.push(loops);
      yield;
    }
  }
  const turns = new TurnTaking();
  await turns.next();
  ranIn.length = 0;
  await Promise.all(
    Array.from({ length: 4 }, async () => turns.next().then(() => runInTurns(steps(), new TurnTaking()))),
  );
  counting = false;
  expect(ranIn.length).toBe(12);
  expect(new Set(ranIn).size).toBe(12);
});

test('of many short tasks, several continue per turn of the event loop', async () => {
  const many = 500;
  let loops = 0;
  let counting = true;
  const count = (): void => {
    loops++;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: many }, async (_, at) => {
      await new TurnTaking().next();
      order.push(at);
    }),
  );
  counting = false;
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(order.length).toBe(many);
  expect(loops).toBeLessThan(many / 2);
});
