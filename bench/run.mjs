#!/usr/bin/env node
/**
 * Measures a server of this checkout and prints tables. Everything runs on the loopback interface, in about eight
 * minutes. `cpu us` is the CPU time of the server's process per request: the figure to compare on a shared machine.
 *
 *   node bench/run.mjs [--only start,http,store,signing,certificates,access,watch] [--seconds 2] [--objects 100,100000]
 */
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '2' },
    objects: { type: 'string', default: '100,100000' },
  },
});
const options = { milliseconds: Number(flags.seconds) * 1_000, counts: flags.objects.split(',').map(Number) };

const parts = {
  start: async () => (await import('./start.mjs')).start(),
  http: async () => (await import('./requests.mjs')).requests(options),
  store: async () => (await import('./stores.mjs')).store(options),
  signing: async () => (await import('./certificates.mjs')).signing(options),
  certificates: async () => (await import('./certificates.mjs')).certificates(options),
  access: async () => (await import('./access.mjs')).access(options),
  watch: async () => (await import('./watching.mjs')).watch(),
};
for (const name of flags.only?.split(',') ?? Object.keys(parts)) {
  if (!Object.hasOwn(parts, name)) throw new Error(`unknown part ${name}; known are ${Object.keys(parts).join(', ')}`);
  await parts[name]();
}
