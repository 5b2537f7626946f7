import { connectTo, percentile } from './load.mjs';
import { cpuMilliseconds } from './process.mjs';
import { configMap, headers, namespace, number, serveForLoad, table } from './servers.mjs';

const all = '/api/v1/namespaces/bench/configmaps';

/**
 * The cases. With `perSecond`, writes are made at that rate regardless of the watchers; otherwise each write waits
 * until every watcher has seen the one before. `kubernetes` is the CPU time in microseconds per event that Kubernetes
 * 1.36 used at the same rate on two such cores.
 */
const cases = [
  { watchers: 1, writes: 1_000, store: 'memory:' },
  { watchers: 100, writes: 200, store: 'memory:' },
  { watchers: 1_000, writes: 20, store: 'memory:' },
  { watchers: 1, writes: 1_000, perSecond: 200, kubernetes: 5_325 },
  { watchers: 100, writes: 500, perSecond: 100, kubernetes: 100.6 },
];

/** Measures the time from a write until the last of many watchers has seen it. */
export async function watch() {
  const rows = [];
  for (const one of cases) {
    const { perEvent, perSecond, latencies } = await fanOut(one);
    rows.push([
      `${number(one.watchers)} watchers, ${one.perSecond === undefined ? 'in memory, one by one' : `durable, ${one.perSecond}/s`}`,
      number(perSecond),
      number(perEvent, 1),
      number(percentile(latencies, 0.5), 1),
      number(percentile(latencies, 0.99), 1),
      number(one.kubernetes, 1),
      number(one.kubernetes / perEvent, 1),
    ]);
  }
  table(
    'Watch: from a write until the last watcher has seen it; the cost of the write is part of that of its events',
    ['', 'events/s', 'cpu us per event', 'p50 ms', 'p99 ms', 'Kubernetes', 'times'],
    rows,
  );
}

async function fanOut({ watchers, writes, perSecond, store }) {
  const server = await serveForLoad({ store });
  const client = connectTo(server.line.url, headers, { sessions: Math.ceil(watchers / 90) + 1 });
  await client.call('POST', '/api/v1/namespaces', namespace('bench'));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const streams = Array.from({ length: watchers }, () => client.stream('GET', `${all}?watch=true`));
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('response', resolve))));
  let seen = 0;
  let arrived = () => {};
  for (const stream of streams) {
    stream.on('data', (chunk) => {
      // Events end with a line break, and contain no other.
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen++;
      arrived();
    });
  }
  // The existing objects come first.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const base = seen;
  const waiting = [];
  arrived = () => {
    while (waiting.length > 0 && seen - base >= waiting[0].events) waiting.shift().resolve();
  };
  const latencies = [];
  const write = async (at) => {
    const wrote = performance.now();
    const everybody = new Promise((resolve) => waiting.push({ events: (at + 1) * watchers, resolve }));
    await client.call('POST', all, configMap(`w${at}`));
    arrived();
    await everybody;
    latencies.push(performance.now() - wrote);
  };
  const before = cpuMilliseconds(server.pid);
  const began = performance.now();
  const under = [];
  for (let at = 0; at < writes; at++) {
    const one = write(at);
    if (perSecond === undefined) await one;
    else {
      under.push(one);
      const due = began + ((at + 1) * 1_000) / perSecond;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    }
  }
  await Promise.all(under);
  const events = writes * watchers;
  const result = {
    perEvent: ((cpuMilliseconds(server.pid) - before) * 1_000) / events,
    perSecond: events / ((performance.now() - began) / 1_000),
    latencies,
  };
  for (const stream of streams) stream.close();
  client.close();
  await server.stop();
  return result;
}
