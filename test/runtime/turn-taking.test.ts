import { expect, test } from 'vitest';
import { TurnTaking } from '../../src/runtime/turn-taking.js';

const work = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

test('a turn for others is due after long work, and again after more of it', async () => {
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
