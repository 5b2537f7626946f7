/**
 * Measures how long `testServer()` takes after import, in a fresh process: the first call, and the median of the next
 * ten.
 */
import { testServer } from 'kedge/testing';

const timed = async () => {
  const began = performance.now();
  const { stop } = await testServer();
  const took = performance.now() - began;
  await stop();
  return took;
};
const first = await timed();
const others = [];
for (let i = 0; i < 10; i++) others.push(await timed());
process.stdout.write(`${JSON.stringify({ first, next: others.toSorted((a, b) => a - b)[5] })}\n`);
