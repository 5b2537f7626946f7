import { connectTo, percentile } from './load.mjs';
import { cpuMilliseconds } from './process.mjs';
import { configMap, headers, namespace, number, serveForLoad, table } from './servers.mjs';

/** From a write until the last of many watchers has seen it. */
export async function watch() {
  const rows = [];
  for (const watchers of [1, 100, 1_000]) {
    const server = await serveForLoad({ store: 'memory:' });
    const client = connectTo(server.line.url, headers, { sessions: Math.ceil(watchers / 90) + 1 });
    const all = '/api/v1/namespaces/bench/configmaps';
    await client.call('POST', '/api/v1/namespaces', namespace('bench'));
    await new Promise((resolve) => setTimeout(resolve, 500));
    let seen = 0;
    let arrived = () => {};
    const streams = Array.from({ length: watchers }, () => client.stream('GET', `${all}?watch=true`));
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('response', resolve))));
    for (const stream of streams) {
      stream.on('data', (chunk) => {
        // Events end with a line break, and none is inside of them.
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen++;
        arrived();
      });
    }
    const writes = watchers === 1 ? 1_000 : 20_000 / watchers;
    const base = seen;
    const latencies = [];
    const before = cpuMilliseconds(server.pid);
    const began = performance.now();
    for (let at = 0; at < writes; at++) {
      const wrote = performance.now();
      const everybody = new Promise((resolve) => {
        arrived = () => {
          if (seen - base >= (at + 1) * watchers) resolve();
        };
      });
      await client.call('POST', all, configMap(`w${at}`));
      arrived();
      await everybody;
      latencies.push(performance.now() - wrote);
    }
    const events = writes * watchers;
    rows.push([
      `${number(watchers)} watchers`,
      number(events / ((performance.now() - began) / 1_000)),
      number(((cpuMilliseconds(server.pid) - before) * 1_000) / events, 1),
      number(percentile(latencies, 0.5), 1),
      number(percentile(latencies, 0.99), 1),
    ]);
    for (const stream of streams) stream.close();
    client.close();
    await server.stop();
  }
  table(
    'Watch: one write after the other, until the last watcher has seen it',
    ['', 'events/s', 'cpu us per event', 'p50 ms', 'p99 ms'],
    rows,
  );
}
