import { join } from 'node:path';
import { startProgram } from './process.mjs';
import { newPath, number, serve, table } from './servers.mjs';

/** Measures the time from the start of a process until it answers. */
export async function start() {
  const best = async (count, run) => {
    const results = [];
    for (let i = 0; i < count; i++) results.push(await run());
    return results.toSorted((a, b) => a.readyMs - b.readyMs)[0];
  };
  const once = async (directory) => {
    const program = await serve(directory);
    await program.stop();
    return program;
  };
  const cold = await best(3, () => once(newPath()));
  const directory = newPath();
  await once(directory);
  const warm = await best(5, () => once(directory));
  const { line: inProcess } = await startProgram([join(import.meta.dirname, 'test-server.mjs')], () => true);
  table(
    'Start (best of several)',
    ['', 'ms', 'cpu ms', 'MB'],
    [
      ['serve, cold: process start to ready', number(cold.readyMs), number(cold.cpuMs), number(cold.megabytes)],
      ['serve, warm', number(warm.readyMs), number(warm.cpuMs), number(warm.megabytes)],
      ['testServer(), first in a process', number(inProcess.first), '', ''],
      ['testServer(), next ones', number(inProcess.next), '', ''],
    ],
  );
}
