import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { percentile, underLoad } from './load.mjs';
import { cpuMilliseconds, startProgram } from './process.mjs';

/** Starts servers under measurement, and formats results. */

const main = resolve(import.meta.dirname, '../dist/src/main.js');
/** The directory of this run's files; removed at its end. */
export const work = mkdtempSync(join(tmpdir(), 'kedge-bench-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));

const token = 'bench-token';
export const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
writeFileSync(join(work, 'tokens.csv'), `${token},bench,,"bench,system:masters"\n`);

let files = 0;
/** Returns a new path in the directory of this run. */
export const newPath = (name = 'data') => join(work, `${name}-${files++}`);

export const isReady = ({ msg }) => msg === 'ready';
export const serve = (directory, ...more) =>
  startProgram([main, 'serve', '--port', '0', '--data-dir', directory, '--log-format', 'json', ...more], isReady);

/** Starts a server that accepts the token of `headers`; `options` as in config/server.yaml. */
export function serveForLoad({ options = {}, store } = {}) {
  const file = newPath('options');
  writeFileSync(file, JSON.stringify({ tokenFile: join(work, 'tokens.csv'), ...options }));
  const more = store === undefined ? [] : ['--store', store];
  return serve(newPath(), '--config', file, '--log-level', 'info', ...more);
}

/** Returns what a load costs the process: `cpu` in microseconds per request, `p50` and `p99` in milliseconds. */
export async function measured(pid, load) {
  const before = cpuMilliseconds(pid);
  const { perSecond, requests, latencies } = await underLoad(load);
  return {
    perSecond,
    cpu: ((cpuMilliseconds(pid) - before) * 1_000) / requests,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}

export const padding = 'x'.repeat(1_700);
/** Returns an object of about 2 KB. */
export const configMap = (name, data = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { app: 'bench', tier: 'one' }, annotations: { note: 'of ordinary length' } },
    data: { padding, ...data },
  });

export const namespace = (name) => JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** Formats a number for a table; '' if it was not measured. */
export const number = (value, digits = 0) =>
  Number.isFinite(value)
    ? value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })
    : '';

export function table(title, columns, rows) {
  const texts = [columns, ...rows.map((row) => row.map(String))];
  const widths = columns.map((_, at) => Math.max(...texts.map((row) => row[at].length)));
  const line = (row) =>
    row.map((text, at) => (at === 0 ? text.padEnd(widths[at]) : text.padStart(widths[at]))).join('  ');
  process.stdout.write(`\n${title}\n${texts.map((row) => `  ${line(row)}\n`).join('')}`);
}
