import { parseArgs } from 'node:util';
import { bombs } from './bombs.js';
import { campaign, megabytes, patienceFor } from './campaign.js';
import { explosions } from './each-bomb.js';
import { shown } from './request.js';
import { openTarget } from './target.js';

/** `npm run fuzz -- --requests 200000 --seed 1`: a long campaign. Exits with 1 if it finds a fault. */

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'per-server': { type: 'string', default: '20000' },
    'max-finds': { type: 'string', default: '20' },
    'no-bombs': { type: 'boolean', default: false },
    /** Send every bomb once (or the given one), report times, and run no campaign. */
    bombs: { type: 'string' },
  },
});
if (values.bombs !== undefined) process.exit(await everyBomb(values.bombs));
const seed = Number(values.seed);
say(`seed ${seed}, ${values.requests} requests`);
if (globalThis.gc === undefined) say('without --expose-gc the heap is not checked');
const started = performance.now();
const { finds, asked, codes, blockedMs, unrepeated, heaps } = await campaign({
  requests: Number(values.requests),
  seed,
  perServer: Number(values['per-server']),
  maxFinds: Number(values['max-finds']),
  bombs: !values['no-bombs'],
  report: say,
});
say(`\n${asked} requests in ${Math.round((performance.now() - started) / 1_000)} s, seed ${seed}`);
say(
  `answers: ${Object.entries(codes)
    .map(([code, count]) => `${code === '0' ? 'none' : code}: ${count}`)
    .join(', ')}`,
);
say(
  `event loop: p50 ${blockedMs.p50.toFixed(1)} ms, p99 ${blockedMs.p99.toFixed(1)} ms, max ${blockedMs.max.toFixed(1)} ms`,
);
say(`turns beyond the limit that were not repeated: ${unrepeated.length}`);
for (const { ms, method, url, bytes, origin } of [...unrepeated].sort((a, b) => b.ms - a.ms).slice(0, 5)) {
  say(`  ${Math.round(ms)} ms, ${method} ${url.slice(0, 100)}, ${bytes} bytes, ${origin}`);
}
if (heaps.length > 0) say(`heap after each server: ${heaps.map(megabytes).join(', ')}`);
for (const { what, request } of finds) say(`\nFOUND ${what}\n${request === undefined ? '' : shown(request)}`);
say(finds.length === 0 ? 'nothing found' : `${finds.length} found`);
process.exit(finds.length === 0 ? 0 : 1);

async function everyBomb(name: string): Promise<number> {
  const target = await openTarget({ store: 'memory:' });
  const names = Object.keys(bombs).filter((other) => other.toLowerCase().includes(name.toLowerCase()));
  if (names.length === 0) {
    say(`no costly request is named ${JSON.stringify(name)}`);
    return 1;
  }
  let failed = 0;
  for (const one of names) {
    process.stdout.write(`${one}: `);
    for await (const { request, code, text, blockedMs, tookMs, complaints } of explosions(target, { names: [one] })) {
      say(`${code}, ${Math.round(blockedMs)} of ${Math.round(tookMs)} ms, ${JSON.stringify(text.slice(0, 160))}`);
      for (const complaint of new Set(complaints)) say(`  ${complaint.slice(0, 600)}`);
      if (complaints.length > 0 || blockedMs > patienceFor(request, 100)) failed++;
    }
  }
  await target.stop();
  return failed === 0 ? 0 : 1;
}
